"""Load and store schemas, snapshots, manifests and tags by id or name.

Knows the folders of a table and the files in them; must not know plans, rows or merging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.metadata import load_history as load_history
    from paimonlab.metadata import statistics as statistics

__getattr__, __dir__ = attributes_on_use(__name__, "load_history", "statistics")
