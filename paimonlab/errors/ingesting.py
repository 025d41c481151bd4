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
