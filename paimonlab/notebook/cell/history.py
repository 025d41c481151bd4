"""The statements that were run in this kernel: when, where, how long, with what outcome.

Kept in memory only; secrets are hidden when a statement is recorded.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from paimonlab.notebook.cell.statement_entries import StatementEntry, Statements
from paimonlab.secrets import without_secrets

KEPT = 1_000
"""Older statements are forgotten."""


class Recording:
    """A statement that runs."""

    def __init__(self) -> None:
        self.row_count: int | None = None
        self.snapshots = ""

    def finish(self, row_count: int, snapshots: Sequence[str] = ()) -> None:
        """Note how many rows were fetched, and what was read, as ``table@snapshot``."""
        self.row_count = row_count
        self.snapshots = ", ".join(snapshots)


class History:
    """The statements of one kernel, newest last."""

    def __init__(self) -> None:
        self._entries: deque[StatementEntry] = deque(maxlen=KEPT)
        self._texts: deque[str] = deque(maxlen=KEPT)
        self._count = 0

    @contextmanager
    def recorded(self, sql: str, alias: str) -> Iterator[Recording]:
        """Record the statement that runs inside."""
        begin, clock = time.time(), time.monotonic()
        recording = Recording()
        status = "failed"
        try:
            yield recording
            status = "done"
        except KeyboardInterrupt:
            status = "cancelled"
            raise
        finally:
            self._count += 1
            self._texts.append(sql)
            self._entries.append(
                StatementEntry(
                    number=self._count,
                    time_millis=int(begin * 1000),
                    alias=alias,
                    sql=without_secrets(sql),
                    row_count=recording.row_count,
                    snapshots=recording.snapshots,
                    duration_millis=int((time.monotonic() - clock) * 1000),
                    status=status,
                )
            )

    def list(self, *, last: int, is_failed: bool = False, pattern: str = "") -> Statements:
        """Return the newest statements, newest first.

        Parameters
        ----------
        last
            How many, at most.
        is_failed
            Only those that failed.
        pattern
            Only those with this text in the SQL, whatever its case.
        """
        matches = [
            entry
            for entry in reversed(self._entries)
            if pattern.lower() in entry.sql.lower() and not (is_failed and entry.status != "failed")
        ]
        return Statements(entries=tuple(matches[:last]), older_count=max(len(matches) - last, 0))

    def text(self, number: int) -> str:
        """Return the SQL of a statement as it was run.

        Raises
        ------
        LookupError
            If there is no such statement, or it was forgotten.
        """
        index = number - self._count + len(self._texts) - 1
        if not 0 <= index < len(self._texts):
            raise LookupError(f"there is no statement {number}; %paimon_history lists them")
        return self._texts[index]


@functools.cache
def history() -> History:
    """Return the history of this process."""
    return History()
