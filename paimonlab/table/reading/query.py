"""From what a user asks for to a read: which branch, which snapshot, which columns.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.AbstractDataTableScan`` and
``org.apache.paimon.table.FallbackReadFileStoreTable``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field, structs

from paimonlab.errors import SchemaError, SnapshotNotFoundError, UnsupportedError
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.secrets import hides_secrets
from paimonlab.spec.options.table_options import check_known, check_supported
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import FIRST_SNAPSHOT_ID, Snapshot
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.table import reading
from paimonlab.table.branch_options import BranchOptions
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.conditions import bound, is_of_library, resolved
from paimonlab.table.reading.expressions import predicate_of, what_prunes, with_condition
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import OfChanges, OfFallback, OfSnapshot, WithFallback
from paimonlab.table.reading.time_travel import Start, TravelPoint, check_no_start, start_of, travel
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    from paimonlab.table.reading.changes import Changes
    from paimonlab.table.reading.incremental import ChangeRange

_OF_ONE_BRANCH = frozenset({"branch", "scan.fallback-branch", "bucket"})
"""Options that a fallback branch does not share."""
_SNAPSHOT_ID = "scan.snapshot-id"
_INCREMENTAL = "incremental-"


@hides_secrets
class Query(Struct, frozen=True, kw_only=True):
    """What a read is asked for."""

    columns: Sequence[str] | None = None
    where: Any = None
    limit: int | None = None
    point: TravelPoint = field(default_factory=TravelPoint)
    options: Mapping[str, str] = field(default_factory=dict)
    """For this read only."""
    known: Snapshot | None = None
    """The snapshot of ``point``, if it was read already; its file is not read again."""


def scan_of(definition: TableDefinition, store: TableStore, query: Query) -> Scan:
    """Prepare a read; see `Table.scan`."""
    if is_of_library(query.where):
        return _of_library(definition, store, query)
    text = query.where
    if not isinstance(text, str):
        return _scan(definition, store, query)
    try:
        known, is_whole = predicate_of(text)
    except SchemaError as error:
        names = [name for name in definition.schema.field_names if " " in name and name in text]
        bare = [name for name in names if f"`{name}`" not in text]
        if not bare or bare[0] in str(error).rpartition("^")[2]:
            raise
        hint = f"\na name with a blank is written in backquotes: `{bare[0]}`"
        raise SchemaError(f"{error}{hint}") from None
    if is_whole:
        return _scan(definition, store, structs.replace(query, where=known))
    rows = _scan(definition, store, structs.replace(query, where=known, limit=None))
    return with_condition(rows, text, query.limit)


def _of_library(definition: TableDefinition, store: TableStore, query: Query) -> Scan:
    """Prepare a read by an expression of pyarrow or polars, over the columns of its snapshot."""
    rows = _scan(definition, store, structs.replace(query, where=None, limit=None))
    known, is_whole = what_prunes(query.where, rows.schema.arrow_schema, definition.name)
    rows = rows.narrowed(rows.columns, bound(known, rows.schema.fields, definition.name))
    if is_whole:
        return replace(rows, row_limit=query.limit)
    return with_condition(rows, query.where, query.limit)


def _scan(definition: TableDefinition, store: TableStore, query: Query) -> Scan:
    definition, store = with_read_options(definition, store, query.options)
    if query.point.is_now and any(key.startswith(_INCREMENTAL) for key in definition.options):
        between = reading.incremental.range_of_options(definition, store)
        if between is not None:
            check_no_start(definition)
            return _scan_changes(changes_of(definition, store, between, query), query.limit)
    scan = _scan_branch(definition, store, query)
    fallback = definition.options.slice(BranchOptions).fallback
    if fallback is None:
        return scan
    return replace(scan, kind=WithFallback(_rows(scan), _fallback(scan, fallback, query)))


def changes_of(
    definition: TableDefinition, store: TableStore, between: ChangeRange, query: Query
) -> Changes:
    """Prepare a read of changes; see `Table.changes`."""
    _refuse_fallback(definition, "changes of")
    columns, schema, predicate = resolved(
        query.columns, query.where, definition.schema, definition.options, definition.name
    )
    return reading.changes.Changes(
        definition=definition,
        store=store,
        range=between,
        schema=schema,
        columns=columns,
        predicate=predicate,
    )


def with_read_options(
    definition: TableDefinition, store: TableStore, options: Mapping[str, str]
) -> tuple[TableDefinition, TableStore]:
    """Return a table with options for one read, on the branch that these choose.

    Raises
    ------
    SchemaError
        If one of the options is unknown.
    UnsupportedError
        If an option of the table would change the rows and is not implemented.
    """
    check_known(options)
    if "branch" in options:
        definition, store = store.on_branch(options["branch"])
    if options:
        definition = definition.with_options(options)
    check_supported(definition.options, definition.schema, "read")
    return definition, store


def _scan_branch(definition: TableDefinition, store: TableStore, query: Query) -> Scan:
    start = _start(definition, store, query)
    schema = definition.schema
    if start.has_its_schema and start.snapshot is not None:
        schema = store.schemas.get(start.snapshot.schema_id)
    columns, schema, predicate = resolved(
        query.columns, query.where, schema, definition.options, definition.name
    )
    return Scan(
        definition=definition,
        store=store,
        snapshot=start.snapshot,
        schema=schema,
        columns=columns,
        predicate=predicate,
        row_limit=query.limit,
        kind=OfSnapshot(created_since_millis=start.created_since_millis),
    )


def _start(definition: TableDefinition, store: TableStore, query: Query) -> Start:
    if query.known is not None:
        return Start(snapshot=query.known, has_its_schema=True)
    if query.point.is_now:
        return start_of(definition, store)
    snapshot = travel(query.point, store.snapshots, store.tags, definition.name)
    return Start(snapshot=snapshot, has_its_schema=True)


def _scan_changes(changes: Changes, limit: int | None) -> Scan:
    return Scan(
        definition=changes.definition,
        store=changes.store,
        snapshot=changes.range.snapshots[-1] if changes.range.snapshots else None,
        schema=changes.schema,
        columns=changes.columns,
        predicate=changes.predicate,
        row_limit=limit,
        kind=OfChanges(changes),
    )


def _fallback(scan: Scan, branch: str, query: Query) -> Scan:
    """Prepare the read of the partitions that a branch does not have."""
    main = scan.definition
    own, store = scan.store.on_branch(branch)
    options = {key: value for key, value in query.options.items() if key not in _OF_ONE_BRANCH}
    point = query.point
    is_id = options.pop(_SNAPSHOT_ID, None) is not None or point.snapshot is not None
    if is_id or _is_snapshot(point.version, scan.store):
        assert scan.snapshot is not None, "the snapshot was found"
        point = TravelPoint(snapshot=_same_time(scan.snapshot, store.snapshots))
    own, store = with_read_options(own, store, options)
    _check_same_columns(main, scan.schema, own)
    asked = structs.replace(
        query, point=point, known=None, options=options, columns=scan.columns, limit=None
    )
    other = _scan_branch(own, store, asked)
    return replace(other, kind=OfFallback(_rows(other), hidden_by=scan))


def _is_snapshot(version: int | str | None, store: TableStore) -> bool:
    """Whether a version is the id of a snapshot, and no name of a tag."""
    text = str(version)
    return text.isdigit() and text not in dict(store.tags.list())


def _rows(scan: Scan) -> OfSnapshot:
    assert isinstance(scan.kind, OfSnapshot), "a branch by itself is read as it is"
    return scan.kind


def _same_time(snapshot: Snapshot, snapshots: SnapshotManager) -> int:
    """Find the snapshot of another branch for a snapshot of this one: ids do not compare.

    Where the other branch was not there yet, its first snapshot stands in, as in Java.
    """
    try:
        return snapshots.at_or_before(snapshot.time_millis).id
    except SnapshotNotFoundError:
        return FIRST_SNAPSHOT_ID


def _check_same_columns(main: TableDefinition, schema: TableSchema, other: TableDefinition) -> None:
    ours, theirs = (
        [(field.name, with_nullable(field.type, nullable=True)) for field in fields]
        for fields in (schema.fields, other.schema.fields)
    )
    if ours != theirs:
        raise SchemaError(f"{main.name} and its fallback branch {other.name} have other columns")
    if main.schema.partition_keys != other.schema.partition_keys:
        raise SchemaError(f"{main.name} and its fallback branch {other.name} have other partitions")
    keys = main.schema.primary_keys
    if keys and keys != other.schema.primary_keys:
        raise SchemaError(
            f"{main.name} has the primary key {', '.join(keys)}, its fallback branch "
            f"{other.name} has not"
        )


def _refuse_fallback(definition: TableDefinition, what: str) -> None:
    fallback = definition.options.slice(BranchOptions).fallback
    if fallback is not None:
        raise UnsupportedError(f"scan.fallback-branch = '{fallback}'", f"{what} {definition.name}")
