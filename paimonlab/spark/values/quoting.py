"""Names in Spark's expressions."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Return a column name as Spark parses it, whatever characters it has.

    Examples
    --------
    >>> print(quoted("a.b"), quoted("c`d"))
    `a.b` `c``d`
    """
    return "`" + name.replace("`", "``") + "`"
