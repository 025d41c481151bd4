"""What a process remembers of a table between its reads and writes; `TableStore` keeps it.

Knows of no table, only of what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.memories import bucket_files as bucket_files
    from paimonlab.table.memories import sequence_numbers as sequence_numbers
    from paimonlab.table.memories import upkeep_turns as upkeep_turns

__getattr__, __dir__ = attributes_on_use(
    __name__, "bucket_files", "sequence_numbers", "upkeep_turns"
)
