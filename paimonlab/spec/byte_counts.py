"""Bytes as people read them."""

from __future__ import annotations

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def bytes_text(number: int) -> str:
    """Write bytes with a unit, in powers of 1,000.

    Examples
    --------
    >>> bytes_text(999), bytes_text(1000), bytes_text(12_345_678)
    ('999 B', '1.0 kB', '12.3 MB')
    """
    rest, unit = float(number), 0
    while abs(rest) >= 1000 and unit < len(_UNITS) - 1:
        rest, unit = rest / 1000, unit + 1
    return f"{rest:.1f} {_UNITS[unit]}" if unit else f"{number} B"
