"""How numbers are spread: counts in equally wide ranges, exact whatever order they come in.

Ranges begin at multiples of a width, and each width divides the next: so the counts of narrow
ranges add up to those of wide ones, and the least value need not be known before counting.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import numpy.typing as npt

MOST = 32
"""Ranges at most; if there are more, neighbours are joined."""

_SMALLEST_EXPONENT = -1074
_LARGEST = 2**63


class Scale(Enum):
    """Which widths there are; units of time are those of the column's type."""

    FLOAT = "float"
    """Powers of two, which floats can be divided by without rounding."""
    WHOLE = "whole"
    """1, 5, 10, 50, 100, …; also for dates."""
    SECONDS = "s"
    MILLIS = "ms"
    MICROS = "us"
    NANOS = "ns"


@functools.cache
def _widths(scale: Scale) -> tuple[int, ...]:
    """Return the widths of a scale of whole numbers, each of which divides the next."""
    if scale is Scale.WHOLE:
        return tuple(10 ** (step // 2) * (5 if step % 2 else 1) for step in range(37))
    units = {Scale.SECONDS: 1, Scale.MILLIS: 10**3, Scale.MICROS: 10**6, Scale.NANOS: 10**9}
    second = units[scale]
    below = [10**power for power in range(len(str(second)) - 1)]
    clock = [second * count for count in (1, 10, 60, 600, 3_600, 21_600, 86_400)]
    days = [86_400 * second * 10 ** (step // 2) * (5 if step % 2 else 1) for step in range(1, 40)]
    return tuple(width for width in (*below, *clock, *days) if width < _LARGEST)


@dataclass(frozen=True, slots=True)
class Bins:
    """Counts of ranges next to each other."""

    scale: Scale
    step: int
    """Which width: a place in the scale, or the exponent of two."""
    first: int
    """Number of widths at which the first range begins."""
    counts: npt.NDArray[np.int64]

    @staticmethod
    def of(values: npt.NDArray[np.int64] | npt.NDArray[np.float64], scale: Scale) -> Bins | None:
        """Count finite numbers; None if there are none."""
        if not len(values):
            return None
        if scale is Scale.FLOAT:
            exponent = _first_exponent(float(values.min()), float(values.max()))
            places = np.floor(np.ldexp(values, -exponent)).astype(np.int64)
            return _bounded(_counted(scale, exponent, places))
        low, high = int(values.min()), int(values.max())
        widths = _widths(scale)
        fits = (index for index, width in enumerate(widths) if high // width - low // width < MOST)
        step = next(fits, len(widths) - 1)
        return _counted(scale, step, np.floor_divide(values, widths[step]))

    def __add__(self, other: Bins) -> Bins:
        step = max(self.step, other.step)
        left, right = self.at(step), other.at(step)
        first = min(left.first, right.first)
        end = max(left.first + len(left.counts), right.first + len(right.counts))
        # Ranges far apart are brought closer before room is made for all between them.
        while end - first > MOST:
            step += 1
            left, right = left.at(step), right.at(step)
            first = min(left.first, right.first)
            end = max(left.first + len(left.counts), right.first + len(right.counts))
        counts = np.zeros(end - first, np.int64)
        for part in (left, right):
            counts[part.first - first :][: len(part.counts)] += part.counts
        return replace(left, first=first, counts=counts)

    @property
    def width(self) -> int | float:
        """How wide a range is."""
        if self.scale is Scale.FLOAT:
            return math.ldexp(1.0, self.step)
        return _widths(self.scale)[self.step]

    @property
    def starts(self) -> list[int] | list[float]:
        """Where each range begins."""
        places = range(self.first, self.first + len(self.counts))
        if self.scale is Scale.FLOAT:
            with np.errstate(over="ignore"):  # the least range may begin below all floats
                starts = np.ldexp(np.array(places, float), self.step)
            floats: list[float] = np.maximum(starts, np.finfo(float).min).tolist()
            return floats
        width = _widths(self.scale)[self.step]
        return [max(number * width, -_LARGEST) for number in places]

    def at(self, step: int) -> Bins:
        """Take ranges together until they are as wide as those of a step."""
        if step == self.step:
            return self
        places = np.arange(self.first, self.first + len(self.counts), dtype=np.int64)
        if self.scale is Scale.FLOAT:
            wider = places >> min(step - self.step, 63)
        else:
            widths = _widths(self.scale)
            wider = np.floor_divide(places, widths[step] // widths[self.step])
        first = int(wider[0])
        counts = np.zeros(int(wider[-1]) - first + 1, np.int64)
        np.add.at(counts, wider - first, self.counts)
        return Bins(self.scale, step, first, counts)


def _first_exponent(low: float, high: float) -> int:
    """Choose a width that is too narrow rather than too wide, as far as floats are exact."""
    most = max(abs(low), abs(high))
    exact = math.frexp(most)[1] - 52 if most else _SMALLEST_EXPONENT
    apart = high / 2 - low / 2  # without overflow
    spread = math.frexp(apart)[1] - 5 if apart else exact
    return max(exact, spread, _SMALLEST_EXPONENT)


def _bounded(bins: Bins) -> Bins:
    while len(bins.counts) > MOST:
        bins = bins.at(bins.step + 1)
    return bins


def _counted(scale: Scale, step: int, places: npt.NDArray[np.int64]) -> Bins:
    first = int(places.min())
    return Bins(scale, step, first, np.bincount(places - first).astype(np.int64))
