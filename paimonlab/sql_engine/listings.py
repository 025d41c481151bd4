"""SHOW DATABASES, SHOW TABLES, SHOW COLUMNS and DESCRIBE, with Spark's columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from paimonlab import catalog
from paimonlab.catalog.format_tables import format_tables_of
from paimonlab.spec.sql_text.call_text import quoted as quoted_name
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import Kind, duck_type, kind_of, simple_type
from paimonlab.sql_engine.protocols import Translated
from paimonlab.sql_engine.refusal import DatabaseNotNamedError, NotTranslatedError
from paimonlab.sql_engine.tables import Sources, is_file
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import quoted
from paimonlab.table import format_tables
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.table.format_tables.format_table import FormatTable

_NAME = r"\w+(?:\.\w+)*"
_DATABASES = re.compile(
    r"(?:DATABASES|SCHEMAS|NAMESPACES)(?:\s+(?:IN|FROM)\s+(\w+))?", re.IGNORECASE
)
_TABLES = re.compile(rf"TABLES\s+(?:IN|FROM)\s+({_NAME})", re.IGNORECASE)
_COLUMNS = re.compile(rf"COLUMNS\s+(?:IN|FROM)\s+({_NAME})", re.IGNORECASE)


_DESCRIBED = [(name, kinds.STRING) for name in ("col_name", "data_type", "comment")]
_INSTEAD = {
    "PARTITIONS": "Write SELECT partition, record_count FROM {table}$partitions",
    "TBLPROPERTIES": "Write SELECT * FROM {table}$options",
}
"""By what is shown of a table: what lists it."""
_MOST_FIELDS = 25
_SHOWN = "Write SHOW DATABASES, SHOW TABLES IN db, or SHOW COLUMNS IN db.table"


def listing(tree: exp.Expression, sources: Sources) -> Translated | None:
    """Answer a statement that lists; None if it is another one.

    Raises
    ------
    NotTranslatedError
        If it lists what is not proven to be listed as Spark does.
    """
    if isinstance(tree, exp.Describe):
        return None if isinstance(tree.this, exp.Query) else _described_table(tree, sources)
    if isinstance(tree, exp.LoadData):
        instead = "Write INSERT INTO db.t SELECT * FROM 'file.csv'"
        raise NotTranslatedError("LOAD DATA", "LOAD", instead)
    if not isinstance(tree, exp.Command):
        return None
    verb = str(tree.this).upper()
    if verb != "SHOW":
        raise NotTranslatedError(verb, verb)
    text = tree.expression.name.strip().rstrip(";").strip()
    if found := _DATABASES.fullmatch(text):
        if found[1] not in (None, sources.catalog_name):
            raise NotTranslatedError(f"the catalog {found[1]}", found[1])
        names = [(name,) for name in sources.catalog.databases()]
        return _rows([("namespace", kinds.STRING)], names)
    if found := _TABLES.fullmatch(text):
        return _tables(found[1].split("."), sources)
    if found := _COLUMNS.fullmatch(text):
        table = _table(tuple(found[1].split(".")), sources)
        names = [(field.name,) for field in table.schema.fields]
        return _rows([("col_name", kinds.STRING)], names)
    if text.upper() == "TABLES":
        raise DatabaseNotNamedError("SHOW TABLES", "TABLES", _with_database(sources))
    word, _, rest = text.partition(" ")
    instead = _INSTEAD.get(word.upper(), _SHOWN).format(table=rest.split(" ")[0] or "db.t")
    raise NotTranslatedError(f"SHOW {text}", word, instead)


def _with_database(sources: Sources) -> str:
    """Say which databases there are: only Spark has a current one."""
    databases = [quoted_name(name) for name in sources.catalog.databases()]
    if not databases:
        return "There is no database yet: CREATE DATABASE db makes one"
    others = f"; there are also {', '.join(databases[1:6])}" if databases[1:] else ""
    return f"Write SHOW TABLES IN {databases[0]}{others}"


def _tables(path: list[str], sources: Sources) -> Translated:
    if len(path) > 2 or (len(path) == 2 and path[0] != sources.catalog_name):
        raise NotTranslatedError(f"the catalog {path[0]}", path[0])
    columns: list[tuple[str, Kind]] = [("namespace", kinds.STRING), ("tableName", kinds.STRING)]
    names = sorted(
        [*sources.catalog.tables(path[-1]), *format_tables_of(sources.catalog, path[-1])]
    )
    if isinstance(sources.catalog, catalog.views.ViewCatalog) and sources.catalog.views(path[-1]):
        raise NotTranslatedError("SHOW TABLES of a database with views", "TABLES")
    rows = [(path[-1], name, False) for name in names]
    return _rows([*columns, ("isTemporary", kinds.BOOLEAN)], rows)


def described(tree: exp.Describe, query: Translated, sources: Sources) -> Translated:
    """Describe the columns of a query.

    Raises
    ------
    NotTranslatedError
        If a type is not proven to be written as Spark does, or Spark would carry over the
        comment of a column.
    """
    check_parts(tree, "this", "kind")
    if tree.args.get("kind") not in (None, "QUERY"):
        raise NotTranslatedError(f"DESCRIBE {tree.args['kind']}", "DESCRIBE")
    if sources.has_comments:
        raise NotTranslatedError("DESCRIBE of a query of columns with comments", "DESCRIBE")
    rows = [(name, _type_text(name, kind), None) for name, kind in query.columns]
    return _rows(_DESCRIBED, rows)


def _described_table(tree: exp.Describe, sources: Sources) -> Translated:
    if style := tree.args.get("style"):
        raise NotTranslatedError(
            f"DESCRIBE {style}", str(style), f"Write DESCRIBE {tree.this.sql('spark')}"
        )
    check_parts(tree, "this", "kind")
    if str(tree.args.get("kind") or "TABLE").upper() != "TABLE":
        raise NotTranslatedError(f"DESCRIBE {tree.args['kind']}", "DESCRIBE")
    if not isinstance(tree.this, exp.Table):
        raise NotTranslatedError("DESCRIBE of such a query", "DESCRIBE")
    check_parts(tree.this, "this", "db", "catalog")
    path = tuple(part.name for part in tree.this.parts)
    if len(path) == 1 and (is_file(path[0]) or sources.frames(path[0]) is not None):
        name = f"'{path[0]}'" if is_file(path[0]) else path[0]
        raise NotTranslatedError(
            f"DESCRIBE {name}", path[0], f"Write DESCRIBE SELECT * FROM {name}"
        )
    table = _table(path, sources)
    rows: dict[str, tuple[str, str, str | None]] = {}
    for field in table.schema.fields:
        text = _stored_type(f"{table.name}.{field.name}", field.type)
        rows[field.name] = (field.name, text, field.description)
    listed = list(rows.values())
    if table.schema.partition_keys:
        listed += [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
        listed += [rows[name] for name in table.schema.partition_keys]
    return _rows(_DESCRIBED, listed)


def _type_text(name: str, kind: Kind) -> str:
    if _is_long(kind):
        raise NotTranslatedError(f"DESCRIBE of {name}", "DESCRIBE")
    return simple_type(kind)


def _is_long(data_type: Kind | DataType) -> bool:
    """Tell whether Spark shows a part of it: 25 fields (spark.sql.debug.maxToStringFields)."""
    match data_type:
        case ArrayType():
            return _is_long(data_type.element)
        case MapType():
            return _is_long(data_type.key) or _is_long(data_type.value)
        case RowType():
            fields = data_type.fields
            return len(fields) > _MOST_FIELDS or any(_is_long(field.type) for field in fields)
    return False


def _stored_type(name: str, data_type: DataType) -> str:
    """Write the type of a column as Spark does; CHAR and VARCHAR have their lengths there."""
    if _is_long(data_type):
        raise NotTranslatedError(f"DESCRIBE of {name}", "DESCRIBE")
    match data_type:
        case ArrayType():
            return f"array<{_stored_type(name, data_type.element)}>"
        case MapType():
            key, value = (_stored_type(name, part) for part in (data_type.key, data_type.value))
            return f"map<{key},{value}>"
        case RowType():
            parts = (f"{part.name}:{_stored_type(name, part.type)}" for part in data_type.fields)
            return f"struct<{','.join(parts)}>"
        case AtomicType(root=TypeRoot.CHAR | TypeRoot.VARCHAR) if data_type.length != MAX_LENGTH:
            return f"{data_type.root.name.lower()}({data_type.length})"
    kind = kind_of(data_type)
    if kind is None:
        raise NotTranslatedError(f"DESCRIBE of {name}", "DESCRIBE")
    return simple_type(kind)


def _table(path: tuple[str, ...], sources: Sources) -> Table | FormatTable:
    table = sources.catalog.opened(sources.name_of(path))
    if not isinstance(table, Table) and not isinstance(
        table, format_tables.format_table.FormatTable
    ):
        raise NotTranslatedError("DESCRIBE of a system table", path[-1])
    return table


def _rows(
    columns: Sequence[tuple[str, Kind]], rows: Sequence[tuple[str | bool | None, ...]]
) -> Translated:
    """Write rows as a query."""
    head = ", ".join(f"c{number}" for number in range(len(columns)))
    outputs = ", ".join(
        f"CAST(c{number} AS {duck_type(kind)})" for number, (_, kind) in enumerate(columns)
    )
    listed = [f"({', '.join(map(_value, row))})" for row in rows] or [f"({_nulls(len(columns))})"]
    only = "" if rows else " WHERE false"
    text = f"SELECT {outputs} FROM (VALUES {', '.join(listed)}) AS q({head}){only}"
    return Translated(text, tuple(columns))


def _nulls(count: int) -> str:
    return ", ".join(["NULL"] * count)


def _value(value: object) -> str:
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else quoted(str(value))
