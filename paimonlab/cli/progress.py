"""Progress of a long job as a bar on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self

import click


class Bar:
    """A bar that is shown when a job first tells how far it is.

    Use it as a context manager, and hand `progress` to the job.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._shown: Any = None

    def progress(self, done: int, total: int, unit: str) -> None:
        """Show what is done, of how much."""
        if not sys.stderr.isatty():
            return
        if self._shown is None:
            label = f"{self._label} ({unit})"
            self._shown = click.progressbar(length=max(total, 1), label=label, file=sys.stderr)
            self._shown.__enter__()
        self._shown.length = max(total, 1)
        self._shown.update(done - self._shown.pos)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._shown is not None:
            self._shown.__exit__(kind, error, traceback)
