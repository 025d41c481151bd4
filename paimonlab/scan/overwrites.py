"""What an overwrite changed: which files hold the rows that are gone, and those that are new.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.snapshot.FollowUpScanner`` and
``…SnapshotReaderImpl.readChanges``.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.change_splits import ChangeRequest, ChangeSplit, by_age, splits_of
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.entries import concat, identities
from paimonlab.scan.file_times import created_since
from paimonlab.scan.live_files import delta_manifests_of, in_real_buckets, read_entries
from paimonlab.scan.pruning import (
    matches_buckets,
    matches_keys,
    matches_manifests,
    matches_partitions,
    matches_values,
)
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.snapshot import Snapshot


def overwrite_changes(
    before: Snapshot | None,
    snapshot: Snapshot,
    request: ChangeRequest,
    schemas: SchemaManager,
    manifests: ManifestStore,
) -> list[ChangeSplit]:
    """Find the files that an overwrite took away and added.

    Parameters
    ----------
    before
        The snapshot before, whose deletion vectors say which rows were already deleted; None if it
        expired or never existed.
    snapshot
        The overwrite.
    request
        What is to be read.
    schemas, manifests
        The table's schemas and manifests.

    Returns
    -------
    list of ChangeSplit
        For a primary-key table the old rows, bucket by bucket, then the new ones. For an append
        table only the new files: rows that were rewritten come again.
    """
    conditions = Conditions.of(request.predicate, request.schema)
    if conditions.is_impossible:
        return []
    metas = delta_manifests_of(snapshot, manifests)
    keeps = matches_manifests(metas, conditions, None, request.schema).tolist()
    kept = [meta for meta, keep in zip(metas, keeps, strict=True) if keep]
    entries = in_real_buckets(concat(read_entries(snapshot, kept, manifests)))
    if not entries.num_rows:
        return []
    mask = matches_partitions(entries, conditions, request.schema)
    mask &= matches_buckets(entries, conditions, None, request.schema, schemas)
    mask &= matches_keys(entries, conditions, request.schema, schemas)
    if not request.schema.primary_keys:
        mask &= matches_values(entries, conditions, request.schema, schemas)
    if request.created_since_millis is not None:
        mask &= created_since(entries, request.created_since_millis)
    added, gone = _sides(entries.filter(arrow_array(mask)))
    if not request.schema.primary_keys:
        target_bytes = request.options.split_target_bytes
        splits = splits_of(added, request, snapshot.id, target_bytes=target_bytes)
        return [ChangeSplit(after=split) for split in splits]
    beside_data = request.options.has_indexes_beside_data
    sides = [(gone, before or snapshot), (added, snapshot)]
    befores, afters = (
        list(
            splits_of(
                by_age(files),
                request,
                snapshot.id,
                vectors=DeletionFiles.of(snapshot, manifests, beside_data=beside_data),
            )
        )
        for files, snapshot in sides
    )
    # A key may come again in another bucket or partition: first all rows go.
    return [
        *(ChangeSplit(before=split, after=None, is_state=True) for split in befores),
        *(ChangeSplit(after=split, is_state=True) for split in afters),
    ]


def _sides(entries: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Separate added files from deleted ones; files that are both are left out."""
    is_added = numpy_values(entries["kind"]) == int(FileKind.ADD)
    identity = identities(entries)
    both = np.intersect1d(identity[is_added], identity[~is_added])
    counts = ~np.isin(identity, both)
    return (
        entries.filter(arrow_array(is_added & counts)),
        entries.filter(arrow_array(~is_added & counts)),
    )
