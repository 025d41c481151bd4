"""Writing rows of a table and replacing partitions, up to the commit and what follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.writing import by_workers as by_workers
    from paimonlab.table.writing import columns as columns
    from paimonlab.table.writing import commits as commits
    from paimonlab.table.writing import mark_done as mark_done
    from paimonlab.table.writing import overwriting as overwriting
    from paimonlab.table.writing import routers as routers
    from paimonlab.table.writing import writers as writers

__getattr__, __dir__ = attributes_on_use(
    __name__, "by_workers", "columns", "commits", "mark_done", "overwriting", "routers", "writers"
)
