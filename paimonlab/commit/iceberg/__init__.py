"""Iceberg's metadata beside Paimon's: written after commits, so that other engines read the table.

What it says is decided in `paimonlab.spec.iceberg`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.commit.iceberg.after_commit import IcebergUpkeep
    from paimonlab.commit.iceberg.tags import IcebergTags

__all__ = ["IcebergTags", "IcebergUpkeep"]

__getattr__, __dir__ = attributes_on_use(__name__, IcebergTags="tags", IcebergUpkeep="after_commit")
