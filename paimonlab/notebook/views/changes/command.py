"""Show which rows changed between two points of a table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import to_builtins

from paimonlab.analysis.rows.appended_rows import AppendedRows
from paimonlab.analysis.rows.row_changes import RowChanges, compared, flattened, reported
from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled, numpy_values, one_array
from paimonlab.notebook import views
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.results.row_files import checked_path, export
from paimonlab.notebook.views.changes.drawing import draw
from paimonlab.notebook.views.changes.value import NOTES, ChangeSource
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.points import change_point, scan_point
from paimonlab.table.table import Table
from paimonlab.table.texts import names_of_partitions, partition_values_name

PAGE = 100
FILES_READ_AT_ONCE = 1_000
"""Of more files that appends added, only those of a page are read at first."""
ROWS_SEARCHED_AT_ONCE = 10_000
"""Rows of whole files that are read before it is seen whether a page was found."""
_READ_LATER = "counted by metadata, and read when they are asked for"
_CHARACTERS = 300
"""Of a cell, longer ones are truncated; `to_arrow` has all."""
_PLACES = 20

Mode = Literal["changelog", "delta", "diff"]


def changes(
    table: str | Table,
    start: int | str | datetime,
    end: int | str | datetime,
    *,
    mode: Mode | None = None,
    where: str | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Drawn[views.ChangeList]:
    """Show which rows were inserted, deleted and updated; this reads data files.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    start, end
        A snapshot id (0: before the first), the name of a tag, a time as text in the process's
        local zone, or an aware datetime. The changes are those after ``start``, up to and including
        ``end``.
    mode
        ``changelog``: what changelog files report; ``delta``: the rows that appends added;
        ``diff``: how the two states differ. None: the first in a table with
        ``changelog-producer``, the last in one with a primary key, else the second.
    where
        SQL; with ``diff`` on columns of the primary key only.
    path
        A file to write all changes to, as `Result.export` names them, with columns ``before.a`` and
        ``after.a``.

    Returns
    -------
    Drawn
        ``to_arrow()`` has every change: ``mark``, ``kind``, ``bucket``, ``before``, ``after``.

    Raises
    ------
    SnapshotNotFoundError
        If there is no such point; `SnapshotExpiredError` if it has expired.
    UnsupportedError
        If the two states cannot be compared, or a file of that kind cannot be written.
    """
    opened_table = opened(table)
    target = None if path is None else checked_path(path)
    source: ChangeSource = mode or _usual(opened_table)
    shown = _read(opened_table, start, end, source, where)
    if target is not None:
        export(flattened(shown.all()), target)
    value = views.ChangeList(
        table=opened_table.name,
        start=str(start),
        end=str(end),
        source=source,
        note=NOTES[source] if isinstance(shown, _Shown) else f"{NOTES[source]}; {_READ_LATER}",
        columns=tuple(shown.columns),
        key=tuple(map(shown.columns.index, opened_table.primary_keys)),
        floats=shown.floats,
        total=shown.total(),
        partitions=shown.partitions(),
        buckets=shown.buckets(),
        rows=shown.page(0),
        row_count=shown.row_count,
        file_count=shown.file_count,
        has_snapshots=bool(shown.row_count or opened_table.snapshots.ids()),
    )
    return draw(value, shown.all, shown.answer)


def _usual(table: Table) -> ChangeSource:
    if table.options.get("changelog-producer", "none").lower() != "none":
        return "changelog"
    return "diff" if table.primary_keys else "delta"


def _read(
    table: Table,
    start: int | str | datetime,
    end: int | str | datetime,
    source: ChangeSource,
    where: str | None,
) -> _Shown | _ShownLater:
    if source == "diff":
        points = scan_point(table, start), scan_point(table, end)
        return _Shown(table, compared(table, *points, where))
    first, last = change_point(table, start), change_point(table, end)
    changes = table.changes(first, last, mode=source, where=where)
    appended = AppendedRows.of(changes)
    if appended is not None and appended.file_count > FILES_READ_AT_ONCE:
        return _ShownLater(table, appended)
    return _Shown(table, reported(changes))


class _Shown:
    """The changes of one view, page by page."""

    def __init__(self, table: Table, changes: RowChanges) -> None:
        self._rows = rows = changes.rows
        self.file_count = changes.file_count
        self.row_count = rows.num_rows
        self._keys = tuple(table.primary_keys)
        self._partition_keys = tuple(table.partition_keys)
        self._schema = table.schema
        before, after = (rows[side].combine_chunks() for side in ("before", "after"))
        self.columns = [field.name for field in after.type]
        self.floats = tuple(
            place for place, field in enumerate(after.type) if pa.types.is_floating(field.type)
        )
        # A struct that is null has null in all of its fields.
        self._before = {name: before.flatten()[i] for i, name in enumerate(self.columns)}
        self._after = {name: after.flatten()[i] for i, name in enumerate(self.columns)}
        self._is_new = after.is_valid()

    def _now(self, name: str) -> pa.Array:
        """Return the value of each row after the change, before it if the row was deleted."""
        return pc.if_else(self._is_new, self._after[name], self._before[name])

    def all(self) -> pa.Table:
        """Return all changes."""
        return self._rows

    def total(self) -> views.ChangeCount:
        """Count them."""
        marks = pc.value_counts(one_array(self._rows["mark"]))
        counts = {entry["values"].as_py(): entry["counts"].as_py() for entry in marks}
        return _count("all", *(counts.get(mark, 0) for mark in ("+", "~", "-")))

    def partitions(self) -> tuple[views.ChangeCount, ...]:
        """Count by partition."""
        names = self._partition_keys
        return self._by([self._now(name) for name in names], self._partitions)

    def buckets(self) -> tuple[views.ChangeCount, ...]:
        """Count by bucket number."""

        def texts(columns: Sequence[pa.Array]) -> list[str]:
            return [f"bucket {number}" for number in columns[0].to_pylist()]

        return self._by([self._rows["bucket"].combine_chunks()], texts)

    def _by(
        self, columns: Sequence[pa.Array], texts: Callable[[Sequence[pa.Array]], list[str]]
    ) -> tuple[views.ChangeCount, ...]:
        if not columns:
            return ()
        # Not by Table.group_by: pyarrow would load its datasets, and with them pandas.
        marks = one_array(self._rows["mark"])
        codes = [
            numpy_values(pc.dictionary_encode(column, null_encoding="encode").indices)
            for column in columns
        ]
        _, first, place = np.unique(
            np.stack(codes, axis=1), axis=0, return_index=True, return_inverse=True
        )
        places = texts([column.take(arrow_array(first)) for column in columns])
        counts = [
            np.bincount(
                place.reshape(-1)[numpy_values(pc.equal(marks, arrow_scalar(mark)))],
                minlength=len(first),
            ).tolist()
            for mark in ("+", "~", "-")
        ]
        return _largest(list(zip(places, *counts, strict=True)))

    def _partitions(self, columns: Sequence[pa.Array]) -> list[str]:
        """Write partitions as all other views do."""
        return partition_values_name(columns, self._schema)

    def page(self, offset: int, chosen: pa.Array | None = None) -> tuple[views.ChangedRow, ...]:
        """Write rows ``offset`` to ``offset + PAGE`` as texts."""
        indexes = arrow_array(np.arange(self._rows.num_rows)) if chosen is None else chosen
        taken = indexes.slice(offset, PAGE)
        rows = self._rows.take(taken)
        now = [_texts(self._now(name).take(taken)) for name in self.columns]
        old = [_texts(self._before[name].take(taken)) for name in self.columns]
        partitions = self._partitions(
            [self._now(name).take(taken) for name in self._partition_keys]
        )
        return tuple(
            views.ChangedRow(
                mark=mark,
                kind=kind,
                partition=partitions[row] if partitions else "",
                bucket=bucket,
                cells=tuple(column[row] for column in now),
                old=tuple(
                    (number, was[row])
                    for number, (was, column) in enumerate(zip(old, now, strict=True))
                    if mark == "~" and was[row] != column[row]
                ),
            )
            for row, (mark, kind, bucket) in enumerate(
                zip(*(rows[name].to_pylist() for name in ("mark", "kind", "bucket")), strict=True)
            )
        )

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer the interactive form: ``{"offset", "key"}`` gives rows and how many there are."""
        key = str(request.get("key", ""))
        chosen = self._with_key(key) if key else arrow_array(np.arange(self._rows.num_rows))
        offset = max(int(request.get("offset", 0)), 0)
        rows = [to_builtins(row) for row in self.page(offset, chosen)]
        return {"rows": rows, "count": len(chosen)}

    def with_text(self, text: str) -> pa.Table:
        """Return the changes with a key, or without key any value, that contains the text."""
        return self._rows.take(self._with_key(text))

    def _with_key(self, text: str) -> pa.Array:
        """Find the rows with a key, or without key any value, that contains the text."""
        matches = np.zeros(self._rows.num_rows, np.bool_)
        for name in self._keys or self.columns:
            contains = pc.match_substring(_searched(self._now(name)), text, ignore_case=True)
            matches |= numpy_values(null_filled(contains, False))
        return arrow_array(np.flatnonzero(matches))


