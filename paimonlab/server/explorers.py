"""Views of a table that open in a tab of their own, as JupyterLab's renderer draws them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from paimonlab.errors import NotFoundError
from paimonlab.notebook import commands
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.view import View
from paimonlab.notebook.results.result import Result, Stats
from paimonlab.server.warehouses import opened
from paimonlab.spec.sql_text.call_text import quoted
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.table.table import Table

PREVIEW_ROWS = 200


def explorer(root: Path, path: Sequence[str], kind: str, at: str | None = None) -> dict[str, Any]:
    """Return the data of a view.

    Parameters
    ----------
    root
        The folder that Jupyter Server shows.
    path
        Key of a warehouse, database, table.
    kind
        One of `EXPLORERS`.
    at
        Snapshot or tag, for `AT_A_SNAPSHOT`; None: the latest.

    Raises
    ------
    NotFoundError
        If there is no such view.
    """
    if kind not in EXPLORERS:
        raise NotFoundError(f"there is no view {kind}; there are {', '.join(EXPLORERS)}")
    if len(path) != 3:
        raise NotFoundError(f"{' / '.join(path[1:])} is not a table")
    if at is not None and kind not in AT_A_SNAPSHOT:
        raise NotFoundError(f"the view {kind} is not of one snapshot")
    view = EXPLORERS[kind](opened(root, path[0]).table(path[1], path[2]), at)
    assert isinstance(view, Drawn), "views with an interactive form are drawn"
    return view.data()


def _preview(table: Table, at: str | None) -> View:
    begin = time.monotonic()
    version = int(at) if at is not None and at.isdecimal() else at
    fetched = table.scan(limit=PREVIEW_ROWS + 1, version=version).to_arrow()
    rows = fetched.slice(0, PREVIEW_ROWS)
    identifier = table.identifier
    name = f"{quoted(identifier.database)}.{quoted(identifier.table)}"
    sql = f"SELECT * FROM {name}"  # noqa: S608 - shown, never run
    if at is not None:
        sql += f" VERSION AS OF {at}" if at.isdecimal() else f" VERSION AS OF '{at}'"
    result = Result(
        rows,
        types=[
            format_type(with_nullable(from_arrow(field.type), nullable=True)).lower()
            for field in rows.schema
        ],
        sql=sql,
        title="SELECT",
        stats=Stats(
            row_count=rows.num_rows,
            has_more_rows=fetched.num_rows > PREVIEW_ROWS,
            fetched_bytes=rows.nbytes,
            duration_seconds=time.monotonic() - begin,
        ),
        spark=None,
    )
    return result.view


def _between(table: Table, at: str | None) -> tuple[int, int]:
    """Return the snapshot before one and it, the latest if ``at`` is None."""
    found = _snapshot(table, at)
    if found is None:
        latest = table.snapshot
        if latest is None:
            raise NotFoundError(f"{table.name}: nothing was written to it yet")
        found = latest.id
    return found - 1, found


def _snapshot(table: Table, at: str | None) -> int | None:
    """Return the id of a snapshot or of a tag's."""
    if at is None or at.isdecimal():
        return None if at is None else int(at)
    return table.tags.get(at).id


EXPLORERS: dict[str, Callable[[Table, str | None], View]] = {
    "preview": _preview,
    "timeline": lambda table, _: commands.timeline(table),
    "log": lambda table, _: commands.log(table, last=100),
    "schemas": lambda table, _: commands.schemas(table),
    "manifests": lambda table, at: commands.manifests(table, snapshot=_snapshot(table, at)),
    "heatmap": lambda table, at: commands.heatmap(table, snapshot=_snapshot(table, at)),
    "files": lambda table, at: commands.files(table, snapshot=_snapshot(table, at)),
    "lsm": lambda table, _: commands.lsm(table),
    "compaction": lambda table, _: commands.compaction(table),
    "travel": lambda table, _: commands.travel(table),
    "simulator": lambda table, _: commands.simulate(table),
    "changes": lambda table, at: commands.changes(table, *_between(table, at)),
    "diff": lambda table, at: commands.diff(table, *_between(table, at)),
    "profile": lambda table, _: commands.profile(table),
    "health": lambda table, _: commands.health(table),
    "fsck": lambda table, _: commands.fsck(table),
}
"""The views that can be opened, by the name of the magic that shows them."""
AT_A_SNAPSHOT = ("preview", "manifests", "heatmap", "files", "changes", "diff")
"""Those of one snapshot; the last two compare it with the one before."""
