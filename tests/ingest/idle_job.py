"""A job that waits for its source, then lets the source wait.

``PAIMONLAB_INGEST_IDLE_SECONDS=600`` waits for longer than servers wait for their clients; usually
it is short.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from paimonlab.errors import IngestError
from paimonlab.ingest.job import Job
from tests.waiting import until

SECONDS = float(os.environ.get("PAIMONLAB_INGEST_IDLE_SECONDS", "0.3"))
IS_LONG = SECONDS > 60


def wait_and_pause(made: Callable[[], Job], write: Callable[[int], None], more: str) -> Job:
    """Let a job wait, write, pause it, write, let it go on, read a table anew and another one.

    Parameters
    ----------
    made
        Makes the job, which reads ``t`` that is empty, in an object of its own.
    write
        Adds that many rows to ``t``.
    more
        A table that the job does not read yet, as ``add`` takes it.
    """
    job = made()
    job.start()
    try:
        until(lambda: job.status.phase == "caught up")
        time.sleep(SECONDS)
        _check_calm(job)
        write(1)
        until(lambda: job.status.rows == 1)
        job.pause()
        until(lambda: job.status.phase == "paused")
        many = 200_000 if IS_LONG else 9  # more than what is on its way is kept in
        write(many)
        with pytest.raises(IngestError, match="runs it"):
            made().run()
        time.sleep(SECONDS)
        assert job.status.phase == "paused"
        assert job.status.rows == 1
        job.resume()
        until(lambda: job.status.rows == 1 + many)
        job.resnapshot("t")
        job.add(more)
        write(1)
        until(lambda: job.status.phase == "caught up")
    finally:
        job.stop(60)
    job.run()
    assert "failed" not in {event.kind for event in job.events}
    return job


def _check_calm(job: Job) -> None:
    assert job.status.phase == "caught up"
    assert job.status.warnings == ()
    assert not {"lost", "failed", "refused"} & {event.kind for event in job.events}
