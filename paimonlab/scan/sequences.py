"""The greatest sequence number of each bucket, from which a writer continues.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.AbstractFileStoreWrite``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table, numpy_values
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import codes, group_codes
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, FileKind, is_kind
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
        One row per bucket: ``partition`` (large_binary, serialised BinaryRow), ``bucket``
        (int32), ``total_buckets`` (int32), ``max_sequence_number`` (int64).
    """
    if snapshot is None:
        names = [*_KEYS, "max_sequence_number"]
        return empty_table(pa.schema([ENTRY_SCHEMA.field(name) for name in names]))
    return _greatest(live_entries(snapshot, manifests))


def with_changes(known: pa.Table, changes: Sequence[pa.Table]) -> pa.Table:
    """Return what `restore_sequence_numbers` says after commits that only add or compact.

    Parameters
    ----------
    known
        What it said before them.
    changes
        Their entries (`ENTRY_SCHEMA`).
    """
    columns = [*_KEYS, "max_sequence_number"]
    added = [table.filter(is_kind(table, FileKind.ADD)) for table in changes]
    together = pa.concat_tables([known, *(table.select(columns) for table in added)])
    return _greatest(together.combine_chunks())


def _greatest(entries: pa.Table) -> pa.Table:
    order, starts = _buckets(entries)
    if not order.size:
        return entries.select([*_KEYS, "max_sequence_number"])
    greatest = np.maximum.reduceat(numpy_values(entries["max_sequence_number"])[order], starts)
    heads = entries.select(_KEYS).take(arrow_array(order[starts]))
    return heads.append_column("max_sequence_number", arrow_array(greatest))


def _buckets(entries: pa.Table) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Order entries by bucket; return the order, and where in it each bucket starts."""
    numbers = [np.unique(numpy_values(entries[name]), return_inverse=True)[1] for name in _KEYS[1:]]
    of_entry = group_codes([codes(entries["partition"]), *numbers])
    order = np.argsort(of_entry, kind="stable")
    return order, np.flatnonzero(np.diff(of_entry[order], prepend=-1))
