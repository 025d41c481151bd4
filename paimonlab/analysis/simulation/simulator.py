"""What a history of writes would cost under other options: curves of the amplifications."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import msgspec

from paimonlab.compact.simulator import Flush, Replay, SimulatorOptions, merged_size, replay
from paimonlab.compact.simulator import simulated_file as file_of
from paimonlab.errors import SchemaError, UnsupportedError, close_matches
from paimonlab.spec.options.table_options import Options

MOST_POINTS = 40
"""Points of a curve."""

GRID: Mapping[str, tuple[int, ...]] = {
    "num-sorted-run.compaction-trigger": (2, 3, 4, 5, 8, 12),
    "compaction.max-size-amplification-percent": (50, 100, 200, 400),
    "compaction.size-ratio": (1, 50),
}
"""Options that have a slider, and their values; a table's own value is added."""
_DEFAULTS = {
    "num-sorted-run.compaction-trigger": 5,
    "compaction.max-size-amplification-percent": 200,
    "compaction.size-ratio": 1,
}
OPTIONS = frozenset(
    {
        *GRID,
        "num-sorted-run.stop-trigger",
        "num-levels",
        "target-file-size",
        "compaction.small-file-ratio",
        "compaction.force-rewrite-all-files",
        "compaction.force-up-level-0",
        "compaction.optimization-interval",
        "compaction.total-size-threshold",
        "compaction.incremental-size-threshold",
        "compaction.offpeak.start.hour",
        "compaction.offpeak.end.hour",
        "compaction.offpeak-ratio",
        "changelog-producer",
        "merge-engine",
        "deletion-vectors.enabled",
        "force-lookup",
        "lookup-compact",
        "lookup-compact.max-interval",
    }
)
"""Options that can be simulated; others have no influence on picking."""


