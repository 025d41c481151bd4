"""Show what a history of writes would cost under other options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from paimonlab.analysis.simulation import simulator
from paimonlab.analysis.simulation.histories import FlushHistory, Pattern, invented
from paimonlab.analysis.simulation.reading_flushes import NothingWrittenError, flushes_of
from paimonlab.errors import UnsupportedError
from paimonlab.notebook import views
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.simulator.drawing import draw
from paimonlab.spec.options.table_options import Options
from paimonlab.table.table import Table

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

    Only metadata is read, and nothing is written.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table, whose own history is replayed;
        None: the history is invented.
    bucket, partition
        Of the table; None: the bucket with most flushed files.
    pattern, flushes, flush_bytes, rows, keys, every_seconds
        Of an invented history; see `paimonlab.analysis.simulation.histories.invented`. Of a table
        the newest ``flushes`` are replayed.
    options
        Table options that override the table's own.

    Raises
    ------
    UnsupportedError
        If the table has no levels, or an option has no influence on picking.
    ValueError
        If nothing was flushed in the newest snapshots, where there are some, or an argument is out
        of range.
    """
    changed = dict(options or {})
    for key in changed:
        if key not in views.OPTIONS:
            raise UnsupportedError(f"simulating {key}", "it has no influence on picking")
    if not 1 <= flushes <= _MOST_FLUSHES:
        raise ValueError(f"flushes must be from 1 to {_MOST_FLUSHES}, got {flushes}")
    if table is None:
        flushed = invented(
            flushes=flushes,
            flush_bytes=flush_bytes,
            rows=rows,
            keys=keys,
            pattern=pattern,
            every_seconds=every_seconds,
        )
        how_often = "1 flush" if flushes == 1 else f"{flushes} flushes"
        words = f"invented: {how_often} of {many(rows, 'row')}, {pattern} over {many(keys, 'key')}"
        history = FlushHistory("", words, tuple(flushed), Options({}))
    else:
        shown = opened(table)
        try:
            history = flushes_of(shown, partition=partition, bucket=bucket, most=flushes)
        except NothingWrittenError:
            return draw(simulator.nothing_written(shown.name))
        if is_deterministic():
            history = history.repeatable()
    return _drawn(history, Options({**history.options, **changed}))


def _drawn(history: FlushHistory, options: Options) -> views.View:
    value = simulator.simulator(history.table, history.words, history.flushes, options)

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        chosen = {str(key): str(text) for key, text in request["options"].items()}
        simulated = views.simulation(history.flushes, options, chosen)
        reply: Mapping[str, Any] = msgspec.to_builtins(simulated)
        return reply

    return draw(value, answer)
