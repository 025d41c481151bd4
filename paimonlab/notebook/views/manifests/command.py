"""Show what a snapshot refers to: manifest lists, manifests, entries, index files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from paimonlab.analysis.manifests.reading_manifests import (
    DEFAULT_ENTRIES,
    entries_of,
    manifest_tree_of,
)
from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.manifests.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.table.table import Table


def manifests(
    table: str | Table, *, snapshot: int | None = None, entries: int = DEFAULT_ENTRIES
) -> views.View:
    """Draw the manifests of a snapshot as a tree.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    snapshot
        Its id; None: the latest.
    entries
        How many entries become part of the view; all are counted.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such snapshot.
    """
    opened_table = opened(table)
    tree = manifest_tree_of(opened_table, snapshot=snapshot, entries=entries)
    if is_deterministic():
        return draw(views.repeatable_manifests(tree))
    return draw(tree, answer=_answer(opened_table))


def _answer(table: Table) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Answer the interactive form: another ``snapshot``, or its entries of some files.

    With ``find`` (a part of a file's name), and perhaps ``partition`` (as entries show it) and
    ``bucket``, the entries of these are asked for.
    """

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        snapshot = int(request["snapshot"])
        if "find" not in request:
            return {"view": msgspec.to_builtins(manifests(table, snapshot=snapshot).value)}
        partition, bucket = request.get("partition"), request.get("bucket")
        nodes, count = entries_of(
            table,
            snapshot,
            str(request["find"]),
            partition=partition,
            bucket=None if bucket is None else int(bucket),
        )
        return {"entries": msgspec.to_builtins(nodes), "count": count}

    return answer
