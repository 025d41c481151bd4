"""Conditions and expressions in Spark's SQL as trees of sqlglot, whose releases differ."""

from __future__ import annotations

from typing import Any, TypeAlias

import sqlglot
from sqlglot import exp

Node: TypeAlias = Any
"""A node of sqlglot's tree; its base class has another name in every few versions."""

_NEGATED = "negate"
"""Where releases since 30 note ``NOT`` of ``a NOT LIKE b``; before, it is a node around it."""


def parsed(text: str) -> Node:
    """Parse a condition or an expression; every ``NOT`` is a node of its own.

    Raises
    ------
    sqlglot.errors.SqlglotError
        If it is none.
    RecursionError
        If it is nested too deep.

    Examples
    --------
    >>> parsed("a NOT LIKE 'x%' ESCAPE '!'").key, parsed("NOT a LIKE 'x%'").key
    ('not', 'not')
    """
    return sqlglot.parse_one(text, read="spark", into=exp.Condition).transform(_apart, copy=False)


def _apart(node: Node) -> Node:
    of = node.this if isinstance(node, exp.Escape) else node
    if not of.args.get(_NEGATED):
        return node
    of.set(_NEGATED, None)
    return exp.Not(this=node)
