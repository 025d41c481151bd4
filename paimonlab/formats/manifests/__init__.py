"""Manifests, manifest lists and index manifests as bytes and as Arrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.formats.manifests.entry_columns import entry_blocks
    from paimonlab.formats.manifests.other_formats import read_other, write_other

__all__ = ["entry_blocks", "read_other", "write_other"]

__getattr__, __dir__ = attributes_on_use(
    __name__, entry_blocks="entry_columns", read_other="other_formats", write_other="other_formats"
)
