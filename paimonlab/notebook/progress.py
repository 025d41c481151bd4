"""How far a running statement is, as one line on standard error."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimonlab.notebook.determinism import is_deterministic, is_on

if TYPE_CHECKING:
    from pyspark import StatusTracker

VARIABLE = "PAIMONLAB_PROGRESS"
DELAY_SECONDS = 0.5
"""What is faster shows nothing."""


@dataclass(frozen=True, slots=True)
class Progress:
    """What is done of a statement: tasks that Spark still knows of, or files, or buckets."""

    done_task_count: int
    task_count: int
    unit: str = "tasks"

    def __str__(self) -> str:
        return f"{self.done_task_count}/{self.task_count} {self.unit}"


def read_progress(tracker: StatusTracker, group: str) -> Progress:
    """Add up the tasks of all stages that belong to a job group."""
    jobs = [tracker.getJobInfo(job_id) for job_id in tracker.getJobIdsForGroup(group)]
    stage_ids = {stage_id for job in jobs if job is not None for stage_id in job.stageIds}
    stages = [tracker.getStageInfo(stage_id) for stage_id in stage_ids]
    known = [stage for stage in stages if stage is not None]
    done = sum(stage.numCompletedTasks for stage in known)
    return Progress(done, sum(stage.numTasks for stage in known))


def is_wanted() -> bool:
    """Tell whether anybody would see a line that replaces itself.

    Only a kernel's standard error is shown live; deterministic mode keeps it out of what is
    stored.
    """
    is_kernel = type(sys.stderr).__module__.startswith("ipykernel")
    return is_kernel and not is_deterministic() and is_on(VARIABLE, default="1")


class ProgressLine:
    """One line that replaces itself and is taken back in the end.

    It goes back with backspaces and not with a carriage return: those leave nothing in what
    a front end keeps of the output.

    Parameters
    ----------
    is_shown
        False: nothing is ever written.
    label
        Who works.
    """

    def __init__(self, *, is_shown: bool, label: str = "Spark") -> None:
        self._is_shown = is_shown
        self._label = label
        self._length = 0

    def show(self, progress: Progress | None, elapsed_seconds: float) -> None:
        """Write how far it is, once it has taken long enough to be worth it."""
        is_slow = elapsed_seconds >= DELAY_SECONDS
        if self._is_shown and is_slow and progress is not None and progress.task_count:
            self._write(f"{self._label}: {progress}, {elapsed_seconds:.1f} s")

    def clear(self) -> None:
        """Take the line back, if there was one."""
        if self._length:
            self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write("\b" * self._length + text)
        sys.stderr.flush()
        self._length = len(text)