class _ShownLater:
    """The rows that appends added in many files: read page by page."""

    def __init__(self, table: Table, appended: AppendedRows) -> None:
        self._table = table
        self._appended = appended
        self._first = self._shown(0)
        self._search: _Search | None = None
        self.columns, self.floats = self._first.columns, self._first.floats
        self.row_count, self.file_count = appended.row_count, appended.file_count

    def all(self) -> pa.Table:
        """Read all changes."""
        return self._appended.all

    def total(self) -> views.ChangeCount:
        """Count them."""
        return _count("all", self.row_count, 0, 0)

    def partitions(self) -> tuple[views.ChangeCount, ...]:
        """Count by partition."""
        if not self._table.partition_keys:
            return ()
        counts = Counter[bytes]()
        for (partition, _), rows in self._appended.counts().items():
            counts[partition] += rows
        partitions = arrow_array([*counts], pa.binary())
        names = names_of_partitions(partitions, self._table.schema)
        return _largest([(name, n, 0, 0) for name, n in zip(names, counts.values(), strict=True)])

    def buckets(self) -> tuple[views.ChangeCount, ...]:
        """Count by bucket number."""
        counts = Counter[int]()
        for (_, bucket), rows in self._appended.counts().items():
            counts[bucket] += rows
        return _largest([(f"bucket {bucket}", n, 0, 0) for bucket, n in counts.items()])

    def page(self, offset: int) -> tuple[views.ChangedRow, ...]:
        """Write rows ``offset`` to ``offset + PAGE`` as texts."""
        return (self._shown(offset) if offset else self._first).page(0)

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer the interactive form; no more is read for a value than finds a page with it.

        ``isMore`` says that ``count`` rows are only those that were found so far.
        """
        offset = max(int(request.get("offset", 0)), 0)
        key = str(request.get("key", ""))
        if key:
            if self._search is None or self._search.text != key:
                self._search = _Search(self._table, self._appended, key)
            return self._search.answer(offset)
        return {"rows": [to_builtins(row) for row in self.page(offset)], "count": self.row_count}

    def _shown(self, offset: int) -> _Shown:
        return _Shown(self._table, RowChanges(self._appended.rows(offset, PAGE), 0))


class _Search:
    """The rows with a text in any value, of files that are read one after the other."""

    def __init__(self, table: Table, appended: AppendedRows, text: str) -> None:
        self.text = text
        self._table = table
        self._parts = appended.parts(ROWS_SEARCHED_AT_ONCE)
        self._found = [appended.rows(0, 0)]
        self._is_more = True

    def answer(self, offset: int) -> Mapping[str, Any]:
        """Return rows ``offset`` to ``offset + PAGE``, and how many were found."""
        while self._is_more and sum(map(len, self._found)) <= offset + PAGE:
            part = next(self._parts, None)
            if part is None:
                self._is_more = False
            else:
                self._found.append(_Shown(self._table, RowChanges(part, 0)).with_text(self.text))
        found = RowChanges(pa.concat_tables(self._found), 0)
        reply = _Shown(self._table, found).answer({"offset": offset})
        return {**reply, "isMore": True} if self._is_more else reply


def _count(place: str, inserts: int, updates: int, deletes: int) -> views.ChangeCount:
    return views.ChangeCount(place=place, inserts=inserts, updates=updates, deletes=deletes)


def _texts(column: pa.Array) -> list[str | None]:
    return [
        None
        if not cell.is_value
        else cell.text
        if len(cell.text) <= _CHARACTERS
        else cell.text[:_CHARACTERS] + "…"
        for cell in cells(pa.chunked_array([column]))
    ]


def _searched(column: pa.Array) -> pa.Array:
    """Write values as Arrow does; what it cannot write matches nothing."""
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(column), pa.string())


def _largest(counts: list[tuple[str, int, int, int]]) -> tuple[views.ChangeCount, ...]:
    """Keep the places with most changes, and sum up the rest."""
    ordered = sorted(counts, key=lambda entry: (-sum(entry[1:]), entry[0]))
    shown, rest = ordered[:_PLACES], ordered[_PLACES:]
    if rest:
        inserts, updates, deletes = (sum(column) for column in list(zip(*rest, strict=True))[1:])
        shown.append((f"{len(rest)} others", inserts, updates, deletes))
    return tuple(
        views.ChangeCount(place=place, inserts=inserts, updates=updates, deletes=deletes)
        for place, inserts, updates, deletes in shown
    )
