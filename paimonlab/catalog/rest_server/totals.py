"""What the latest snapshots of tables have in all, and their partitions."""

from __future__ import annotations

import threading

import pyarrow as pa

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.partition_statistics import partition_statistics
from paimonlab.catalog.rest.wire import (
    MarkDone,
    PartitionDocument,
    PartitionsPage,
    PartitionStatistics,
    SnapshotState,
)
from paimonlab.catalog.rest_server.exchange import Request
from paimonlab.catalog.rest_server.listing import matching, page_of
from paimonlab.catalog.rest_server.tables import opened, table_id_of
from paimonlab.errors import UnsupportedError
from paimonlab.scan.entries import concat
from paimonlab.scan.live_files import delta_manifests_of, live_entries, read_entries
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

_REMEMBERED = 10_000
_NAMES_PATTERN = "partitionNamePattern"


class Totals:
    """Sums over the files of tables; those of a snapshot follow from the ones before it."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str | None], SnapshotState] = {}
        self._turn = threading.Lock()

    def of(self, table: Table, snapshot: Snapshot) -> SnapshotState:
        """Return a snapshot of a table with its sums."""
        key = (table_id_of(table), table.identifier.branch)
        known = self._known.get(key)
        if known is not None and known.snapshot == snapshot:
            return known
        manifests = store_of(table).manifests
        if known is not None and known.snapshot.id + 1 == snapshot.id:
            metas = delta_manifests_of(snapshot, manifests)
            entries = concat(read_entries(snapshot, metas, manifests))
        else:
            known, entries = None, live_entries(snapshot, manifests)
        state = _added(known, snapshot, _statistics(table, entries))
        with self._turn:
            self._known[key] = state
            while len(self._known) > _REMEMBERED:
                self._known.pop(next(iter(self._known)))
        return state


def _added(
    before: SnapshotState | None, snapshot: Snapshot, statistics: list[PartitionStatistics]
) -> SnapshotState:
    state = before or SnapshotState(snapshot=snapshot)
    newest = max((one.last_file_creation_time for one in statistics), default=0)
    return SnapshotState(
        snapshot=snapshot,
        record_count=state.record_count + sum(one.record_count for one in statistics),
        file_size_in_bytes=state.file_size_in_bytes
        + sum(one.file_size_in_bytes for one in statistics),
        file_count=state.file_count + sum(one.file_count for one in statistics),
        last_file_creation_time=max(state.last_file_creation_time, newest),
    )


def _statistics(table: Table, entries: pa.Table) -> list[PartitionStatistics]:
    definition = definition_of(table)
    return partition_statistics(
        entries, definition.partition_fields, definition.options.slice(PartitionOptions)
    )


def partitions(catalog: Catalog, request: Request, database: str, name: str) -> PartitionsPage:
    """List partitions, from the files of the latest snapshot."""
    found = _partitions(opened(catalog, database, name))
    names = set(matching(list(found), request.query.get(_NAMES_PATTERN)))
    page, token = page_of([one for one in found if one in names], request.query, str)
    return PartitionsPage(partitions=[found[one] for one in page], next_page_token=token)


def partitions_by_names(
    catalog: Catalog, request: Request, database: str, name: str
) -> PartitionsPage:
    """Describe some partitions; those that do not exist are left out."""
    wanted = request.document(MarkDone).specs
    found = _partitions(opened(catalog, database, name)).values()
    return PartitionsPage(partitions=[one for one in found if one.spec in wanted])


def partitions_marked(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Refuse to note that partitions are done: there is no place for that."""
    del request
    opened(catalog, database, name)
    raise UnsupportedError(
        f"marking partitions of {database}.{name} as done in the catalog",
        "it finds partitions in the files of the table",
    )


def _partitions(table: Table) -> dict[str, PartitionDocument]:
    if not table.partition_keys:
        raise UnsupportedError(f"partitions of {table.name}", "it has no partition columns")
    snapshot = table.snapshot
    if snapshot is None:
        return {}
    entries = live_entries(snapshot, store_of(table).manifests)
    return {
        "/".join(f"{key}={value}" for key, value in one.spec.items()): PartitionDocument(
            spec=dict(one.spec),
            record_count=one.record_count,
            file_size_in_bytes=one.file_size_in_bytes,
            file_count=one.file_count,
            last_file_creation_time=one.last_file_creation_time,
            total_buckets=one.total_buckets,
        )
        for one in _statistics(table, entries)
    }
