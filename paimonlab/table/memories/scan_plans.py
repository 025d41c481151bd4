"""Plans of recent reads of whole snapshots: what a snapshot has never changes."""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.plan import Plan, ScanRequest, plan
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.storage.recent import Recent

_FILE_BYTES = 1 << 10
"""What the values of a file take in a split, roughly."""

Key: TypeAlias = tuple[str | int | ScanOptions | None, ...]
ScanPlanCache: TypeAlias = Recent[Key, Plan]
"""By what `key_of` says."""


def planned(
    cache: ScanPlanCache,
    request: ScanRequest,
    *,
    schema: TableSchema,
    schemas: SchemaManager,
    manifests: ManifestStore,
    options: ScanOptions,
    table: str,
) -> Plan:
    """Plan a read as `paimonlab.scan.plan.plan` does; without a condition once a snapshot.

    That plan is shared by reads with any limit, and by counts.

    Parameters
    ----------
    cache
        Of the table.
    request, schema, schemas, manifests, options, table
        As there.
    """
    key = key_of(request, options, schema.id)
    if key is None:
        return plan(request, schema, schemas, manifests, options, table=table)
    found = cache.get(key)
    if found is None:
        whole = replace(request, limit=None)
        found = plan(whole, schema, schemas, manifests, options, table=table)
        size = found.files.nbytes + _FILE_BYTES * (1 + found.files.num_rows)
        cache.put(key, found, size)
    return found.limited(request.limit)


def key_of(request: ScanRequest, options: ScanOptions, schema_id: int) -> Key | None:
    """Return what tells a plan from others; None: it is not remembered.

    Manifest lists have names that no other snapshot has, also where one was rolled back.
    """
    snapshot = request.snapshot
    if snapshot is None or request.predicate is not None or request.buckets is not None:
        return None
    return (
        snapshot.id,
        snapshot.base_manifest_list,
        snapshot.delta_manifest_list,
        snapshot.index_manifest,
        schema_id,
        options,
        request.level,
        request.min_level,
        request.created_since_millis,
    )
