"""Show what a history of writes would cost under other options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.analysis.buckets.bucket_lives import ShownBucket
from paimonlab.analysis.buckets.newest_commits import newest_commits
from paimonlab.analysis.simulation.histories import (
    Pattern,
    invented,
    replayed,
)
from paimonlab.compact.simulator import Flush
from paimonlab.errors import UnsupportedError
from paimonlab.notebook import views
from paimonlab.notebook.commands.opening import opened
from paimonlab.notebook.determinism import is_deterministic
from paimonlab.notebook.display.simulator import draw
from paimonlab.spec.options.table_options import Options
from paimonlab.table.compact_verb import kept
from paimonlab.table.system.texts import partition_text
from paimonlab.table.table import Table

_SNAPSHOTS = 200
_MOST_FLUSHES = 120


def simulate(
    table: str | Table | None = None,
    *,
    bucket: int | None = None,
    partition: Mapping[str, Any] | None = None,
    pattern: Pattern = "uniform",
    flushes: int = 100,
    flush_bytes: int = 16_000_000,
    rows: int = 100_000,
    keys: int = 1_000_000,
    every_seconds: int = 60,
    options: Mapping[str, str] | None = None,
) -> views.View:
    """Replay a history of writes under a grid of options, with the picker of real compactions.

    Nothing is written or read but metadata.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table, whose own history is replayed;
        None: the history is invented.
    bucket, partition
        Of the table; None: the bucket that was written to most often.
    pattern, flushes, flush_bytes, rows, keys, every_seconds
        Of an invented history; see `paimonlab.analysis.simulation.histories.invented`. Of a table
        the newest ``flushes`` are replayed.
    options
        Table options on top of the table's own.

    Raises
    ------
    UnsupportedError
        If the table has no levels, or an option no part in picking.
    ValueError
        If nothing was flushed in the newest snapshots, or an argument is out of range.
    """
    changed = dict(options or {})
    for key in changed:
        if key not in views.SIMULATED_OPTIONS:
            raise UnsupportedError(f"simulating {key}", "it has no part in picking")
    if not 1 <= flushes <= _MOST_FLUSHES:
        raise ValueError(f"flushes must be from 1 to {_MOST_FLUSHES}, got {flushes}")
    if table is None:
        history = invented(
            flushes=flushes,
            flush_bytes=flush_bytes,
            rows=rows,
            keys=keys,
            pattern=pattern,
            every_seconds=every_seconds,
        )
        words = f"invented: {flushes} flushes of {rows:,} rows, {pattern} over {keys:,} keys"
        return _drawn("", words, history, Options(changed))
    found = opened(table)
    words, history = _history(found, partition, bucket, flushes)
    return _drawn(found.name, words, history, Options({**found.parts.options, **changed}))


def _drawn(name: str, words: str, history: Sequence[Flush], options: Options) -> views.View:
    value = views.simulator(name, words, history, options)

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = {str(key): str(text) for key, text in request["options"].items()}
        found: Mapping[str, Any] = msgspec.to_builtins(views.simulation(history, options, asked))
        return found

    return draw(value, answer)


def _history(
    table: Table, partition: Mapping[str, Any] | None, bucket: int | None, most: int
) -> tuple[str, list[Flush]]:
    if not table.primary_keys:
        raise UnsupportedError(
            "simulating the compaction of an append table", f"{table.name} has no levels"
        )
    snapshot = table.snapshot
    keep = kept(
        table.parts,
        None if partition is None else [partition],
        None if bucket is None else [bucket],
        None,
    )
    commits = [] if snapshot is None else newest_commits(table.parts, snapshot, _SNAPSHOTS, keep)
    written = [commit.entries for commit in commits if commit.entries.num_rows]
    if not written:
        raise ValueError(
            f"nothing was written to {table.name} in its newest {_SNAPSHOTS} snapshots"
        )
    key = _most_flushed(written)
    found = replayed(key, commits, table.schema)
    if not found:
        raise ValueError(
            f"nothing was flushed to {table.name} in its newest {_SNAPSHOTS} snapshots"
        )
    fields = [table.schema.field(name) for name in table.partition_keys]
    (text,) = partition_text(pa.array([key.partition], pa.large_binary()), fields).to_pylist()
    place = f"{text if fields else ''} bucket {key.bucket}".strip()
    newest = found[-most:]
    words = (
        f"the newest {len(newest)} of {len(found)} flushes of {place} in {len(commits)} snapshots"
    )
    if is_deterministic():  # times and bytes of files differ from run to run
        newest = [
            replace(flush, at_millis=60_000 * number, size_bytes=100 * flush.row_count)
            for number, flush in enumerate(newest)
        ]
    return words, newest


def _most_flushed(written: Sequence[pa.Table]) -> ShownBucket:
    """Choose the bucket that most files were written to."""
    counts = (
        pa.concat_tables([entries.select(["partition", "bucket"]) for entries in written])
        .group_by(["partition", "bucket"], use_threads=False)
        .aggregate([([], "count_all")])
        .sort_by([("count_all", "descending"), ("bucket", "ascending")])
    )
    return ShownBucket(counts["partition"][0].as_py(), counts["bucket"][0].as_py())
