"""Cards for IPython: registered by name, so that nothing loads before it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from paimonlab.notebook.views.objects import cards

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

CARDS: Mapping[tuple[str, str], Callable[[Any], str]] = {
    ("paimonlab.table.table", "Table"): cards.of_table,
    ("paimonlab.catalog.catalog", "Catalog"): cards.of_catalog,
    ("paimonlab.spec.schema.table_schema", "TableSchema"): cards.of_schema,
    ("paimonlab.spec.snapshot", "Snapshot"): cards.of_snapshot,
    ("paimonlab.spec.snapshot", "Tag"): cards.of_snapshot,
    ("paimonlab.metadata.snapshots", "SnapshotManager"): cards.of_snapshots,
    ("paimonlab.table.upkeep.tags", "Tags"): cards.of_tags,
    ("paimonlab.table.reading.scan", "Scan"): cards.of_line,
    ("paimonlab.table.reading.changes", "Changes"): cards.of_line,
}


def register(shell: InteractiveShell) -> None:
    """Let a shell show objects of the package as cards."""
    if shell.display_formatter is None:
        return
    formatter = shell.display_formatter.formatters["text/html"]
    for (module, name), card in CARDS.items():
        formatter.for_type_by_name(module, name, card)
