"""Start jobs that read changes, show them as they run, list and steer them."""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from paimonlab.errors import NotFoundError, PaimonError, close_matches
from paimonlab.ingest import Job, JobEvent, JobStatus, NotedJob, drop_noted, noted_jobs
from paimonlab.ingest.statements import NamedSource, forget_source, named_sources
from paimonlab.ingest.statements import name_source as _name_source
from paimonlab.ingest.status import position_text
from paimonlab.notebook import running
from paimonlab.notebook.cell.history import history
from paimonlab.notebook.cell.ingest_statement import check_engine
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.read_only import check_reads
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.live import InKernel, ShowView, is_in_kernel
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.ingest.drawing import draw_ingest, sentence
from paimonlab.notebook.views.ingest.value import (
    NOT_HERE,
    IngestCommit,
    IngestEntry,
    IngestEvent,
    IngestJobs,
    IngestTable,
    repeatable_jobs,
)
from paimonlab.secrets import without_secrets
from paimonlab.spec.visible_text import visible

EVENTS_SHOWN = 20
COMMITS_SHOWN = 60
PAUSE_SECONDS = 1.0
"""A view is drawn at most that often."""
_RATE_MILLIS = 30_000
_TEXT_CHARACTERS = 1_000
_COLUMNS_SHOWN = 6
_JOIN_SECONDS = 10.0
_VERBS = ("stop", "pause", "resume")


class Seen:
    """What was seen of a job: its commits and rows over time."""

    def __init__(self) -> None:
        self.commits: deque[IngestCommit] = deque(maxlen=COMMITS_SHOWN)
        self._rows: deque[tuple[int, Mapping[str, int]]] = deque(maxlen=COMMITS_SHOWN)
        self._last: tuple[int, int] | None = None

    def look(self, status: JobStatus) -> None:
        """Note what was committed since the look before."""
        if self._last is not None and status.epoch > self._last[0]:
            self.commits.append(
                IngestCommit(
                    epoch=status.epoch,
                    rows=status.rows - self._last[1],
                    at_millis=status.committed_millis,
                    lag_millis=status.lag_millis,
                )
            )
        if self._last is None or status.epoch > self._last[0]:
            at = status.committed_millis or status.began_millis or 0
            self._rows.append((at, {table.name: table.rows for table in status.tables}))
        self._last = status.epoch, status.rows

    def rate(self, table: str, now_millis: int) -> float | None:
        """Return rows a second that were committed to a table lately; None: unknown."""
        late = [one for one in self._rows if one[0] >= now_millis - _RATE_MILLIS]
        if not late:
            return 0.0 if len(self._rows) > 1 else None
        if len(self._rows) > len(late):
            late = [self._rows[-len(late) - 1], *late]
        if len(late) < 2:
            return None
        (begin, before), (_, after) = late[0], late[-1]
        seconds = max((now_millis - begin) / 1000, 1.0)
        return (after.get(table, 0) - before.get(table, 0)) / seconds


class Following:
    """A job and the view that shows it as it runs.

    Parameters
    ----------
    job
        What is shown.
    show
        Draws the view.
    """

    def __init__(self, job: Job, show: ShowView[IngestJobs]) -> None:
        self.job = job
        self._show = show
        self._woken = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_shown = False
        self.view = self._drawn()
        """The view as it was drawn last."""

    def start(self) -> None:
        """Run the job in a thread, and follow it in another."""
        self.job.start()
        self._draw()
        if not is_deterministic():
            self._follow()

    def run(self, until: str) -> None:
        """Run the job in this thread until an end, and show it meanwhile.

        Raises
        ------
        PaimonError, OSError
            If it fails; an interrupt of the kernel ends it.
        """
        if not is_deterministic():
            self._draw()
            self._follow()
        is_interrupted = False
        try:
            self.job.run(until)
        except KeyboardInterrupt:
            is_interrupted = True
            raise
        finally:
            self._woken.set()
            self._end(is_interrupted=is_interrupted)

    def _end(self, *, is_interrupted: bool) -> None:
        """Let the end be drawn; after an interrupt nobody waits for it."""
        if self._thread is not None:
            if is_interrupted:
                return
            self._thread.join(_JOIN_SECONDS)
            if not self._thread.is_alive():
                return
        self._draw()

    def stop(self) -> JobStatus:
        """Finish the epoch, and end the job."""
        running.ingest_jobs.steer_job(self.job, "stop")
        return self.job.status

    def __repr__(self) -> str:
        return visible(sentence(self.view.value.jobs[0]))

    def _ipython_display_(self) -> None:
        """Show nothing: the view is on the page already."""

    def _follow(self) -> None:
        self._thread = threading.Thread(
            target=self._watch, name=f"view of ingest job {self.job.name}", daemon=True
        )
        self._thread.start()

    def _watch(self) -> None:
        """Draw the job anew while it runs, and once after it has ended."""
        before: JobStatus | None = None
        began = time.monotonic()
        while not self._woken.wait(PAUSE_SECONDS):
            status = self.job.status
            is_running = self.job.is_running
            if status is not before:
                before = status
                self._draw()
            if not is_running and (status.phase != "idle" or time.monotonic() - began > 1):
                break
        self._draw()

    def _drawn(self) -> Drawn[IngestJobs]:
        value = listed([_entry(self.job)], is_one=True)
        id = self.view.id if self._is_shown else None
        return draw_ingest(value, answer=self._answer, view_id=id)

    def _draw(self) -> None:
        self.view = self._drawn()
        self._show(self.view, is_update=self._is_shown)
        self._is_shown = True

    def _answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        for verb in _VERBS:
            if verb in request:
                running.ingest_jobs.steer_job(self.job, verb)
        return {"view": msgspec.to_builtins(listed([_entry(self.job)], is_one=True))}


