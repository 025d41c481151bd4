"""Read what was flushed to a bucket of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.analysis.buckets.bucket_lives import ShownBucket
from paimonlab.analysis.buckets.newest_commits import newest_commits
from paimonlab.analysis.simulation.histories import FlushHistory, replayed
from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import UnsupportedError
from paimonlab.scan.file_totals import Groups
from paimonlab.table.compacting.verb import kept
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from paimonlab.table.texts import names_of_partitions

_SNAPSHOTS = 200


class NothingWrittenError(ValueError):
    """The table has no snapshot."""


def flushes_of(
    table: Table,
    *,
    partition: Mapping[str, Any] | None = None,
    bucket: int | None = None,
    most: int = 100,
) -> FlushHistory:
    """Read what was flushed to a bucket, to be replayed under other options.

    Parameters
    ----------
    table
        With a primary key.
    partition, bucket
        Of the bucket; None: the one with most flushed files.
    most
        How many of the newest flushes.

    Raises
    ------
    UnsupportedError
        If the table has no levels.
    NothingWrittenError
        If the table has no snapshot.
    ValueError
        If nothing was flushed in the newest snapshots.
    """
    if not table.primary_keys:
        raise UnsupportedError(
            "simulating the compaction of an append table", f"{table.name} has no levels"
        )
    snapshot = table.snapshot
    keep = kept(
        definition_of(table),
        None if partition is None else [partition],
        None if bucket is None else [bucket],
        None,
    )
    if snapshot is None:
        raise NothingWrittenError(f"nothing was written to {table.name}")
    commits = newest_commits(store_of(table), snapshot, _SNAPSHOTS, keep)
    written = [commit.entries for commit in commits if commit.entries.num_rows]
    if not written:
        raise ValueError(
            f"nothing was written to {table.name} in its newest {_SNAPSHOTS} snapshots"
        )
    key = _most_flushed(written)
    flushes = replayed(key, commits, table.schema)
    if not flushes:
        raise ValueError(
            f"nothing was flushed to {table.name} in its newest {_SNAPSHOTS} snapshots"
        )
    rows = arrow_array([key.partition], pa.large_binary())
    (text,) = names_of_partitions(rows, table.schema)
    place = f"{text} bucket {key.bucket}".strip()
    newest = flushes[-most:]
    words = (
        f"the newest {len(newest)} of {len(flushes)} flushes of {place} in {len(commits)} snapshots"
    )
    return FlushHistory(table.name, words, tuple(newest), definition_of(table).options)


def _most_flushed(written: Sequence[pa.Table]) -> ShownBucket:
    """Choose the bucket that most files were written to."""
    files = pa.concat_tables([entries.select(["partition", "bucket"]) for entries in written])
    groups = Groups.of(files, ["partition", "bucket"])
    buckets = numpy_values(groups.first(files["bucket"]))
    most = int(np.lexsort((groups.by_first_row(), buckets, -groups.counts))[0])
    return ShownBucket(groups.first(files["partition"])[most].as_py(), int(buckets[most]))
