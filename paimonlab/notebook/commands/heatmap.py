"""Show which buckets are large, old or full of small files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.analysis.buckets.heatmap import (
    DEFAULT_TOP,
    HIDDEN_MEASURES,
    bucket_sums,
)
from paimonlab.notebook import views
from paimonlab.notebook.commands.opening import opened
from paimonlab.notebook.determinism import is_deterministic
from paimonlab.notebook.display.heatmap import draw
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.parts import TableParts
from paimonlab.table.system.live import files_of
from paimonlab.table.system.texts import partition_text
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
    value = _value(found, shown, "rows" if hides and by in HIDDEN_MEASURES else by, top)
    if hides:
        return draw(views.repeatable_heatmap(value))

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = request.get("snapshot")
        at = shown if asked is None else found.snapshots.get(int(asked))
        other = _value(found, at, str(request["by"]), top)
        return {"view": msgspec.to_builtins(other)}

    return draw(value, answer=answer)


def _value(table: Table, snapshot: Snapshot | None, by: str, top: int) -> views.Heatmap:
    sums = bucket_sums(files_of(table.parts, snapshot, with_postponed=True))
    return views.heatmap(
        table.name,
        None if snapshot is None else snapshot.id,
        sums,
        partition_names(table.parts, sums["partition"]),
        by=by,
        top=top,
        has_levels=bool(table.primary_keys),
    )


def partition_names(parts: TableParts, partitions: pa.ChunkedArray) -> list[str]:
    """Write partitions as ``$files`` does; "" in a table without partitions."""
    fields = [parts.schema.field(name) for name in parts.schema.partition_keys]
    if not fields:
        return [""] * len(partitions)
    return [str(text) for text in partition_text(partitions.combine_chunks(), fields).to_pylist()]
