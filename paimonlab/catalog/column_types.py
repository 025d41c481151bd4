"""Which types a column may be given here: those that can be written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paimonlab.errors import UnsupportedError
from paimonlab.spec.type_text import format_type
from paimonlab.spec.types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)

_NOT_WRITTEN = (TypeRoot.BLOB,)


def check_types(fields: Iterable[DataField]) -> None:
    """Check the types of new columns.

    Raises
    ------
    UnsupportedError
        If values of a type cannot be written; names the column.
    """
    for field in fields:
        if any(atom.root in _NOT_WRITTEN for atom in _atoms(field.type)):
            raise UnsupportedError(
                f"type {format_type(field.type)} of column {field.name!r}",
                "it cannot be written yet; BYTES or STRING would do",
            )


def _atoms(data_type: DataType) -> Iterator[AtomicType]:
    match data_type:
        case AtomicType():
            yield data_type
        case ArrayType(element) | MultisetType(element):
            yield from _atoms(element)
        case MapType(key, value):
            yield from _atoms(key)
            yield from _atoms(value)
        case RowType(fields):
            for field in fields:
                yield from _atoms(field.type)
