"""Points in time as users type them: a snapshot id, a tag, a time."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from paimonlab.table.table import Table


def scan_point(table: Table, moment: int | str | datetime) -> dict[str, Any]:
    """Return what `Table.scan` takes for a point; {} for the table before its first commit.

    Digits are a snapshot id unless there is a tag of that name; any other text that is not a tag is
    a time in the process's local zone.
    """
    if isinstance(moment, datetime):
        return {"timestamp": moment}
    if isinstance(moment, str) and moment in table.tags.list():
        return {"tag": moment}
    if isinstance(moment, int) or moment.strip().isdecimal():
        return {"snapshot": int(moment)} if int(moment) else {}
    return {"timestamp": moment}


def change_point(table: Table, moment: int | str | datetime) -> int | str | datetime:
    """Return what `Table.changes` takes for a point."""
    point = scan_point(table, moment)
    return next(iter(point.values())) if point else 0
