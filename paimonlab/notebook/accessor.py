"""``table.show``: the views of one table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from paimonlab.notebook import commands
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.notebook.display.view import View
    from paimonlab.notebook.views.watch.command import Watching
    from paimonlab.table.reading.incremental import Moment


class Show:
    """Draws a table's metadata; ``table.show`` is one.

    Parameters
    ----------
    table
        The table to draw.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def __repr__(self) -> str:
        return f"<views of {self._table.name}: {', '.join(_views())}>"

    if not TYPE_CHECKING:  # a type checker says that it is not callable

        def __call__(self, *_given: object, **_named: object) -> Any:
            """Say what there is: frames of Spark show their rows so."""
            raise TypeError(
                f"table.show draws a view, as in table.show.timeline(): {', '.join(_views())}; "
                "rows are shown by table.scan(limit=20).to_pandas()"
            )

    def timeline(self, *, last: int = 20) -> View:
        """Draw the newest snapshots, as ``%paimon_timeline`` does."""
        return commands.timeline(self._table, last=last)

    def diff(self, start: Moment, end: Moment) -> View:
        """Show what changed from one snapshot to another, as ``%paimon_diff`` does."""
        return commands.diff(self._table, start, end)

    def log(self, *, last: int = 20) -> View:
        """Show what the newest commits did, as ``%paimon_log`` does."""
        return commands.log(self._table, last=last)

    def schemas(self) -> View:
        """Show the history of the schema, as ``%paimon_schemas`` does."""
        return commands.schemas(self._table)

    def manifests(self, *, snapshot: int | None = None, entries: int = 500) -> View:
        """Draw what a snapshot refers to, as ``%paimon_manifests`` does."""
        return commands.manifests(self._table, snapshot=snapshot, entries=entries)

    def heatmap(self, *, by: str = "bytes", top: int = 50, snapshot: int | None = None) -> View:
        """Draw partitions and buckets by what they contain, as ``%paimon_heatmap`` does."""
        return commands.heatmap(self._table, by=by, top=top, snapshot=snapshot)

    def lsm(
        self,
        *,
        partition: Mapping[str, Any] | None = None,
        bucket: int | None = None,
        snapshots: int = 30,
        buckets: int = 6,
    ) -> View:
        """Draw levels and the commits that led to them, as ``%paimon_lsm`` does."""
        return commands.lsm(
            self._table, partition=partition, bucket=bucket, snapshots=snapshots, buckets=buckets
        )

    def changes(
        self,
        start: int | str | datetime,
        end: int | str | datetime,
        *,
        mode: Literal["changelog", "delta", "diff"] | None = None,
        where: str | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> View:
        """Show which rows changed between two points, as ``%paimon_changes`` does."""
        return commands.changes(self._table, start, end, mode=mode, where=where, path=path)

    def file(self, name: str, *, snapshot: int | None = None) -> View:
        """Draw one data file, as ``%paimon_file`` does."""
        return commands.file(self._table, name, snapshot=snapshot)

    def files(self, *, snapshot: int | None = None) -> View:
        """Draw data files by size and place, as ``%paimon_files`` does."""
        return commands.files(self._table, snapshot=snapshot)

    def profile(
        self,
        *,
        where: str | None = None,
        columns: Sequence[str] | None = None,
        path: str | os.PathLike[str] | None = None,
        all_files: bool = False,
    ) -> View:
        """Show what is in each column, as ``%paimon_profile`` does."""
        return commands.profile(
            self._table, where=where, columns=columns, path=path, all_files=all_files
        )

    def compaction(self, snapshot: int | None = None, *, snapshots: int = 100) -> View:
        """Show what compactions did and what would be picked, as ``%paimon_compaction`` does."""
        return commands.compaction(self._table, snapshot, snapshots=snapshots)

    def travel(self, *, sql: str | None = None, steps: int = 12, rows: int = 10) -> View:
        """Show rows or an aggregate at points of the past, as ``%paimon_travel`` does."""
        return commands.travel(self._table, sql=sql, steps=steps, rows=rows)

    def row(self, where: str, *, last: int = 50) -> View:
        """Show what became of one row, as ``%paimon_row`` does."""
        return commands.row(self._table, where, last=last)

    def watch(
        self,
        *,
        last: int = 50,
        rows: int = 5,
        seconds: float | None = None,
        commits: int | None = None,
        background: bool = False,
    ) -> Watching:
        """Show the table as commits arrive, as ``%paimon_watch`` does."""
        return commands.watch(
            self._table,
            last=last,
            rows=rows,
            seconds=seconds,
            commits=commits,
            background=background,
        )

    def simulator(
        self,
        *,
        bucket: int | None = None,
        partition: Mapping[str, Any] | None = None,
        flushes: int = 100,
        options: Mapping[str, str] | None = None,
    ) -> View:
        """Replay the writes of a bucket under other options, as ``%paimon_simulator`` does."""
        return commands.simulate(
            self._table, bucket=bucket, partition=partition, flushes=flushes, options=options
        )

    def fsck(self, *, deep: bool = False) -> View:
        """Show what a check of every file finds, as ``%paimon_fsck`` does."""
        return commands.fsck(self._table, deep=deep)

    def health(self, *, orphans: bool = False, **thresholds: float) -> View:
        """Say how the table could be maintained better, as ``%paimon_health`` does."""
        return commands.health(self._table, orphans=orphans, **thresholds)


def register() -> None:
    """Give every table its ``show``."""
    Table.register_accessor("show", Show)


def _views() -> list[str]:
    return sorted(name for name in vars(Show) if not name.startswith("_"))
