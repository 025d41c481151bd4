"""Fields inside fields, named by dotted paths: ``address.street``, ``tags.element.name``.

``element`` goes into an array, ``value`` into the values of a map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec.structs import replace

from paimonlab.errors import ColumnNotFoundError, SchemaError
from paimonlab.spec.types.data_types import ArrayType, DataField, DataType, MapType, RowType

Fields: TypeAlias = tuple[DataField, ...]
Edit: TypeAlias = Callable[[Fields, str], Fields]
"""From the fields that lie side by side and the name of one to the fields that replace them."""

_PART_ID = -1


def split_path(fields: Sequence[DataField], path: str) -> tuple[str, ...]:
    """Take a dotted path apart; a column whose name has a dot is one part.

    Examples
    --------
    >>> split_path([], "a.element.b")
    ('a', 'element', 'b')
    """
    if any(field.name == path for field in fields):
        return (path,)
    return tuple(path.split("."))


def edit_at(fields: Fields, path: Sequence[str], edit: Edit) -> Fields:
    """Return the fields with an edit made beside the one that a path names.

    Parameters
    ----------
    fields
        The columns.
    path
        `split_path`; only its last part need not exist yet.
    edit
        Gets the fields the last part lies among, and the last part.

    Raises
    ------
    ColumnNotFoundError
        If a part on the way is not there.
    SchemaError
        If a part on the way has no parts of its own.
    """
    head, *rest = path
    if not rest:
        return edit(fields, head)
    index = index_of(fields, head)
    field = fields[index]
    changed = replace(field, type=_edit_inside(field.type, head, rest, edit))
    return (*fields[:index], changed, *fields[index + 1 :])


def _edit_inside(data_type: DataType, parent: str, path: Sequence[str], edit: Edit) -> DataType:
    match data_type:
        case RowType(fields):
            return replace(data_type, fields=edit_at(fields, path, edit))
        case ArrayType(element) if path[0] == "element":
            return replace(data_type, element=_edit_part(element, path, edit))
        case MapType(_, value) if path[0] == "value":
            return replace(data_type, value=_edit_part(value, path, edit))
    raise SchemaError(f"{parent!r} has no part {path[0]!r} that can be changed")


def _edit_part(part: DataType, path: Sequence[str], edit: Edit) -> DataType:
    """Edit the element of an array or the value of a map as if it were a field."""
    edited = edit_at((DataField(_PART_ID, path[0], part),), path, edit)
    if [field.name for field in edited] != [path[0]]:
        raise SchemaError(f"{path[0]!r} is not a field: it cannot be added, dropped or renamed")
    return edited[0].type


def index_of(fields: Sequence[DataField], name: str) -> int:
    """Return the place of a field among others.

    Raises
    ------
    ColumnNotFoundError
        If there is no such field.
    """
    for index, field in enumerate(fields):
        if field.name == name:
            return index
    raise ColumnNotFoundError(name, "the table", tuple(field.name for field in fields))
