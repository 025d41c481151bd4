"""Columns of tables of MySQL and MariaDB, as their schema names them and as their log tells them.

Both become the same type names (``bigint unsigned``, ``varchar(20)``), and those the types of
Paimon, so that a row read from a table and the same row from the log have one schema. What the log
does not tell (that a TINYINT is a BOOLEAN, that BINARY(16) is a UUID) is declared beside it.

Source: apache/paimon@1.3.1 ``MySqlTypeUtils`` for types, by `paimonlab.ingest.formats`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from paimonlab.errors import UnsupportedError
from paimonlab.ingest.changes import SourceColumn, SourceSchema
from paimonlab.ingest.formats.mysql_columns import MySqlType, mysql_column, mysql_type
from paimonlab.ingest.sources.mysql.charsets import is_readable
from paimonlab.spec.types.data_types import (
    AtomicType,
    DataType,
    TypeRoot,
    is_text,
    with_nullable,
)

TIMESTAMP_AS_LTZ = "timestamp-as-ltz"
"""An option of ours: TIMESTAMP stays an instant."""

MAPPINGS = (
    "tinyint1-not-bool",
    "to-string",
    "char-to-string",
    "longtext-to-bytes",
    "bigint-unsigned-to-bigint",
    TIMESTAMP_AS_LTZ,
)

_WHOLE = ("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "INTEGER", "BIGINT")
_PLAIN = {
    "INTEGER": "int",
    "NUMERIC": "decimal",
    "GEOMCOLLECTION": "geometrycollection",
    "REAL": "double",
}
_OURS = ("UUID", "INET4", "INET6", "VECTOR")
"""Types that no action of Paimon knows."""
_LITERAL = re.compile(r"-?\d+(\.\d+)?")
_WITH_DEFAULTS = (
    *_WHOLE,
    *("DECIMAL", "NUMERIC", "FLOAT", "DOUBLE", "CHAR", "VARCHAR", "ENUM", "DATE", "DATETIME"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnInfo:
    """A column, as the server names it."""

    name: str
    type: str
    """``bigint(20) unsigned``, or as `plain_type` writes it."""
    is_nullable: bool
    comment: str | None = None
    default: str | None = None
    """A plain text; None: there is none, or it is computed."""
    charset: str | None = None
    """Of texts; None: it has none, or it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """A table, as the server names it."""

    name: str
    """``database.table``."""
    columns: tuple[ColumnInfo, ...]
    keys: tuple[str, ...]
    comment: str | None = None
    refusal: str | None = None
    """Why its rows cannot be read, whatever its columns are; None: they can."""

    @property
    def outline(self) -> tuple[object, ...]:
        """What the log tells of a table, too: equal if the columns are."""
        columns = [(column.name, column.type, column.is_nullable) for column in self.columns]
        return (tuple(columns), self.keys)

    @property
    def digest(self) -> str:
        """A short text that stands for the outline."""
        return hashlib.sha256(repr(self.outline).encode()).hexdigest()[:16]

    @property
    def declared(self) -> dict[str, str]:
        """Types that the log does not tell, by column."""
        return {column.name: column.type for column in self.columns if not is_told(column.type)}


def is_told(plain: str) -> bool:
    """Whether the log tells a type."""
    return plain != "tinyint(1)" and plain.upper() not in _OURS


def plain_type(text: str) -> str:  # noqa: PLR0911 - one return a case
    """Return a type as it is written here, without what is only for display.

    Examples
    --------
    >>> [plain_type(text) for text in ("bigint(20) unsigned", "int(11)", "tinyint(1)", "year(4)")]
    ['bigint unsigned', 'int', 'tinyint(1)', 'year']
    >>> plain_type("DECIMAL(10,2) unsigned"), plain_type("bool"), plain_type("enum('a','b')")
    ('decimal(10,2)', 'tinyint(1)', "enum('a','b')")
    """
    found = mysql_type(text)
    name = _PLAIN.get(found.name, found.name.lower())
    if found.name in ("BOOL", "BOOLEAN"):
        return "tinyint(1)"
    if found.name == "SERIAL":
        return "bigint unsigned"
    if found.name in _WHOLE:
        if found.is_unsigned:
            return f"{name} unsigned"
        return "tinyint(1)" if (name, found.arguments) == ("tinyint", "1") else name
    if found.name in ("YEAR", "FLOAT", "DOUBLE", "DOUBLE PRECISION", "REAL"):
        return "double" if name.startswith("double") else name
    if name in ("decimal", "dec", "fixed"):
        sizes = (*found.sizes, 0)[:2] if found.sizes else (10, 0)
        return f"decimal({sizes[0]},{sizes[1]})"
    if name in ("datetime", "timestamp", "time") and found.arguments == "0":
        return name
    if name == "bit":
        return f"bit({found.arguments or 1})"
    if name in ("char", "binary") and not found.arguments:
        return f"{name}(1)"
    return name if found.arguments is None else f"{name}({found.arguments})"


def schema_of(table: TableInfo, mapping: frozenset[str]) -> SourceSchema:
    """Return the columns of a table with types of Paimon.

    If no type holds a column, the schema says so: the table is refused.
    """
    columns, wrong = [], []
    for column in table.columns:
        try:
            columns.append(_column(column, mapping))
        except UnsupportedError:
            wrong.append(f"{column.name!r} ({column.type})")
        if column.charset is not None and not is_readable(column.charset):
            wrong.append(f"{column.name!r} (charset {column.charset})")
    refusal = table.refusal
    if wrong:
        refusal = (
            f"column {', '.join(wrong)} of {table.name} cannot be read: change it, or leave the "
            "table out with excluding="
        )
    return SourceSchema(
        columns=tuple(columns), primary_keys=table.keys, comment=table.comment, refusal=refusal
    )


