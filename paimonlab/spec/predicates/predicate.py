"""Predicates: building, binding, evaluating them and pruning by them.

The tree itself is in `paimonlab.spec.predicates.tree`; this module gathers the names that
others use.
"""

from __future__ import annotations

from paimonlab.spec.predicates.binding import bind, negate
from paimonlab.spec.predicates.evaluation import evaluate
from paimonlab.spec.predicates.file_filter import to_arrow_filter
from paimonlab.spec.predicates.pruning import ColumnStats, doubts, may_match_stats
from paimonlab.spec.predicates.tree import (
    AlwaysFalse,
    AlwaysNull,
    AlwaysTrue,
    And,
    Column,
    Comparator,
    Comparison,
    In,
    IsNan,
    IsNotNull,
    IsNull,
    Literal,
    Matches,
    Not,
    Or,
    Predicate,
    Settled,
    TextMatch,
    all_of,
    any_of,
    col,
)
from paimonlab.spec.predicates.walking import allowed_values, columns, rename_columns, split_and

__all__ = [
    "AlwaysFalse",
    "AlwaysNull",
    "AlwaysTrue",
    "And",
    "Column",
    "ColumnStats",
    "Comparator",
    "Comparison",
    "In",
    "IsNan",
    "IsNotNull",
    "IsNull",
    "Literal",
    "Matches",
    "Not",
    "Or",
    "Predicate",
    "Settled",
    "TextMatch",
    "all_of",
    "allowed_values",
    "any_of",
    "bind",
    "col",
    "columns",
    "doubts",
    "evaluate",
    "may_match_stats",
    "negate",
    "rename_columns",
    "split_and",
    "to_arrow_filter",
]
