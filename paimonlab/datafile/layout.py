"""Which columns a data file holds.

A file of an append table holds the table's columns. A file of a primary-key table holds the
key copies, the sequence number, the row kind, then the table's columns.

Source: https://paimon.apache.org/docs/master/concepts/spec/datafile/ (the order here is that of
the files, not of that page).
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct

from paimonlab.same_objects import MOST_REMEMBERED, SameObjects
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.row_tracking import TRACKED_SEQUENCE_FIELD
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot, with_nullable
from paimonlab.spec.types.system_fields import (
    KEY_FIELD_ID_START,
    VALUE_KIND,
    VALUE_KIND_ID,
    key_column,
)

MOVED_PREFIX = "data-moved-"
"""Names of files begin so that others wrote, and that were moved or copied in as they were."""
SEQUENCE_FIELD = TRACKED_SEQUENCE_FIELD
KIND_FIELD = DataField(VALUE_KIND_ID, VALUE_KIND, AtomicType(TypeRoot.TINYINT, nullable=False))


class FileColumns(Struct, frozen=True):
    """Columns of one kind of data file, in file order."""

    keys: tuple[DataField, ...]
    """``_KEY_…`` columns; () in append tables."""
    values: tuple[DataField, ...]
    """The table's columns."""
    is_thin: bool = False
    """``data-file.thin-mode``: key copies are left out, the key columns themselves are them."""

    @property
    def physical(self) -> tuple[DataField, ...]:
        """All columns of the file."""
        if not self.keys:
            return self.values
        keys = () if self.is_thin else self.keys
        return (*keys, SEQUENCE_FIELD, KIND_FIELD, *self.values)


def file_columns(schema: TableSchema, *, is_thin: bool = False) -> FileColumns:
    """Columns of the files that are written under ``schema``."""
    if len(schema.fields) > MOST_REMEMBERED:
        return _file_columns.__wrapped__(SameObjects((schema,)), is_thin)
    return _file_columns(SameObjects((schema,)), is_thin)


@lru_cache(maxsize=256)
def _file_columns(schemas: SameObjects[TableSchema], is_thin: bool) -> FileColumns:  # noqa: FBT001 - a key of the cache
    (schema,) = schemas
    keys = tuple(key_field(schema.field(name)) for name in schema.trimmed_primary_keys)
    return FileColumns(keys, tuple(schema.fields), is_thin)


def key_field(field: DataField) -> DataField:
    """Describe the key copy of a column."""
    return DataField(
        KEY_FIELD_ID_START + field.id,
        key_column(field.name),
        with_nullable(field.type, nullable=False),
    )
