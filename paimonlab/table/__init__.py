"""The user's object: one table with its verbs, scans and system tables.

Answers: what a user asks of a table. Knows all layers below and wires them together. Must not
know which catalog the table came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table import maintenance as maintenance

__getattr__, __dir__ = attributes_on_use(__name__, "maintenance")
