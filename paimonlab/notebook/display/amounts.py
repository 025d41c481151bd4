"""Counts and bytes as views write them; the interactive forms write them alike."""

from __future__ import annotations

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def count(value: int | None) -> str:
    """Write a whole number; None is empty.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return "" if value is None else f"{value:,}"


def size(value: int | None) -> str:
    """Write bytes in powers of 1,000; None is empty.

    Examples
    --------
    >>> size(999), size(1_000), size(12_345_678)
    ('999 B', '1.0 kB', '12.3 MB')
    """
    if value is None:
        return ""
    place, rest = 0, float(value)
    while rest >= 1000 and place < len(_UNITS) - 1:
        rest /= 1000
        place += 1
    return f"{rest:.1f} {_UNITS[place]}" if place else f"{value} B"
