"""All that a reader has to know about a table, as one picklable value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import pyarrow as pa
from msgspec import Struct, field

from paimonlab.errors import SchemaNotFoundError
from paimonlab.metadata.layout import TableLayout
from paimonlab.read.lookup_options import LookupStorePlan
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.predicates.predicate import Predicate, columns
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField


class ReadOptions(OptionSlice):
    """The table options that steer reading."""

    sequence_fields: tuple[str, ...] = option_field("sequence.field", "list", ())
    """``sequence.field``: columns that order rows of a key before the sequence number."""
    sequence_descending: bool = option_field(
        "sequence.field.sort-order", "enum", default=False, parse="descending".__eq__
    )
    """``sequence.field.sort-order``: whether the smallest value wins."""
    data_evolution: bool = option_field("data-evolution.enabled", "boolean", default=False)
    """``data-evolution.enabled``: files with the same row ids complete each other."""
    legacy_ltz: bool = option_field("orc.timestamp-ltz.legacy.type", "boolean", default=True)
    """``orc.timestamp-ltz.legacy.type``: ORC files hold instants by the local clock."""
    file_index: bool = option_field("file-index.read.enabled", "boolean", default=True)
    """``file-index.read.enabled``: whether file indexes are looked at."""


class ReadBounds(Struct, frozen=True, kw_only=True):
    """How much a reader holds in memory; not a table option, as results are the same."""

    batch_rows: int = 1 << 17
    """Rows of a batch before its rows are filtered."""
    piece_rows: int = 1 << 20
    """Rows whose keys are merged at once."""
    piece_bytes: int = 64 << 20
    """Bytes of key columns that are merged at once, if that is less."""


class ReadPlan(Struct, frozen=True, kw_only=True, dict=True):
    """What a reader needs, on the driver or on an executor."""

    table_path: str
    table_name: str
    """``database.table``, for messages."""
    schema: TableSchema
    """The schema the rows have."""
    schemas: Mapping[int, TableSchema]
    """Every schema that data files may have, by id."""
    columns: tuple[str, ...]
    """Names of ``schema``, in the order wanted; may be none."""
    predicate: Predicate | None = None
    """Bound to ``schema``; rows for which it is not true are left out."""
    options: ReadOptions = field(default_factory=ReadOptions)
    external_roots: tuple[str, ...] = ()
    """Folders outside the table's that data files may be in."""
    engine: MergeEngine = field(default_factory=MergeEngine)
    """What becomes of several rows of one key."""
    bounds: ReadBounds = field(default_factory=ReadBounds)
    lookup_stores: LookupStorePlan = field(default_factory=LookupStorePlan)
    """Where copies of files for finding rows by their keys are."""
    keeps_deletes: bool = False
    """Whether a key whose newest row is a delete keeps that row."""

    @cached_property
    def fields(self) -> tuple[DataField, ...]:
        """The columns wanted."""
        return tuple(self.schema.field(name, table=self.table_name) for name in self.columns)

    @cached_property
    def fields_to_read(self) -> tuple[DataField, ...]:
        """The columns wanted, then the others that the predicate looks at."""
        asked = () if self.predicate is None else sorted(columns(self.predicate))
        others = (name for name in asked if name not in self.columns)
        return (
            *self.fields,
            *(self.schema.field(name, table=self.table_name) for name in others),
        )

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """Names and types of the result."""
        return arrow_schema(self.fields)

    @property
    def layout(self) -> TableLayout:
        """Where the table's files are."""
        return TableLayout(self.table_path, self.external_roots)

    def schema_of(self, file: DataFileMeta) -> TableSchema:
        """Return the schema a file was written with.

        Raises
        ------
        SchemaNotFoundError
            If the table has no schema of that id.
        """
        if file.schema_id == self.schema.id:
            return self.schema
        try:
            return self.schemas[file.schema_id]
        except KeyError:
            raise SchemaNotFoundError(self.table_name, file.schema_id) from None