def _column(column: ColumnInfo, mapping: frozenset[str]) -> SourceColumn:
    source = mysql_type(column.type)
    found = mysql_column(column.name, column.type, mapping)
    kind: DataType = found.column.type
    if source.name == "TIMESTAMP" and TIMESTAMP_AS_LTZ in mapping and not is_text(kind):
        assert isinstance(kind, AtomicType), "a TIMESTAMP is one"
        kind = AtomicType(TypeRoot.TIMESTAMP_LTZ, precision=kind.precision)
    return replace(
        found.column,
        type=with_nullable(kind, nullable=column.is_nullable),
        comment=column.comment,
        default_value=default_of(source, column.default, kind),
    )


def read_type(column: ColumnInfo, kind: DataType) -> DataType:
    """Return the type by which values are read that become another: with ``to-string`` texts."""
    if not is_text(kind):
        return kind
    natural = _column(column, frozenset(("tinyint1-not-bool",))).type
    return kind if is_text(natural) else natural


def default_of(source: MySqlType, text: str | None, kind: DataType) -> str | None:
    """Return a default as Paimon writes it; None: there is none that it can have."""
    if text is None or source.name not in _WITH_DEFAULTS:
        return None
    is_number = source.name in _WITH_DEFAULTS[:10]
    if is_number and not _LITERAL.fullmatch(text):
        return None
    if source.name.startswith("DATE") and ("-00" in text or text.startswith("0000")):
        return None
    if isinstance(kind, AtomicType) and kind.root is TypeRoot.BOOLEAN:
        return {"0": "false", "1": "true"}.get(text)
    return text


# Looking at the server's own tables

_TABLES = """\
SELECT table_schema, table_name, table_type, engine, table_comment
FROM information_schema.tables
WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
AND table_type <> 'VIEW' ORDER BY 1, 2"""
SIZES = """\
SELECT table_schema, table_name, table_rows FROM information_schema.tables
WHERE table_type = 'BASE TABLE'"""
"""About how many rows tables have."""
_COLUMNS = """\
SELECT table_schema, table_name, column_name, column_type, is_nullable, column_comment,
column_default, extra, character_set_name
FROM information_schema.columns WHERE {where} ORDER BY table_schema, table_name, ordinal_position"""
_KEYS = """\
SELECT table_schema, table_name, column_name FROM information_schema.statistics
WHERE index_name = 'PRIMARY' AND {where} ORDER BY table_schema, table_name, seq_in_index"""
CASCADES = """\
SELECT constraint_schema, table_name, constraint_name
FROM information_schema.referential_constraints
WHERE delete_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT')
OR update_rule IN ('CASCADE', 'SET NULL', 'SET DEFAULT')"""
"""Foreign keys by which the server changes rows that are not in its log."""
ENGINES = ("INNODB", "ROCKSDB", "TOKUDB", "NDBCLUSTER")
"""Engines of which rows can be read as they were at one moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableName:
    """A table that a server lists."""

    database: str
    table: str
    kind: str
    engine: str
    comment: str | None

    @property
    def full(self) -> str:
        """``database.table``."""
        return f"{self.database}.{self.table}"


def table_names(rows: Sequence[tuple[object, ...]]) -> list[TableName]:
    """Read what the server lists."""
    return [
        TableName(
            database=str(database),
            table=str(table),
            kind=str(kind),
            engine=str(engine or "").upper(),
            comment=str(comment) or None,
        )
        for database, table, kind, engine, comment in rows
    ]


def statements(where: str) -> tuple[str, str]:
    """Return the statements that ask for columns and keys."""
    return _COLUMNS.format(where=where), _KEYS.format(where=where)


TABLES = _TABLES


def table_infos(
    columns: Sequence[tuple[object, ...]],
    keys: Sequence[tuple[object, ...]],
    comments: Mapping[str, str | None],
    *,
    is_mariadb: bool,
) -> dict[str, TableInfo]:
    """Put the answers together, by ``database.table``."""
    found: dict[str, list[ColumnInfo]] = {}
    for database, table, name, kind, nullable, comment, default, extra, charset in columns:
        found.setdefault(f"{database}.{table}", []).append(
            ColumnInfo(
                name=str(name),
                type=_plain_or_given(str(kind)),
                is_nullable=nullable == "YES",
                comment=str(comment) or None,
                default=_plain_default(default, str(extra), is_mariadb=is_mariadb),
                charset=None if charset is None else str(charset),
            )
        )
    by_table: dict[str, list[str]] = {}
    for database, table, name in keys:
        by_table.setdefault(f"{database}.{table}", []).append(str(name))
    return {
        table: TableInfo(
            name=table,
            columns=tuple(infos),
            keys=tuple(by_table.get(table, ())),
            comment=comments.get(table),
        )
        for table, infos in found.items()
    }


def _plain_or_given(text: str) -> str:
    try:
        return plain_type(text)
    except UnsupportedError:
        return text  # refused where the column is needed


def _plain_default(default: object, extra: str, *, is_mariadb: bool) -> str | None:
    if default is None:
        return None
    text = str(default)
    if not is_mariadb:
        return None if "DEFAULT_GENERATED" in extra or text.startswith("CURRENT_") else text
    if text.startswith("'") and text.endswith("'") and len(text) > 1:
        return text[1:-1].replace("''", "'")
    return text if _LITERAL.fullmatch(text) else None
