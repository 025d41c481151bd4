"""Types of columns as Hive names them, and back.

Hive knows no nullability and no precision of timestamps. What it has no type for is a text, bytes
or a struct there.

Source: apache/paimon@1.4.2 ``org.apache.paimon.hive.HiveTypeUtils``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paimonlab.errors import UnsupportedError
from paimonlab.spec.types.data_types import (
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
)

_LONGEST = {TypeRoot.CHAR: ("char", 255), TypeRoot.VARCHAR: ("varchar", 65_535)}
"""Longer ones are strings."""
_NAMES = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "tinyint",
    TypeRoot.SMALLINT: "smallint",
    TypeRoot.INT: "int",
    TypeRoot.BIGINT: "bigint",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
    TypeRoot.BINARY: "binary",
    TypeRoot.VARBINARY: "binary",
    TypeRoot.BLOB: "binary",
    TypeRoot.DATE: "date",
    TypeRoot.TIME: "string",
    TypeRoot.TIMESTAMP: "timestamp",
    TypeRoot.TIMESTAMP_LTZ: "timestamp",
    TypeRoot.VARIANT: "struct<value:binary,metadata:binary>",
}


def hive_type(data_type: DataType) -> str:
    """Return what Hive calls a type.

    Examples
    --------
    >>> from paimonlab.spec.types.text import parse_type
    >>> hive_type(parse_type("ROW<a DECIMAL(9, 2), b ARRAY<VARCHAR(70000)>>"))
    'struct<a:decimal(9,2),b:array<string>>'
    """
    match data_type:
        case ArrayType(element):
            text = f"array<{hive_type(element)}>"
        case MapType(key, value):
            text = f"map<{hive_type(key)},{hive_type(value)}>"
        case MultisetType(element):
            text = f"map<{hive_type(element)},int>"
        case RowType(fields):
            inside = ",".join(f"{field.name}:{hive_type(field.type)}" for field in fields)
            text = f"struct<{inside}>"
        case AtomicType(TypeRoot.DECIMAL):
            text = f"decimal({data_type.precision},{data_type.scale})"
        case AtomicType(TypeRoot.CHAR | TypeRoot.VARCHAR as root):
            length = data_type.length or 0
            text = f"{_LONGEST[root][0]}({length})" if length <= _LONGEST[root][1] else "string"
        case _:
            text = _NAMES[data_type.root]
    return text


_ATOMS = {
    "boolean": AtomicType(TypeRoot.BOOLEAN),
    "tinyint": AtomicType(TypeRoot.TINYINT),
    "smallint": AtomicType(TypeRoot.SMALLINT),
    "int": AtomicType(TypeRoot.INT),
    "bigint": AtomicType(TypeRoot.BIGINT),
    "float": AtomicType(TypeRoot.FLOAT),
    "double": AtomicType(TypeRoot.DOUBLE),
    "string": AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH),
    "binary": AtomicType(TypeRoot.VARBINARY, length=MAX_LENGTH),
    "date": AtomicType(TypeRoot.DATE),
    "timestamp": AtomicType(TypeRoot.TIMESTAMP, precision=3),
    "timestamp with local time zone": AtomicType(TypeRoot.TIMESTAMP_LTZ, precision=6),
}
_WORD = re.compile(r"[a-z ]+")
_PARAMETERS = re.compile(r"\((\d+)(?:,(\d+))?\)")


def from_hive_type(text: str) -> DataType:
    """Return the type that Hive's name means.

    Raises
    ------
    UnsupportedError
        If there is no such type here.

    Examples
    --------
    >>> from paimonlab.spec.types.text import format_type
    >>> format_type(from_hive_type("map<string,struct<a:decimal(9,2),b:array<int>>>"))
    'MAP<STRING, ROW<a DECIMAL(9, 2), b ARRAY<INT>>>'
    """
    found, rest = _parsed(text, text)
    if rest:
        raise _refused(text)
    return found


def _parsed(text: str, whole: str) -> tuple[DataType, str]:
    """Return the type at the start of a text, and what follows it."""
    match = _WORD.match(text)
    if match is None:
        raise _refused(whole)
    word, rest = match[0], text[match.end() :]
    if word == "array" and rest.startswith("<"):
        element, rest = _parsed(rest[1:], whole)
        return ArrayType(element), _after(">", rest, whole)
    if word == "map" and rest.startswith("<"):
        key, rest = _parsed(rest[1:], whole)
        value, rest = _parsed(_after(",", rest, whole), whole)
        return MapType(key, value), _after(">", rest, whole)
    if word == "struct" and rest.startswith("<"):
        fields: list[DataField] = []
        rest = "," + rest[1:]
        while rest.startswith(","):
            name, colon, rest = rest[1:].partition(":")
            if not colon:
                raise _refused(whole)
            data_type, rest = _parsed(rest, whole)
            fields.append(DataField(len(fields), name, data_type))
        return RowType(tuple(fields)), _after(">", rest, whole)
    if word in {"decimal", "char", "varchar"} and (found := _PARAMETERS.match(rest)):
        return _with_parameters(word, found), rest[found.end() :]
    if word == "decimal":
        return AtomicType(TypeRoot.DECIMAL, precision=10, scale=0), rest
    if word in _ATOMS:
        return _ATOMS[word], rest
    raise _refused(whole)


def _with_parameters(word: str, found: re.Match[str]) -> DataType:
    first, second = int(found[1]), int(found[2] or 0)
    if word == "decimal":
        return AtomicType(TypeRoot.DECIMAL, precision=first, scale=second)
    return AtomicType(TypeRoot[word.upper()], length=first)


def _after(sign: str, text: str, whole: str) -> str:
    if not text.startswith(sign):
        raise _refused(whole)
    return text[len(sign) :]


def _refused(text: str) -> UnsupportedError:
    return UnsupportedError(f"the type {text} of Hive", "there is no such type here")


def fields_of(columns: Sequence[tuple[str, str, str | None]]) -> tuple[DataField, ...]:
    """Return columns that Hive has as name, type and comment."""
    return tuple(
        DataField(number, name, from_hive_type(text), comment)
        for number, (name, text, comment) in enumerate(columns)
    )
