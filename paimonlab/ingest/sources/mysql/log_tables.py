"""Tables as the log tells them, with what was declared beside it, and how their rows are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import SourceSchema
from paimonlab.ingest.formats.geometry import MYSQL_SHAPES
from paimonlab.ingest.sources.mysql.charsets import BINARY, LONGEST, decoded_one
from paimonlab.ingest.sources.mysql.columns import (
    ColumnInfo,
    TableInfo,
    is_told,
    read_type,
    schema_of,
)
from paimonlab.ingest.sources.mysql.events import LogColumn, LogTable, LogType
from paimonlab.ingest.sources.mysql.log_values import Decode, Setting, decoder
from paimonlab.ingest.sources.mysql.row_images import Layout, layout_of
from paimonlab.ingest.sources.mysql.values_as_text import as_texts

_NAMES = {
    LogType.TINY: "tinyint",
    LogType.SHORT: "smallint",
    LogType.INT24: "mediumint",
    LogType.LONG: "int",
    LogType.LONGLONG: "bigint",
    LogType.FLOAT: "float",
    LogType.DOUBLE: "double",
    LogType.DATE: "date",
    LogType.NEWDATE: "date",
    LogType.YEAR: "year",
    LogType.JSON: "json",
    LogType.TIMESTAMP: "timestamp",
    LogType.DATETIME: "datetime",
    LogType.TIME: "time",
    LogType.OLD_TIMESTAMP: "timestamp",
    LogType.OLD_DATETIME: "datetime",
    LogType.OLD_TIME: "time",
}
_UNSIGNED = (LogType.TINY, LogType.SHORT, LogType.INT24, LogType.LONG, LogType.LONGLONG)
_SIZES = {1: "tiny", 2: "", 3: "medium", 4: "long"}
_STORED = {
    "tinyint(1)": ("tinyint",),
    "uuid": ("binary(16)",),
    "inet6": ("binary(16)",),
    "inet4": ("binary(4)",),
}
"""As what the log has a type that it does not tell."""


def type_text(column: LogColumn, charset: str) -> str:  # noqa: PLR0911, C901 - one a type
    """Return a type as `plain_type` writes it.

    Parameters
    ----------
    column
        Of the log.
    charset
        Of its texts.
    """
    kind, meta = column.type, column.meta
    if kind in _UNSIGNED:
        return f"{_NAMES[kind]} unsigned" if column.is_unsigned else _NAMES[kind]
    if kind in (LogType.TIMESTAMP, LogType.DATETIME, LogType.TIME):
        return f"{_NAMES[kind]}({meta})" if meta else _NAMES[kind]
    if kind in _NAMES:
        return _NAMES[kind]
    if kind is LogType.DECIMAL:
        return f"decimal({meta >> 8},{meta & 255})"
    if kind is LogType.BIT:
        return f"bit({meta})"
    if kind in (LogType.ENUM, LogType.SET):
        texts = [decoded_one(member, charset).replace("'", "''") for member in column.members]
        members = ",".join(f"'{text}'" for text in texts)
        return f"{kind.name.lower()}({members})"
    if kind is LogType.GEOMETRY:
        return MYSQL_SHAPES[column.geometry].lower()
    if kind is LogType.BLOB:
        return f"{_SIZES[meta]}{'blob' if charset == BINARY else 'text'}"
    if kind in (LogType.VARCHAR, LogType.VAR_STRING, LogType.STRING):
        name = "char" if kind is LogType.STRING else "varchar"
        if charset == BINARY:
            return f"{name.replace('char', 'binary')}({meta})"
        return f"{name}({meta // LONGEST.get(charset, 1)})"
    raise UnsupportedError(
        f"column {column.name!r}, which the log has as {kind.name},",
        "leave the table out with excluding=, or change the type of the column",
    )


def table_info(table: LogTable, declared: Mapping[str, str], charsets: Charsets) -> TableInfo:
    """Return the columns of a table, as far as the log and what was declared tell them.

    Raises
    ------
    UnsupportedError
        If a column cannot be read; names table and column.
    """
    columns = []
    for column in table.columns:
        try:
            found = type_text(column, charsets.of(column))
        except UnsupportedError as error:
            raise UnsupportedError(f"{table.name}: {error.feature}", error.reason) from None
        own = declared.get(column.name, "")
        columns.append(
            ColumnInfo(
                name=column.name,
                type=own if found in _STORED.get(own, ()) else found,
                is_nullable=column.is_nullable,
                charset=charsets.of(column),
            )
        )
    return TableInfo(name=table.name, columns=tuple(columns), keys=table.keys)


@dataclass(frozen=True, slots=True)
class Charsets:
    """Charsets of collations, by the numbers that the server gives them."""

    names: Mapping[int, str]

    def of(self, column: LogColumn) -> str:
        """Return that of a column; of one without texts: binary."""
        if column.collation is None:
            return BINARY
        found = self.names.get(column.collation)
        if found is None:
            raise UnsupportedError(f"collation number {column.collation} of {column.name!r}")
        return found


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """How rows of a table are read, until its columns change."""

    name: str
    schema: SourceSchema
    info: TableInfo
    layouts: tuple[Layout, ...]
    decoders: tuple[Decode, ...]


def table_rows(
    table: LogTable,
    info: TableInfo,
    schema: SourceSchema | None,
    charsets: Charsets,
    zone: str,
    mapping: frozenset[str],
) -> TableRows:
    """Return how rows are read.

    Parameters
    ----------
    table
        As the log tells it.
    info
        The same, with what was declared.
    schema
        Of the same columns; None: it is made.
    charsets, zone, mapping
        Of the server, and what was chosen.

    Raises
    ------
    UnsupportedError
        If a column cannot be read.
    """
    found = schema_of(info, mapping) if schema is None else schema
    decoders = []
    for column, told, target in zip(table.columns, info.columns, found.columns, strict=True):
        setting = Setting(zone=zone, charset=charsets.of(column), declared=told.type)
        try:
            kind = read_type(told, target.type)
            decode = decoder(column, kind, setting)
            decoders.append(decode if kind is target.type else as_texts(decode, kind, told.type))
        except UnsupportedError as error:
            raise UnsupportedError(f"{table.name}: {error.feature}", error.reason) from None
    layouts = tuple(map(layout_of, table.columns))
    return TableRows(table.name, found, info, layouts, tuple(decoders))


def only_told(declared: Mapping[str, str]) -> dict[str, str]:
    """Return the types among some that the log does not tell."""
    return {name: kind for name, kind in declared.items() if not is_told(kind)}
