"""Show the life of one row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from paimonlab.errors import ArgumentError, SchemaError, UnsupportedError
from paimonlab.notebook import views
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.bounds import MOST_VERSIONS
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.row.drawing import draw
from paimonlab.notebook.views.row.value import RowFile, RowLife, RowStep, step_of
from paimonlab.spec.predicates.binding import bind
from paimonlab.spec.predicates.examples import example
from paimonlab.spec.predicates.sql import parse_predicate
from paimonlab.spec.predicates.walking import columns as columns_of
from paimonlab.spec.types.data_types import DataField
from paimonlab.table.reading.scan import Scan
from paimonlab.table.table import Table

_CHARACTERS = 120
_Values: TypeAlias = tuple[str | None, ...]


def row(table: str | Table, where: str, *, last: int = 50) -> Drawn[views.RowLife]:
    """Show what became of one row from snapshot to snapshot; this reads data files.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    where
        The condition that finds the row: ``id = 5``. In a table with a primary key it is about
        columns of that key.
    last
        How many of the newest snapshots are read, 1 to 500; those that tags keep are among them.

    Raises
    ------
    ArgumentError
        If the condition finds several rows.
    UnsupportedError
        If it is about columns that are not of the primary key: they change, and the row would
        seem to be deleted.
    SchemaError
        If it is not a condition.
    ValueError
        If ``last`` is out of its range.
    """
    if not 1 <= last <= MOST_VERSIONS:
        raise ValueError(f"last must be 1 to {MOST_VERSIONS}, got {last}")
    opened_table = opened(table)
    _check(opened_table, where)
    tags = opened_table.tags.list()
    newest = opened_table.snapshots.list(last)
    points = views.stops(newest, tags, with_times=not is_deterministic())
    ids = {*opened_table.snapshots.ids(), *(tag.id for tag in tags.values())}
    reader = _Reader(opened_table, where)
    columns = tuple(field.name for field in opened_table.schema.fields)
    steps = []
    before: _Values | None = None
    files: tuple[RowFile, ...] = ()
    for point in points:
        after, now = reader.read(point.snapshot_id, point.tags)
        what, changed = step_of(before, after, columns, has_moved=now != files)
        if point.tags or what not in {"absent", "unchanged"}:
            steps.append(
                RowStep(
                    snapshot_id=point.snapshot_id,
                    commit_kind=point.commit_kind,
                    time_millis=point.time_millis,
                    tags=point.tags,
                    what=what,
                    values=after or (),
                    changed=changed,
                    files=now if after is not None else (),
                )
            )
        before, files = after, now
    return draw(
        RowLife(
            table=opened_table.name,
            where=where,
            columns=columns,
            steps=tuple(steps),
            looked_at=len(points),
            older_count=len(ids) - len(points),
        )
    )


def _check(table: Table, where: str) -> None:
    """Refuse what is not a condition on the key; the error shows one."""
    fields = {field.name: field.type for field in table.schema.fields}
    names = table.primary_keys or tuple(fields)[:1]
    by_key = " AND ".join(example(name, fields[name]) for name in names)
    advice = f"\na row is found by a condition such as {by_key}"
    try:
        predicate = bind(parse_predicate(where), table.schema.fields, table.name)
    except SchemaError as error:
        raise SchemaError(f"{error}{'' if by_key in str(error) else advice}") from None
    except UnsupportedError as error:
        raise UnsupportedError(error.feature, f"{error.reason}{advice}") from None
    others = columns_of(predicate) - set(table.primary_keys)
    if table.primary_keys and others:
        raise UnsupportedError(
            f"the life of a row of {table.name} found by {', '.join(sorted(others))}",
            f"give the primary key: {by_key}",
        )


class _Reader:
    """Reads one row at any point; rows are read only where files or vectors are others."""

    def __init__(self, table: Table, where: str) -> None:
        self._table = table
        self._where = where
        self._files: Any = None
        self._values: _Values | None = None

    def read(
        self, snapshot_id: int, tags: tuple[str, ...]
    ) -> tuple[_Values | None, tuple[RowFile, ...]]:
        """Return the row, None if there is none, and the files that a read of it opens."""
        point: dict[str, Any] = {"snapshot": snapshot_id}
        if not self._table.snapshots.has(snapshot_id):
            point = {"tag": tags[0]}
        # Two rows are enough to tell that it is not one; the limit leaves the plan as it is.
        scan = self._table.scan(where=self._where, limit=2, **point)
        splits = scan.plan().splits
        files = [(split.bucket_path, split.files, split.deletion_files) for split in splits]
        if files != self._files:
            self._files, self._values = files, self._row(scan)
        shown = tuple(
            RowFile(
                name="" if is_deterministic() else file.file_name,
                level=file.level,
                place=split.bucket_path,
            )
            for split in splits
            for file in split.files
        )
        return self._values, shown

    def _row(self, scan: Scan) -> _Values | None:
        found = scan.to_arrow()
        if found.num_rows > 1:
            raise ArgumentError(
                "the life of a row", f"{self._where} finds several rows of {self._table.name}"
            )
        if not found.num_rows:
            return None
        texts = [cells(column)[0] for column in found.columns]
        by_id = {
            field.id: cell.text[:_CHARACTERS] if cell.is_value else None
            for field, cell in zip(self._fields(scan), texts, strict=True)
        }
        return tuple(by_id.get(field.id) for field in self._table.schema.fields)

    def _fields(self, scan: Scan) -> Sequence[DataField]:
        """Return the columns of a scan: a read of the past has those of its time."""
        assert scan.snapshot is not None, "a snapshot was asked for"
        for schema in (self._table.schemas.get(scan.snapshot.schema_id), self._table.schema):
            if [field.name for field in schema.fields] == list(scan.columns):
                return schema.fields
        raise AssertionError(f"columns {scan.columns} are of no schema of {self._table.name}")
