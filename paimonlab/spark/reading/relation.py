"""A table at a snapshot as something Spark plans: what the catalog calls to read.

``view_for(bridge, table, given, name=…)``
    A `View` of the connector API, for ``RelationCatalog.loadRelation``: its text selects from a
    temporary view that was made of native Parquet scans over a Python `FileIndex`.
``table_for(bridge, catalog, identifier, table, arguments, given, name=…)``
    The same at a snapshot of the past, or of what commits changed, as a `V1Table`, for
    ``loadTable`` with time travel or read options: Spark asks for a table there, and reads a
    `V1Table` that stands for a view as that view.

``name`` are the parts of the table's name: catalog, database, table. The writing side is
`paimonlab.spark.writing.write.WriteBuilder`.
"""

from __future__ import annotations

import itertools
import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from paimonlab.secrets import hides_secrets
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge
from paimonlab.spark.reading.file_shape import has_time
from paimonlab.spark.reading.frames import read_frame, scan_abilities
from paimonlab.spark.reading.relation_schema import relation_schema
from paimonlab.spark.reading.scan import Abilities
from paimonlab.spark.reading.time_travel import (
    CHOOSING_OPTIONS,
    TravelArguments,
    is_of_now,
    pinned_snapshot,
    reads_changes,
    skip_options,
)
from paimonlab.spark.session_options import SessionOptions, options_of
from paimonlab.spark.values.quoting import quoted
from paimonlab.spec.options.table_options import check_supported
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.time_travel import TravelPoint, travel

if TYPE_CHECKING:
    from paimonlab.table.store import TableStore
    from paimonlab.table.table import Table

VIEW_PROPERTY = "paimonlab.relation"
"""What views of ours have beside the properties that Spark knows."""
_GLOBAL_TEMP = "global_temp"
_KEPT_RELATIONS = 64

_numbers = itertools.count(1)
_lock = threading.Lock()


@hides_secrets
@dataclass(frozen=True, slots=True)
class _Key:
    """What makes two reads the same."""

    path: str
    """Of the branch."""
    snapshot: tuple[int, str] | None
    """Id and delta manifest list: a table created anew at the same place has other ones."""
    schema: tuple[int, int]
    """Id and time."""
    abilities: Abilities
    options: frozenset[tuple[str, str]]
    """Those of the table and of the session."""
    commits: tuple[int, ...] = ()
    """Ids of the snapshots whose changes are read, and of the one before a difference."""
    fallback: _Key | None = None
    """Of the branch that has the partitions which are missing here."""


_relations: weakref.WeakKeyDictionary[Any, OrderedDict[_Key, str]] = weakref.WeakKeyDictionary()
"""Names of the temporary views of each Spark application."""


def view_for(bridge: Bridge, table: Table, given: SessionOptions, *, name: Sequence[str]) -> Any:
    """Return a view of a table as it is now.

    Parameters
    ----------
    bridge
        The session.
    table
        What to read; a ``scan.…`` option, its own or the session's, chooses the snapshot.
    given
        The session's options.
    name
        Catalog, database and table.

    Raises
    ------
    UnsupportedError
        If Spark has no type for a column, or the table cannot be read.
    """
    return _view(bridge, table.scan(options=options_of(given, table)), name)


def table_for(
    bridge: Bridge,
    catalog: Any,
    identifier: Any,
    table: Table,
    arguments: TravelArguments,
    given: SessionOptions,
    *,
    name: Sequence[str],
) -> Any:
    """Return a table as it was, with the schema of that time, or what commits changed in it.

    Parameters
    ----------
    bridge
        The session.
    catalog, identifier
        What Spark called ``loadTable`` of, and with.
    table
        What to read.
    arguments
        The point in time, or the commits.
    given
        The session's options; those of the read override a snapshot or commits chosen by them.
    name
        Catalog, database and table.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such snapshot.
    """
    v1_table = bridge.java_class(CONNECTOR + "catalog.V1Table")
    view = _view(bridge, scan_at(table, arguments, given), name)
    return v1_table(v1_table.toCatalogTable(catalog, identifier, view))


