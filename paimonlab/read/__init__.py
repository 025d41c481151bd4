"""Splits to Arrow batches: opening files, merging their rows, streaming the result.

Answers what the rows of a split are. Knows data files and merging; must not know commits,
catalogs or how splits were planned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.read import file_indexes as file_indexes

__getattr__, __dir__ = attributes_on_use(__name__, "file_indexes")
