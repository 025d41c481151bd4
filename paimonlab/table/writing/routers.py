"""Routers of tables whose rows alone do not say their bucket: by what is known of their keys."""

from __future__ import annotations

from functools import partial

import pyarrow as pa

from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.writing.key_index import KeyIndex
from paimonlab.table.writing.known_places import known_places, nothing_known
from paimonlab.write.hash_indexes import HashIndexFiles
from paimonlab.write.key_router import KeyRouter
from paimonlab.write.routing import DynamicRouter, Router
from paimonlab.write.write_plan import WritePlan


def router_of(
    definition: TableDefinition,
    store: TableStore,
    plan: WritePlan,
    snapshot: Snapshot | None,
    numbers: pa.Table,
    *,
    replaces: bool,
) -> Router:
    """Make what gives rows their buckets, which rows alone do not say.

    Parameters
    ----------
    definition, store
        The table's definition and store.
    plan
        How the writer writes.
    snapshot
        The one that it continues from.
    numbers
        The highest sequence number of each bucket there.
    replaces
        Whether what is in the buckets goes.
    """
    if plan.bucket_mode is BucketMode.HASH_DYNAMIC:
        return _dynamic_router(definition, store, plan, snapshot, numbers, replaces=replaces)
    return _key_router(definition, store, plan, snapshot, replaces=replaces)


def _dynamic_router(
    definition: TableDefinition,
    store: TableStore,
    plan: WritePlan,
    snapshot: Snapshot | None,
    live: pa.Table,
    *,
    replaces: bool,
) -> DynamicRouter:
    """Make what gives rows their buckets by the hashes of known keys."""
    if replaces:
        files = HashIndexFiles(store.file_io, plan)
        return DynamicRouter(plan.schema, plan.dynamic, files, lambda _: {})
    index = KeyIndex(definition, store, snapshot, live)
    return DynamicRouter(plan.schema, plan.dynamic, index.files, index.hashes)


def _key_router(
    definition: TableDefinition,
    store: TableStore,
    plan: WritePlan,
    snapshot: Snapshot | None,
    *,
    replaces: bool,
) -> KeyRouter:
    """Make what gives rows their buckets by the place where their keys are."""
    if replaces or snapshot is None:
        snapshot_id = None if replaces else 0
        nothing = partial(nothing_known, definition, store, plan)
        return KeyRouter(plan, nothing, snapshot_id=snapshot_id)
    known = partial(known_places, definition, store, plan, snapshot)
    return KeyRouter(plan, known, snapshot_id=snapshot.id)
