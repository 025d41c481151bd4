"""Read what the buckets of a table contain."""

from __future__ import annotations

from paimonlab.analysis.buckets.heatmap import Heatmap, bucket_sums, heatmap
from paimonlab.analysis.buckets.measures import DEFAULT_TOP
from paimonlab.analysis.partition_names import partition_names
from paimonlab.analysis.row_words import rows_are
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.system.live import files_of
from paimonlab.table.table import Table


def heatmap_of(
    table: Table, snapshot: Snapshot | None, *, by: str = "bytes", top: int = DEFAULT_TOP
) -> Heatmap:
    """Add up what the buckets of a snapshot contain, a row per partition.

    Parameters
    ----------
    table
        The table.
    snapshot
        One of the table's; None if it has none yet.
    by
        One of `paimonlab.analysis.buckets.measures.MEASURES`: the partitions that have most of it
        get a row of their own.
    top
        How many partitions get one.
    """
    sums = bucket_sums(files_of(store_of(table).manifests, snapshot, with_postponed=True))
    return heatmap(
        table.name,
        None if snapshot is None else snapshot.id,
        sums,
        partition_names(definition_of(table).schema, sums["partition"]),
        by=by,
        top=top,
        has_levels=bool(table.primary_keys),
        rows_are=rows_are(table.primary_keys, definition_of(table).options),
    )
