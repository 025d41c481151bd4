"""A job: a source, the tables it becomes, and how far it came; what users hold in their hands."""

from __future__ import annotations

import importlib
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakSet

from paimonlab.catalog import Catalog
from paimonlab.catalog.names import check_name
from paimonlab.clock import now_millis
from paimonlab.errors import (
    IngestError,
    IngestInterrupted,
    IngestStateError,
    NotFoundError,
    PaimonError,
    ReadOnlyError,
    UnsupportedError,
    close_matches,
)
from paimonlab.ingest import leases, recovery
from paimonlab.ingest.apart import leave, wait_for_left
from paimonlab.ingest.changes import MappingSource, MetadataSource, Source, WideningSource
from paimonlab.ingest.controls import Controls, Pace, Until
from paimonlab.ingest.cuts import remove_cuts
from paimonlab.ingest.dropping import DroppedJob, drop_job
from paimonlab.ingest.engines import Engine, check_engine
from paimonlab.ingest.epochs import JobFiles, Known
from paimonlab.ingest.event_log import JobEvent
from paimonlab.ingest.evolution import Evolve
from paimonlab.ingest.job_tables import plan_of
from paimonlab.ingest.landing import user_of
from paimonlab.ingest.plan import IngestPlan
from paimonlab.ingest.replaying import Mend, Replayed
from paimonlab.ingest.rules import Columns, Computed, IngestRules, refuse_missing
from paimonlab.ingest.running import Runner
from paimonlab.ingest.status import JobStatus
from paimonlab.ingest.steering import Verb, Waiting, ask_of, check_pattern
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.options.grammar import parse_duration_millis, parse_memory_size_bytes
from paimonlab.storage import join

if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Self

Span: TypeAlias = float | str | timedelta
"""Seconds, or as options write durations (``10 min``)."""

_LOOK_SECONDS = 0.2
STATE_FOLDER = ".paimonlab/ingest"
"""Below the warehouse."""


_ran: WeakSet[Job] = WeakSet()


def jobs_here() -> list[Job]:
    """Return the jobs that ran or run in this process and are still referred to, by name."""
    return sorted(_ran, key=lambda job: job.name)


