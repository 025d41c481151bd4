"""Which tables of statements that run are made by them: CREATE TABLE … AS SELECT and its like."""

from __future__ import annotations

import weakref
from typing import Any

_new: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""By their hash codes, which is all that is to be had of an object that Spark hands back."""


def remember_new(table: Any) -> None:
    """Note that a statement makes a table."""
    _new[table.hashCode()] = table


def is_new(java_table: Any) -> bool:
    """Whether a table that Spark writes to is one that the statement makes."""
    return java_table.hashCode() in _new
