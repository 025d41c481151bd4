"""SHOW DATABASES, SHOW TABLES, SHOW COLUMNS and DESCRIBE, with Spark's columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from paimonlab.catalog.views import ViewCatalog
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import Kind, duck_type, is_atomic, kind_of, spark_type
from paimonlab.sql_engine.protocols import Translated
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import quoted
from paimonlab.table.table import Table

_NAME = r"\w+(?:\.\w+)*"
_DATABASES = re.compile(
    r"(?:DATABASES|SCHEMAS|NAMESPACES)(?:\s+(?:IN|FROM)\s+(\w+))?", re.IGNORECASE
)
_TABLES = re.compile(rf"TABLES\s+(?:IN|FROM)\s+({_NAME})", re.IGNORECASE)
_COLUMNS = re.compile(rf"COLUMNS\s+(?:IN|FROM)\s+({_NAME})", re.IGNORECASE)


_SHOWN = "Write SHOW DATABASES, SHOW TABLES IN db, or SHOW COLUMNS IN db.table"


def listing(tree: exp.Expression, sources: Sources) -> Translated | None:
    """Answer a statement that lists; None if it is another one.

    Raises
    ------
    NotTranslatedError
        If it lists what is not proven to be listed as Spark does.
    """
    if isinstance(tree, exp.Describe):
        return _described(tree, sources)
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
    raise NotTranslatedError(f"SHOW {text}", text.partition(" ")[0], _SHOWN)


def _tables(path: list[str], sources: Sources) -> Translated:
    if len(path) > 2 or (len(path) == 2 and path[0] != sources.catalog_name):
        raise NotTranslatedError(f"the catalog {path[0]}", path[0])
    columns: list[tuple[str, Kind]] = [("namespace", kinds.STRING), ("tableName", kinds.STRING)]
    names = sources.catalog.tables(path[-1])
    if isinstance(sources.catalog, ViewCatalog) and sources.catalog.views(path[-1]):
        raise NotTranslatedError("SHOW TABLES of a database with views", "TABLES")
    rows = [(path[-1], name, False) for name in names]
    return _rows([*columns, ("isTemporary", kinds.BOOLEAN)], rows)


def _described(tree: exp.Describe, sources: Sources) -> Translated:
    check_parts(tree, "this", "kind")
    if str(tree.args.get("kind") or "TABLE").upper() != "TABLE":
        raise NotTranslatedError(f"DESCRIBE {tree.args['kind']}", "DESCRIBE")
    if not isinstance(tree.this, exp.Table):
        raise NotTranslatedError("DESCRIBE of a query", "DESCRIBE")
    check_parts(tree.this, "this", "db", "catalog")
    table = _table(tuple(part.name for part in tree.this.parts), sources)
    rows: dict[str, tuple[str, str, str | None]] = {}
    for field in table.schema.fields:
        kind = kind_of(field.type)
        if kind is None or not is_atomic(kind):
            raise NotTranslatedError(f"DESCRIBE of {table.name}.{field.name}", "DESCRIBE")
        rows[field.name] = (field.name, spark_type(kind).lower(), field.description)
    listed = list(rows.values())
    if table.schema.partition_keys:
        listed += [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
        listed += [rows[name] for name in table.schema.partition_keys]
    columns = [(name, kinds.STRING) for name in ("col_name", "data_type", "comment")]
    return _rows(columns, listed)


def _table(path: tuple[str, ...], sources: Sources) -> Table:
    table = sources.catalog.relation(sources.name_of(path))
    if not isinstance(table, Table):
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
