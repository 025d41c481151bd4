"""Jobs that cells start: begun by a statement, listed, steered."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from paimonlab.errors import AlreadyExistsError, NotFoundError, PaimonError, close_matches
from paimonlab.ingest import Job, statements
from paimonlab.ingest.job import jobs_here
from paimonlab.notebook.cell.ingest_statement import ingest_statement
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.numbers import many
from paimonlab.notebook.results.result import Result
from paimonlab.notebook.running.without_rows import said_of

if TYPE_CHECKING:
    from paimonlab.notebook.connections.warehouse_connection import Connection

_STOP_SECONDS = 60.0
JOBS_KEPT = 100
"""Jobs that are remembered, of one process."""
_known: list[Job] = []
_lock = threading.Lock()


def known_jobs() -> Sequence[Job]:
    """Return the jobs of this process, the newest last: those of statements, and others.

    Others are those of Python whose notes are in the connected warehouse.
    """
    current = connections.current() if connections.is_connected() else None
    if current is None or current.opened is None:
        return tuple(_known)
    place = f"{current.opened.path.rstrip('/')}/"
    others = [job for job in jobs_here() if job not in _known and job.folder.startswith(place)]
    return (*others, *_known)


def known_job(name: str) -> Job:
    """Return the newest job of a name that this process made.

    Raises
    ------
    NotFoundError
        If there is none.
    """
    known = known_jobs()
    for job in reversed(known):
        if job.name == name:
            return job
    names = sorted({job.name for job in known})
    raise NotFoundError(
        f"this process has no ingest job {name!r}.{close_matches(name, names)} %paimon_ingest "
        "lists them"
    )


def steer(name: str, verb: str, what: str = "") -> None:
    """Pause, resume or stop a job of this process, or let it read tables anew, or more of them.

    Raises
    ------
    NotFoundError
        If there is no such job or table.
    PaimonError
        If the job cannot read what it is asked to.
    TimeoutError
        If it has not finished its epoch within a minute.
    """
    steer_job(known_job(name), verb, what)


def steer_job(job: Job, verb: str, what: str = "") -> None:
    """Steer a job, as `steer` does."""
    if verb == "pause":
        job.pause()
    elif verb == "resume":
        job.resume()
    elif verb == "resnapshot":
        job.resnapshot(what)
    elif verb == "add":
        job.add(what)
    elif verb == "replay":
        job.replay()
    else:
        with suppress(PaimonError, OSError):  # its status has what ended it before
            job.stop(_STOP_SECONDS)


def begin(connection: Connection, statement: Statement) -> tuple[Job, str | None]:
    """Make the job of a statement, and remember it; it does not run yet.

    Returns
    -------
    Job, str or None
        And when it ends: ``caught-up``, a time; None: when it is stopped.

    Raises
    ------
    QueryError
        If it cannot be as the statement says: names the source, the table or the option.
    """
    asked = ingest_statement(statement)
    assert asked is not None, "it was looked at before"
    try:
        said = statements.said_job(connection.catalog, asked)
        plan = said.job.plan()
        # What the source cannot read is shown as stopped, and the others are read.
        refused = [one for one in plan.refused if not (one.is_by_source and plan.tables)]
    except AlreadyExistsError as error:
        raise QueryError(
            f"{error}.",
            topic="ingest",
            statement=statement,
            hint="IF NOT EXISTS goes on with it, where the job ended.",
        ) from error
    except NotFoundError as error:
        raise QueryError(
            str(error), topic="ingest", statement=statement, span=asked.source_span
        ) from error
    except (PaimonError, ValueError) as error:
        raise QueryError(str(error), topic="ingest", statement=statement) from error
    if refused:
        raise QueryError(
            "; ".join(f"{one.target}: {one.reason}" for one in refused[:3]),
            topic="ingest",
            statement=statement,
        )
    for job in known_jobs():
        if job.is_running and job.folder == said.job.folder:
            raise QueryError(
                f"The ingest job {job.name} runs already.",
                topic="ingest",
                statement=statement,
                hint=f"%paimon_ingest {job.name} shows it, %paimon_ingest {job.name} stop ends it; "
                "'ingest.name' gives another name.",
            )
    with _lock:
        _known.append(said.job)
        del _known[:-JOBS_KEPT]
    return said.job, said.until


def run(connection: Connection, statement: Statement) -> Result:
    """Start the job of a statement: in a thread, or until its end if it says one.

    Raises
    ------
    QueryError
        If it cannot begin, or fails.
    """
    begun = time.monotonic()
    job, until = begin(connection, statement)
    try:
        if until is None:
            job.start()
            said = f"ingest job {job.name} runs; %paimon_ingest {job.name} stop ends it"
        else:
            status = job.run(until)
            said = f"ingest job {job.name}: {status.phase}, {many(status.rows, 'row')} so far"
    except (PaimonError, OSError, ValueError) as error:
        raise QueryError(str(error), topic="ingest", statement=statement) from error
    return said_of(statement, said, begin=begun)
