"""Where the sequence numbers of each bucket stand: what a writer goes on from.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.AbstractFileStoreWrite``.
"""

from __future__ import annotations

import pyarrow as pa

from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.manifest import ENTRY_SCHEMA
from paimonlab.spec.snapshot import Snapshot

_KEYS = ["partition", "bucket", "total_buckets"]


def restore_sequence_numbers(snapshot: Snapshot | None, manifests: ManifestStore) -> pa.Table:
    """Return the greatest sequence number of every bucket that has files.

    Parameters
    ----------
    snapshot
        None: the table is empty.
    manifests
        The manifests of the table.

    Returns
    -------
    pyarrow.Table
        One row a bucket: ``partition`` (large_binary, serialised BinaryRow), ``bucket``
        (int32), ``total_buckets`` (int32), ``max_sequence_number`` (int64).
    """
    if snapshot is None:
        names = [*_KEYS, "max_sequence_number"]
        return pa.schema([ENTRY_SCHEMA.field(name) for name in names]).empty_table()
    entries = live_entries(snapshot, manifests)
    numbers = entries.select([*_KEYS, "max_sequence_number"])
    grouped = numbers.group_by(_KEYS).aggregate([("max_sequence_number", "max")])
    return grouped.rename_columns([*_KEYS, "max_sequence_number"])
