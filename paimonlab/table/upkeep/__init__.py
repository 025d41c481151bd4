"""What keeps a table in order and changes no row: tags, consumers, lost files, emptying.

Answers what is done after a commit, or when a user asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.upkeep import after_commit as after_commit
    from paimonlab.table.upkeep import analyze as analyze
    from paimonlab.table.upkeep import branches as branches
    from paimonlab.table.upkeep import consumers as consumers
    from paimonlab.table.upkeep import lost_files as lost_files
    from paimonlab.table.upkeep import purging as purging
    from paimonlab.table.upkeep import tags as tags

__getattr__, __dir__ = attributes_on_use(
    __name__,
    "after_commit",
    "analyze",
    "branches",
    "consumers",
    "lost_files",
    "purging",
    "tags",
)
