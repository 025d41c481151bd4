"""Conditions on rows: built, read from SQL, bound to columns, evaluated, and used to skip files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.spec.predicates import sql as sql

__getattr__, __dir__ = attributes_on_use(__name__, "sql")
