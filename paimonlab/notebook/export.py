"""Rows of a view as a file for other programs."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa

from paimonlab.errors import UnsupportedError
from paimonlab.notebook.display.cells import cells

_SUFFIXES = (".parquet", ".csv")


def checked_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file that `write_rows` can write.

    Raises
    ------
    UnsupportedError
        If its name says that it is of another kind.
    """
    target = Path(path)
    if target.suffix not in _SUFFIXES:
        raise UnsupportedError(f"path = {os.fspath(path)!r}", "name a .parquet or a .csv file")
    return target


def write_rows(rows: pa.Table, path: Path) -> None:
    """Write rows to a Parquet file with their types, or to a CSV file as they are shown.

    In CSV an empty field is NULL, an empty text is ``''``.
    """
    if path.suffix == ".parquet":
        from pyarrow import parquet  # noqa: PLC0415, TID251 - no file of a table

        parquet.write_table(rows, path)
        return
    from pyarrow import csv  # noqa: PLC0415 - for those who export

    texts = [
        pa.array([cell.text if cell.is_value else None for cell in cells(column)], pa.string())
        for column in rows.columns
    ]
    csv.write_csv(pa.table(texts, names=rows.column_names), path)
