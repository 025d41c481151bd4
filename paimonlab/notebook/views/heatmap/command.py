"""Show which buckets are large, old or full of small files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from paimonlab.analysis.buckets.measures import DEFAULT_TOP, HIDDEN_MEASURES
from paimonlab.analysis.buckets.reading_heatmap import heatmap_of
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.heatmap.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.table.table import Table


def heatmap(
    table: str | Table,
    *,
    by: str = "bytes",
    top: int = DEFAULT_TOP,
    snapshot: int | None = None,
) -> views.View:
    """Draw the buckets of a table, a row per partition.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    by
        One of `paimonlab.analysis.buckets.measures.MEASURES`: the partitions that have most of it
        get a row of their own.
    top
        How many partitions get one.
    snapshot
        Its id; None: the latest.
    """
    opened_table = opened(table)
    shown = opened_table.snapshot if snapshot is None else opened_table.snapshots.get(snapshot)
    hides = is_deterministic()
    value = heatmap_of(
        opened_table, shown, by="rows" if hides and by in HIDDEN_MEASURES else by, top=top
    )
    if hides:
        return draw(views.repeatable_heatmap(value))

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        snapshot_id = request.get("snapshot")
        moment = shown if snapshot_id is None else opened_table.snapshots.get(int(snapshot_id))
        other = heatmap_of(opened_table, moment, by=str(request["by"]), top=top)
        return {"view": msgspec.to_builtins(other)}

    return draw(value, answer=answer)
