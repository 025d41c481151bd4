"""Compacting a table: on demand (`verb`), after rows were committed (`after_write`), by writers.

Answers which files of which buckets are merged, and commits what comes of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.compacting import after_write as after_write
    from paimonlab.table.compacting import by_writers as by_writers
    from paimonlab.table.compacting import verb as verb

__getattr__, __dir__ = attributes_on_use(__name__, "after_write", "by_writers", "verb")
