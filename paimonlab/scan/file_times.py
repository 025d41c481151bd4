"""When data files were made: metadata has the local wall clock of the writer.

Source: apache/paimon@1.3.1 ``org.apache.paimon.io.DataFileMeta.creationTimeEpochMillis``.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def local_to_epoch(local_millis: int) -> int:
    """Turn a local wall clock encoded as if it were UTC into epoch milliseconds."""
    wall_clock = datetime.fromtimestamp(local_millis / 1000, UTC).replace(tzinfo=None)
    return int(wall_clock.astimezone().timestamp() * 1000)


def created_since(entries: pa.Table, millis: int) -> npt.NDArray[np.bool_]:
    """Mark the files that were made at or after a time.

    Parameters
    ----------
    entries
        n files (`ENTRY_SCHEMA`).
    millis
        Epoch milliseconds.

    Returns
    -------
    (n,) bool
        False where the time is unknown.
    """
    times = entries["creation_time_millis"]
    known = [None if time is None else local_to_epoch(time) for time in times.to_pylist()]
    return np.array([time is not None and time >= millis for time in known], np.bool_)
