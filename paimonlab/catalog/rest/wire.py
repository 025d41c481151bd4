"""Requests and answers as values; unknown fields are ignored.

Source: apache/paimon@1.4.2 ``docs/static/rest-catalog-open-api.yaml``,
``org.apache.paimon.rest.requests``, ``responses``, ``org.apache.paimon.partition``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

import msgspec

from paimonlab.errors import CorruptMetadataError, SchemaError
from paimonlab.secrets import hides_secrets
from paimonlab.spec.function import Definition
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
)
from paimonlab.spec.types.json import fields_from_json, fields_to_json

Texts: TypeAlias = dict[str, str]
DATA_TOKENS = "data-token.enabled"
"""The option by which clients ask for tokens."""


class Document(msgspec.Struct, rename="camel", kw_only=True, omit_defaults=True):
    """A JSON object of the protocol."""


class Audited(Document, kw_only=True, omit_defaults=False):
    """Who owns a thing, and who changed it when (epoch milliseconds).

    Of what is not known nothing is said in texts: Java Paimon makes options of a table of them,
    and Flink refuses tables with options that are null.
    """

    owner: str | None = ""
    created_at: int = 0
    created_by: str | None = ""
    updated_at: int = 0
    updated_by: str | None = ""


@hides_secrets
class ConfigAnswer(Document, kw_only=True, omit_defaults=False):
    """What a server configures: ``defaults`` < the client's options < ``overrides``."""

    defaults: dict[str, str | None] | None = None
    overrides: dict[str, str | None] | None = None


class IdentifierDocument(Document, kw_only=True):
    """The name of a table, view or function."""

    database: str
    object: str

    @classmethod
    def of(cls, identifier: Identifier) -> IdentifierDocument:
        """Name a table, with its branch."""
        return cls(database=identifier.database, object=object_name(identifier))

    @property
    def name(self) -> str:
        """``database.object``."""
        return f"{self.database}.{self.object}"


def object_name(identifier: Identifier) -> str:
    """Return what the protocol calls a table: ``t``, or ``t$branch_b``."""
    return str(identifier).removeprefix(f"{identifier.database}.")


@hides_secrets
class SchemaDocument(Document, kw_only=True, omit_defaults=False):
    """The definition of a table."""

    fields: list[dict[str, Any]]
    partition_keys: list[str] | None = None
    primary_keys: list[str] | None = None
    options: Texts | None = None
    comment: str | None = None

    @classmethod
    def of(cls, schema: TableSchema) -> SchemaDocument:
        """Write a schema."""
        return cls(
            fields=fields_to_json(schema.fields),
            partition_keys=list(schema.partition_keys),
            primary_keys=list(schema.primary_keys),
            options=dict(schema.options),
            comment=schema.comment,
        )

    def definition(self, *, name: str) -> Schema:
        """Read the definition of a new table.

        Raises
        ------
        CorruptMetadataError
            If it does not follow the format. ``name`` is only for the message.
        """
        return Schema(
            self._fields(name),
            self.partition_keys or (),
            self.primary_keys or (),
            self.options or {},
            self.comment,
        )

    def schema(self, schema_id: int, *, name: str) -> TableSchema:
        """Read the schema of a table; the highest id of a field is that of those it has.

        Raises
        ------
        CorruptMetadataError
            If it does not follow the format. ``name`` is only for the message.
        """
        fields = self._fields(name)
        return TableSchema(
            id=schema_id,
            fields=fields,
            highest_field_id=_highest_id(fields),
            partition_keys=tuple(self.partition_keys or ()),
            primary_keys=tuple(self.primary_keys or ()),
            options=dict(self.options or {}),
            comment=self.comment,
        )

    def _fields(self, name: str) -> tuple[DataField, ...]:
        try:
            return fields_from_json(self.fields)
        except SchemaError as error:
            raise CorruptMetadataError(name, f"not the definition of a table: {error}") from None


def _highest_id(fields: Sequence[DataField]) -> int:
    return max((max(field.id, _nested_id(field.type)) for field in fields), default=-1)


def _nested_id(data_type: DataType) -> int:
    match data_type:
        case ArrayType(element) | MultisetType(element):
            return _nested_id(element)
        case MapType(key, value):
            return max(_nested_id(key), _nested_id(value))
        case RowType(fields):
            return _highest_id(fields)
    return -1


@hides_secrets
class DatabaseAnswer(Audited, kw_only=True):
    """A database."""

    name: str
    id: str | None = None
    location: str | None = None
    options: Texts | None = None


