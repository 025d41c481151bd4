"""Rectangles whose areas are numbers, as square as they can be: a treemap's layout.

Source: Bruls, Huizing and van Wijk, "Squarified Treemaps", 2000.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float


def squarified(weights: Sequence[float], box: Box) -> list[Box]:
    """Divide a rectangle.

    Parameters
    ----------
    weights
        None of them negative, largest first.
    box
        What is divided.

    Returns
    -------
    list of Box
        One for each weight, its share of the area; those of weight 0 are empty.

    Examples
    --------
    >>> for box in squarified([2, 1, 1], Box(0, 0, 4, 2)):
    ...     print(box)
    Box(x=0, y=0, width=2.0, height=2.0)
    Box(x=2.0, y=0, width=2.0, height=1.0)
    Box(x=2.0, y=1.0, width=2.0, height=1.0)
    """
    total = sum(weights)
    if not total:
        return [Box(box.x, box.y, 0, 0) for _ in weights]
    scale = box.width * box.height / total
    areas = [weight * scale for weight in weights]
    boxes: list[Box] = []
    start = 0
    while start < len(areas):
        end = _end_of_row(areas, start, min(box.width, box.height))
        row, box = _laid(areas[start:end], box)
        boxes += row
        start = end
    return boxes


def _end_of_row(areas: Sequence[float], start: int, side: float) -> int:
    """Take as many areas into a row as make its worst rectangle better."""
    end, best = start + 1, _worst(areas[start], areas[start], areas[start], side)
    total = areas[start]
    while end < len(areas):
        total += areas[end]
        worst = _worst(total, areas[start], areas[end], side)
        if worst > best:
            break
        best, end = worst, end + 1
    return end


def _worst(total: float, largest: float, least: float, side: float) -> float:
    """Return the largest ratio of the sides of rectangles in a row along ``side``."""
    if not least or not side:
        return float("inf") if total else 0.0
    thickness = total / side
    return max(largest / thickness**2, thickness**2 / least)


def _laid(areas: Sequence[float], box: Box) -> tuple[list[Box], Box]:
    """Lay a row along the shorter side; return what is left of the rectangle."""
    total = sum(areas)
    if box.width >= box.height:
        width = total / box.height if box.height else 0.0
        row = [Box(box.x, y, width, size) for y, size in _along(areas, width, box.y)]
        return row, Box(box.x + width, box.y, max(box.width - width, 0.0), box.height)
    height = total / box.width if box.width else 0.0
    row = [Box(x, box.y, size, height) for x, size in _along(areas, height, box.x)]
    return row, Box(box.x, box.y + height, box.width, max(box.height - height, 0.0))


def _along(areas: Sequence[float], thickness: float, at: float) -> Iterator[tuple[float, float]]:
    for area in areas:
        size = area / thickness if thickness else 0.0
        yield at, size
        at += size
