"""``*``: the columns that it stands for, in a select list and among the arguments of a function."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from paimonlab.errors import ColumnNotFoundError, SchemaError
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Scope, used
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value


def is_star(part: exp.Expression) -> bool:
    """Tell whether it is ``*`` or ``t.*``."""
    return isinstance(part, exp.Star) or (
        isinstance(part, exp.Column) and isinstance(part.this, exp.Star)
    )


def has_merged(parts: Sequence[exp.Expression], scope: Scope) -> bool:
    """Tell whether a ``*`` among them stands for columns of ``USING``, too."""
    return bool(scope.merged) and any(isinstance(part, exp.Star) for part in parts)


def starred(part: exp.Expression, scope: Scope) -> list[Value]:
    """Return the columns that ``*`` stands for.

    Raises
    ------
    ColumnNotFoundError, SchemaError, NotTranslatedError
        If there is no such table, or no column that ``EXCEPT`` names.
    """
    star = part if isinstance(part, exp.Star) else part.this
    check_parts(star, "except_")
    left_out = {one.name.lower() for one in star.args.get("except_") or ()}
    path = [] if part is star else [one.name for one in part.parts[:-1]]  # type: ignore[attr-defined]
    relations = [one for one in scope.relations if one.is_reachable]
    if path:
        relations = [one for one in relations if one.is_called(path)]
    if not relations:
        raise SchemaError(f"there is no table {'.'.join(path) or 'for *'}")
    values, missing = [], set(left_out)
    if left_out & scope.merged.keys():
        raise NotTranslatedError("* EXCEPT beside USING", "EXCEPT")
    if not path:
        values = [Value(one.text, one.kind, one.name) for one in scope.merged.values()]
    for relation in relations:
        for number, column in enumerate(relation.columns):
            if column.name.lower() in left_out:
                missing.discard(column.name.lower())
            elif path or number not in relation.hidden:
                values.append(used(relation, column))
    if missing:
        known = [column.name for relation in relations for column in relation.columns]
        raise ColumnNotFoundError(min(missing), "the query", known)
    return values
