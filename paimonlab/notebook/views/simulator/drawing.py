"""A simulation as curves and a table of settings."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

import pyarrow as pa

from paimonlab.analysis.simulation.simulator import Simulation, Simulator
from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.numbers import bytes_text
from paimonlab.spec.visible_text import visible

_WIDTH = 760
_CHART = 236
_HEIGHT = 150
_TOP = 34
_BOTTOM = 26
_CURVES = (
    ("write amplification", "#D55E00"),
    ("sorted runs to merge", "#0072B2"),
    ("space amplification", "#009E73"),
)


def draw(value: Simulator, answer: Answer | None = None) -> Drawn[Simulator]:
    """Draw the curves of a table's own options, and a table with all settings."""
    return Drawn(
        value,
        _grid(value),
        _rows(value),
        _picture(value),
        legend=_legend(value),
        link=value.table,
        answer=answer,
    )


def settings(value: Simulator) -> Iterator[tuple[tuple[int, ...], Simulation]]:
    """Yield the values of the sliders and what they cost."""
    for place, simulation in enumerate(value.simulations):
        chosen, rest = [], place
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
                "write_amplification": one.write_amplification,
                "read_amplification": one.read_amplification,
                "space_amplification": one.space_amplification,
                "compactions": one.compaction_count,
                "most_runs": one.most_runs,
            }
            for chosen, one in settings(value)
        ]
    )


def _grid(value: Simulator) -> Grid:
    right = Align.RIGHT
    columns = (
        *(Column(slider.option.rpartition(".")[2], align=right) for slider in value.sliders),
        Column("write ×", align=right),
        Column("read (runs)", align=right),
        Column("space ×", align=right),
        Column("compactions", align=right),
        Column("most runs", align=right),
        Column(""),
    )
    own = tuple(slider.values[slider.own] for slider in value.sliders)
    body = [
        texts(
            [
                *chosen,
                f"{one.write_amplification:.2f}",
                f"{one.read_amplification:.2f}",
                f"{one.space_amplification:.2f}",
                one.compaction_count,
                one.most_runs,
                "own options" if chosen == own else "",
            ]
        )
        for chosen, one in settings(value)
        if sum(mine != other for mine, other in zip(chosen, own, strict=True)) <= 1
    ]
    title = (
        f"{visible(value.table)}: simulated compactions" if value.table else "simulated compactions"
    )
    return Grid(
        columns,
        body,
        title,
        f"{len(body)} of {len(value.simulations)} settings that were computed; {_history(value)}",
    )


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
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="11">'
        f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="#fff"/>'
        + "".join(_shapes(value))
        + "</svg>"
    )
    data = base64.b64encode(svg.encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(alternative(value))}" '
        f'width="{_WIDTH}" height="{height}" style="max-width:100%">'
    )


def alternative(value: Simulator) -> str:
    """Say in words what the picture shows."""
    own = value.own
    chosen = ", ".join(f"{one.option} = {one.values[one.own]}" for one in value.sliders)
    return visible(
        f"{value.history} with {chosen}: write amplification {own.write_amplification:.2f}, "
        f"{own.read_amplification:.2f} sorted runs on average, at most {own.most_runs}, space "
        f"amplification {own.space_amplification:.2f} at the end"
    )


def _shapes(value: Simulator) -> Iterator[str]:
    for number, ((name, colour), curve) in enumerate(zip(_CURVES, _curves(value.own), strict=True)):
        left = 34 + number * (_CHART + 16)
        top = max(*curve, 1)
        yield f'<text x="{left}" y="20" fill="#222" font-weight="bold">{name}</text>'
        yield (
            f'<path d="M{left} {_TOP}V{_TOP + _HEIGHT}H{left + _CHART - 16}" stroke="#999" '
            'fill="none"/>'
        )
        yield f'<text x="{left - 4}" y="{_TOP + 8}" text-anchor="end">{top:.3g}</text>'
        yield f'<text x="{left - 4}" y="{_TOP + _HEIGHT}" text-anchor="end">0</text>'
        yield (
            f'<text x="{left}" y="{_TOP + _HEIGHT + 16}">1 to {value.flush_count} flushes</text>'
        )
        step = (_CHART - 16) / max(len(curve) - 1, 1)
        points = " ".join(
            f"{left + step * place:.1f},{_TOP + _HEIGHT * (1 - one / top):.1f}"
            for place, one in enumerate(curve)
        )
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
