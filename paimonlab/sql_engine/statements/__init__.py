"""Statements that read no rows themselves: definitions of tables, and calls of procedures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.sql_engine.statements import alterations as alterations
    from paimonlab.sql_engine.statements import calls as calls
    from paimonlab.sql_engine.statements import definitions as definitions

__getattr__, __dir__ = attributes_on_use(__name__, "alterations", "calls", "definitions")