def ingest_cell(statement: Statement, *, engine: str | None = None) -> Following:
    """Start the job of a statement, and show it as it runs.

    Parameters
    ----------
    statement
        ``CREATE TABLE … AS TABLE``, or ``CREATE DATABASE … AS DATABASE``.
    engine
        Who was asked to run it; None: as the connection says.

    Raises
    ------
    QueryError
        If it cannot begin, or fails before its end.
    """
    connection = connections.current()
    if connection.is_read_only:
        check_reads(statement, connection.alias)
    check_engine(statement, engine or connection.engine)
    with history().recorded(statement.text, connection.alias) as entry:
        job, until = running.ingest_jobs.begin(connection, statement)
        following = Following(
            job, InKernel[IngestJobs]("ingest").show if is_in_kernel() else _Lines().show
        )
        try:
            if until is None:
                following.start()
            else:
                following.run(until)
        except (PaimonError, OSError, ValueError) as error:
            raise QueryError(str(error), topic="ingest", statement=statement) from error
        entry.finish(0)
    return following


def ingest_jobs(name: str | None = None) -> Drawn[IngestJobs]:
    """Show the jobs of this process and of the connected warehouse, or one.

    Parameters
    ----------
    name
        Of one job; None: all.

    Raises
    ------
    NotFoundError
        If there is no such job.
    """
    entries = _all()
    if name is None:
        return draw_ingest(listed(entries), answer=_answer)
    for entry in reversed(entries):
        if entry.name == name:
            return draw_ingest(
                listed([_detailed(name, entry)], is_one=True), answer=_answer_about(name)
            )
    names = sorted({entry.name for entry in entries})
    raise NotFoundError(f"there is no ingest job {name!r}.{close_matches(name, names)}")


def steer_ingest(name: str, verb: str, what: str = "") -> Drawn[IngestJobs]:
    """Steer a job of this process, and show it.

    Parameters
    ----------
    name
        Of the job.
    verb
        ``stop``, ``pause``, ``resume``, ``resnapshot`` or ``add``.
    what
        The table of ``resnapshot``, the pattern of ``add``.

    Raises
    ------
    NotFoundError
        If there is no such job or table.
    PaimonError
        If the job cannot do it.
    """
    running.ingest_jobs.steer(name, verb, what)
    return ingest_jobs(name)


def drop_ingest(name: str, *, dry_run: bool, dead_letters: bool = False) -> str:
    """Drop a job of the connected warehouse, or say what would go; return that in lines.

    Parameters
    ----------
    name
        Of the job.
    dry_run
        Whether nothing is changed.
    dead_letters
        Whether the table of rows that were set aside goes, too.

    Raises
    ------
    NotFoundError
        If the warehouse has no such job.
    PaimonError, OSError
        If the job runs, the connection is read-only, or source or store fail.
    """
    catalog = connections.current().catalog
    return str(drop_noted(catalog, name, dry_run=dry_run, dead_letters=dead_letters))


def name_source(
    name: str | None,
    address: str | None,
    variables: Mapping[str, Any],
    *,
    forgets: bool = False,
) -> Sequence[str]:
    """Name a source, forget a name, or list them; returns what is to be said, in lines.

    Parameters
    ----------
    name, address
        What is named, and where it is: an address, or the name of a variable that has a source.
    variables
        Of the notebook.
    forgets
        Whether the name is forgotten.
    """
    if name is None:
        told = [_said(one) for one in named_sources()]
        return told or ["no sources yet: %paimon_source NAME ADDRESS"]
    if forgets:
        forget_source(name)
        return [f"forgotten: {name}"]
    if address is None:
        raise ValueError("give an address, or the name of a variable that has a source")
    is_variable = address.isidentifier() and address in variables
    made = _name_source(name, variables[address] if is_variable else address)
    return [_said(made)]


def _said(one: NamedSource) -> str:
    title = one.title.partition(" ")[0] if is_deterministic() else one.title
    return f"{one.name}: {title}"


def listed(entries: Sequence[IngestEntry], *, is_one: bool = False) -> IngestJobs:
    """Put jobs together as they are shown."""
    jobs = IngestJobs(jobs=tuple(entries), is_one=is_one)
    return repeatable_jobs(jobs) if is_deterministic() else jobs


