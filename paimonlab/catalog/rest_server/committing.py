"""Publishing snapshots that clients made."""

from __future__ import annotations

from paimonlab.commit.kept_settlement import KeptSettler
from paimonlab.commit.lineage import Traces
from paimonlab.commit.settlement import Fate, Settler
from paimonlab.metadata.hints import write_hint
from paimonlab.metadata.kept_history import KeptHistory
from paimonlab.scan.entries import concat
from paimonlab.scan.live_files import delta_manifests_of, read_entries
from paimonlab.spec.snapshot import FIRST_SNAPSHOT_ID, Snapshot
from paimonlab.table.store import TableStore


def published(store: TableStore, made: Snapshot) -> bool:
    """Publish a snapshot if it follows the latest one; False if that has changed.

    It is settled like one of our own commits (ADR 0004): a server that stood still meanwhile does
    not say yes to a snapshot that nobody sees.

    Raises
    ------
    CommitError, TableNotFoundError
        If it was not published, or it is unknown whether it was.
    """
    base = store.snapshots.latest()
    if made.id != (FIRST_SNAPSHOT_ID if base is None else base.id + 1):
        return False
    settler = _settler(store)
    if settler.settle(made, base, _traces(store, made, base)) is not Fate.LANDED:
        return False
    store.snapshots.write_latest_hint(made.id)
    if made.id == FIRST_SNAPSHOT_ID and not isinstance(store.publisher, KeptHistory):
        write_hint(store.file_io, store.layout.earliest_hint, made.id)
    return True


def _settler(store: TableStore) -> Settler | KeptSettler:
    if isinstance(store.publisher, KeptHistory):
        return KeptSettler(table=store.name, kept=store.publisher, manifests=store.manifests)
    return Settler(
        table=store.name,
        file_io=store.file_io,
        layout=store.layout,
        publisher=store.publisher,
        snapshots=store.snapshots,
        manifests=store.manifests,
        schemas=store.schemas,
    )


def _traces(store: TableStore, made: Snapshot, base: Snapshot | None) -> Traces:
    metas = delta_manifests_of(made, store.manifests)
    is_new_index = base is None or made.index_manifest != base.index_manifest
    is_new_sum = base is None or made.statistics != base.statistics
    return Traces(
        frozenset(meta.file_name for meta in metas),
        lambda: concat(read_entries(made, metas, store.manifests)),
        index_manifest=made.index_manifest if is_new_index else None,
        statistics=made.statistics if is_new_sum else None,
    )
