"""Show which buckets are large, old or full of small files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from paimonlab.analysis.buckets.heatmap import DEFAULT_TOP, HIDDEN_MEASURES
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
    """Draw the buckets of a table, a row a partition.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    by
        One of `paimonlab.analysis.buckets.heatmap.MEASURES`: the partitions that have most of it
        get a row of their own.
    top
        How many partitions get one.
    snapshot
        Its id; None: the latest.
    """
    found = opened(table)
    shown = found.snapshot if snapshot is None else found.snapshots.get(snapshot)
    hides = is_deterministic()
    value = heatmap_of(found, shown, by="rows" if hides and by in HIDDEN_MEASURES else by, top=top)
    if hides:
        return draw(views.repeatable_heatmap(value))

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = request.get("snapshot")
        at = shown if asked is None else found.snapshots.get(int(asked))
        other = heatmap_of(found, at, by=str(request["by"]), top=top)
        return {"view": msgspec.to_builtins(other)}

    return draw(value, answer=answer)
