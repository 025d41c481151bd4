"""Which columns a query needs, so that no others are read."""

from __future__ import annotations

from collections.abc import Sequence

import sqlglot
from sqlglot import exp


def named_columns(sql: str, columns: Sequence[str]) -> list[str]:
    """Return the columns that a query on one table can refer to, in their order.

    A column counts if its name occurs anywhere in the text. All are returned if columns may be
    meant that are not named: ``*`` other than in ``count(*)``, ``COLUMNS('…')``, a natural join,
    or text that is not understood.

    Examples
    --------
    >>> named_columns("SELECT count(*), sum(Amount) FROM rows", ["id", "amount", "name"])
    ['amount']
    >>> named_columns("SELECT * FROM rows", ["id", "amount"])
    ['id', 'amount']
    """
    if _may_mean_others(sql):
        return list(columns)
    text = sql.lower()
    return [name for name in columns if name.lower() in text or not name.isidentifier()]


def _may_mean_others(sql: str) -> bool:
    try:
        parsed = sqlglot.parse_one(sql, dialect="postgres")
    except sqlglot.errors.SqlglotError:
        return True
    stars = [star for star in parsed.find_all(exp.Star) if not isinstance(star.parent, exp.Count)]
    joins = [join for join in parsed.find_all(exp.Join) if join.method]
    return bool(stars or joins or parsed.find(exp.Columns))
