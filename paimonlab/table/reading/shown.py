"""Reads in one line, for who looks at them."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.predicates.predicate import Predicate

_MOST_NAMES = 8


def shown_read(
    what: str, columns: Sequence[str], predicate: Predicate | str | None, limit: int | None = None
) -> str:
    """Say what a read is of, which columns it has and which rows.

    Examples
    --------
    >>> shown_read("Scan of db.t at snapshot 3", ["id", "v"], None, 10)
    '<Scan of db.t at snapshot 3: id, v; limit 10>'
    """
    names = [*columns[:_MOST_NAMES]]
    if len(columns) > _MOST_NAMES:
        names.append(f"{len(columns) - _MOST_NAMES} more")
    parts = [", ".join(names)]
    if predicate is not None:
        parts.append(f"where {predicate}")
    if limit is not None:
        parts.append(f"limit {limit}")
    return f"<{what}: {'; '.join(parts)}>"
