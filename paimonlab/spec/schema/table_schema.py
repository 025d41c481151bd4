"""The schema file: the columns, keys and options of a table at one time.

Spec: https://paimon.apache.org/docs/master/concepts/spec/schema/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import msgspec
import pyarrow as pa

from paimonlab.errors import ColumnNotFoundError, CorruptMetadataError, SchemaError
from paimonlab.errors.habits import IsAttribute
from paimonlab.secrets import hides_secrets
from paimonlab.spec.buckets.bucket import BucketFunction
from paimonlab.spec.decoding import ready
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.json import fields_from_json, fields_to_json
from paimonlab.spec.types.text import format_type

CURRENT_VERSION = 3
FIRST_SCHEMA_ID = 0


class BucketKeyOptions(OptionSlice):
    """The table options that say what chooses the bucket of a row."""

    bucket_key: str = option_field("bucket-key", "string", "")
    """``bucket-key``: split at commas, blanks count."""
    function: BucketFunction = option_field(
        "bucket-function.type", "enum", BucketFunction.DEFAULT, parse=BucketFunction
    )
    """``bucket-function.type``"""


_MOST_SHOWN = 8
"""Columns in a line about a schema."""


@hides_secrets
@dataclass(frozen=True)
class TableSchema(IsAttribute, written="table.schema"):
    """One schema of a table: the class is the file ``schema/schema-<id>``."""

    id: int
    """From 0; the highest is the current one."""
    fields: tuple[DataField, ...]
    highest_field_id: int
    """Highest id a field ever had, nested ones included; never goes down."""
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    time_millis: int = 0
    version: int = CURRENT_VERSION

    def __repr__(self) -> str:
        """Say what it is; the fields and options have all of it."""
        columns = [f"{field.name} {format_type(field.type)}" for field in self.fields[:_MOST_SHOWN]]
        if len(self.fields) > _MOST_SHOWN:
            columns.append(f"{len(self.fields) - _MOST_SHOWN} more")
        parts = [", ".join(columns)]
        if self.primary_keys:
            parts.append(f"primary key {', '.join(self.primary_keys)}")
        if self.partition_keys:
            parts.append(f"partitioned by {', '.join(self.partition_keys)}")
        parts += [f"{key} = {value!r}" for key, value in self.options.items()]
        return f"<TableSchema {self.id}: {'; '.join(parts)}>"

    @cached_property
    def trimmed_primary_keys(self) -> tuple[str, ...]:
        """Primary key without partition keys: the sort key inside a bucket."""
        return tuple(name for name in self.primary_keys if name not in self.partition_keys)

    @cached_property
    def bucket_keys(self) -> tuple[str, ...]:
        """Columns that choose the bucket; () in an append table without ``bucket-key``."""
        text = Options(self.options).slice(BucketKeyOptions).bucket_key
        return tuple(text.split(",")) if text else self.trimmed_primary_keys

    @cached_property
    def bucket_function(self) -> BucketFunction:
        """How the bucket key becomes a bucket."""
        return Options(self.options).slice(BucketKeyOptions).function

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return tuple(field.name for field in self.fields)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """The columns as an Arrow schema."""
        return arrow_schema(self.fields)

    def field(self, name: str, *, table: str = "the table") -> DataField:
        """Return the column of that name.

        Raises
        ------
        ColumnNotFoundError
            If there is no such column; ``table`` is only for the message.
        """
        found = self._field_of.get(name)
        if found is None:
            raise ColumnNotFoundError(name, table, self.field_names)
        return found

    @cached_property
    def _field_of(self) -> Mapping[str, DataField]:
        # Where a name comes twice in a damaged schema, the first column has it.
        return {field.name: field for field in reversed(self.fields)}

    def to_json(self) -> bytes:
        """Encode as the bytes of a schema file."""
        document: dict[str, Any] = {
            "version": self.version,
            "id": self.id,
            "fields": fields_to_json(self.fields),
            "highestFieldId": self.highest_field_id,
            "partitionKeys": self.partition_keys,
            "primaryKeys": self.primary_keys,
            "options": dict(self.options),
        }
        if self.comment is not None:
            document["comment"] = self.comment
        document["timeMillis"] = self.time_millis
        return msgspec.json.format(msgspec.json.encode(document), indent=2)

    @classmethod
    def from_json(cls, data: bytes, *, path: str) -> Self:
        """Decode the bytes of a schema file; unknown keys are ignored.

        Old versions had other defaults: without ``bucket`` version 1 means one bucket,
        without ``file.format`` versions 1 and 2 mean orc. These become explicit options.

        Raises
        ------
        CorruptMetadataError
            If the document does not follow the format. ``path`` is only for the message.
        UnsupportedError
            If a column has a type that paimonlab does not have.
        """
        try:
            document = msgspec.json.decode(data, type=ready(_Document))
            fields = fields_from_json(document.fields)
        except (msgspec.DecodeError, UnicodeDecodeError, SchemaError, RecursionError) as error:
            raise CorruptMetadataError(path, str(error)) from error
        return cls(
            id=document.id,
            fields=fields,
            highest_field_id=document.highest_field_id,
            partition_keys=tuple(document.partition_keys),
            primary_keys=tuple(document.primary_keys),
            options=_explicit_defaults(document.version) | document.options,
            comment=document.comment,
            time_millis=document.time_millis,
            version=document.version,
        )


@hides_secrets
class _Document(msgspec.Struct, rename="camel"):
    """The JSON document; the fields stay as they are for `fields_from_json`."""

    id: int
    fields: list[dict[str, Any]]
    highest_field_id: int
    partition_keys: list[str]
    primary_keys: list[str]
    options: dict[str, str]
    comment: str | None = None
    time_millis: int = 0
    version: int = 1


def _explicit_defaults(version: int) -> dict[str, str]:
    bucket = {"bucket": "1"} if version <= 1 else {}
    return bucket | ({"file.format": "orc"} if version <= 2 else {})