class Job:
    """Reads a source into tables, exactly once: `Catalog.ingest` makes it.

    Of one name only one process runs at a time. What it commits, and how far it came, is in the
    warehouse, so any process can go on: with the same name, source and arguments.

    Examples
    --------
    ::

        job = catalog.ingest(source, into="ods", name="shop")
        print(job.plan())
        job.run(until="caught-up")
    """

    def __init__(
        self,
        catalog: Catalog,
        source: Source,
        rules: IngestRules,
        pace: Pace,
        files: JobFiles,
        engine: Engine = "native",
    ) -> None:
        self._engine = engine
        self._catalog = catalog
        self._source = source
        self._rules = rules
        self._pace = pace
        self._files = files
        self._controls = Controls()
        self._running = threading.Lock()
        self._thread: threading.Thread | None = None
        self._run_by: int | None = None
        """The thread that called `run` last."""
        self._problem: BaseException | None = None
        self._runner: Runner | None = None
        """Of the run that goes on, or ended last."""
        self._events: Sequence[JobEvent] | None = None
        self._status = _idle(files.job, source.name)

    def __repr__(self) -> str:
        return f"<paimonlab ingest job {self.name} from {self._source.name}: {self.status.phase}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._source.close()

    @property
    def name(self) -> str:
        """The name, which is also that of its notes and its commit user."""
        return self._files.job

    @property
    def folder(self) -> str:
        """Where its notes are."""
        return self._files.folder

    @property
    def is_running(self) -> bool:
        """Whether this object runs it, in a thread or not."""
        return self._running.locked()

    @property
    def status(self) -> JobStatus:
        """What it is doing; of a job that did not run in this process, what its notes say."""
        if self._status.phase != "idle" or self.is_running:
            stalled = self._runner.stalled if self._runner and self.is_running else None
            if stalled is None:
                return self._status
            return replace(self._status, warnings=(*self._status.warnings, stalled))
        if self._problem is not None:  # before it read anything: another process runs it
            return replace(self._status, phase="failed", error=str(self._problem))
        newest = self._files.newest()
        if newest is None:
            return self._status
        epoch, _ = newest
        return replace(
            self._status,
            epoch=epoch.number,
            position=epoch.source_position,
            rows=epoch.rows,
            dead=epoch.dead,
            committed_millis=epoch.made_millis,
        )

    @property
    def events(self) -> tuple[JobEvent, ...]:
        """What happened to it, oldest first: tables created and altered, changes of the source."""
        return tuple(self._files.events() if self._events is None else self._events)

    def plan(self) -> IngestPlan:
        """Say which tables would be created, altered, written and refused; changes nothing.

        Raises
        ------
        PaimonError
            If the source cannot be reached.
        """
        known = self._known()
        if isinstance(self._source, WideningSource):
            for pattern in known.added:
                self._source.include(pattern)
        rules = self._rules.widened(known.added)
        return plan_of(self._catalog, self._source.tables(), rules, known.schemas)

    def run(
        self,
        until: Literal["caught-up"] | Span | None = "caught-up",
        *,
        rows: int | None = None,
    ) -> JobStatus:
        """Read and commit, in this thread, until an end.

        An interrupt (Ctrl-C) ends it at once: what was not committed is read again by the next
        run.

        Parameters
        ----------
        until
            ``caught-up``: when all was read that the source has; a time: seconds, or as in
            options (``10 min``); None: never, unless the source ends.
        rows
            End at the boundary of the source after that many rows.

        Returns
        -------
        JobStatus
            How far it came.

        Raises
        ------
        IngestInterrupted
            After Ctrl-C; it is a KeyboardInterrupt.
        IngestRunningError
            If another process runs the job.
        IngestSchemaError
            If tables are refused, or none can go on.
        IngestDataError
            If more rows than ``max_dead`` cannot be stored.
        IngestStateError
            If the job's notes do not go with its tables.
        PaimonError, OSError
            If source or tables fail. What was committed stays, and another run goes on.
        """
        ending = _until(until, rows)
        if not self._running.acquire(blocking=False):
            raise RuntimeError(f"ingest job {self.name!r} is running in this process already")
        self._controls = Controls()
        self._run_by = threading.get_ident()
        _ran.add(self)
        is_interrupted = False
        try:
            with _remembered_interrupts(self._controls):
                self._run(ending)
        except KeyboardInterrupt:
            is_interrupted = True
        finally:
            self._running.release()
        if is_interrupted:  # without the frames of the run, which hold its rows
            raise IngestInterrupted(self.name, self._status.epoch)
        return self._status

    def start(self, until: Literal["caught-up"] | Span | None = None) -> None:
        """Run in a thread of this process, without end unless one is given; see `run`.

        `status` says how it goes, `stop` ends it.
        """
        ending = _until(until, None)
        if not self._running.acquire(blocking=False):
            raise RuntimeError(f"ingest job {self.name!r} is running in this process already")
        self._problem = None
        self._controls = Controls()
        _ran.add(self)
        before = self._status

        def body() -> None:
            try:
                self._run(ending)
            except BaseException as error:  # noqa: BLE001 - `stop` raises it
                self._problem = error
                if self._status is before:  # it was not even begun
                    self._report(replace(self._status, phase="failed", error=str(error)))
            finally:
                self._running.release()

        self._thread = threading.Thread(target=body, name=f"ingest job {self.name}", daemon=True)
        self._thread.start()

    def pause(self) -> None:
        """Finish the epoch and read no more until `resume`; the job stays this process's."""
        self._controls.pause.set()

    def resume(self) -> None:
        """Read on after `pause`."""
        if self._controls.pause.is_set():
            self._controls.resumed.set()

    def stop(self, timeout: float | None = None) -> JobStatus:
        """Finish the epoch and end what `start` began, or `run` in another thread.

        Parameters
        ----------
        timeout
            Seconds to wait for the end; None: as long as it takes.

        Raises
        ------
        PaimonError, OSError
            What ended the job before, if something did.
        TimeoutError
            If it has not ended by then.
        """
        thread = self._thread
        if thread is None and not self.is_running:
            return self._status
        self._controls.stop.set()
        self._controls.resumed.set()
        if thread is None:  # whoever called `run` gets what ends it
            self._wait_for_run(timeout)
            return self._status
        thread.join(timeout)
        if thread.is_alive():
            raise TimeoutError(f"ingest job {self.name!r} is still finishing its epoch")
        self._thread = None
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
        return self._status

    def _wait_for_run(self, timeout: float | None) -> None:
        """Wait until `run` is over, if it is not this thread that is in it."""
        if self._run_by == threading.get_ident():
            return
        if not self._running.acquire(timeout=-1 if timeout is None else timeout):
            raise TimeoutError(f"ingest job {self.name!r} is still finishing its epoch")
        self._running.release()

    def recover(self) -> int:
        """Make the job's notes anew from what its commits say, after they were lost.

        Returns
        -------
        int
            The epoch after which it goes on.

        Raises
        ------
        IngestStateError
            If there are notes, or the tables do not tell.
        """
        if self._files.newest() is not None:
            raise IngestStateError(self.name, "it has its notes; there is nothing to recover")
        lease = self._take()
        try:
            epoch = recovery.recovered(self._catalog, self.name, self._plan_names(), lease.owner.id)
            self._files.publish(epoch)
            self._files.mark_done(epoch)
        finally:
            lease.release()
        return epoch.number

    def forget(self) -> None:
        """Delete the job's notes, its consumers and tags; tables and rows stay.

        Raises
        ------
        IngestRunningError
            If a process runs it.
        """
        lease = self._take()
        try:
            for name in self._plan_names():
                if self._catalog.has_table(name):
                    table = self._catalog.table(name)
                    remove_cuts(table, self.name)
                    if user_of(self.name) in table.consumers.list():
                        table.consumers.delete(user_of(self.name))
        finally:
            lease.release()
        self._files.delete()

    def drop(self, *, dry_run: bool = False, dead_letters: bool = False) -> DroppedJob:
        """Delete all that the job has, since it is not wanted any more; its tables stay.

        These go: the replication slot of PostgreSQL, and the publication of that name, or the
        consumer of a table that is followed; consumers and tags of the job's tables; its notes. An
        epoch that was not finished is committed first. If the source cannot be reached, the rest
        goes, and the result says what is still there.

        Parameters
        ----------
        dry_run
            Only say what would go.
        dead_letters
            Also drop the table of rows that were set aside.

        Raises
        ------
        IngestRunningError
            If a process runs it.
        PaimonError, OSError
            If another reader uses the slot, or the store fails: it can be tried again.
        """
        return drop_job(
            self._catalog,
            self._files,
            source=self._source,
            more_tables=self._unnoted(),
            dry_run=dry_run,
            with_dead_letters=dead_letters,
        )

    def resnapshot(self, table: str) -> None:
        """Read all rows of a table anew; the table has them, and no others, when all were read.

        Until then it keeps the rows that it has. Changes of other tables wait meanwhile. A table
        that stopped goes on with the columns that the source has now; one that was dropped is
        created. What is asked of a job that does not run here is done by the process that runs it,
        or by the next run.

        Parameters
        ----------
        table
            ``database.table`` here, or the name of the table of the source.

        Raises
        ------
        NotFoundError
            If the job has no such table.
        UnsupportedError
            If its source cannot read tables anew, or the job runs on Spark.
        IngestSchemaError
            If the table cannot have the columns that the source has now.
        """
        self._ask("resnapshot", table)

    def add(self, tables: str) -> None:
        """Read more tables, now and in later runs: first their rows, then what changes.

        The others wait while those rows are read. See `resnapshot` for when it is done.

        Parameters
        ----------
        tables
            A regular expression that matches the whole of ``database.table`` of the source, as in
            ``including``; what ``excluding`` matches is left out.

        Raises
        ------
        NotFoundError
            If the source has no such table that is not read yet.
        UnsupportedError
            If its source cannot read tables anew, or the job runs on Spark.
        IngestSchemaError
            If a table cannot be read.
        """
        check_pattern(tables)
        self._ask("add", tables)

    def replay(self, mend: Mend | None = None) -> Replayed:
        """Put rows in that were set aside and can be stored now, or are mended.

        They can if the table was altered since, or if ``mend`` returns other values. Rows of a
        table with a key are left aside, and counted, if a later row of their key came, so that each
        has the place that it has in the order of the source. What was put in stays in the table of
        dead letters, and is not put in again; it does not count for ``max_dead`` any more.

        Parameters
        ----------
        mend
            Is called with each `paimonlab.ingest.DeadLetter`, and returns the values of the row by
            column, or None to leave it aside. None: rows are taken as they are.

        Returns
        -------
        Replayed
            How many rows were put in, and how many were not, and why.

        Raises
        ------
        IngestRunningError
            If another process runs the job: ask that one, ``paimonlab ingest … replay``.
        PaimonError, OSError
            If source or tables fail.
        """
        waiting = Waiting(ask_of("replay"), given=mend)
        if self.is_running:
            self._wait_for(waiting)
        else:
            self._running.acquire()
            try:
                self._controls = Controls()
                self._controls.asked.put(waiting)
                self._run(Until(is_answered=True))
            finally:
                self._running.release()
            if waiting.problem is not None:
                raise waiting.problem
        done: Replayed = waiting.answer
        return done

    def _ask(self, verb: Verb, what: str) -> None:
        """Let a run do something, which is waited for if it is one of this object."""
        ask = ask_of(verb, what)
        if self.is_running:
            self._wait_for(Waiting(ask))
        else:
            self._files.asked.add(ask)

    def _wait_for(self, waiting: Waiting) -> None:
        """Ask the run of this object, and wait until it is done; raise why it was not."""
        self._controls.asked.put(waiting)
        is_over = False
        while not waiting.done.wait(_LOOK_SECONDS):
            if is_over:  # and nobody did it in the meantime
                raise IngestError(self.name, "it ended before it did what was asked")
            is_over = not self.is_running
        if waiting.problem is not None:
            raise waiting.problem

    def _known(self) -> Known:
        newest = self._files.newest()
        if newest is None or not newest[0].known:
            return Known()
        return self._files.known(newest[0].known)

    def _plan_names(self) -> list[str]:
        known = self._known()
        rules = self._rules.widened(known.added)
        names = {
            f"{rules.into}.{rules.target_of(source)}"
            for source in self._source.tables()
            if rules.wants(source)
        }
        return sorted(names | {*known.targets.values()})

    def _unnoted(self) -> list[str]:
        """Return the tables that it would have, if there are no notes that say it."""
        if self._known().targets:
            return []
        try:
            return self._plan_names()
        except (PaimonError, OSError):  # the source is gone
            return []

    def _take(self) -> leases.Lease:
        wait_for_left(self._files.folder)
        return leases.take(
            self.name, self._files.file_io, self._files.folder, lives_millis=leases.LIVES_MILLIS
        )

    def _run(self, until: Until) -> None:
        lease = self._take()
        try:
            runner = _runner_of(self._engine)(
                job=self.name,
                catalog=self._catalog,
                source=self._source,
                rules=self._rules,
                pace=self._pace,
                files=self._files,
                lease=lease,
                controls=self._controls,
                report=self._report,
            )
            self._events, self._runner = runner.journal.events, runner
            runner.run(until)
        except KeyboardInterrupt:
            leave(lease.release, of=self._files.folder, name=f"lease of ingest job {self.name}")
            raise
        except BaseException:
            lease.release()
            raise
        lease.release()

    def _report(self, status: JobStatus) -> None:
        self._status = status