def scan_at(table: Table, arguments: TravelArguments, given: SessionOptions) -> Scan:
    """Prepare the read of a point in time, or of what commits changed; see `table_for`."""
    store = store_of(table)
    skips = skip_options(arguments)
    options = {**options_of(given, table), **skips}
    if is_of_now(arguments):
        return table.scan(options=options)
    others = {key: value for key, value in options.items() if key not in CHOOSING_OPTIONS}
    if reads_changes(arguments) or "scan.fallback-branch" in {*others, *table.options}:
        own = arguments.get("options", {})
        return table.scan(**{**_by_id(arguments, store), "options": {**others, **own}})
    snapshot = pinned_snapshot(table, arguments)
    chosen = {"scan.snapshot-id": str(snapshot.id)}  # so that it is told from the latest
    definition = definition_of(table).with_options({**others, **chosen})
    schema = store.schemas.get(snapshot.schema_id)
    check_supported(definition.options, schema, "read")
    return Scan(
        definition=definition,
        store=store,
        snapshot=snapshot,
        schema=schema,
        columns=schema.field_names,
        predicate=None,
        row_limit=None,
    )


def _by_id(arguments: TravelArguments, store: TableStore) -> TravelArguments:
    """Say which snapshot a version is, for a fallback branch: ids of its own mean others."""
    if "version" not in arguments:
        return arguments
    point = TravelPoint(version=arguments["version"])
    snapshot = travel(point, store.snapshots, store.tags, store.name)
    kept = snapshot is not None and snapshot.id in store.snapshots.ids()
    return {"snapshot": snapshot.id} if snapshot is not None and kept else arguments


def _view(bridge: Bridge, scan: Scan, name: Sequence[str]) -> Any:
    catalog, database, _ = name
    schema = relation_schema(scan.schema.fields)
    temporary = _temporary_view(bridge, scan)
    has_times = any(map(has_time, scan.schema.fields))
    if has_times:  # Spark refuses casts to TIME; where types are those of the query it makes none
        read = bridge.spark.table(f"{_GLOBAL_TEMP}.{quoted(temporary)}").schema
        for field, own in zip(schema, read, strict=True):
            field.dataType, field.nullable = own.dataType, own.nullable
    columns = ", ".join(map(quoted, schema.names))
    builder = bridge.java_class(CONNECTOR + "catalog.View$Builder")()
    builder.withSchema(bridge.java_schema(schema))
    text = f"SELECT {columns} FROM {_GLOBAL_TEMP}.{quoted(temporary)}"  # noqa: S608 - quoted
    builder.withQueryText(text)
    builder.withCurrentCatalog(catalog)
    builder.withCurrentNamespace(bridge.strings([database]))
    builder.withQueryColumnNames(bridge.strings(schema.names))
    builder.withSqlConfigs(bridge.map({}))
    builder.withSchemaMode("TYPE EVOLUTION" if has_times else "BINDING")
    names = json.dumps([[_GLOBAL_TEMP, temporary]])
    properties = {"view.referredTempViewNames": names, VIEW_PROPERTY: temporary}
    builder.withProperties(bridge.map(properties))
    return builder.build()


def _temporary_view(bridge: Bridge, scan: Scan) -> str:
    """Return the name of a view of the scan; reads of the same files share one."""
    key = _key(bridge, scan)
    context = bridge.spark.sparkContext
    with _lock:
        known = _relations.setdefault(context, OrderedDict())
        if key in known:
            known.move_to_end(key)
            return known[key]
    name = f"paimonlab_{next(_numbers)}"
    read_frame(bridge, scan).createGlobalTempView(name)
    with _lock:
        kept = known.setdefault(key, name)  # another thread may have been faster
        surplus = [name] if kept != name else []
        while len(known) > _KEPT_RELATIONS:
            surplus.append(known.popitem(last=False)[1])
    for view in surplus:
        bridge.spark.catalog.dropGlobalTempView(view)
    return kept


def _key(bridge: Bridge, scan: Scan) -> _Key:
    snapshot, changes = scan.snapshot, scan.changes
    commits = () if changes is None else (changes.range.before, *changes.range.snapshots)
    return _Key(
        scan.store.layout.branch_path,
        None if snapshot is None else (snapshot.id, snapshot.delta_manifest_list),
        (scan.schema.id, scan.schema.time_millis),
        scan_abilities(bridge, scan),
        frozenset(scan.definition.options.items()),
        tuple(0 if one is None else one.id for one in commits),
        None if scan.fallback is None else _key(bridge, scan.fallback),
    )
