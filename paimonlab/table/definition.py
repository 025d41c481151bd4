"""What a table is: a value, apart from where it lies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from paimonlab.spec.buckets.mode import DYNAMIC, BucketMode, bucket_mode
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.options.table_options import Options, OptionSlice, check_supported, option_field
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import DataField


class BucketOptions(OptionSlice):
    """The table option that says how rows find their buckets."""

    buckets: int = option_field("bucket", "int", DYNAMIC)
    """``bucket``: at least 1, -1 or -2; see `BucketMode`."""


class TableDefinition(Struct, frozen=True, kw_only=True, dict=True):
    """A table as it was opened: its name, its schema and the options that count."""

    name: str
    """``database.table``, for messages."""
    schema: TableSchema
    options: Options
    """Of the schema, with those of the read or write at hand on top."""

    @classmethod
    def of_schema(cls, name: str, schema: TableSchema) -> TableDefinition:
        """Return the definition with the options that the schema has, and no others."""
        return cls(name=name, schema=schema, options=Options(schema.options))

    def with_options(self, options: Mapping[str, str]) -> TableDefinition:
        """Return the definition with others in place of some options."""
        return replace(self, options=self.options.with_options(options))

    @property
    def primary_keys(self) -> tuple[str, ...]:
        """Columns of the primary key; () in an append table."""
        return self.schema.primary_keys

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Columns that choose the partition; () if there are no partitions."""
        return self.schema.partition_keys

    @property
    def partition_fields(self) -> list[DataField]:
        """Fields of the partition columns, in the order of the partition key."""
        return [self.schema.field(name) for name in self.schema.partition_keys]

    @cached_property
    def may_be_written(self) -> bool:
        """True: the table may be written to.

        Raises
        ------
        UnsupportedError
            If an option would change what is written and is not implemented.
        """
        check_supported(self.options, self.schema, "write")
        return True

    @cached_property
    def buckets(self) -> int:
        """The option ``bucket``: buckets a partition has, -1 or -2."""
        return self.options.slice(BucketOptions).buckets

    @property
    def bucket_mode(self) -> BucketMode:
        """How rows find their bucket."""
        return bucket_mode(self.buckets, self.schema)

    @cached_property
    def merge_engine(self) -> MergeEngine:
        """What becomes of several rows of one key."""
        return MergeEngine.of(self.schema.fields, self.schema.primary_keys, self.options)
