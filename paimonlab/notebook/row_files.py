"""All rows of a result as a file; the ending of its name says which kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from paimonlab.errors import UnsupportedError, close_matches


def export(table: pa.Table, path: str | Path) -> int:
    """Write rows as CSV, Parquet or an Arrow file; returns how many bytes that took.

    A file of that name is replaced, at once and only when all rows are written. In CSV, NULL
    is nothing and an empty text is ``""``.

    Parameters
    ----------
    table
        The rows.
    path
        Ends with one of `ENDINGS`.

    Raises
    ------
    UnsupportedError
        If the ending is another, or CSV has no form for a column.
    """
    target = Path(path).expanduser()
    if target.suffix not in ENDINGS:
        close = close_matches(target.suffix, ENDINGS) or f" There are {', '.join(ENDINGS)}."
        raise UnsupportedError(f"a file that ends with {target.suffix!r}", close.strip())
    part = target.with_name(f".{target.name}.part")
    try:
        ENDINGS[target.suffix](table, part)
        size = part.stat().st_size
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return size


def _csv(table: pa.Table, path: Path) -> None:
    for field in table.schema:
        if pa.types.is_nested(field.type) or pa.types.is_binary(field.type):
            raise UnsupportedError(
                f"the column {field.name} of type {field.type} in CSV",
                "write .parquet or .arrow, or turn it into text in the query",
            )
    csv.write_csv(table, path)


def _parquet(table: pa.Table, path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415, TID251 - no file of a table

    parquet.write_table(table, path)


def _arrow(table: pa.Table, path: Path) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


ENDINGS: Mapping[str, Callable[[pa.Table, Path], None]] = {
    ".csv": _csv,
    ".parquet": _parquet,
    ".arrow": _arrow,
}
"""How a file that ends so is written."""
