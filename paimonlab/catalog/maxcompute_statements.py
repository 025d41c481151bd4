"""MaxCompute's statements for tables of Paimon in OSS: it is told of tables, not of a catalog.

Source, read on 2026-11-28: help.aliyun.com, "Paimon external table" and "Access DLF from
MaxCompute" (types).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from paimonlab.catalog.engine_requests import EngineRequest, EngineTable, checked_name, oss_host
from paimonlab.errors import UnsupportedError
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.text import format_type
from paimonlab.storage.schemes import OSS, named_options, store_kind

_ROLE = "odps.properties.rolearn"
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,127}")
_OF_MAXCOMPUTE = {
    TypeRoot.BOOLEAN: "BOOLEAN",
    TypeRoot.TINYINT: "TINYINT",
    TypeRoot.SMALLINT: "SMALLINT",
    TypeRoot.INT: "INT",
    TypeRoot.BIGINT: "BIGINT",
    TypeRoot.FLOAT: "FLOAT",
    TypeRoot.DOUBLE: "DOUBLE",
    TypeRoot.BINARY: "BINARY",
    TypeRoot.VARBINARY: "BINARY",
    TypeRoot.DATE: "DATE",
    TypeRoot.TIMESTAMP_LTZ: "TIMESTAMP",
}
_LONGEST = {TypeRoot.CHAR: 255, TypeRoot.VARCHAR: 65_535}
_MOST_FRACTION_DIGITS = 18
_OF_PARTITIONS = ("TINYINT", "SMALLINT", "INT", "BIGINT", "STRING", "VARCHAR")
_NO_ZONE = (
    "its TIMESTAMP is a point in time, and external tables have no TIMESTAMP_NTZ; "
    "TIMESTAMP_LTZ would do"
)


def maxcompute(asked: EngineRequest) -> list[str]:
    """Return the statements that tell MaxCompute of tables.

    Raises
    ------
    UnsupportedError
        If it cannot read a table.
    ValueError
        If tables or the role that reads OSS are missing.
    """
    if asked.metastore == "rest":
        raise UnsupportedError(
            "metastore = 'rest' for maxcompute",
            "it reads DLF by an external project, which its console makes",
        )
    if not asked.tables:
        raise ValueError("maxcompute takes one statement per table: name them, tables=['db.t']")
    if not asked.properties.get(_ROLE):
        raise ValueError(
            f"the role is missing that reads OSS: properties={{'{_ROLE}': "
            "'acs:ram::<uid>:role/aliyunodpsdefaultrole'}"
        )
    names = [table.name.rpartition(".")[2] for table in asked.tables]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"several tables are called {name}: tell of one, then of the others")
    return [text for table in asked.tables for text in _external_table(asked, table)]


def _external_table(asked: EngineRequest, table: EngineTable) -> Iterator[str]:
    schema, table_name = table.schema, _quoted(table.name.rpartition(".")[2], table.name)
    if asked.name is not None:
        table_name = f"{checked_name(asked.name)}.{table_name}"
    columns = {
        field.name: _type_of_maxcompute(field.type, f"{table.name}: column {field.name!r}")
        for field in schema.fields
    }
    for key in schema.partition_keys:
        if columns[key].partition("(")[0] not in _OF_PARTITIONS:
            raise UnsupportedError(
                f"{table.name}: partition column {key!r} of type {columns[key]} for maxcompute",
                f"it partitions by {', '.join(_OF_PARTITIONS)}",
            )

    def listed(names: Iterator[str]) -> str:
        return ", ".join(f"{_quoted(name, table.name)} {columns[name]}" for name in names)

    lines = [
        f"CREATE EXTERNAL TABLE {table_name} (",
        "  " + listed(name for name in columns if name not in schema.partition_keys),
        ")",
    ]
    if schema.comment:
        lines.append(f"COMMENT {_in_quotes_escaped(schema.comment)}")
    if schema.partition_keys:
        lines.append(f"PARTITIONED BY ({listed(iter(schema.partition_keys))})")
    shown = asked.shown({})
    inside = ", ".join(
        f"{_in_quotes_escaped(key)} = {_in_quotes_escaped(shown[key])}" for key in shown
    )
    lines += [
        "STORED BY 'org.apache.paimon.hive.PaimonStorageHandler'",
        f"WITH SERDEPROPERTIES ({inside})",
        f"LOCATION {_in_quotes_escaped(_location(asked, table))}",
    ]
    yield "\n".join(lines)
    if schema.partition_keys:
        yield f"MSCK REPAIR TABLE {table_name} ADD PARTITIONS"


def _type_of_maxcompute(data_type: DataType, where: str) -> str:
    match data_type:
        case ArrayType(element):
            return f"ARRAY<{_type_of_maxcompute(element, where)}>"
        case MapType(key, value):
            inside = (_type_of_maxcompute(one, where) for one in (key, value))
            return f"MAP<{', '.join(inside)}>"
        case RowType(fields):
            named = (
                f"{_checked_column(field.name, where)}: {_type_of_maxcompute(field.type, where)}"
                for field in fields
            )
            return f"STRUCT<{', '.join(named)}>"
    found, reason = "", ""
    if isinstance(data_type, AtomicType):
        found, reason = _atom_of_maxcompute(data_type)
    if not found:
        raise UnsupportedError(f"{where} of type {format_type(data_type)} for maxcompute", reason)
    return found


def _atom_of_maxcompute(atom: AtomicType) -> tuple[str, str]:
    """Return what a type is there; or nothing, and why."""
    length, scale = atom.length or 0, atom.scale or 0
    match atom.root:
        case TypeRoot.DECIMAL if scale > _MOST_FRACTION_DIGITS:
            return "", f"its DECIMAL has at most {_MOST_FRACTION_DIGITS} fraction digits"
        case TypeRoot.DECIMAL:
            return f"DECIMAL({atom.precision}, {scale})", ""
        case TypeRoot.VARCHAR if length == MAX_LENGTH:
            return "STRING", ""
        case TypeRoot.CHAR | TypeRoot.VARCHAR as root if length > _LONGEST[root]:
            return "", f"its {root.value} has at most {_LONGEST[root]} characters; STRING would do"
        case TypeRoot.CHAR | TypeRoot.VARCHAR as root:
            return f"{root.value}({length})", ""
        case root:
            return _OF_MAXCOMPUTE.get(root, ""), _NO_ZONE if root is TypeRoot.TIMESTAMP else ""


def _location(asked: EngineRequest, table: EngineTable) -> str:
    if store_kind(table.path) is not OSS:
        raise UnsupportedError(
            f"{table.name} at {table.path} for maxcompute", "its external tables are in OSS"
        )
    values, _ = named_options(OSS, asked.options)
    host = oss_host(values, is_internal=True)
    return f"oss://{host}/{table.path.partition('://')[2].rstrip('/')}/"


def _checked_column(name: str, where: str) -> str:
    """Return a name of MaxCompute, which has no upper case and no marks in names."""
    if not _NAME.fullmatch(name):
        raise UnsupportedError(
            f"{where}: the name {name!r} for maxcompute",
            "its names are lower-case letters, digits and underscores",
        )
    return name


def _quoted(name: str, where: str) -> str:
    return f"`{_checked_column(name, where)}`"


def _in_quotes_escaped(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n") + "'"
