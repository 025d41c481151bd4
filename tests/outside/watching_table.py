"""Watches of a table, to be interrupted, the last to be killed: ``watching_table.py FOLDER N``.

Prints a line when a watch has drawn its view, and as JSON what it showed when it had ended.
"""

from __future__ import annotations

import json
import sys

import paimonlab as pm
from paimonlab.analysis.snapshots.watched import Watch
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.notebook import commands
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.views.watch import command
from paimonlab.table.following.waiting import SystemClock


class Shown:
    """Tells when a view is drawn anew."""

    def __init__(self) -> None:
        self._is_told = False

    def __call__(self, view: Drawn[Watch], *, is_update: bool) -> None:
        """Print a line, once."""
        if is_update and not self._is_told:
            self._is_told = True
            print("drawn", flush=True)  # noqa: T201


def main(warehouse: str, rounds: int) -> None:
    """Watch so many times, then once more in the background."""
    table = pm.connect(warehouse).table("db.t")
    for _ in range(rounds):
        watcher = Watcher(table, clock=SystemClock(0.001))
        watching = command.Watching(watcher, Shown(), rows=5, seconds=None, commits=None)
        watching.run()
        value = watching.view.value
        found = {
            "state": value.state,
            "ids": [commit.snapshot_id for commit in value.commits],
            "seen": value.seen_count,
            "newest": watcher.newest.id if watcher.newest else None,
            "rows": value.row_count,
            "in levels": sum(level.row_count for level in value.levels),
        }
        print(json.dumps(found), flush=True)  # noqa: T201
    watching = commands.watch(table, background=True)
    assert watching.is_running
    print("drawn", flush=True)  # noqa: T201
    sys.stdin.read()


if __name__ == "__main__":
    command.PAUSE_SECONDS = 0.0  # interrupts come while it reads and draws
    main(sys.argv[1], int(sys.argv[2]))
