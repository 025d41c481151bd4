"""Errors of jobs that read changes of other systems into tables."""

from __future__ import annotations

from paimonlab.errors.base import PaimonError
from paimonlab.secrets import without_secrets


class IngestError(PaimonError):
    """A job that reads changes into tables cannot go on; what it committed stays.

    Parameters
    ----------
    job
        Its name.
    problem
        What is wrong, and what to do. Secrets in it are hidden.
    """

    def __init__(self, job: str, problem: str) -> None:
        self.job = job
        self.problem = without_secrets(problem)
        super().__init__(job, self.problem)

    def __str__(self) -> str:
        return f"ingest job {self.job!r}: {self.problem}"


class IngestSchemaError(IngestError):
    """A table cannot have the columns that its source has; no row of them was written."""


class IngestDataError(IngestError):
    """More rows than the job may set aside (``max_dead``) cannot be stored."""


class IngestRunningError(IngestError):
    """Another process runs the job, or took it over."""


class IngestStalledError(IngestError):
    """A batch on Spark made no progress for as long as the job bears (``max_stall``)."""


class IngestStateError(IngestError):
    """What the job noted down does not go with its tables or its source."""


class IngestInterrupted(KeyboardInterrupt):
    """Ctrl-C, or the interrupt of a kernel, ended a run of a job; the next run goes on.

    IPython shows its message instead of lines of code: to read those of a whole run for a traceback
    takes a busy machine seconds, in which the kernel is not free.

    Parameters
    ----------
    job
        Its name.
    epoch
        The newest one whose rows are in the tables, or will be by the next run.
    """

    def __init__(self, job: str, epoch: int) -> None:
        self.job = job
        self.epoch = epoch
        super().__init__(job, epoch)

    def __str__(self) -> str:
        come = f"after epoch {self.epoch}" if self.epoch else "before its first epoch"
        return (
            f"ingest job {self.job!r} was interrupted {come}; what was not committed is read "
            "again by the next run"
        )

    def _render_traceback_(self) -> list[str]:
        """Tell IPython what to show instead of a traceback."""
        return [f"{type(self).__name__}: {self}"]
