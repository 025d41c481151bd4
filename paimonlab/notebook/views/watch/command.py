"""Watch a table: one view that is drawn anew as commits arrive."""

from __future__ import annotations

import sys
import threading
import time
import weakref
from collections.abc import Mapping
from typing import Any

import msgspec

from paimonlab.analysis.snapshots.watched import Watch, WatchedRows, WatchState, repeatable_watch
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.errors import PaimonError
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.live import InKernel, ShowView, is_in_kernel
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.bounds import MOST_COMMITS
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.watch.drawing import draw, line
from paimonlab.spec.visible_text import visible
from paimonlab.table.table import Table

MOST_ROWS = 50
MOST_COLUMNS = 20
"""Columns that are shown of rows."""
PAUSE_SECONDS = 0.5
"""A view is drawn at most twice a second."""
_CHARACTERS = 120
_JOIN_SECONDS = 10.0


_running: weakref.WeakSet[Watching] = weakref.WeakSet()


class Watching:
    """A watch of a table; `stop` ends it.

    Parameters
    ----------
    watcher
        Sees the commits.
    show
        Draws the view.
    rows
        How many changed rows are read of each commit.
    seconds, commits
        When it ends; None: when it is stopped.
    """

    def __init__(
        self,
        watcher: Watcher,
        show: ShowView[Watch],
        *,
        rows: int,
        seconds: float | None,
        commits: int | None,
    ) -> None:
        self._watcher = watcher
        self._show = show
        self._rows = rows
        self._end = None if seconds is None else time.monotonic() + seconds
        self._commits = commits
        self._state: WatchState = "watching"
        self._error: str | None = None
        self._newest: WatchedRows | None = None
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self.view = draw(self._value(), answer=self._answer)
        """The view as it was drawn last."""

    @property
    def is_running(self) -> bool:
        """Whether commits are still looked for."""
        return self._state == "watching"

    def stop(self) -> None:
        """End the watch; the view stays as it is."""
        if self.is_running:
            self._state = "stopped"
        self._woken.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_SECONDS)

    def run(self) -> None:
        """Watch until it is stopped, or the kernel is interrupted."""
        _running.add(self)
        try:
            self._watch()
        except KeyboardInterrupt:
            self._state = "stopped"
        except BaseException as error:
            self._fail(error)
            raise
        finally:
            _running.discard(self)
            self._draw()

    def start(self) -> None:
        """Watch in a thread."""
        _running.add(self)
        self._thread = threading.Thread(
            target=self._run_quietly, name="paimonlab-watch", daemon=True
        )
        self._thread.start()

    def __repr__(self) -> str:
        return visible(f"<watch of {self.view.value.table}: {self._state}>")

    def _ipython_display_(self) -> None:
        """Show nothing: the view is on the page already."""

    def _run_quietly(self) -> None:
        try:
            self._watch()
        except Exception as error:  # noqa: BLE001 - shown by the view
            self._fail(error)
        finally:
            _running.discard(self)
            self._draw()

    def _fail(self, error: BaseException) -> None:
        self._state = "failed"
        self._error = str(error) if isinstance(error, PaimonError) else type(error).__name__

    def _watch(self) -> None:
        self._show(self.view, is_update=False)
        while self.is_running:
            left = None if self._end is None else self._end - time.monotonic()
            if left is not None and left <= 0:
                self._state = "stopped"
                return
            self._watcher.wait(self._woken, None if left is None else 1 + int(left * 1000))
            if not self._woken.is_set() and self._watcher.look():
                if self._commits is not None and self._watcher.seen_count >= self._commits:
                    self._state = "stopped"
                    return
                self._draw()
                self._woken.wait(PAUSE_SECONDS)

    def _draw(self) -> None:
        self.view = draw(self._value(), answer=self._answer, view_id=self.view.id)
        self._show(self.view, is_update=True)

    def _value(self) -> Watch:
        value = self._watcher.value(self._state, error=self._error)
        if self._rows:
            value = msgspec.structs.replace(value, newest=self._newest_rows())
        return repeatable_watch(value) if is_deterministic() else value

    def _newest_rows(self) -> WatchedRows | None:
        """Read the rows of the newest commit that has some, once."""
        id = self._watcher.newest_with_rows()
        if id is None or (self._newest is not None and self._newest.snapshot_id == id):
            return None if id is None else self._newest
        changed = self._watcher.changed_rows(id, self._rows)
        if changed is None:
            return None
        shown = changed.select(changed.column_names[: MOST_COLUMNS + 1])
        columns = [
            [cell.text[:_CHARACTERS] if cell.is_value else None for cell in cells(column)]
            for column in shown.columns
        ]
        self._newest = WatchedRows(
            snapshot_id=id,
            columns=("", *shown.column_names[1:]),
            rows=tuple(zip(*columns, strict=True)),
        )
        return self._newest

    def _answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer the interactive form: stop."""
        if request.get("stop"):
            if self.is_running:
                self._state = "stopped"
            self._woken.set()
        return {"state": self._state}


def watch(
    table: str | Table,
    *,
    last: int = 50,
    rows: int = 5,
    seconds: float | None = None,
    commits: int | None = None,
    background: bool = False,
) -> Watching:
    """Show a table as commits arrive: the newest commits, levels, changed rows, and rates.

    Ends with an interrupt of the kernel, with the button of the view, or as ``seconds`` and
    ``commits`` say. Of each commit its own manifests are read, and ``rows`` rows of its files.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    last
        How many of the newest commits are shown, 1 to 500.
    rows
        How many changed rows of the newest commit are read and shown, 0 to 50.
    seconds
        For how long; None: until it is stopped.
    commits
        Ends after that many new commits; None: does not.
    background
        Whether other cells can run in the meantime.

    Raises
    ------
    SnapshotNotFoundError
        If the table is dropped or created anew meanwhile.
    ValueError
        If a number is out of its range.
    """
    for name, number, least, most in (
        ("last", last, 1, MOST_COMMITS),
        ("rows", rows, 0, MOST_ROWS),
    ):
        if not least <= number <= most:
            raise ValueError(f"{name} must be {least} to {most}, got {number}")
    if seconds is not None and seconds <= 0:
        raise ValueError(f"seconds must be positive, got {seconds}")
    if commits is not None and commits < 1:
        raise ValueError(f"commits must be at least 1, got {commits}")
    watching = Watching(
        Watcher(opened(table), last=last),
        InKernel[Watch]("watch").show if is_in_kernel() else _Lines().show,
        rows=rows,
        seconds=seconds,
        commits=commits,
    )
    if background:
        watching.start()
    else:
        watching.run()
    return watching


def stop_watches() -> int:
    """Stop all watches of this process; return how many there were."""
    found = list(_running)
    for one in found:
        one.stop()
    return len(found)


class _Lines:
    """Shows a watch where nothing can be drawn anew: a line for each commit."""

    def __init__(self) -> None:
        self._last = 0

    def show(self, view: Drawn[Watch], *, is_update: bool) -> None:
        """Write the commits that are new; at first, the view."""
        watch = view.value
        if not is_update:
            sys.stdout.write(f"{view.to_text()}\n")
        else:
            for commit in watch.commits:
                if commit.snapshot_id > self._last:
                    sys.stdout.write(f"{line(watch.table, commit)}\n")
            if watch.state != "watching":
                sys.stdout.write(f"{watch.error or f'{watch.table}: {watch.state}'}\n")
        if watch.commits:
            self._last = watch.commits[-1].snapshot_id
