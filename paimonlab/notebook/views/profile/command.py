"""Show what is in each column of a table or of a query."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab import analysis
from paimonlab.errors import UnsupportedError
from paimonlab.notebook import kernel, views
from paimonlab.notebook.cell.parameters import Values, bind
from paimonlab.notebook.cell.query_error import check_query
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.numbers import bytes_text
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.kernel.interruptible import run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay, is_wanted
from paimonlab.notebook.results import profiling
from paimonlab.notebook.running import native_query
from paimonlab.notebook.running.execution import Manner
from paimonlab.notebook.running.on_spark import OnSpark
from paimonlab.notebook.views import profile as profile_view
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.profile.drawing import draw
from paimonlab.secrets import without_secrets
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.spec.visible_text import shortened
from paimonlab.table.reading.scan import Scan
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.notebook.connections.warehouse_connection import Connection
    from paimonlab.progress import Progress

MOST_COLUMNS = 200
"""Of a wider table the first ones are shown."""


@dataclass(frozen=True, slots=True)
class _Found:
    """Columns and what is in them."""

    names: Sequence[str]
    types: Sequence[str]
    kinds: Sequence[pa.DataType]
    rows: profiling.RowSketch


def profile(
    table: str | Table,
    *,
    where: str | None = None,
    columns: Sequence[str] | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Drawn[views.Profile]:
    """Show what is in each column of a table; all of its rows are read, without Spark.

    A column that has the same value in all rows, by statistics that are exact, is not read.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    where
        Only rows for which this condition of SQL is true.
    columns
        Only these; None: all, but no more than `MOST_COLUMNS`.
    path
        Write the view as an HTML page to this file, too.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.
    """
    found = opened(table)
    scan = found.scan(columns, where)
    names = scan.columns[:MOST_COLUMNS]
    shown = scan.narrowed(names, scan.predicate)
    settled = analysis.settled_columns(shown)
    known = {name: _repeated(value, settled.row_count) for name, value in settled.values.items()}
    read = [name for name in names if name not in known]
    rows = _sketched(shown, read) if read else profiling.RowSketch(_row_count(shown), ())
    sums = {**known, **dict(zip(read, rows.columns, strict=True))}
    everything = profiling.RowSketch(rows.row_count, tuple(sums[name] for name in names))
    types = [_type_text(shown, name) for name in names]
    kinds = [shown.arrow_schema.field(name).type for name in names]
    notes = [_read_note(shown, read, len(known)), *_left_out(len(names), len(scan.columns))]
    if where is not None:
        notes.append(f"only rows with {shortened(without_secrets(where))}")
    made = _Found(names, types, kinds, everything)
    view = draw(_profile(found.name, found.name, made, notes))
    if path is not None:
        view.save(os.fspath(path))
    return view


def _repeated(value: pa.Array, row_count: int) -> profiling.ColumnSketch:
    """Return what a column is that has one value everywhere."""
    batch = pa.RecordBatch.from_arrays([value], names=["value"])
    return profiling.sketch_batches([batch], [value.type]).columns[0].repeated(row_count)


def check_profiles() -> None:
    """Check that queries can be profiled where they run.

    Raises
    ------
    UnsupportedError
        If SQL goes to a Spark Connect server.
    """
    if connections.current().is_remote:
        raise UnsupportedError(
            "--profile over Spark Connect",
            "it runs Python that the server may not have; %paimon_profile reads a table from here",
        )


def profile_query(statement: Statement, args: Values, manner: Manner) -> Drawn[views.Profile]:
    """Show what is in each column of all rows of a query, whatever limit its result has.

    Raises
    ------
    QueryError
        If the statement is no query, or fails.
    UnsupportedError
        If SQL goes to a Spark Connect server.
    """
    check_query("--profile", statement, "sql")
    check_profiles()
    here = connections.current()
    if here.spark is None:
        found, total = run_interruptibly(
            lambda told: _natively(here, statement, args, manner, told),
            display=ProgressDisplay(is_shown=manner.progress and is_wanted(), label="paimonlab"),
            patience_seconds=native_query.PATIENCE_SECONDS,
        )
    else:
        found, total = _on_spark(statement, args, manner)
    title = shortened(" ".join(without_secrets(statement.text).split()), 80)
    notes = ["all rows of the query", *_left_out(len(found.names), total)]
    return draw(_profile(title, "", found, notes))


def _natively(
    here: Connection, statement: Statement, args: Values, manner: Manner, told: Progress
) -> tuple[_Found, int]:
    reader = native_query.batches_of(here, statement, args, manner.as_of, told)
    fields = list(reader.schema)[:MOST_COLUMNS]
    kinds = [field.type for field in fields]
    rows = profiling.sketch_batches((_first(batch) for batch in reader), kinds)
    types = [native_query.type_text(field) for field in fields]
    return _Found([field.name for field in fields], types, kinds, rows), len(reader.schema)


def _on_spark(statement: Statement, args: Values, manner: Manner) -> tuple[_Found, int]:
    session = connections.current().session("--profile")
    work = OnSpark(session, statement, bind(statement, args), manner.as_of)

    def sketched() -> tuple[profiling.SketchedFrame, int]:
        frame = work.frame()
        return work.explained(lambda: profiling.sketch_frame(frame, MOST_COLUMNS)), len(
            frame.columns
        )

    made, total = kernel.spark_work.run_on_spark(
        session,
        sketched,
        description=f"profile of {statement.text[:200]}",
        display=ProgressDisplay(is_shown=manner.progress and is_wanted()),
    )
    return _Found(made.names, made.types, made.kinds, made.rows), total


def _profile(title: str, table: str, found: _Found, notes: Sequence[str]) -> views.Profile:
    count = found.rows.row_count
    every = zip(found.names, found.types, found.kinds, found.rows.columns, strict=True)
    columns = tuple(profile_view.profile_columns.profile_column(*one, count) for one in every)
    about = []
    if any(one.distinct_count is not None and not one.is_distinct_exact for one in columns):
        about.append("≈ before distinct: estimated, mostly within 3 %")
    if any(one.is_sampled for one in columns):
        about.append("≈ before quarters: of a sample, mostly within 1 % of the rows")
    if any(one.top and one.top_error for one in columns):
        about.append("≥: counted at least so often")
    if any(one.frequent is not None and one.frequent.long_count for one in found.rows.columns):
        about.append(f"most frequent: without texts of more than {profiling.LONGEST_BYTES} bytes")
    return views.Profile(
        title=title, table=table, row_count=count, columns=columns, notes=(*notes, *about)
    )


def _sketched(scan: Scan, names: Sequence[str]) -> profiling.RowSketch:
    wanted = scan.narrowed(names, scan.predicate)
    with wanted.to_batches() as reader:
        return profiling.sketch_batches(reader, reader.schema.types)


def _first(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch.select(range(min(batch.num_columns, MOST_COLUMNS)))


def _row_count(scan: Scan) -> int:
    return sum(split.row_count for split in scan.plan_here().splits)


def _type_text(scan: Scan, name: str) -> str:
    return format_type(with_nullable(scan.schema.field(name).type, nullable=True)).lower()


def _read_note(scan: Scan, read: Sequence[str], known_count: int) -> str:
    if scan.changes is not None:
        return "read as the table's options say"
    splits = scan.plan_here().splits
    files = sum(len(split.files) for split in splits)
    size = "" if is_deterministic() else f" of {bytes_text(sum(s.size_bytes for s in splits))}"
    by_statistics = f"{known_count:,} columns by statistics alone" if known_count else ""
    if not read:
        return f"nothing read: {by_statistics}" if known_count else "nothing read"
    text = f"{files:,} data {'file' if files == 1 else 'files'}{size} read"
    return f"{text}, {by_statistics}" if known_count else text


def _left_out(shown: int, total: int) -> list[str]:
    return [f"the first {shown:,} of {total:,} columns"] if shown < total else []
