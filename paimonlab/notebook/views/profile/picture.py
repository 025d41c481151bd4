"""How the values of columns are spread, as small bars in an ``<img>``."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from paimonlab.notebook.display.characters import cut, escaped
from paimonlab.notebook.views.profile.value import Profile, ProfileColumn
from paimonlab.spec.visible_text import visible

MOST = 24
"""Columns that are drawn; the table has all."""

_WIDTH, _ACROSS, _HIGH, _HEAD = 720, 4, 92, 10
_BLUE, _SKY = "#0072B2", "#56B4E9"
_CHARACTERS = 300


def picture(profile: Profile) -> str:
    """Return an ``<img>`` whose text says the numbers; "" if there is nothing to draw."""
    drawn = _drawn(profile)
    if not drawn:
        return ""
    data = base64.b64encode(svg(profile).encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escaped(alternative(profile))}" '
        f'width="{_WIDTH}" height="{_height(len(drawn))}" style="max-width:100%">'
    )


def alternative(profile: Profile) -> str:
    """Say in words what the picture shows."""
    told = [_told(column) for column in _drawn(profile)]
    return visible(f"Distribution of columns of {profile.title}: " + "; ".join(told))


def svg(profile: Profile) -> str:
    """Draw a small picture a column, on light ground that dark themes leave alone."""
    drawn = _drawn(profile)
    height = _height(len(drawn))
    parts = "".join(
        "".join(_small(column, place, profile.row_count)) for place, column in enumerate(drawn)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
        f'width="{_WIDTH}" height="{height}" font-family="sans-serif" font-size="10" fill="#222">'
        f'<rect width="{_WIDTH}" height="{height}" rx="6" fill="#fff"/>{parts}</svg>'
    )


def _drawn(profile: Profile) -> list[ProfileColumn]:
    return [column for column in profile.columns if len(column.bins) > 1 or column.top][:MOST]


def _height(count: int) -> int:
    return _HEAD + _HIGH * -(-count // _ACROSS)


def _told(column: ProfileColumn) -> str:
    name = column.name[:_CHARACTERS]
    if len(column.bins) > 1:
        counts = ", ".join(map(str, column.bins))
        return f"{name} in ranges from {column.bin_starts[0]} on: {counts}"
    return f"{name} " + ", ".join(f"{text} {count:,}" for text, count in column.top)


def _small(column: ProfileColumn, place: int, rows: int) -> Iterator[str]:
    wide = _WIDTH // _ACROSS
    x, y = wide * (place % _ACROSS) + 10, _HEAD + _HIGH * (place // _ACROSS)
    wide -= 20
    yield f'<text x="{x}" y="{y + 11}" font-weight="bold">{_text(column.name, 24)}</text>'
    if len(column.bins) > 1:
        yield from _histogram(column, x, y + 16, wide)
        return
    for line, (text, count) in enumerate(column.top[:4]):
        at, long = y + 18 + 15 * line, wide * count / max(rows, 1)
        yield f'<rect x="{x}" y="{at}" width="{long:.1f}" height="12" fill="{_SKY}"/>'
        yield f'<text x="{x + 3}" y="{at + 10}">{_text(text, 18)}</text>'
        sign = "≥" if column.top_error else ""
        yield f'<text x="{x + wide}" y="{at + 10}" text-anchor="end">{sign}{count:,}</text>'


def _histogram(column: ProfileColumn, x: int, y: int, wide: int) -> Iterator[str]:
    most, step, high = max(column.bins), wide / len(column.bins), 46
    for place, count in enumerate(column.bins):
        tall = max(high * count / most, 1.0) if count else 0.0
        yield (
            f'<rect x="{x + step * place:.1f}" y="{y + high - tall:.1f}" '
            f'width="{max(step - 1, 0.5):.1f}" height="{tall:.1f}" fill="{_BLUE}"/>'
        )
    yield f'<path d="M{x} {y + high}h{wide}" stroke="#999"/>'
    yield f'<text x="{x}" y="{y + high + 12}">{_text(column.low or "", 13)}</text>'
    yield (
        f'<text x="{x + wide}" y="{y + high + 12}" text-anchor="end">'
        f"{_text(column.high or '', 13)}</text>"
    )


def _text(text: str, columns: int) -> str:
    return escaped(cut(visible(text), columns))
