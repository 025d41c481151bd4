"""Show the levels of the buckets of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paimonlab.analysis.levels.lsm import repeatable
from paimonlab.analysis.levels.reading_levels import levels_of
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.lsm.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.table.table import Table


def lsm(
    table: str | Table,
    *,
    partition: Mapping[str, Any] | None = None,
    bucket: int | None = None,
    snapshots: int = 30,
    buckets: int = 6,
) -> views.View:
    """Draw the levels of the buckets that most need compaction, and the commits that led to them.

    Metadata alone is read: the manifests of the latest snapshot, and what the newest snapshots
    changed.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    partition
        Values of all or some of the partition columns; None: all partitions.
    bucket
        Its number; None: all buckets.
    snapshots
        How many of the newest snapshots are looked at for what they changed, at least 1.
    buckets
        How many buckets are drawn, at least 1.
    """
    value = levels_of(
        opened(table), partition=partition, bucket=bucket, snapshots=snapshots, buckets=buckets
    )
    return draw(repeatable(value) if is_deterministic() else value)
