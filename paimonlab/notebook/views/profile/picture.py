"""How the values of columns are spread, as small bars in an ``<img>``."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from paimonlab.notebook.display import svg
from paimonlab.notebook.display.colours import AMOUNTS, AXIS, BLUE
from paimonlab.notebook.display.numbers import figure
from paimonlab.notebook.views.profile.value import Profile, ProfileColumn
from paimonlab.spec.visible_text import visible

MOST = 24
"""Columns that are drawn; the table has all."""

_WIDTH, _ACROSS, _HIGH, _HEAD = 540, 3, 92, 10
"""No wider than a narrow page, which would make the letters smaller."""
_BARS = 46
"""Height of a histogram."""
_CHARACTERS = 300


def picture(profile: Profile) -> str:
    """Return an ``<img>`` with the numbers as its text; "" if there is nothing to draw."""
    drawn = _drawn(profile)
    if not drawn:
        return ""
    height = _height(len(drawn))
    shapes = chain.from_iterable(
        _small(column, number, profile.row_count) for number, column in enumerate(drawn)
    )
    document = svg.document(_WIDTH, height, shapes, font_size=10)
    return svg.image(document, alternative(profile), _WIDTH, height)


def alternative(profile: Profile) -> str:
    """Say in words what the picture shows."""
    columns = map(_in_words, _drawn(profile))
    return visible(f"Distribution of columns of {profile.title}: " + "; ".join(columns))


def _drawn(profile: Profile) -> list[ProfileColumn]:
    return [column for column in profile.columns if len(column.bins) > 1 or column.top][:MOST]


def _height(count: int) -> int:
    return _HEAD + _HIGH * -(-count // _ACROSS)


def _in_words(column: ProfileColumn) -> str:
    name = column.name[:_CHARACTERS]
    if len(column.bins) > 1:
        counts = ", ".join(map(str, column.bins))
        return f"{name} in ranges from {column.bin_starts[0]} on: {counts}"
    return f"{name} " + ", ".join(f"{text} {count:,}" for text, count in column.top)


def _small(column: ProfileColumn, number: int, row_count: int) -> Iterator[str]:
    width = _WIDTH // _ACROSS
    x, y = width * (number % _ACROSS) + 10, _HEAD + _HIGH * (number // _ACROSS)
    width -= 20
    yield svg.text(x, y + 11, svg.shortened_name(column.name, 24), font_weight="bold")
    if len(column.bins) > 1:
        yield from _histogram(column, x, y + 16, width)
        return
    sign = "≥" if column.top_error else ""
    for line, (value, count) in enumerate(column.top[:4]):
        top = y + 18 + 15 * line
        yield svg.rectangle(x, top, width * count / max(row_count, 1), 12, fill=AMOUNTS[1])
        yield svg.text(x + 3, top + 10, svg.shortened(value, 18))
        yield svg.text(x + width, top + 10, f"{sign}{count:,}", text_anchor="end")


def _histogram(column: ProfileColumn, x: int, y: int, width: int) -> Iterator[str]:
    most, step = max(column.bins), width / len(column.bins)
    bottom = y + _BARS
    for number, count in enumerate(column.bins):
        height = max(_BARS * count / most, 1.0) if count else 0.0
        yield svg.rectangle(
            x + step * number, bottom - height, max(step - 1, 0.5), height, fill=BLUE
        )
    yield svg.path(f"M{x} {bottom}h{width}", stroke=AXIS)
    yield svg.text(x, bottom + 12, svg.shortened(figure(column.low or ""), 13))
    high = svg.shortened(figure(column.high or ""), 13)
    yield svg.text(x + width, bottom + 12, high, text_anchor="end")
