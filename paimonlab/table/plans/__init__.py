"""Plans: what reading, writing or compacting files takes, as values that can be sent.

A function each makes them of a definition and a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.plans import order as order

__getattr__, __dir__ = attributes_on_use(__name__, "order")
