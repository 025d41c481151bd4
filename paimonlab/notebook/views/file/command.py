"""Show one data file: what its metadata says, and some of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.analysis.files.reading_data_file import ROWS, StoredRows, data_file_of
from paimonlab.notebook import views
from paimonlab.notebook.display.cells import cells
from paimonlab.notebook.kernel.determinism import is_deterministic
from paimonlab.notebook.views.file.drawing import draw
from paimonlab.notebook.views.opening import opened
from paimonlab.table.table import Table

_MOST_CHARACTERS = 300


def file(table: str | Table, name: str, *, snapshot: int | None = None) -> views.View:
    """Draw one data file; its metadata and its first rows are read.

    Parameters
    ----------
    table
        ``database.table`` in the connected catalog, or a table.
    name
        Name of a live file, or a part of it that no other file's name contains.
    snapshot
        In which the file is alive; None: the latest.

    Raises
    ------
    NotFoundError
        If there is no such file, or several.
    """
    opened_table = opened(table)
    stored = data_file_of(opened_table, name, snapshot=snapshot)
    value = views.data_file(
        opened_table.name,
        stored.place,
        stored.describe(),
        _written(stored.rows_from(0)),
        has_levels=bool(opened_table.primary_keys),
    )
    if is_deterministic():
        return draw(views.repeatable_file(value))

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        rows = _written(stored.rows_from(max(int(request["offset"]), 0)))
        return {"rows": msgspec.to_builtins(rows)}

    return draw(value, answer=answer)


def _written(stored: StoredRows) -> views.FileRows:
    texts = [] if stored.rows is None else [_texts(column) for column in stored.rows.itercolumns()]
    return views.FileRows(
        offset=stored.offset,
        columns=stored.names,
        cells=tuple(zip(*texts, strict=True)),
        problem=stored.problem,
    )


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    return [
        (cell.text if len(cell.text) <= _MOST_CHARACTERS else cell.text[:_MOST_CHARACTERS] + "…")
        if cell.is_value
        else None
        for cell in islice(cells(column), ROWS)
    ]