class TableAnswer(Audited, kw_only=True):
    """A table as it is now."""

    name: str
    schema: SchemaDocument
    id: str = ""
    """Another one after the table was dropped and created again."""
    database: str | None = None
    path: str
    is_external: bool = False
    schema_id: int = 0


class ViewSchemaDocument(Document, kw_only=True, omit_defaults=False):
    """The definition of a view, as `paimonlab.spec.view.View` reads and writes it."""

    fields: list[dict[str, Any]]
    query: str
    dialects: Texts | None = None
    comment: str | None = None
    options: Texts | None = None


class ViewAnswer(Audited, kw_only=True):
    """A view."""

    name: str
    schema: ViewSchemaDocument
    id: str = ""


class FunctionAnswer(Audited, kw_only=True):
    """A function."""

    name: str
    uuid: str = ""
    input_params: list[dict[str, Any]] | None = None
    return_params: list[dict[str, Any]] | None = None
    deterministic: bool = False
    definitions: dict[str, Definition] | None = None
    comment: str | None = None
    options: Texts | None = None


class PartitionDocument(Audited, kw_only=True):
    """A partition as a catalog keeps it."""

    spec: Texts
    record_count: int = 0
    file_size_in_bytes: int = 0
    file_count: int = 0
    last_file_creation_time: int = 0
    total_buckets: int = 0
    done: bool = False
    options: Texts | None = None


class PartitionStatistics(Document, kw_only=True, omit_defaults=False):
    """How a commit changes a partition: sums may be negative."""

    spec: Mapping[str, str]
    record_count: int
    file_size_in_bytes: int
    file_count: int
    last_file_creation_time: int
    total_buckets: int = 0


class SnapshotState(Document, kw_only=True, omit_defaults=False):
    """The latest snapshot of a table, and what it has in all."""

    snapshot: Snapshot
    record_count: int = 0
    file_size_in_bytes: int = 0
    file_count: int = 0
    last_file_creation_time: int = 0


class TokenAnswer(Document, kw_only=True, omit_defaults=False):
    """Options of a store for the files of a table, and until when they hold."""

    token: Texts
    expires_at_millis: int

    def __repr__(self) -> str:
        return f"<TokenAnswer until {self.expires_at_millis}>"


class TagAnswer(Document, kw_only=True, omit_defaults=False):
    """A tag."""

    tag_name: str
    snapshot: Snapshot
    tag_create_time: int | None = None
    """Epoch milliseconds."""
    tag_time_retained: str | None = None


class ConsumerDocument(Document, kw_only=True, omit_defaults=False):
    """How far a consumer has read."""

    consumer_id: str
    next_snapshot: int


# What is asked.


class CreateDatabase(Document, kw_only=True, omit_defaults=False):
    """``POST /databases``."""

    name: str
    options: Texts | None = None


class AlterDatabase(Document, kw_only=True, omit_defaults=False):
    """``POST /databases/{db}``."""

    removals: list[str] | None = None
    updates: Texts | None = None


class AlteredDatabase(Document, kw_only=True, omit_defaults=False):
    """Its answer."""

    removed: list[str]
    updated: list[str]
    missing: list[str]


class CreateTable(Document, kw_only=True):
    """``POST /databases/{db}/tables``."""

    identifier: IdentifierDocument
    schema: SchemaDocument


class Replace(Document, kw_only=True):
    """``POST /tables/{t}/replace``."""

    schema: SchemaDocument
    from_schema_id: int | None = None
    """What the latest schema must be; Java's servers do not look at it."""


class CreateView(Document, kw_only=True):
    """``POST /databases/{db}/views``."""

    identifier: IdentifierDocument
    schema: ViewSchemaDocument


class Rename(Document, kw_only=True):
    """``POST /tables/rename``, ``/views/rename``."""

    source: IdentifierDocument
    destination: IdentifierDocument


class Register(Document, kw_only=True):
    """``POST /databases/{db}/register``."""

    identifier: IdentifierDocument
    path: str


class Alter(Document, kw_only=True):
    """``POST`` to a table, view or function: its changes, one object each."""

    changes: list[dict[str, Any]]


class Commit(Document, kw_only=True, omit_defaults=False):
    """``POST /tables/{t}/commit``."""

    table_id: str | None = None
    snapshot: Snapshot
    statistics: list[PartitionStatistics] | None = None


class CommitAnswer(Document, kw_only=True, omit_defaults=False):
    """Whether it was published; false: another snapshot has its id."""

    success: bool


class RollbackInstant(Document, kw_only=True):
    """Where a table is rolled back to."""

    type: str
    """``snapshot`` or ``tag``."""
    snapshot_id: int | None = None
    tag_name: str | None = None


