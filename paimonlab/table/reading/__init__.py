"""Reading a table: which snapshot and columns a user means, and the rows or changes of them.

Answers what is read, from when and how; knows of no commit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.reading import changes as changes
    from paimonlab.table.reading import dataset as dataset
    from paimonlab.table.reading import explain as explain
    from paimonlab.table.reading import incremental as incremental
    from paimonlab.table.reading import library_conditions as library_conditions
    from paimonlab.table.reading import lookup as lookup
    from paimonlab.table.reading import polars_trees as polars_trees
    from paimonlab.table.reading import query as query
    from paimonlab.table.reading import row_history as row_history
    from paimonlab.table.reading import scan as scan
    from paimonlab.table.reading import time_travel as time_travel

__getattr__, __dir__ = attributes_on_use(
    __name__,
    "changes",
    "dataset",
    "explain",
    "incremental",
    "library_conditions",
    "lookup",
    "polars_trees",
    "query",
    "row_history",
    "scan",
    "time_travel",
)
