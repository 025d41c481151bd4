"""Numbers of things, in the singular or the plural."""

from __future__ import annotations


def many(number: int, what: str, several: str = "") -> str:
    """Write a number of things, in the singular or the plural.

    Examples
    --------
    >>> many(1, "row"), many(0, "row"), many(1000, "sorted run"), many(2, "branch", "branches")
    ('1 row', '0 rows', '1,000 sorted runs', '2 branches')
    """
    return f"{number:,} {what if number == 1 else several or what + 's'}"