class Rollback(Document, kw_only=True):
    """``POST /tables/{t}/rollback``."""

    instant: RollbackInstant
    from_snapshot: int | None = None
    """What the latest snapshot must be."""


class RollbackSchema(Document, kw_only=True, omit_defaults=False):
    """``POST /tables/{t}/rollback-schema``."""

    schema_id: int


class CreateBranch(Document, kw_only=True):
    """``POST /tables/{t}/branches``."""

    branch: str
    from_tag: str | None = None


class RenameBranch(Document, kw_only=True):
    """``POST /tables/{t}/branches/{b}/rename``."""

    to_branch: str


class CreateTag(Document, kw_only=True):
    """``POST /tables/{t}/tags``."""

    tag_name: str
    snapshot_id: int | None = None
    time_retained: str | None = None


class ResetConsumer(Document, kw_only=True):
    """``POST /tables/{t}/consumers/reset``."""

    consumer_id: str
    next_snapshot_id: int | None = None
    """None: delete it."""


class MarkDone(Document, kw_only=True, omit_defaults=False):
    """``POST /tables/{t}/partitions/mark``, ``/list-by-names``."""

    specs: list[Texts]


class AuthQuery(Document, kw_only=True, omit_defaults=False):
    """``POST /tables/{t}/auth``."""

    select: list[str] | None = None


class AuthAnswer(Document, kw_only=True, omit_defaults=False):
    """Rules for reading a table."""

    filter: list[str] | None = None
    column_masking: Texts | None = None


# Lists, page by page.


class Page(Document, kw_only=True, omit_defaults=False):
    """A part of a list."""

    items: ClassVar[str] = ""
    """The field with the parts."""
    next_page_token: str | None = None


class DatabasesPage(Page, kw_only=True):
    """Names of databases."""

    items: ClassVar[str] = "databases"
    databases: list[str] | None = None


class TablesPage(Page, kw_only=True):
    """Names of tables."""

    items: ClassVar[str] = "tables"
    tables: list[str] | None = None


class TableDetailsPage(Page, kw_only=True):
    """Tables."""

    items: ClassVar[str] = "table_details"
    table_details: list[TableAnswer] | None = None


class AllTablesPage(Page, kw_only=True):
    """Names of tables in all databases."""

    items: ClassVar[str] = "tables"
    tables: list[IdentifierDocument] | None = None


class ViewsPage(Page, kw_only=True):
    """Names of views."""

    items: ClassVar[str] = "views"
    views: list[str] | None = None


class ViewDetailsPage(Page, kw_only=True):
    """Views."""

    items: ClassVar[str] = "view_details"
    view_details: list[ViewAnswer] | None = None


class AllViewsPage(Page, kw_only=True):
    """Names of views in all databases."""

    items: ClassVar[str] = "views"
    views: list[IdentifierDocument] | None = None


class FunctionsPage(Page, kw_only=True):
    """Names of functions."""

    items: ClassVar[str] = "functions"
    functions: list[str] | None = None


class FunctionDetailsPage(Page, kw_only=True):
    """Functions."""

    items: ClassVar[str] = "function_details"
    function_details: list[FunctionAnswer] | None = None


class AllFunctionsPage(Page, kw_only=True):
    """Names of functions in all databases."""

    items: ClassVar[str] = "functions"
    functions: list[IdentifierDocument] | None = None


class SnapshotsPage(Page, kw_only=True):
    """Snapshots of a table."""

    items: ClassVar[str] = "snapshots"
    snapshots: list[Snapshot] | None = None


class PartitionsPage(Page, kw_only=True):
    """Partitions of a table."""

    items: ClassVar[str] = "partitions"
    partitions: list[PartitionDocument] | None = None


class TagsPage(Page, kw_only=True):
    """Names of tags."""

    items: ClassVar[str] = "tags"
    tags: list[str] | None = None


class ConsumersPage(Page, kw_only=True):
    """Consumers of a table."""

    items: ClassVar[str] = "consumers"
    consumers: list[ConsumerDocument] | None = None


class BranchesAnswer(Document, kw_only=True, omit_defaults=False):
    """Names of branches; null: none."""

    branches: list[str] | None = None


class SnapshotAnswer(Document, kw_only=True, omit_defaults=False):
    """One snapshot."""

    snapshot: Snapshot | None = None


class LatestAnswer(Document, kw_only=True, omit_defaults=False):
    """The latest snapshot of a table."""

    snapshot: SnapshotState | None = None
