"""Writing files of a table anew for another layout: other buckets, other indexes of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.rewriting import file_indexes as file_indexes
    from paimonlab.table.rewriting import rescaling as rescaling

__getattr__, __dir__ = attributes_on_use(__name__, "file_indexes", "rescaling")
