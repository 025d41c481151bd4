"""How far a statement is: as a bar where a front end draws one, else as one line of text.

Neither is part of what a notebook stores. The bar is drawn by our extension of JupyterLab, which
gets messages through a comm; the line goes to standard error and is removed in the end.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from paimonlab.notebook.kernel import front_ends
from paimonlab.notebook.kernel.determinism import is_deterministic, is_on
from paimonlab.spec.plurals import many

VARIABLE = "PAIMONLAB_PROGRESS"
DELAY_SECONDS = 0.5
"""Faster statements show nothing."""


class Stage(Struct, frozen=True):
    """A stage of a Spark job."""

    id: int
    done_task_count: int
    task_count: int
    is_active: bool
    """Whether a task of it runs now."""


class Job(Struct, frozen=True):
    """A Spark job of a statement."""

    is_running: bool
    stages: tuple[Stage, ...]


class StatementProgress(Struct, frozen=True):
    """How much of a statement is done, as far as is known."""

    done_count: int
    count: int
    unit: str
    """``tasks`` of Spark, or ``files``, ``buckets`` and the like."""
    done_stage_count: int | None = None
    """None if there are no stages."""
    stage_count: int | None = None
    row_count: int | None = None
    """Rows read so far; None: not known."""

    @property
    def parts(self) -> list[str]:
        """Say it in words, the most important first."""
        parts = [f"{self.done_count}/{self.count} {self.unit}"]
        if self.stage_count is not None:
            parts.append(f"{self.done_stage_count}/{self.stage_count} stages")
        if self.row_count:
            parts.append(many(self.row_count, "row"))
        return parts

    def __str__(self) -> str:
        return ", ".join(self.parts)


def progress_of(jobs: Iterable[Job], row_count: int | None = None) -> StatementProgress:
    """Add up the stages of all jobs of a statement.

    A stage that a finished job never began was skipped by Spark, since its result existed
    already; it does not count.
    """
    stages: dict[int, Stage] = {}
    for job in jobs:
        for stage in job.stages:
            if job.is_running or stage.is_active or stage.done_task_count:
                stages[stage.id] = stage
    counted = stages.values()
    return StatementProgress(
        done_count=sum(stage.done_task_count for stage in counted),
        count=sum(stage.task_count for stage in counted),
        unit="tasks",
        done_stage_count=sum(stage.done_task_count >= stage.task_count for stage in counted),
        stage_count=len(stages),
        row_count=row_count,
    )


def of_stages(stages: Iterable[Any]) -> StatementProgress:
    """Add up what a Spark Connect server reports about the stages of an operation."""
    counted = (
        Stage(stage.stage_id, stage.num_completed_tasks, stage.num_tasks, is_active=not stage.done)
        for stage in stages
    )
    return progress_of([Job(is_running=True, stages=tuple(counted))])


def is_wanted() -> bool:
    """Tell whether temporary output would be seen.

    Only a kernel's standard error is shown live; deterministic mode keeps it out of what is
    stored.
    """
    is_kernel = type(sys.stderr).__module__.startswith("ipykernel")
    return is_kernel and not is_deterministic() and is_on(VARIABLE, default="1")


class ProgressDisplay:
    """Shows how far one statement is, and removes that in the end.

    Parameters
    ----------
    is_shown
        False: nothing is ever shown.
    label
        Who works.
    place
        Which statement of the cell it is, of how many.
    """

    def __init__(
        self, *, is_shown: bool, label: str = "Spark", place: tuple[int, int] = (1, 1)
    ) -> None:
        self._is_shown = is_shown
        self._label = label
        self._place = place
        self._line = ProgressLine()
        self._is_sent = False

    def labelled(self, label: str) -> ProgressDisplay:
        """Return one that says who works."""
        return ProgressDisplay(is_shown=self._is_shown, label=label, place=self._place)

    def show(
        self,
        progress: StatementProgress | None,
        elapsed_seconds: float,
        *,
        ui_url: str | None = None,
    ) -> None:
        """Show how far it is, once it has taken long enough to be worth it.

        Parameters
        ----------
        progress
            None, or without anything to do: unknown so far, and nothing is shown.
        elapsed_seconds
            Since the statement began.
        ui_url
            Where Spark shows more; None: nowhere.
        """
        if not self._is_shown or elapsed_seconds < DELAY_SECONDS:
            return
        if progress is None or not progress.count:
            return
        listening = front_ends.current()
        if listening is not None and listening.is_listening:
            self._line.clear()
            self._is_sent = True
            listening.tell(self._message(progress, elapsed_seconds, ui_url))
        else:
            self._line.show(f"{self._label}: {progress}, {elapsed_seconds:.1f} s")

    def clear(self) -> None:
        """Remove what is shown, if anything is."""
        self._line.clear()
        listening = front_ends.current()
        if self._is_sent and listening is not None:
            listening.tell({"kind": "done"})
        self._is_sent = False

    def _message(
        self, progress: StatementProgress, elapsed_seconds: float, ui_url: str | None
    ) -> dict[str, Any]:
        return {
            "kind": "progress",
            "label": self._label,
            "done": progress.done_count,
            "total": progress.count,
            "text": progress.parts,
            "elapsed": round(elapsed_seconds, 1),
            "statement": list(self._place),
            "ui": ui_url,
        }


class ProgressLine:
    """One line that replaces itself.

    It goes back with backspaces and not with a carriage return: those leave nothing in what
    a front end keeps of the output.
    """

    def __init__(self) -> None:
        self._length = 0

    def show(self, text: str) -> None:
        """Write the line over the previous one."""
        sys.stderr.write("\b" * self._length + text)
        sys.stderr.flush()
        self._length = len(text)

    def clear(self) -> None:
        """Remove the line, if there was one."""
        if self._length:
            self.show("")
