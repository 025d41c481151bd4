"""The history of a table, commit by commit, as ``DESCRIBE HISTORY`` shows it elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from paimonlab.analysis.row_words import BEFORE_MERGING
from paimonlab.analysis.snapshots.file_totals import FileTotals, changed_rows_of
from paimonlab.secrets import hides_secrets, redacted
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot


@hides_secrets
class LogEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One commit."""

    version: int
    """The snapshot."""
    time_millis: int | None
    """Commit time, milliseconds since the epoch; None when times are hidden."""
    user: str
    identifier: int | None
    """None: a batch commit, which no stream numbers."""
    operation: str
    """The writer's name for it, else the kind of the commit."""
    commit_kind: str
    metrics: dict[str, int]
    """``addedFiles``, ``deletedFiles``, ``addedRows``, ``deletedRows``, ``addedBytes``,
    ``deletedBytes`` (of files), ``changelogRows``, ``totalRows`` (before merging); zeros and
    unknown numbers are left out."""
    written_rows: int | None
    """Inserted or updated; None of a compaction, which writes no new rows, and if unknown."""
    deleted_rows: int | None
    schema_id: int
    tags: tuple[str, ...]
    properties: dict[str, str]
    """Set by the writer; secrets are hidden."""
    writer_version: str | None


class Log(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="log", tag_field="kind"):
    """The newest commits of a table, newest first."""

    table: str
    entries: tuple[LogEntry, ...]
    older_count: int
    """Existing snapshots that are not shown."""
    rows_are: str = BEFORE_MERGING
    """What the rows of files are, as `rows_are` says it."""


def log(
    table: str,
    snapshots: Iterable[Snapshot],
    totals: Mapping[int, FileTotals],
    tags: Mapping[str, int],
    *,
    older_count: int = 0,
    rows_are: str = BEFORE_MERGING,
) -> Log:
    """Say what each commit did.

    Parameters
    ----------
    table
        Its name, for the caption.
    snapshots
        In any order.
    totals
        What each snapshot added and deleted, by id; what is missing is unknown.
    tags
        Name of each tag and the id of its snapshot.
    older_count
        Existing snapshots that are not among these.
    rows_are
        What the rows of files are: `paimonlab.analysis.row_words.rows_are`.
    """
    ordered = sorted(snapshots, key=lambda snapshot: -snapshot.id)
    names: dict[int, list[str]] = {}
    for name in sorted(tags):
        names.setdefault(tags[name], []).append(name)
    entries = [
        _entry(snapshot, totals.get(snapshot.id), names.get(snapshot.id, ()))
        for snapshot in ordered
    ]
    return Log(table=table, entries=tuple(entries), older_count=older_count, rows_are=rows_are)


def _entry(snapshot: Snapshot, totals: FileTotals | None, tags: Iterable[str]) -> LogEntry:
    identifier = snapshot.commit_identifier
    rows = None
    if snapshot.commit_kind is not CommitKind.COMPACT:
        rows = changed_rows_of(snapshot.commit_kind, totals)
    return LogEntry(
        version=snapshot.id,
        time_millis=snapshot.time_millis,
        user=snapshot.commit_user,
        identifier=None if identifier == BATCH_COMMIT_IDENTIFIER else identifier,
        operation=snapshot.operation or snapshot.commit_kind.value,
        commit_kind=snapshot.commit_kind.value,
        metrics={name: value for name, value in _metrics(snapshot, totals) if value},
        written_rows=rows and rows.written,
        deleted_rows=rows and rows.deleted,
        schema_id=snapshot.schema_id,
        tags=tuple(tags),
        properties=redacted(snapshot.properties or {}),
        writer_version=snapshot.writer_version,
    )


def _metrics(snapshot: Snapshot, totals: FileTotals | None) -> Iterator[tuple[str, int | None]]:
    if totals is not None:
        yield "addedFiles", totals.added_file_count
        yield "deletedFiles", totals.deleted_file_count
        for word, sums in (("added", totals.added), ("deleted", totals.deleted)):
            yield f"{word}Rows", None if sums is None else sums.row_count
            yield f"{word}Bytes", None if sums is None else sums.file_bytes
    yield "changelogRows", snapshot.changelog_record_count
    yield "totalRows", snapshot.total_record_count


def repeatable_log(log: Log) -> Log:
    """Leave out what differs from run to run: times, files, bytes and versions of writers.

    Users are numbered.
    """
    users: dict[str, str] = {}
    entries = [
        msgspec.structs.replace(
            entry,
            time_millis=None,
            user=users.setdefault(entry.user, f"user#{len(users) + 1}"),
            metrics={
                name: value
                for name, value in entry.metrics.items()
                if not name.endswith(("Files", "Bytes"))
            },
            writer_version=None,
        )
        for entry in reversed(log.entries)
    ]
    return msgspec.structs.replace(log, entries=tuple(reversed(entries)))
