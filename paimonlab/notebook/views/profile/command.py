"""Show what is in each column of a table or of a query."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from paimonlab import analysis
from paimonlab.errors import UnsupportedError
from paimonlab.notebook import kernel, views
from paimonlab.notebook.cell.parameters import Values, bind
from paimonlab.notebook.cell.query_error import check_query
from paimonlab.notebook.cell.statements import Statement
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.warehouse_connection import NotConnectedError
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.numbers import bytes_text, many
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.kernel.interruptible import run_interruptibly
from paimonlab.notebook.kernel.progress import ProgressDisplay, is_wanted
from paimonlab.notebook.results import profiling
from paimonlab.notebook.running import native_query
from paimonlab.notebook.running.execution import Manner, connection_of
from paimonlab.notebook.running.on_spark import OnSpark
from paimonlab.notebook.views import profile as profile_view
from paimonlab.notebook.views.opening import opened
from paimonlab.notebook.views.profile.drawing import draw
from paimonlab.notebook.views.profile.value import FilesRead
from paimonlab.secrets import without_secrets
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.spec.types.text import format_type
from paimonlab.spec.visible_text import shortened
from paimonlab.table.reading.scan import Scan
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.analysis.rows.settled_columns import SettledColumns
    from paimonlab.notebook.connections.warehouse_connection import Connection
    from paimonlab.progress import Progress

MOST_COLUMNS = 200
"""Columns that are shown; of a wider table the first ones."""
MOST_FILES = 300
"""Data files that are read of a table with more."""
MOST_BYTES = 1 << 30
"""Of these files."""


@dataclass(frozen=True, slots=True)
class _Profiled:
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
    all_files: bool = False,
) -> Drawn[views.Profile]:
    """Show what is in each column of a table, without Spark.

    Of a table with more than `MOST_FILES` data files, or `MOST_BYTES`, so many are read, spread
    over all partitions and buckets, the same ones each time; what exact statistics say is then of
    all rows. A column that has the same value in all rows, by statistics that are exact, is not
    read.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    where
        Only rows for which this condition of SQL is true.
    columns
        Only these; None: all, but no more than `MOST_COLUMNS`.
    path
        A file to which the view is also written, as an HTML page.
    all_files
        Read all files, however many.

    Raises
    ------
    ColumnNotFoundError
        If there is no such column.
    """
    opened_table = opened(table)
    scan = opened_table.scan(columns, where)
    names = scan.columns[:MOST_COLUMNS]
    shown = scan.selecting(names)
    settled = analysis.settled_columns(shown)
    read = [name for name in names if name not in settled.values]
    whole = shown
    if read and not all_files:
        shown = analysis.sampled_scan(whole, most_files=MOST_FILES, most_bytes=MOST_BYTES)
    rows = _sketched(shown, read) if read else profiling.RowSketch(_row_count(shown), ())
    by_statistics = {
        name: _repeated(value, rows.row_count) for name, value in settled.values.items()
    }
    sums = {**by_statistics, **dict(zip(read, rows.columns, strict=True))}
    everything = profiling.RowSketch(rows.row_count, tuple(sums[name] for name in names))
    types = [_type_text(shown, name) for name in names]
    kinds = [shown.arrow_schema.field(name).type for name in names]
    notes = [_read_note(shown, read, len(by_statistics)), *_left_out(len(names), len(scan.columns))]
    if where is not None:
        notes.append(f"only rows with {shortened(without_secrets(where))}")
    profiled = _Profiled(names, types, kinds, everything)
    files, of_files = (one.plan_here().files.num_rows for one in (shown, whole))
    sample = None
    if files < of_files:
        sample = FilesRead(file_count=files, of_files=of_files, of_rows=settled.row_count)
        notes[:0] = ["the rest is of the rows read; --all-files (all_files=True) reads all"]
    value = _profile(opened_table.name, opened_table.name, profiled, notes, sample)
    if where is None and not rows.row_count:
        value = msgspec.structs.replace(value, is_empty=True)
    view = draw(value if sample is None else _with_all_rows(value, names, settled))
    if path is not None:
        view.save(os.fspath(path))
    return view


def _with_all_rows(
    value: views.Profile, names: Sequence[str], settled: SettledColumns
) -> views.Profile:
    """Add to what is in some rows what statistics say of all."""
    nulls, ends = settled.null_counts, settled.ends
    columns = tuple(
        profile_view.profile_columns.with_all_rows(column, nulls.get(name), ends.get(name))
        for name, column in zip(names, value.columns, strict=True)
    )
    known = [
        f"{what} of {_listed([name for name in names if name in of])}"
        for what, of in (("nulls", nulls), ("min and max", ends))
        if of
    ]
    exact = [f"from statistics of all rows: {'; '.join(known)}"] if known else []
    return msgspec.structs.replace(value, columns=columns, notes=(*exact, *value.notes))


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(shortened(name, 40) for name in names[:5])
    return some if len(names) <= 5 else f"{some} and {len(names) - 5:,} others"


def _repeated(value: pa.Array, row_count: int) -> profiling.ColumnSketch:
    """Return the sketch of a column that has one value everywhere."""
    batch = pa.RecordBatch.from_arrays([value], names=["value"])
    return profiling.sketch_batches([batch], [value.type]).columns[0].repeated(row_count)


def check_profiles() -> None:
    """Check that queries can be profiled where they run.

    Raises
    ------
    UnsupportedError
        If SQL goes to a Spark Connect server.
    """
    try:
        is_remote = connections.current().is_remote
    except NotConnectedError:  # files and data frames need no connection
        return
    if is_remote:
        raise UnsupportedError(
            "--profile over Spark Connect",
            "it runs Python that the server may not have; %paimon_profile reads a table from here",
        )


def profile_query(statement: Statement, args: Values, manner: Manner) -> Drawn[views.Profile]:
    """Show what is in each column of all rows of a query, whatever limit its result has.

    Raises
    ------
    QueryError
        If the statement is not a query, or fails.
    UnsupportedError
        If SQL goes to a Spark Connect server.
    """
    check_query("--profile", statement, "sql")
    check_profiles()
    connection = connection_of(statement, manner)
    if connection.spark is None:
        profiled, total = run_interruptibly(
            lambda progress: _natively(connection, statement, args, manner, progress),
            display=ProgressDisplay(is_shown=manner.progress and is_wanted(), label="paimonlab"),
            patience_seconds=native_query.PATIENCE_SECONDS,
        )
    else:
        profiled, total = _on_spark(statement, args, manner)
    title = shortened(" ".join(without_secrets(statement.text).split()), 80)
    notes = ["all rows of the query", *_left_out(len(profiled.names), total)]
    return draw(_profile(title, "", profiled, notes))


def _natively(
    connection: Connection, statement: Statement, args: Values, manner: Manner, progress: Progress
) -> tuple[_Profiled, int]:
    reader = native_query.batches_of(
        connection, statement, args, manner.as_of, progress, manner.frames
    )
    fields = list(reader.schema)[:MOST_COLUMNS]
    kinds = [field.type for field in fields]
    rows = profiling.sketch_batches((_first(batch) for batch in reader), kinds)
    types = [native_query.type_text(field) for field in fields]
    return _Profiled([field.name for field in fields], types, kinds, rows), len(reader.schema)


def _on_spark(statement: Statement, args: Values, manner: Manner) -> tuple[_Profiled, int]:
    session = connections.current().session("--profile")
    work = OnSpark(session, statement, bind(statement, args), manner.as_of)

    def sketched() -> tuple[profiling.SketchedFrame, int]:
        frame = work.frame()
        return work.explained(lambda: profiling.sketch_frame(frame, MOST_COLUMNS)), len(
            frame.columns
        )

    sketch, total = kernel.spark_work.run_on_spark(
        session,
        sketched,
        description=f"profile of {statement.text[:200]}",
        display=ProgressDisplay(is_shown=manner.progress and is_wanted()),
    )
    return _Profiled(sketch.names, sketch.types, sketch.kinds, sketch.rows), total


def _profile(
    title: str,
    table: str,
    profiled: _Profiled,
    notes: Sequence[str],
    sample: FilesRead | None = None,
) -> views.Profile:
    count = profiled.rows.row_count
    every = zip(profiled.names, profiled.types, profiled.kinds, profiled.rows.columns, strict=True)
    columns = tuple(profile_view.profile_columns.profile_column(*parts, count) for parts in every)
    about = []
    if sample is not None:
        about.append("≥ distinct: at least so many")
    elif any(
        column.distinct_count is not None and not column.is_distinct_exact for column in columns
    ):
        about.append("≈ before distinct: estimated, mostly within 3 %")
    if any(column.is_sampled for column in columns):
        about.append("≈ before quarters: of a sample, mostly within 1 % of the rows")
    if any(column.top and column.top_error for column in columns):
        about.append("≥: occurs at least so often")
    if any(
        column.frequent is not None and column.frequent.long_count
        for column in profiled.rows.columns
    ):
        about.append(f"most frequent: without texts of more than {profiling.LONGEST_BYTES} bytes")
    return views.Profile(
        title=title,
        table=table,
        row_count=count,
        columns=columns,
        notes=(*notes, *about),
        sample=sample,
    )


def _sketched(scan: Scan, names: Sequence[str]) -> profiling.RowSketch:
    wanted = scan.selecting(names)
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
    by_statistics = f"{many(known_count, 'column')} by statistics alone" if known_count else ""
    if not read:
        return f"nothing read: {by_statistics}" if known_count else "nothing read"
    text = f"{many(files, 'data file')}{size} read"
    return f"{text}, {by_statistics}" if known_count else text


def _left_out(shown: int, total: int) -> list[str]:
    return [f"the first {shown:,} of {total:,} columns"] if shown < total else []
