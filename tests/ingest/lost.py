"""What a job needs is lost while it rests: it says so within ten seconds, and keeps what it has."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from paimonlab.errors import PaimonError
from paimonlab.ingest.job import Job

SECONDS = 10.0


def check(
    job: Job, lose: Callable[[], object], problem: str, way_out: str, *, stops: bool = False
) -> None:
    """Run a job, lose something, run it again.

    Parameters
    ----------
    job
        Whose notes are in a local folder.
    problem, way_out
        Regexes for what the error says.
    stops
        Whether its table stops, which is noted; else its notes stay as they are.
    """
    job.run()
    rows, before = job.status.rows, _notes(job)
    lose()
    began = time.monotonic()
    with pytest.raises(PaimonError, match=problem) as raised:
        job.run()
    spent = time.monotonic() - began
    raised.match(way_out)
    assert spent < SECONDS
    # The log of events alone says what happened.
    assert before
    assert stops or _notes(job) == before
    assert job.status.rows == rows


def _notes(job: Job) -> Mapping[str, bytes]:
    """Return the notes that say how far it is: epochs, positions, what is known of the source."""
    folder = Path(job.folder.removeprefix("file://").removeprefix("file:"))
    files = [one for one in folder.rglob("*") if one.is_file()]
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in files
        if not one.name.startswith(("events-", "folded-events-", "owner-", "lease"))
    }
