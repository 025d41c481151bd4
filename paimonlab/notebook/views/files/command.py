"""Show how large the data files of a table are, and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from paimonlab.analysis.partition_names import partition_names
from paimonlab.analysis.row_words import rows_are
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.files.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.system.live import files_of
from paimonlab.table.table import Table


def files(table: str | Table, *, snapshot: int | None = None) -> views.View:
    """Draw the data files of a table as areas, count them by size, and say what to do.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    snapshot
        Its id; None: the latest.
    """
    opened_table = opened(table)
    if is_deterministic():
        return draw(views.repeatable_files(_value(opened_table, snapshot)))

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"view": msgspec.to_builtins(_value(opened_table, int(request["snapshot"])))}

    return draw(_value(opened_table, snapshot), answer=answer)


def _value(table: Table, snapshot: int | None) -> views.FileMap:
    shown = table.snapshot if snapshot is None else table.snapshots.get(snapshot)
    live = files_of(store_of(table).manifests, shown, with_postponed=True).select(
        ["partition", "bucket", "file_name", "level", "file_size_bytes", "row_count"]
    )
    return views.file_map(
        table.name,
        None if shown is None else shown.id,
        live,
        partition_names(definition_of(table).schema, live["partition"]),
        weight="rows" if is_deterministic() else "bytes",
        has_levels=bool(table.primary_keys),
        rows_are=rows_are(table.primary_keys, definition_of(table).options),
    )
