"""Compact a table, or let its snapshots expire: the plan first, then what was done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from paimonlab.notebook import views
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.kernel.interruptible import run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay, is_wanted
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.planned.call_drawing import draw_planned_call
from paimonlab.progress import Progress
from paimonlab.table.table import Table


def compact(
    table: str | Table,
    *,
    full: bool = False,
    partition: Mapping[str, Any] | None = None,
    dry_run: bool = True,
) -> views.View:
    """Show what a compaction would rewrite, or do it.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    full
        Whether everything is rewritten, not only what is worth it.
    partition
        Values of partition columns; None: all partitions.
    dry_run
        Whether nothing is done but to say what would be.
    """
    found = opened(table)

    def verb(progress: Progress) -> object:
        partitions = None if partition is None else [partition]
        return found.compact(full=full, partitions=partitions, dry_run=dry_run, progress=progress)

    return _shown(found, "compact", verb, is_done=not dry_run)


def expire(
    table: str | Table,
    *,
    retain_max: int | None = None,
    older_than: timedelta | int | str | None = None,
    dry_run: bool = True,
) -> views.View:
    """Show which snapshots and files would be deleted, or delete them.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    retain_max
        At most this many snapshots are kept; None: as the table's options say.
    older_than
        Snapshots followed by another before this time expire, as
        ``table.maintenance.expire_snapshots`` takes it; None: as the table's options say.
    dry_run
        Whether nothing is done but to say what would be.

    Raises
    ------
    ValueError
        If ``older_than`` is not a time, or ``retain_max`` is less than 1.
    """
    found = opened(table)

    def verb(progress: Progress) -> object:
        return found.maintenance.expire_snapshots(
            retain_max, older_than=older_than, dry_run=dry_run, progress=progress
        )

    return _shown(found, "expire_snapshots", verb, is_done=not dry_run)


def _shown(
    table: Table, procedure: str, verb: Callable[[Progress], object], *, is_done: bool
) -> views.View:
    display = ProgressDisplay(is_shown=is_wanted(), label=f"sys.{procedure}")
    result = run_interruptibly(verb, display=display)
    value = views.planned_call("", procedure, [result], folder=table.path)
    if is_deterministic():
        value = views.repeatable_call(value)
    said = str(result).partition("\n")[0]
    way = "" if is_done or not value.change_count else "add --yes (dry_run=False) to do it"
    return draw_planned_call(
        value, is_repeatable=is_deterministic(), headline=said, is_done=is_done, way=way
    )