def _all() -> list[IngestEntry]:
    here = running.ingest_jobs.known_jobs()
    newest = {job.folder: job for job in here}
    entries = [_entry(job, has_events=False) for job in newest.values()]
    names = {entry.name for entry in entries}
    current = connections.current() if connections.is_connected() else None
    if current is None or current.opened is None:
        return entries
    noted = [_noted(one) for one in noted_jobs(current.catalog) if one.name not in names]
    return [*noted, *entries]


def _detailed(name: str, entry: IngestEntry) -> IngestEntry:
    if entry.phase == NOT_HERE:
        return entry
    return _entry(running.ingest_jobs.known_job(name))


def _answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Answer the interactive form of the list: steer what it names."""
    _steer_asked(request)
    return {"view": msgspec.to_builtins(listed(_all()))}


def _answer_about(name: str) -> Any:
    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        _steer_asked(request)
        return {"view": msgspec.to_builtins(ingest_jobs(name).value)}

    return answer


def _steer_asked(request: Mapping[str, Any]) -> None:
    for verb in _VERBS:
        if verb in request:
            running.ingest_jobs.steer(str(request[verb]), verb)


def _noted(one: NotedJob) -> IngestEntry:
    return IngestEntry(
        name=one.name,
        source="",
        phase=NOT_HERE,
        is_running=False,
        epoch=one.epoch,
        position="",
        rows=one.rows,
        dead=one.dead,
        pending_rows=0,
        pending_bytes=0,
        rows_per_second=None,
        lag_millis=None,
        behind=None,
        behind_unit="changes",
        committed_millis=one.committed_millis,
        snapshot_rows=None,
        snapshot_total=None,
        tables=(),
        commits=(),
        events=(),
        warnings=(),
        error=None,
    )


_seen: WeakKeyDictionary[Job, Seen] = WeakKeyDictionary()


def _entry(job: Job, *, has_events: bool = True) -> IngestEntry:
    status = job.status
    seen = _seen.setdefault(job, Seen())
    seen.look(status)
    now = round(time.time() * 1000)
    rates = {table.name: seen.rate(table.name, now) for table in status.tables}
    known = [rate for rate in rates.values() if rate is not None]
    events = job.events[-EVENTS_SHOWN:] if has_events else ()
    return IngestEntry(
        name=status.name,
        source=without_secrets(status.source),
        phase=status.phase,
        is_running=job.is_running,
        epoch=status.epoch,
        position=position_text(status.position),
        rows=status.rows,
        dead=status.dead,
        pending_rows=status.pending_rows,
        pending_bytes=status.pending_bytes,
        rows_per_second=sum(known) if known else None,
        lag_millis=status.lag_millis,
        behind=status.behind,
        behind_unit=status.behind_unit,
        committed_millis=status.committed_millis,
        snapshot_rows=status.snapshot_rows if job.is_running else None,
        snapshot_total=status.snapshot_total if job.is_running else None,
        tables=tuple(
            IngestTable(
                name=table.name,
                sources=table.sources,
                rows=table.rows,
                rows_per_second=rates[table.name],
                snapshot_id=table.snapshot_id,
                stopped=None if table.stopped is None else _told(table.stopped),
                skipped=table.skipped,
            )
            for table in status.tables
        ),
        commits=tuple(seen.commits),
        events=tuple(map(_event, reversed(events))),
        warnings=tuple(map(_told, status.warnings[-EVENTS_SHOWN:])),
        error=None if status.error is None else _told(status.error),
    )


def _event(one: JobEvent) -> IngestEvent:
    return IngestEvent(
        at_millis=one.at_millis,
        what=one.kind,
        table=one.table or "",
        text=_told(one.text),
        columns=changed_columns(one.before, one.after),
    )


def changed_columns(before: Sequence[str] | None, after: Sequence[str] | None) -> str:
    """Say what became of columns, each ``name TYPE``.

    Examples
    --------
    >>> changed_columns(["id INT", "a INT"], ["id BIGINT", "b STRING"])
    '+b STRING, -a, id INT to BIGINT'
    >>> changed_columns(None, ["id INT"])
    ''
    """
    if before is None or after is None:
        return ""
    old, new = (dict(one.split(" ", 1) for one in columns) for columns in (before, after))
    said = [f"+{name} {kind}" for name, kind in new.items() if name not in old]
    said += [f"-{name}" for name in old if name not in new]
    said += [
        f"{name} {old[name]} to {new[name]}"
        for name in old
        if new.get(name, old[name]) != old[name]
    ]
    more = len(said) - _COLUMNS_SHOWN
    return ", ".join(said[:_COLUMNS_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _told(text: str) -> str:
    return without_secrets(text)[:_TEXT_CHARACTERS]


class _Lines:
    """Shows a job where nothing can be drawn anew: a line for each commit, and its end."""

    def __init__(self) -> None:
        self._last: tuple[int, str] | None = None

    def show(self, view: Drawn[IngestJobs], *, is_update: bool) -> None:
        """Write how the job is, if it committed or its phase is another one."""
        entry = view.value.jobs[0]
        now = entry.epoch, entry.phase
        if not is_update or now != self._last:
            sys.stdout.write(visible(sentence(entry)) + "\n")
        if entry.error and now != self._last:
            sys.stdout.write(visible(entry.error) + "\n")
        self._last = now
