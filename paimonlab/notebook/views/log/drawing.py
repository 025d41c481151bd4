"""The history of a table as a table and as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial

from paimonlab.analysis.snapshots.commit_log import Log, LogEntry
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import commit_text, next_rows, when
from paimonlab.notebook.display.numbers import bytes_text, count, time_text
from paimonlab.notebook.display.view import rows

_BOTH_WAYS = {"rows": "Rows", "files": "Files", "size": "Bytes"}
"""What a commit adds and deletes: head, end of the names of the metrics."""

Field = tuple[Column, Callable[[LogEntry], object]]


def draw(log: Log) -> Drawn[Log]:
    """Draw a history, newest commit first."""
    if not log.entries:
        grid = Grid((), (), f"{log.table} has no snapshot yet", next_rows(log.table))
        return Drawn(log, grid, rows(()))
    fields = list(_fields(log))
    body = [texts([write(entry) for _, write in fields]) for entry in log.entries]
    shown = len(log.entries)
    total = shown + log.older_count
    footer = f"the newest {shown} of {total} commits; -n N for more" if log.older_count else ""
    columns = tuple(column for column, _ in fields)
    headline = _headline(log.entries[0])
    grid = Grid(columns, body, f"{log.table}: history", footer, headline)
    return Drawn(log, grid, rows(log.entries), link=log.table)


def _headline(entry: LogEntry) -> str:
    metrics = entry.metrics
    is_compaction = entry.commit_kind == "COMPACT"
    what = commit_text(
        entry.operation,
        written=entry.written_rows,
        deleted=entry.deleted_rows,
        files=metrics.get("addedFiles"),
        merged=metrics.get("deletedFiles", 0) if is_compaction else None,
        user=entry.user,
    )
    return f"Version {entry.version}: {what}{when(entry.time_millis)}"


def _fields(log: Log) -> Iterator[Field]:
    """Choose the columns: those that would be empty are left out."""
    yield Column("version", align=Align.RIGHT), lambda entry: entry.version
    if any(entry.time_millis is not None for entry in log.entries):
        yield Column("time (UTC)"), lambda entry: time_text(entry.time_millis)
    yield Column("user", is_id=True, rank=2), lambda entry: entry.user
    yield Column("operation"), lambda entry: entry.operation.lower()
    names = dict.fromkeys(name for entry in log.entries for name in entry.metrics)
    for head, what in _BOTH_WAYS.items():
        if {f"added{what}", f"deleted{what}"} & names.keys():
            yield (
                Column(head, align=Align.RIGHT, rank=int(head == "size")),
                partial(_both_ways, what),
            )
    for name in names:
        if name.removeprefix("added").removeprefix("deleted") not in _BOTH_WAYS.values():
            head = f"total {log.rows_are}" if name == "totalRows" else _words(name)
            yield Column(head, align=Align.RIGHT, rank=2), partial(_metric, name)
    yield Column("schema", align=Align.RIGHT, rank=2), lambda entry: entry.schema_id
    if any(entry.identifier is not None for entry in log.entries):
        yield (
            Column("identifier", align=Align.RIGHT, rank=2),
            lambda entry: entry.identifier,
        )
    if any(entry.tags for entry in log.entries):
        yield Column("tags"), lambda entry: ", ".join(entry.tags)
    if any(entry.properties for entry in log.entries):
        yield Column("properties", rank=2), lambda entry: _map(entry.properties)
    if any(entry.writer_version for entry in log.entries):
        yield Column("writer", rank=2), lambda entry: entry.writer_version


def _words(name: str) -> str:
    """Write ``addedFiles`` as two words."""
    return re.sub("[A-Z]", lambda letter: f" {letter[0].lower()}", name)


def _both_ways(what: str, entry: LogEntry) -> str:
    """Write what was added and deleted in one: ``+6 -18``."""
    write = bytes_text if what == "Bytes" else count
    added, deleted = entry.metrics.get(f"added{what}"), entry.metrics.get(f"deleted{what}")
    if what == "Rows" and entry.written_rows is not None:  # not those of files: a delete is one
        added, deleted = entry.written_rows, entry.deleted_rows
    signs = {"+": added, "-": deleted}
    return " ".join(f"{sign}{write(number)}" for sign, number in signs.items() if number)


def _metric(name: str, entry: LogEntry) -> str:
    value = entry.metrics.get(name)
    return bytes_text(value) if name.endswith("Bytes") else count(value)


def _map(properties: dict[str, str]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in sorted(properties.items()))
