"""The live files of a snapshot as one Arrow table."""

from __future__ import annotations

import pyarrow as pa

from paimonlab.arrow_values import empty_table
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import in_real_buckets, live_entries
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA
from paimonlab.spec.snapshot import Snapshot


def files_of(
    manifests: ManifestStore, snapshot: Snapshot | None, *, with_postponed: bool = False
) -> pa.Table:
    """All entries of live files, one row per file, columns as `ENTRY_SCHEMA`.

    Files that wait for a compaction to give their rows buckets are there only if asked for.
    """
    if snapshot is None:
        return empty_table(ENTRY_SCHEMA)
    files = live_entries(snapshot, manifests)
    return files if with_postponed else in_real_buckets(files)
