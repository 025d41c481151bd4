"""What a predicate consists of: its columns, its conjuncts, the values it lets through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from paimonlab.spec.predicates.tree import (
    AlwaysFalse,
    AlwaysNull,
    AlwaysTrue,
    And,
    Comparator,
    Comparison,
    In,
    Literal,
    Not,
    Or,
    Predicate,
    Settled,
)


def children(predicate: Predicate) -> tuple[Predicate, ...]:
    """Return the predicates a predicate is made of; () for a leaf."""
    match predicate:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
    return ()


def columns(predicate: Predicate) -> frozenset[str]:
    """Return the names of all columns of a predicate."""
    own: str | None = getattr(predicate, "column", None)
    named = frozenset(() if own is None else (own,))
    return named.union(*(columns(part) for part in children(predicate)))


def split_and(predicate: Predicate) -> tuple[Predicate, ...]:
    """Return predicates that all have to be true; () for `AlwaysTrue`."""
    if isinstance(predicate, AlwaysTrue):
        return ()
    if isinstance(predicate, And):
        return tuple(leaf for part in predicate.parts for leaf in split_and(part))
    return (predicate,)


def rename_columns(predicate: Predicate, names: Mapping[str, str]) -> Predicate:
    """Return the predicate over renamed columns; a name not in ``names`` stays.

    Examples
    --------
    >>> from paimonlab.spec.predicates.predicate import col
    >>> print(rename_columns((col("a") > 1) | col("b").is_null(), {"a": "x"}))
    (x > 1 OR b IS NULL)
    """
    match predicate:
        case And(parts):
            return And(tuple(rename_columns(part, names) for part in parts))
        case Or(parts):
            return Or(tuple(rename_columns(part, names) for part in parts))
        case Not(part):
            return Not(rename_columns(part, names))
        case AlwaysTrue() | AlwaysFalse() | AlwaysNull():
            return predicate
    name: str = predicate.column  # type: ignore[attr-defined]
    return replace(predicate, column=names.get(name, name))  # type: ignore[type-var]


def allowed_values(predicate: Predicate, column: str) -> tuple[Literal, ...] | None:
    """Return the values of which ``column`` must have one where the predicate is true.

    None: the predicate does not say; (): it is never true.

    Examples
    --------
    >>> from paimonlab.spec.predicates.predicate import col
    >>> both = (col("a") == 1) & (col("b") > 2) | col("a").is_in([3, 4])
    >>> [literal.value for literal in allowed_values(both, "a")]
    [1, 3, 4]
    >>> allowed_values(both, "b")
    """
    match predicate:
        case AlwaysFalse() | AlwaysNull() | Settled(_, False):
            return ()
        case Comparison(name, Comparator.EQ, literal) if name == column:
            return (literal,)
        case In(name, literals) if name == column:
            return literals
        case And(parts):
            return _fewest([allowed_values(part, column) for part in parts])
        case Or(parts):
            return _union([allowed_values(part, column) for part in parts])
    return None


def _fewest(found: Sequence[tuple[Literal, ...] | None]) -> tuple[Literal, ...] | None:
    said = [values for values in found if values is not None]
    return min(said, key=len) if said else None


def _union(found: Sequence[tuple[Literal, ...] | None]) -> tuple[Literal, ...] | None:
    values: dict[Literal, None] = {}
    for part in found:
        if part is None:
            return None
        values.update(dict.fromkeys(part))
    return tuple(values)
