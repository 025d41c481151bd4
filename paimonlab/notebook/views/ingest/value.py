"""Jobs that read changes of other systems into tables, as they are now."""

from __future__ import annotations

import msgspec

NOT_HERE = "noted"
"""The phase of a job of which only the notes are known: no job of this process has its name."""


class IngestTable(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One table that a job writes to."""

    name: str
    sources: tuple[str, ...]
    rows: int
    """Committed in this run."""
    rows_per_second: float | None
    """Committed lately; None: unknown, or times are hidden."""
    snapshot_id: int | None
    """Of its last commit in this run; None: there was none."""
    stopped: str | None
    """Why it cannot go on; None: it can."""
    skipped: int
    """Rows that came after it stopped."""


class IngestCommit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An epoch that was committed while the job was looked at."""

    epoch: int
    rows: int
    at_millis: int | None
    lag_millis: int | None
    """How old its newest change was then; None: unknown."""


class IngestEvent(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Something that happened to a job."""

    at_millis: int | None
    what: str
    """``created``, ``altered``, ``schema``, ``stopped``, ``truncated``, ``dead`` …"""
    table: str
    """Empty: the job as a whole."""
    text: str
    columns: str
    """What a change of schema did to columns; empty: it was none, or nothing is known."""


class IngestEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One job. Times are epoch milliseconds, and None where they are hidden."""

    name: str
    source: str
    phase: str
    """As `paimonlab.ingest.JobStatus` has it, or `NOT_HERE`."""
    is_running: bool
    """Whether this process runs it."""
    epoch: int
    """The newest one that is committed; 0: none is."""
    position: str
    """Of the source after it, shortened."""
    rows: int
    """Committed since the job was created."""
    dead: int
    """Set aside since it was created."""
    pending_rows: int
    pending_bytes: int
    rows_per_second: float | None
    lag_millis: int | None
    """How old the newest change was when it was committed; None: unknown."""
    behind: int | None
    behind_unit: str
    committed_millis: int | None
    snapshot_rows: int | None
    """Rows read of those that tables had when the job began; None: they have all been read."""
    snapshot_total: int | None
    """About how many those are; None: unknown, or all have been read."""
    tables: tuple[IngestTable, ...]
    commits: tuple[IngestCommit, ...]
    """The newest ones, oldest first."""
    events: tuple[IngestEvent, ...]
    """The newest ones, newest first."""
    warnings: tuple[str, ...]
    error: str | None


class IngestJobs(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="ingest", tag_field="kind"
):
    """Jobs of this process, and those that the warehouse has notes of."""

    jobs: tuple[IngestEntry, ...]
    is_one: bool
    """Whether one job was asked for."""


def repeatable_jobs(listed: IngestJobs) -> IngestJobs:
    """Leave out what differs from run to run."""
    return msgspec.structs.replace(listed, jobs=tuple(map(_repeatable, listed.jobs)))


def _repeatable(entry: IngestEntry) -> IngestEntry:
    if entry.is_running:  # how far it is by now is chance
        entry = msgspec.structs.replace(
            entry,
            phase="stream",
            epoch=0,
            rows=0,
            pending_rows=0,
            behind=None,
            tables=(),
            events=(),
        )
    return msgspec.structs.replace(
        entry,
        source=entry.source.partition(" ")[0],  # folders and ports are others
        position="",
        rows_per_second=None,
        lag_millis=None,
        committed_millis=None,
        pending_bytes=0,
        snapshot_total=None,
        tables=tuple(
            msgspec.structs.replace(table, rows_per_second=None) for table in entry.tables
        ),
        commits=(),
        events=tuple(msgspec.structs.replace(event, at_millis=None) for event in entry.events),
    )
