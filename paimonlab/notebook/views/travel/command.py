"""Show a table at points of its past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
from msgspec import structs, to_builtins

from paimonlab.errors import SnapshotNotFoundError, UnsupportedError
from paimonlab.interrupts import interrupts_held_back
from paimonlab.notebook import views
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views import travel as travel_view
from paimonlab.notebook.views.bounds import MOST_ROWS, MOST_STEPS
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.travel.drawing import draw
from paimonlab.notebook.views.travel.value import MOST_COLUMNS, MOST_STOPS
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.storage.together import asked_together, both
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.reading.query import Query, scan_of
from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.time_travel import TravelPoint
from paimonlab.table.table import Table

_SORTED_ROWS = 10_000
"""Of a table with at most so many rows, the first ones by key are shown; else any."""
_CHARACTERS = 120
_POINTS_AT_ONCE = 6
"""Points of a table in a store whose rows are read together."""


def travel(
    table: str | Table, *, sql: str | None = None, steps: int = 12, rows: int = 10
) -> Drawn[views.Travel]:
    """Show rows of a table, or an aggregate, at points of its past; this reads data files.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    sql
        What to compute at each point: expressions (``count(*), sum(amount)``) or a query on
        ``rows`` (``SELECT status, count(*) AS n FROM rows GROUP BY status ORDER BY status``), in
        the SQL of polars; None: rows are shown. All rows of a point are held in memory, of the
        columns that are named.
    steps
        How many points are computed at once, 2 to 50; the kernel computes the others when the
        slider gets there.
    rows
        How many rows are shown of each, 1 to 50.

    Raises
    ------
    ValueError
        If a number is out of its range.
    UnsupportedError
        If polars cannot run the SQL.
    """
    if not 1 <= rows <= MOST_ROWS:
        raise ValueError(f"rows must be 1 to {MOST_ROWS}, got {rows}")
    if not 2 <= steps <= MOST_STEPS:
        raise ValueError(f"steps must be 2 to {MOST_STEPS}, got {steps}")
    opened_table = opened(table)
    traveller = _Traveller(opened_table, sql, rows)
    tags, (newest, listed_ids) = both(
        opened_table.path,
        opened_table.tags.list,
        lambda: opened_table.snapshots.newest(MOST_STOPS),
    )
    ids = {*listed_ids, *(tag.id for tag in tags.values())}
    listed = views.stops(newest, tags, with_times=not is_deterministic())
    known = {tag.id: _at_tag(name, tag) for name, tag in tags.items()}
    known |= {snapshot.id: _at_snapshot(snapshot) for snapshot in newest}
    ids_read = [stop.snapshot_id for stop in views.spread(listed, steps)]
    reads = [partial(traveller.step, id, known[id]) for id in ids_read]
    # All rows of a point are in memory where SQL asks for them, else some.
    at_once = _POINTS_AT_ONCE if sql is None else 1
    computed = [
        step
        for first in range(0, len(reads), at_once)
        for step in asked_together(opened_table.path, reads[first : first + at_once])
    ]
    value = views.Travel(
        table=opened_table.name,
        sql=sql or "",
        stops=tuple(listed),
        older_count=len(ids) - len(listed),
        steps=tuple(computed),
    )
    return draw(value, traveller.answer)


class _Traveller:
    """Reads one table at any point."""

    def __init__(self, table: Table, sql: str | None, rows: int) -> None:
        self._table = table
        self._sql = sql
        self._rows = rows
        self._known: dict[int, views.TravelStep] = {}

    def step(self, snapshot_id: int, query: Query | None = None) -> views.TravelStep:
        """Return the table's rows at a snapshot, or at the tag that keeps it.

        Parameters
        ----------
        snapshot_id
            Which one.
        query
            How it is read, where that is known; None: it is looked for.
        """
        if snapshot_id not in self._known:
            self._known[snapshot_id] = self._read(snapshot_id, query or self._found(snapshot_id))
        return self._known[snapshot_id]

    def _found(self, snapshot_id: int) -> Query:
        try:
            return _at_snapshot(self._table.snapshots.get(snapshot_id))
        except SnapshotNotFoundError:
            for name, tag in self._table.tags.list().items():
                if tag.id == snapshot_id:
                    return _at_tag(name, tag)
            raise

    def answer(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Answer the interactive form: ``{"snapshot": 7}`` gives its step."""
        return {"step": to_builtins(self.step(int(request["snapshot"])))}

    def _scan(self, query: Query) -> Scan:
        return scan_of(definition_of(self._table), store_of(self._table), query)

    def _read(self, snapshot_id: int, query: Query) -> views.TravelStep:
        if self._sql is not None:
            return self._aggregate(snapshot_id, self._sql, query)
        scan = self._scan(query)
        count = scan.count()
        columns, keys = scan.columns, self._table.primary_keys
        shown = _shown_columns(columns, keys)
        if count > _SORTED_ROWS:
            wanted = structs.replace(query, columns=shown, limit=self._rows)
            sample = self._scan(wanted).to_arrow()
            return self._step(snapshot_id, count, sample, len(columns) - len(shown))
        rows = scan.selecting(shown).to_arrow()
        known = [key for key in keys if key in shown]
        if known:
            rows = rows.sort_by([(key, "ascending") for key in known])
        return self._step(snapshot_id, count, rows, len(columns) - len(shown))

    def _aggregate(self, snapshot_id: int, sql: str, point: Query) -> views.TravelStep:
        scan = self._scan(point)
        query = _query(sql)
        # Without any column the number of rows would be unknown.
        named = travel_view.named_columns.named_columns(query, scan.columns) or scan.columns[:1]
        read = scan.narrowed(named, None).to_arrow()
        try:
            result = _run(query, read, self._table)
        except UnsupportedError:
            _run(query, scan.arrow_schema.empty_table(), self._table)  # its error names all columns
            raise
        return self._step(snapshot_id, read.num_rows, result)

    def _step(
        self, snapshot_id: int, count: int, rows: pa.Table, hidden_columns: int = 0
    ) -> views.TravelStep:
        shown = rows.slice(0, self._rows)
        texts = [
            [_cut(cell.text) if cell.is_value else None for cell in cells(column)]
            for column in shown.columns
        ]
        return views.TravelStep(
            snapshot_id=snapshot_id,
            row_count=count,
            columns=tuple(shown.column_names),
            rows=tuple(zip(*texts, strict=True)),
            floats=tuple(
                at for at, field in enumerate(shown.schema) if pa.types.is_floating(field.type)
            ),
            hidden_columns=hidden_columns,
        )


def _at_snapshot(snapshot: Snapshot) -> Query:
    return Query(point=TravelPoint(snapshot=snapshot.id), known=snapshot)


def _at_tag(name: str, tag: Tag) -> Query:
    return Query(point=TravelPoint(tag=name), known=tag)


def _shown_columns(columns: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Choose the columns of a wide table, in their order."""
    first = sorted(columns, key=lambda name: name not in keys)[:MOST_COLUMNS]
    return [name for name in columns if name in first]


def _query(sql: str) -> str:
    """Make a query out of expressions."""
    text = sql.strip().rstrip(";")
    is_query = text.split(None, 1)[0].lower() in {"select", "with"} if text else False
    return text if is_query else f"SELECT {text} FROM rows"  # noqa: S608 - polars only reads


def _run(query: str, rows: pa.Table, table: Table) -> pa.Table:
    with interrupts_held_back():
        import polars as pl  # noqa: PLC0415 - slow to import

    frame = pl.from_arrow(rows)
    try:
        with pl.SQLContext({"rows": frame}) as context:
            result = context.execute(query, eager=True)
    except (pl.exceptions.PolarsError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"{query!r} on {table.name}", f"polars says: {reason}") from error
    return result.to_arrow()


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else text[:_CHARACTERS] + "…"
