"""Where values lie on an axis, where its lines are and what is written at them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_UNITS = (1, 60, 3_600, 86_400)


@dataclass(frozen=True, slots=True)
class Scale:
    """From values to pixels along an axis.

    Examples
    --------
    >>> scale = Scale(0, 10, first=100, last=0)
    >>> scale.at(4), scale.at(-1), Scale(3, 3, 20, 30).at(3)
    (60.0, 100.0, 20.0)
    """

    low: float
    high: float
    """Values at the ends; a value beyond is drawn at the end."""
    first: float
    """Pixel of ``low``."""
    last: float
    """Pixel of ``high``."""

    def at(self, value: float) -> float:
        """Return the pixel of a value."""
        # Halves keep the distance of huge values from overflowing.
        apart = self.high / 2 - self.low / 2
        share = (value / 2 - self.low / 2) / apart if apart else 0.0
        return self.first + (self.last - self.first) * min(max(share, 0.0), 1.0)


def span(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis that shows values from ``low`` to ``high``; never one point."""
    if low < high:
        return low, high
    room = abs(low) / 2 or 1.0
    return low - room, high + room


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return at most ``most`` round numbers between two ends.

    Examples
    --------
    >>> ticks(0.0, 47.0)
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    apart = high / most - low / most
    if not math.isfinite(apart) or apart <= 0:
        return [low]
    power = 10.0 ** math.floor(math.log10(apart))
    steps = (power * factor for factor in (1, 2, 5, 10))
    step = next((candidate for candidate in steps if candidate >= apart), power * 10)
    if not step or not math.isfinite(step) or abs(low) / step > 2**52:
        return [low, high]
    first, last = math.ceil(low / step), math.floor(high / step)
    return [number * step for number in range(first, last + 1)]


_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
"""Units of counts at ticks, as of rows."""


def number_text(value: float) -> str:
    """Write a number at a tick, short.

    Examples
    --------
    >>> number_text(40000.0), number_text(8e8), number_text(-1.5e7), number_text(2e-5)
    ('40,000', '800 M', '-15 M', '2e-05')
    """
    for size, unit in _LARGE:
        if size <= abs(value) < 1e3 * size:
            return f"{value / size:.4g} {unit}"
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    text = f"{value:,.6g}"
    return "0" if text in {"-0", "0"} else text


def time_text(seconds: float, apart: float) -> str:
    """Write a moment at a tick, as exactly as the distance to the next one asks for."""
    unit = "D" if apart >= 86_400 else "m" if apart >= 60 else "s"
    return str(np.array(round(seconds), "datetime64[s]").astype(f"datetime64[{unit}]")).replace(
        "T", " "
    )


def time_ticks(low: float, high: float) -> list[float]:
    """Return moments between two ends: whole days, hours, minutes or seconds where they fit."""
    apart = (high - low) / 5
    unit = max((size for size in _UNITS if size <= apart), default=1)
    step = max(math.ceil(apart / unit), 1) * unit
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(number * step) for number in range(first, last + 1)] or [low]