@dataclass(frozen=True, slots=True)
class NotedJob:
    """What the notes of a job say, without its source."""

    name: str
    epoch: int
    """The newest one; 0: there is none."""
    rows: int
    dead: int
    committed_millis: int | None


def ingest(  # noqa: PLR0913 - as the verb of the catalog
    catalog: Catalog,
    source: Source,
    *,
    into: str,
    name: str,
    table_names: Mapping[str, str] | str | None = None,
    prefix: Mapping[str, str] | str = "",
    suffix: Mapping[str, str] | str = "",
    including: str = ".*",
    excluding: str | None = None,
    merge_shards: bool = True,
    shard_columns: Sequence[str] = (),
    primary_keys: Columns = None,
    partition_keys: Columns = None,
    options: Mapping[str, OptionValue] | None = None,
    table_options: Mapping[str, Mapping[str, OptionValue]] | None = None,
    computed: Computed | None = None,
    metadata: Columns = None,
    evolve: Literal["lenient", "exact", "strict"] = "lenient",
    on_truncate: Literal["ignore", "apply"] = "ignore",
    on_delete: str = "apply",
    on_error: Literal["stop-table", "stop"] = "stop-table",
    interval: Span = 10.0,
    max_bytes: int | str = "256 mb",
    max_rows: int | None = None,
    max_dead: int = 0,
    max_stall: Span | None = "30 min",
    tags: int = 0,
    state: str | None = None,
    engine: Engine = "native",
    **others: Any,
) -> Job:
    """Make a job; see `Catalog.ingest`."""
    refuse_missing(others)
    if catalog.is_read_only:
        raise ReadOnlyError(f"ingest job {name!r}")
    check_name("ingest job", name)
    check_name("database", into)
    if evolve not in (words := [one.value for one in Evolve]):
        raise ValueError(f"evolve = {evolve!r}: it is one of {', '.join(words)}")
    if max_dead < 0 or (max_rows is not None and max_rows < 1):
        raise ValueError("max_dead is at least 0, max_rows at least 1")
    if tags < 0:
        raise ValueError("tags is at least 0")
    rules = IngestRules(
        into=into,
        table_names=table_names if isinstance(table_names, str) else dict(table_names or {}),
        prefix=prefix if isinstance(prefix, str) else dict(prefix),
        suffix=suffix if isinstance(suffix, str) else dict(suffix),
        including=including,
        excluding=excluding,
        merge_shards=merge_shards,
        shard_columns=_names(shard_columns),
        primary_keys=primary_keys,
        partition_keys=partition_keys,
        options=dict(options or {}),
        table_options=dict(table_options or {}),
        computed=dict(computed or {}),
        metadata=metadata,
        metadata_types=source.metadata_types if isinstance(source, MetadataSource) else {},
        type_mapping=source.table_mapping if isinstance(source, MappingSource) else frozenset(),
        evolve=Evolve(evolve),
        on_truncate=on_truncate,
        on_delete=on_delete,
        on_error=on_error,
    )
    size = parse_memory_size_bytes(max_bytes) if isinstance(max_bytes, str) else max_bytes
    if size < 1:
        raise ValueError(f"max_bytes = {max_bytes!r} is not a size")
    pace = Pace(
        interval_seconds=_seconds(interval),
        max_bytes=size,
        max_rows=max_rows,
        max_dead=max_dead,
        max_stall_seconds=None if max_stall is None else _seconds(max_stall),
        tags=int(tags),
    )
    check_engine(engine, source, pace)
    return Job(catalog, source, rules, pace, files_of(catalog, name, state), engine)