class Simulation(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a history costs under some options. Ratios of the whole history, then curves."""

    write_amplification: float
    """Bytes flushed and compacted per byte flushed."""
    read_amplification: float
    """Sorted runs that a reader merges, on average."""
    space_amplification: float
    """Bytes of the bucket at the end per byte if all of it were merged."""
    compaction_count: int
    most_runs: int
    """Sorted runs before a compaction, at most."""
    stop_count: int
    """Flushes after which a writer would have to wait for compaction."""
    write_curve: tuple[float, ...]
    """Write amplification of everything up to there, at each of the points."""
    read_curve: tuple[int, ...]
    """Sorted runs."""
    space_curve: tuple[float, ...]


class SimulatorSlider(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An option and the values that were computed."""

    option: str
    values: tuple[int, ...]
    own: int
    """Place of the table's own value."""


class Simulator(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="simulator", tag_field="kind"
):
    """A history of writes under a grid of options."""

    table: str
    """"" for an invented history."""
    history: str
    """Where it comes from, in words."""
    flush_count: int
    flushed_bytes: int
    points: tuple[int, ...]
    """Numbers of the flushes, from 1, after which the curves have a value."""
    sliders: tuple[SimulatorSlider, ...]
    simulations: tuple[Simulation, ...]
    """One for each choice of values, the last slider moving fastest; none: nothing was written."""
    notes: tuple[str, ...]

    @property
    def own(self) -> Simulation:
        """What the table's own options cost."""
        number = 0
        for slider in self.sliders:
            number = number * len(slider.values) + slider.own
        return self.simulations[number]


def nothing_written(table: str) -> Simulator:
    """Return what is shown of a table without a snapshot."""
    return Simulator(
        table=table,
        history="",
        flush_count=0,
        flushed_bytes=0,
        points=(),
        sliders=(),
        simulations=(),
        notes=(),
    )


def simulator(
    table: str, history: str, flushes: Sequence[Flush], options: Options, notes: Sequence[str] = ()
) -> Simulator:
    """Replay a history under every setting of the grid.

    Parameters
    ----------
    table
        Its name; "" for an invented history.
    history
        Where it comes from.
    flushes
        At least one, in order of time.
    options
        Of the table; the grid overrides them.

    Raises
    ------
    ValueError
        If there is no flush.
    """
    if not flushes:
        raise ValueError("a history needs at least one flush")
    sliders = tuple(_slider(option, values, options) for option, values in GRID.items())
    points = _points(len(flushes))
    merged = _merged(flushes, points)
    simulations = [
        simulated(
            flushes,
            points,
            merged,
            options,
            {slider.option: str(value) for slider, value in zip(sliders, chosen, strict=True)},
        )
        for chosen in itertools.product(*(slider.values for slider in sliders))
    ]
    return Simulator(
        table=table,
        history=history,
        flush_count=len(flushes),
        flushed_bytes=sum(flush.size_bytes for flush in flushes),
        points=points,
        sliders=sliders,
        simulations=tuple(simulations),
        notes=tuple(notes),
    )


def simulation(
    flushes: Sequence[Flush], options: Options, changed: Mapping[str, str]
) -> Simulation:
    """Replay a history under the options of a table, some of them changed.

    Raises
    ------
    UnsupportedError
        If an option has no influence on picking.
    SchemaError
        If an option cannot have the value.
    """
    for key in changed:
        if key not in OPTIONS:
            hint = close_matches(key, OPTIONS)
            raise UnsupportedError(f"simulating {key}", f"it has no influence on picking.{hint}")
    points = _points(len(flushes))
    return simulated(flushes, points, _merged(flushes, points), options, changed)


def simulated(
    flushes: Sequence[Flush],
    points: Sequence[int],
    merged_bytes: Sequence[int],
    options: Options,
    changed: Mapping[str, str],
) -> Simulation:
    """Replay a history once.

    Parameters
    ----------
    flushes
        The history.
    points
        Numbers of flushes, from 1.
    merged_bytes
        What the bucket would have at each point if all of it were merged.
    options, changed
        Of the table, and those that override them.
    """
    chosen = SimulatorOptions.of(Options({**options, **changed}))
    if chosen.strategy.levels.compaction_trigger < 1 or chosen.strategy.levels.level_count < 2:
        raise SchemaError("num-sorted-run.compaction-trigger must be at least 1, num-levels 2")
    outcome = replay(flushes, chosen)
    before = [1, *(len(moment.runs) + 1 for moment in outcome.moments[:-1])]
    return Simulation(
        write_amplification=round(outcome.write_amplification, 3),
        read_amplification=round(outcome.read_amplification, 3),
        space_amplification=round(outcome.space_amplification, 3),
        compaction_count=len(outcome.compactions),
        most_runs=max(before),
        stop_count=sum(count >= chosen.strategy.levels.stop_trigger for count in before),
        write_curve=tuple(_write_curve(outcome, flushes, points)),
        read_curve=tuple(len(outcome.moments[point - 1].runs) for point in points),
        space_curve=tuple(
            round(outcome.moments[point - 1].size_bytes / max(merged, 1), 3)
            for point, merged in zip(points, merged_bytes, strict=True)
        ),
    )


def _write_curve(outcome: Replay, flushes: Sequence[Flush], points: Sequence[int]) -> list[float]:
    written = itertools.accumulate(
        0 if moment.compaction is None else moment.compaction.written_bytes
        for moment in outcome.moments
    )
    flushed = itertools.accumulate(flush.size_bytes for flush in flushes)
    ratios = [
        (flushed_bytes + written_bytes) / max(flushed_bytes, 1)
        for flushed_bytes, written_bytes in zip(flushed, written, strict=True)
    ]
    return [round(ratios[point - 1], 3) for point in points]


def _points(count: int) -> tuple[int, ...]:
    step = max(-(-count // MOST_POINTS), 1)
    return tuple(sorted({*range(step, count + 1, step), count}))


def _merged(flushes: Sequence[Flush], points: Sequence[int]) -> list[int]:
    files = [
        file_of(
            f"f{number}",
            size_bytes=flush.size_bytes,
            row_count=flush.row_count,
            level=0,
            keys=(flush.min_key, flush.max_key),
            sequence_numbers=(number, number),
        )
        for number, flush in enumerate(flushes)
    ]
    return [merged_size(files[:point])[0] for point in points]


def _slider(option: str, values: Sequence[int], options: Options) -> SimulatorSlider:
    own = int(options.get(option, str(_DEFAULTS[option])))
    chosen = tuple(sorted({*values, own}))
    return SimulatorSlider(option=option, values=chosen, own=chosen.index(own))
