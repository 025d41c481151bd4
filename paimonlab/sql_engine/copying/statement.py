"""``COPY INTO``: which way it goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from paimonlab.errors import ReadOnlyError, UnsupportedError
from paimonlab.progress import Progress
from paimonlab.spec.sql_text.copy_syntax import (
    CopyIntoFolder,
    CopyIntoTable,
    parse_copy_statement,
)
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.sql_engine import engine
from paimonlab.sql_engine.copying.loading import LocalFiles
from paimonlab.sql_engine.copying.places import local_place
from paimonlab.sql_engine.copying.unloading import unload
from paimonlab.sql_engine.engine import EngineOptions
from paimonlab.sql_engine.first_words import COPYING
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.words import STATEMENTS
from paimonlab.storage.schemes import store_kind
from paimonlab.table.copying import loading, targets
from paimonlab.table.copying.formats import reader_options, writer_options
from paimonlab.table.table import Table

_LOADED = pa.schema(
    [
        pa.field(name, kind, nullable=name == loading.ANSWER[-1])
        for name, kind in zip(
            loading.ANSWER,
            (pa.string(), pa.string(), pa.int64(), pa.int64(), pa.int64(), pa.string()),
            strict=True,
        )
    ]
)
_WRITTEN = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in zip(targets.ANSWER, (pa.string(), pa.int32(), pa.int64()), strict=True)
    ]
)


def run(
    text: str,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any] = (),
    options: EngineOptions | None = None,
    progress: Progress | None = None,
) -> pa.Table:
    """Run ``COPY INTO``; the answer has the columns that it has in Spark.

    Parameters
    ----------
    text
        The statement.
    sources
        What it may read, and where its table is.
    values
        Of the parameters of its query.
    options
        How much it may take.
    progress
        Called now and then; what it raises ends the statement, if it has not written yet.

    Raises
    ------
    NotTranslatedError
        If files or values are not proven to be what they are in Spark; nothing is written then.
    UnsupportedError
        If an option of the format is unknown, or the target is around a warehouse.
    DataError
        If a row cannot be loaded and the statement ends then.
    """
    tokens = tokenize(text)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    said = parse_copy_statement(tokens, text)
    if isinstance(said, CopyIntoFolder):
        return _unloaded(said, sources, values, options, progress)
    if said is None:
        is_to = any(token.text.upper() == "TO" for token in tokens)
        raise NotTranslatedError(COPYING, COPYING, STATEMENTS["COPY TO" if is_to else COPYING])
    return _loaded(said, sources, options, progress)


def _loaded(
    said: CopyIntoTable,
    sources: Sources,
    options: EngineOptions | None,
    progress: Progress | None,
) -> pa.Table:
    text = f"COPY INTO {'.'.join(said.table)} FROM '{said.source}'"
    reader_options(said.format, said.options)  # an unknown one is refused first, as by Spark
    name = sources.name_of(said.table)
    if sources.catalog.is_read_only:
        raise ReadOnlyError(text)
    table = sources.catalog.relation(name)
    if not isinstance(table, Table):
        raise UnsupportedError(text, "a system table is read-only")
    files = LocalFiles(table, said, options or EngineOptions(), progress)
    rows = loading.load(said, table, files)
    columns = zip(*rows, strict=True) if rows else ([] for _ in _LOADED)
    arrays = [
        pa.array(list(column), field.type) for column, field in zip(columns, _LOADED, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=_LOADED)


def _unloaded(
    said: CopyIntoFolder,
    sources: Sources,
    values: Mapping[str, Any] | Sequence[Any],
    options: EngineOptions | None,
    progress: Progress | None,
) -> pa.Table:
    writer = writer_options(said.format, said.options)
    folder = local_place(said.target)
    text, warehouse = f"COPY INTO '{said.target}'", sources.catalog.path
    targets.check_target(str(folder), warehouse, text)
    if store_kind(warehouse) is None:  # also where links lead
        targets.check_target(str(folder.resolve()), str(Path(warehouse).resolve()), text)
    if said.table is None:
        query = f"SELECT * FROM ({said.query}\n)"
    else:
        parts = ".".join("`" + part.replace("`", "``") + "`" for part in said.table)
        query = f"SELECT * FROM {parts}"
    planned = engine.plan(query, sources, values)
    count = unload(said, writer, folder, planned, options or EngineOptions(), progress)
    row = (said.target, 1, count)
    arrays = [pa.array([one], field.type) for one, field in zip(row, _WRITTEN, strict=True)]
    return pa.Table.from_arrays(arrays, schema=_WRITTEN)
