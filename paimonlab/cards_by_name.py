"""Cards for IPython: registered by name, so that nothing loads before it is shown.

Notebooks that only import the package have them, too; what draws them is imported with the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

CARDS: Mapping[tuple[str, str], str] = {
    ("paimonlab.table.table", "Table"): "of_table",
    ("paimonlab.catalog.catalog", "Catalog"): "of_catalog",
    ("paimonlab.spec.schema.table_schema", "TableSchema"): "of_schema",
    ("paimonlab.spec.snapshot", "Snapshot"): "of_snapshot",
    ("paimonlab.spec.snapshot", "Tag"): "of_snapshot",
    ("paimonlab.metadata.snapshots", "SnapshotManager"): "of_snapshots",
    ("paimonlab.table.upkeep.tags", "Tags"): "of_tags",
    ("paimonlab.table.reading.scan", "Scan"): "of_line",
    ("paimonlab.table.reading.changes", "Changes"): "of_line",
}


def register(shell: InteractiveShell) -> None:
    """Let a shell show objects of the package as cards."""
    if shell.display_formatter is None:
        return
    formatter = shell.display_formatter.formatters["text/html"]
    for (module, name), card in CARDS.items():
        formatter.for_type_by_name(module, name, _drawn_by(card))


def _drawn_by(card: str) -> Callable[[Any], str]:
    def draw(shown: Any) -> str:
        drawn: str = getattr(import_module("paimonlab.notebook.views.objects.cards"), card)(shown)
        return drawn

    return draw