def _runner_of(engine: Engine) -> type[Runner]:
    if engine == "native":
        return Runner
    # Spark is loaded where a job runs on it, and by nothing else.
    found: type[Runner] = importlib.import_module("paimonlab.ingest.spark.running").SparkRunner
    return found


def _names(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise TypeError("shard_columns are a list of names, not a text")
    return tuple(given)


def files_of(catalog: Catalog, name: str, state: str | None = None) -> JobFiles:
    """Return where the notes of a job are.

    Parameters
    ----------
    catalog, name
        Of the job.
    state
        A folder of the warehouse's store for the notes of all jobs; None: in the warehouse.

    Raises
    ------
    UnsupportedError
        If the catalog does not say where its warehouse is, and no folder is given.
    """
    if state is None and not catalog.has_folder:
        raise UnsupportedError(
            "ingest without state",
            "the catalog's server says where tables are, not the warehouse: give state=, a folder "
            "for the job's notes",
        )
    folder = state if state is not None else join(catalog.path, STATE_FOLDER)
    return JobFiles(name, catalog.file_io, join(folder, name))


def ask_job(catalog: Catalog, name: str, verb: Verb, what: str = "") -> str | None:
    """Ask something of a job, whichever process runs it.

    Parameters
    ----------
    catalog, name
        Of the job.
    verb
        ``pause``, ``resume`` and ``stop`` are for jobs that run; ``resnapshot``, ``add`` and
        ``replay`` are also for those that do not: their next run does it.
    what
        The table of ``resnapshot``, the pattern of ``add``.

    Returns
    -------
    str or None
        Which process runs it and will do it within seconds; None: none does.

    Raises
    ------
    NotFoundError
        If the warehouse has no such job, or the job, which does not run, no such table.
    IngestStateError
        If no process runs it, and only one that does could do it.
    """
    if verb == "add":
        check_pattern(what)
    files = files_of(catalog, name)
    owner = leases.owner_of(files.file_io, files.folder)
    if owner is None:
        raise _no_job(name, noted_jobs(catalog))
    since = leases.runs(files.file_io, files.folder, owner, leases.LIVES_MILLIS, now_millis())
    if since is None and verb in ("pause", "resume", "stop"):
        raise IngestStateError(name, f"no process runs it, so there is nothing to {verb}")
    if since is None and verb == "resnapshot":
        _check_noted(files, what)
    is_for_it = verb in ("pause", "resume", "stop")  # and not for the process after it
    files.asked.add(ask_of(verb, what, owner.id if is_for_it else ""))
    return None if since is None else f"process {owner.process} on {owner.machine}"


def _check_noted(files: JobFiles, table: str) -> None:
    """Make sure that the notes of a job have a table; they lack tables that it never came to."""
    newest = files.newest()
    if newest is None or not newest[0].known:
        return
    known = files.known(newest[0].known)
    names = {*known.targets.values(), *known.stopped}
    if names and table not in names | {*known.targets} | {one.split(".", 1)[1] for one in names}:
        hint = close_matches(table, names)
        raise NotFoundError(f"ingest job {files.job} has no table {table!r}.{hint}")


def drop_noted(
    catalog: Catalog,
    name: str,
    *,
    dry_run: bool = False,
    dead_letters: bool = False,
    state: str | None = None,
) -> DroppedJob:
    """Delete what a job has, without its source: as `Job.drop`, by what its notes say.

    Parameters
    ----------
    catalog, name
        Of the job.
    dry_run, dead_letters
        As there.
    state
        The folder of the notes of all jobs; None: in the warehouse.

    Raises
    ------
    NotFoundError
        If the warehouse has no such job.
    PaimonError, OSError
        As there.
    """
    files = files_of(catalog, name, state)
    noted = noted_jobs(catalog, state)
    if all(job.name != name for job in noted):
        raise _no_job(name, noted)
    return drop_job(catalog, files, dry_run=dry_run, with_dead_letters=dead_letters)


def _no_job(name: str, noted: Sequence[NotedJob]) -> NotFoundError:
    hint = close_matches(name, [job.name for job in noted])
    return NotFoundError(f"there is no ingest job {name!r}.{hint}")


def noted_jobs(catalog: Catalog, state: str | None = None) -> list[NotedJob]:
    """Return the jobs whose notes are in a warehouse, sorted by name."""
    if state is None and not catalog.has_folder:
        return []
    folder = state if state is not None else join(catalog.path, STATE_FOLDER)
    found = []
    for status in catalog.file_io.list(folder):
        if not status.is_directory:
            continue
        name = status.path.rpartition("/")[2]
        newest = JobFiles(name, catalog.file_io, join(folder, name)).newest()
        epoch = newest[0] if newest else None
        found.append(
            NotedJob(
                name,
                epoch.number if epoch else 0,
                epoch.rows if epoch else 0,
                epoch.dead if epoch else 0,
                epoch.made_millis if epoch else None,
            )
        )
    return sorted(found, key=lambda job: job.name)


@contextmanager
def _remembered_interrupts(controls: Controls) -> Iterator[None]:
    """Let no interrupt get lost: a commit that happened anyway may return in its place."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    answer = before

    def remember(number: int, frame: FrameType | None) -> None:
        controls.interrupt.set()
        answer(number, frame)

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is remember:
            signal.signal(signal.SIGINT, before)


def _until(until: Literal["caught-up"] | Span | None, rows: int | None) -> Until:
    if rows is not None and rows < 1:
        raise ValueError(f"rows = {rows}: at least 1")
    if until == "caught-up":
        return Until(caught_up=True, rows=rows)
    return Until(seconds=None if until is None else _seconds(until), rows=rows)


def _seconds(span: Span) -> float:
    if isinstance(span, timedelta):
        seconds = span.total_seconds()
    elif isinstance(span, str):
        try:
            seconds = parse_duration_millis(span) / 1000
        except ValueError as error:
            raise ValueError(f"{span!r}: {error}") from None
    else:
        seconds = float(span)
    if seconds < 0:
        raise ValueError(f"{span!r} is not a time to wait")
    return seconds


def _idle(name: str, source: str) -> JobStatus:
    return JobStatus(
        name=name,
        source=source,
        phase="idle",
        epoch=0,
        position=None,
        rows=0,
        dead=0,
        pending_rows=0,
        pending_bytes=0,
        lag_millis=None,
        behind=None,
        behind_unit="changes",
        began_millis=None,
        committed_millis=None,
        tables=(),
        warnings=(),
        error=None,
    )
