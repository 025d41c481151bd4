"""Which partitions got no rows for a while.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.procedure.CompactProcedure``,
``getHistoryPartition``; ``org.apache.paimon.manifest.PartitionEntry``.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.scan.file_times import local_to_epoch
from paimonlab.scan.file_totals import totals
from paimonlab.scan.live_files import live_entries
from paimonlab.table.store import TableStore


def idle_partitions(store: TableStore, since_millis: int) -> pa.Array:
    """Return the partitions whose newest file was created at or before a time.

    Parameters
    ----------
    store
        The table's store.
    since_millis
        Epoch milliseconds.

    Returns
    -------
    pyarrow.Array
        Serialised BinaryRows. If files do not say when they were created, their partition is idle.
    """
    snapshot = store.snapshots.latest()
    if snapshot is None:
        return arrow_array([], pa.large_binary())
    files = live_entries(snapshot, store.manifests)
    newest = totals(files, ["partition"])
    is_idle = [
        millis is None or local_to_epoch(millis) <= since_millis
        for millis in newest["creation_time_millis"].to_pylist()
    ]
    return pc.filter(newest["partition"].combine_chunks(), arrow_array(is_idle, pa.bool_()))
