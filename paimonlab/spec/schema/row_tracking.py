"""Row tracking: every row of a table has an id, and the number of the commit that wrote it.

They are columns that may be asked for by name. Row ids go up without gaps in the order in
which files were committed, so a file need not hold them: it has the id of its first row.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.SpecialFields``,
``org.apache.paimon.io.DataFileRecordReader``.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from paimonlab.errors import SchemaError
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field, parse_boolean
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.spec.types.system_fields import (
    ROW_ID,
    ROW_ID_ID,
    SEQUENCE_NUMBER,
    SEQUENCE_NUMBER_ID,
)

ROW_ID_FIELD = DataField(ROW_ID_ID, ROW_ID, AtomicType(TypeRoot.BIGINT))
TRACKED_SEQUENCE_FIELD = DataField(
    SEQUENCE_NUMBER_ID, SEQUENCE_NUMBER, AtomicType(TypeRoot.BIGINT, nullable=False)
)
TRACKING_FIELDS = (ROW_ID_FIELD, TRACKED_SEQUENCE_FIELD)
"""Columns after those of the table."""
TRACKING_COLUMNS = frozenset(field.name for field in TRACKING_FIELDS)


def with_tracking(schema: TableSchema) -> TableSchema:
    """Return the schema with `TRACKING_FIELDS` after the table's columns.

    The result is only for reading; it is never stored.
    """
    if schema.fields[-len(TRACKING_FIELDS) :] == TRACKING_FIELDS:
        return schema
    return replace(schema, fields=(*schema.fields, *TRACKING_FIELDS))


def with_stored_tracking(schema: TableSchema) -> TableSchema:
    """Return the schema of files that hold ids and sequence numbers of rows: null asks for new."""
    stored = (
        ROW_ID_FIELD,
        structs.replace(TRACKED_SEQUENCE_FIELD, type=AtomicType(TypeRoot.BIGINT)),
    )
    return replace(schema, fields=(*schema.fields, *stored))


class RowTrackingOptions(OptionSlice):
    """The table options that rows with ids go by."""

    row_tracking: bool = option_field("row-tracking.enabled", "boolean", default=False)
    """``row-tracking.enabled``"""
    data_evolution: bool = option_field("data-evolution.enabled", "boolean", default=False)
    """``data-evolution.enabled``"""
    is_clustered: bool = option_field("clustering.incremental", "boolean", default=False)
    """``clustering.incremental``"""
    bucket: int = option_field("bucket", "int", -1)
    """``bucket``"""


def check_row_tracking(schema: TableSchema) -> None:
    """Check that a table may have row ids.

    Raises
    ------
    SchemaError
        If it has a primary key, buckets, or options that do not go with row ids.
    """
    options = Options(schema.options).slice(RowTrackingOptions)
    has_vectors = parse_boolean(schema.options.get("deletion-vectors.enabled", "false"))
    if options.data_evolution and not options.row_tracking:
        raise SchemaError("option 'data-evolution.enabled' needs 'row-tracking.enabled' = 'true'")
    if options.data_evolution and has_vectors:
        raise SchemaError(
            "option 'data-evolution.enabled' cannot be combined with 'deletion-vectors.enabled'"
        )
    if options.data_evolution and options.is_clustered:
        raise SchemaError(
            "option 'data-evolution.enabled' cannot be combined with 'clustering.incremental' = "
            "'true', which puts rows in another order than their ids have"
        )
    if options.row_tracking and schema.primary_keys:
        raise SchemaError("option 'row-tracking.enabled' is for tables without primary key")
    if options.row_tracking and options.bucket != -1:
        raise SchemaError(
            f"option 'row-tracking.enabled' is for tables without buckets, not 'bucket' = "
            f"'{options.bucket}'"
        )
