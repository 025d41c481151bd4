"""Rows as a file for other programs; the ending of its name says which kind.

Batches are written as they come: no more than one is in memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pyarrow as pa
from msgspec import Struct
from pyarrow import csv

from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.notebook.display import plain
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.display.grid import Column, Grid
from paimonlab.notebook.display.written_files import (
    LOOKED_AT_BYTES,
    IsOurs,
    check_target,
    replacing,
)
from paimonlab.notebook.results.row_json import check_json, json_lines

Write = Callable[[pa.RecordBatch], None]


class Written(Struct, frozen=True):
    """What was written."""

    path: Path
    row_count: int
    byte_count: int


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that `export` can write.

    Raises
    ------
    UnsupportedError
        If its name ends otherwise, or something else exists there.
    """
    target = Path(path).expanduser()
    if target.suffix not in ENDINGS:
        close = close_matches(target.suffix, ENDINGS) or f" There are {', '.join(ENDINGS)}."
        if target.suffix in (".xlsx", ".xls"):
            close = (
                "Excel opens .csv; or keep the result, `rows <<`, and "
                f"rows.to_pandas().to_excel({target.name!r}, index=False), "
                "which needs pip install openpyxl"
            )
        raise UnsupportedError(f"a file that ends with {target.suffix!r}", close.strip())
    check_target(target, _BEGINS[target.suffix])
    return target


def export(rows: pa.Table | pa.RecordBatchReader, path: str | os.PathLike[str]) -> Written:
    """Write rows as CSV, Parquet, an Arrow file, lines of JSON or a Markdown table.

    A file of that name and kind is replaced, at once and only when all rows are written. In CSV,
    NULL is nothing and an empty text is ``""``. In JSON, decimals, whole numbers beyond 2^53, NaN
    and infinity are text, bytes are ``0x…``, maps whose keys are not text are lists of pairs.

    Parameters
    ----------
    rows
        The rows; read once.
    path
        Ends with one of `ENDINGS`.

    Raises
    ------
    UnsupportedError
        If the name ends otherwise, such a file has no form for a column, or something else
        exists there.
    """
    target = checked_path(path)
    reader = rows if isinstance(rows, pa.RecordBatchReader) else rows.to_reader()
    count = 0
    with replacing(target) as part:
        with ENDINGS[target.suffix](reader.schema, part) as write:
            for batch in reader:
                write(batch)
                count += batch.num_rows
        size = part.stat().st_size
    return Written(target, count, size)


@contextmanager
def _csv(schema: pa.Schema, path: Path) -> Iterator[Write]:
    for field in schema:
        types = pa.types
        has_no_form = (types.is_nested, types.is_binary, types.is_duration, types.is_interval)
        if any(is_such(field.type) for is_such in has_no_form):
            raise UnsupportedError(
                f"the column {field.name} of type {field.type} in CSV",
                "write .parquet, .arrow or .json, or turn it into text in the query",
            )
    with csv.CSVWriter(str(path), schema) as writer:
        yield writer.write_batch


@contextmanager
def _parquet(schema: pa.Schema, path: Path) -> Iterator[Write]:
    from pyarrow import parquet  # noqa: PLC0415, TID251 - no file of a table

    with parquet.ParquetWriter(path, schema) as writer:
        yield writer.write_batch


@contextmanager
def _arrow(schema: pa.Schema, path: Path) -> Iterator[Write]:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        yield writer.write_batch


@contextmanager
def _json(schema: pa.Schema, path: Path) -> Iterator[Write]:
    check_json(schema)
    with path.open("wb") as sink:

        def write(batch: pa.RecordBatch) -> None:
            sink.write(json_lines(batch))

        yield write


@contextmanager
def _markdown(schema: pa.Schema, path: Path) -> Iterator[Write]:
    columns = tuple(Column(field.name) for field in schema)
    with path.open("w", encoding="utf-8", newline="\n") as sink:
        sink.write(plain.markdown(Grid(columns, [])))

        def write(batch: pa.RecordBatch) -> None:
            texts = (cells(column) for column in pa.table(batch).columns)
            sink.write(plain.markdown_rows(list(zip(*texts, strict=True))))

        yield write


ENDINGS: Mapping[str, Callable[[pa.Schema, Path], AbstractContextManager[Write]]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".json": _json,
    ".md": _markdown,
}
"""How a file with this ending is written."""


def _is_line_of_json(begin: bytes) -> bool:
    line, _, rest = begin.partition(b"\n")
    is_whole = line.endswith(b"}") or (not rest and len(begin) == LOOKED_AT_BYTES)
    return line.startswith(b"{") and is_whole


def _is_table(begin: bytes) -> bool:
    head, _, rest = begin.partition(b"\n")
    is_cut = len(begin) == LOOKED_AT_BYTES and b"| -".startswith(rest)
    return head.startswith(b"| ") and (rest.startswith(b"| -") or is_cut)


def _is_csv(begin: bytes) -> bool:
    """Take any text for CSV that is not a script or a page: other programs write it as well.

    What was written here begins with a quote, and its values may be anything.
    """
    text = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    is_text = not _CONTROL.search(begin) and not text.startswith((b"#!", b"<"))
    return is_text or begin.startswith(b'"')


_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_BEGINS: Mapping[str, IsOurs] = {
    ".csv": _is_csv,
    ".parquet": lambda begin: begin.startswith(b"PAR1"),
    ".arrow": lambda begin: begin.startswith(b"ARROW1"),
    ".json": _is_line_of_json,
    ".md": _is_table,
}
"""Decides by the start of a file whether the file may be replaced."""
