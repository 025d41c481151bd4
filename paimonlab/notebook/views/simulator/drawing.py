"""A simulation as curves and a table of settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pyarrow as pa

from paimonlab.analysis.simulation.simulator import Simulation, Simulator
from paimonlab.notebook.display import svg
from paimonlab.notebook.display.axes import Scale
from paimonlab.notebook.display.colours import AXIS, BLUE, INK
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.numbers import bytes_text
from paimonlab.spec.visible_text import visible

_WIDTH = 550
"""No wider than a narrow page, which would make the letters smaller."""
_CHART = 166
_HEIGHT = 150
_TOP = 34
_BOTTOM = 26
_CURVES = ("write amplification", "sorted runs to merge", "space amplification")


def draw(value: Simulator, answer: Answer | None = None) -> Drawn[Simulator]:
    """Draw the curves of a table's own options, and a table with all settings."""
    if not value.simulations:
        empty = Grid((), (), f"{value.table} has no snapshot yet", next_rows(value.table))
        return Drawn(value, empty, pa.table({}), link=value.table)
    return Drawn(
        value,
        _grid(value),
        partial(_rows, value),
        _picture(value),
        legend=_legend(value),
        link=value.table,
        answer=answer,
    )


def settings(value: Simulator) -> Iterator[tuple[tuple[int, ...], Simulation]]:
    """Yield the values of the sliders and what they cost."""
    for index, simulation in enumerate(value.simulations):
        chosen, rest = [], index
        for slider in reversed(value.sliders):
            rest, number = divmod(rest, len(slider.values))
            chosen.append(slider.values[number])
        yield tuple(reversed(chosen)), simulation


def _rows(value: Simulator) -> pa.Table:
    names = [slider.option for slider in value.sliders]
    return pa.Table.from_pylist(
        [
            dict(zip(names, chosen, strict=True))
            | {
                "write_amplification": simulation.write_amplification,
                "read_amplification": simulation.read_amplification,
                "space_amplification": simulation.space_amplification,
                "compactions": simulation.compaction_count,
                "most_runs": simulation.most_runs,
            }
            for chosen, simulation in settings(value)
        ]
    )


def _grid(value: Simulator) -> Grid:
    right = Align.RIGHT
    columns = (
        *(Column(_option_words(slider.option), align=right) for slider in value.sliders),
        Column("write ×", align=right),
        Column("read (runs)", align=right),
        Column("space ×", align=right, rank=1),
        Column("compactions", align=right, rank=1),
        Column("most runs", align=right, rank=1),
        Column(""),
    )
    own = tuple(slider.values[slider.own] for slider in value.sliders)
    body = [
        texts(
            [
                *chosen,
                f"{simulation.write_amplification:.2f}",
                f"{simulation.read_amplification:.2f}",
                f"{simulation.space_amplification:.2f}",
                simulation.compaction_count,
                simulation.most_runs,
                "own options" if chosen == own else "",
            ]
        )
        for chosen, simulation in settings(value)
        if sum(
            value_chosen != own_value for value_chosen, own_value in zip(chosen, own, strict=True)
        )
        <= 1
    ]
    title = (
        f"{visible(value.table)}: simulated compactions" if value.table else "simulated compactions"
    )
    return Grid(
        columns,
        body,
        title,
        f"{len(body)} of {len(value.simulations)} settings that were computed; {_history(value)}",
        _headline(value),
    )


def _option_words(option: str) -> str:
    """Write an option as a head whose lines end between words.

    Examples
    --------
    >>> _option_words("compaction.max-size-amplification-percent")
    'max size amplification %'
    """
    return option.rpartition(".")[2].replace("-percent", " %").replace("-", " ")


def _headline(value: Simulator) -> str:
    own = value.simulations[_own_place(value)]
    wait = ""
    if own.stop_count:
        flushes = "flush" if own.stop_count == 1 else "flushes"
        wait = f"; {own.stop_count:,} {flushes} would wait"
    return (
        f"With its own options each byte is written {_some(own.write_amplification, 'time')}, "
        f"a reader merges {_some(own.read_amplification, 'sorted run')} on average, "
        f"{own.most_runs} at most{wait}"
    )


def _own_place(value: Simulator) -> int:
    place = 0
    for slider in value.sliders:
        place = place * len(slider.values) + slider.own
    return place


def _some(number: float, what: str) -> str:
    return f"{_amount(number)} {what}{'s'[: number != 1]}"


def _amount(number: float) -> str:
    return f"{number:.0f}" if number == int(number) else f"{number:.2f}"


def _history(value: Simulator) -> str:
    return f"{visible(value.history)}, {bytes_text(value.flushed_bytes)}"


def _legend(value: Simulator) -> Sequence[str]:
    words = (
        "picks are those of the real picker, one after each flush; what a rewrite yields is "
        "estimated from sizes, row counts and key ranges, deletes are left out"
    )
    return (words, *map(visible, value.notes))


def _curves(simulation: Simulation) -> tuple[Sequence[float], ...]:
    return simulation.write_curve, simulation.read_curve, simulation.space_curve


def _picture(value: Simulator) -> str:
    height = _TOP + _HEIGHT + _BOTTOM
    drawn = svg.document(_WIDTH, height, _shapes(value))
    return svg.image(drawn, alternative(value), _WIDTH, height)


def alternative(value: Simulator) -> str:
    """Say in words what the picture shows."""
    own = value.own
    chosen = ", ".join(f"{slider.option} = {slider.values[slider.own]}" for slider in value.sliders)
    return visible(
        f"{value.history} with {chosen}: write amplification {own.write_amplification:.2f}, "
        f"{own.read_amplification:.2f} sorted runs on average, at most {own.most_runs}, space "
        f"amplification {own.space_amplification:.2f} at the end"
    )


def _shapes(value: Simulator) -> Iterator[str]:
    bottom, width = _TOP + _HEIGHT, _CHART - 16
    for number, (name, curve) in enumerate(zip(_CURVES, _curves(value.own), strict=True)):
        left = 34 + number * (_CHART + 16)
        highest = max(*curve, 1)
        yield svg.text(left, 20, name, fill=INK, font_weight="bold")
        yield svg.path(f"M{left} {_TOP}V{bottom}H{left + width}", stroke=AXIS, fill="none")
        yield svg.text(left - 4, _TOP + 8, f"{highest:.2f}".removesuffix(".00"), text_anchor="end")
        yield svg.text(left - 4, bottom, "0", text_anchor="end")
        yield svg.text(left, bottom + 16, f"1 to {value.flush_count} flushes")
        along, up = Scale(0, len(curve) - 1, left, left + width), Scale(0, highest, bottom, _TOP)
        points = [(along.at(flush), up.at(height)) for flush, height in enumerate(curve)]
        yield svg.polyline(points, fill="none", stroke=BLUE, stroke_width=2)
