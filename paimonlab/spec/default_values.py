"""Defaults of columns: texts in the schema that missing values become on write."""

from __future__ import annotations

from paimonlab.errors import SchemaError
from paimonlab.spec.literals import place
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.spec.types.text import format_type

_WRITTEN_AS_TEXT = (TypeRoot.BINARY, TypeRoot.VARBINARY, TypeRoot.VARIANT)


def check_default(field: DataField) -> None:
    """Check that the default of a column can be read as a value of it.

    Defaults of composite types are not looked at.

    Raises
    ------
    SchemaError
        If it cannot; the message names column and text.
    """
    data_type, default = field.type, field.default_value
    if default is None or not isinstance(data_type, AtomicType):
        return
    if data_type.root in _WRITTEN_AS_TEXT:
        return
    try:
        place(default, data_type)
    except SchemaError:
        raise SchemaError(
            f"column {field.name!r}: default {default!r} is not a valid {format_type(data_type)}"
        ) from None
