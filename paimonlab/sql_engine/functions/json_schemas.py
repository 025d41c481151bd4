"""``from_json``: JSON texts as values of a type that the statement has; ``schema_of_json``.

Values of another type than the schema's, names that are there twice, and texts that are no JSON are
left to Spark: what it makes of them depends on how it reads them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from paimonlab.spec.types.data_types import ArrayType, DataField, DataType, MapType, RowType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions import clocks
from paimonlab.sql_engine.functions.json_texts import IS_STRICT, bare, strict
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    expect,
    is_text,
    named,
)
from paimonlab.sql_engine.value import Value, quoted

_TYPES = {
    "BOOLEAN": kinds.BOOLEAN,
    "TINYINT": kinds.TINYINT,
    "SMALLINT": kinds.SMALLINT,
    "INT": kinds.INT,
    "BIGINT": kinds.BIGINT,
    "DOUBLE": kinds.DOUBLE,
    "TEXT": kinds.STRING,
    "DATE": kinds.DATE,
    "TIMESTAMP": kinds.TIMESTAMP,
    "TIMESTAMPTZ": kinds.TIMESTAMP,
    "TIMESTAMPLTZ": kinds.TIMESTAMP,
}
_NESTED = re.compile(r"\s*(array|map|struct)\s*<", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9_ .:@/-]+")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYS = "^[A-Za-z0-9_ .:@/-]+$"
_DAY = "^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$"
_TIME = "^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?$"
_INTEGERS, _NUMBERS = "('BIGINT', 'UBIGINT')", "('DOUBLE', 'BIGINT', 'UBIGINT')"
_LONG = "[0-9.]{17}|[0-9][eE]"
"""Numbers that are not those of their DOUBLE, when they become decimals."""
_FAILS = fails(f"{NOT_PROVEN}: from_json() of such a JSON")
_MOST_DEPTH = 5


def schema(text: str) -> DataType:
    """Return the type that a schema in Spark's DDL names: ``a INT, b ARRAY<STRING>``."""
    whole = text if _NESTED.match(text) else f"STRUCT<{text}>"
    try:
        node = exp.DataType.build(whole, dialect="spark")
    except (SqlglotError, ValueError):
        raise WrongUseError from None
    return _type(node, 0)


def _type(node: Any, depth: int) -> DataType:
    if not isinstance(node, exp.DataType) or depth > _MOST_DEPTH:
        raise WrongUseError
    name, parts = str(getattr(node.this, "value", node.this)).upper(), node.expressions
    if name == "ARRAY" and len(parts) == 1:
        return ArrayType(_type(parts[0], depth + 1))
    if name == "MAP" and len(parts) == 2 and _type(parts[0], depth + 1) == kinds.STRING:
        return MapType(kinds.STRING, _type(parts[1], depth + 1))
    if name == "STRUCT" and parts:
        return RowType(tuple(_field(number, one, depth) for number, one in enumerate(parts)))
    if name == "DECIMAL":
        sizes = [int(one.this.name) for one in parts if isinstance(one, exp.DataTypeParam)]
        precision, scale = [*sizes, *(10, 0)[len(sizes) :]][:2]
        if not 0 <= scale <= precision <= kinds.MOST_DIGITS:
            raise WrongUseError
        return kinds.decimal(precision, scale)
    if name not in _TYPES or parts:
        raise WrongUseError
    return _TYPES[name]


def _field(number: int, node: Any, depth: int) -> DataField:
    if not isinstance(node, exp.ColumnDef) or node.args.get("constraints"):
        raise WrongUseError
    if not _NAME.fullmatch(node.name):
        raise WrongUseError
    return DataField(number, node.name, _type(node.args["kind"], depth + 1))


def _read(kind: DataType, part: str, depth: int) -> str:
    """Write what reads a part of JSON; NULL where it is missing or null."""
    known = f"CASE WHEN {part} IS NULL OR json_type({part}) = 'NULL' THEN NULL"
    return f"({known} {_cases(kind, part, depth)} ELSE {_FAILS} END)"


def _cases(kind: DataType, part: str, depth: int) -> str:
    match kind:
        case RowType():
            return f"WHEN {_is_object(part)} THEN {_struct(kind, part, depth)}"
        case ArrayType():
            one = f"e{depth}"
            inner = _read(kind.element, one, depth + 1)
            listed = f"list_transform(json_extract({part}, '$[*]'), lambda {one}: {inner})"
            return f"WHEN json_type({part}) = 'ARRAY' THEN {listed}"
        case MapType():
            one = f"k{depth}"
            found = f"json_extract({part}, '$.\"' || {one} || '\"')"
            inner = _bound(found, f"m{depth}", lambda name: _read(kind.value, name, depth + 1))
            keys = f"json_keys({part})"
            plain = f"list_transform({keys}, lambda {one}: regexp_matches({one}, '{_KEYS}'))"
            is_plain = f"{_is_object(part)} AND NOT list_contains({plain}, false)"
            held = f"list_transform({keys}, lambda {one}: {inner})"
            return f"WHEN {is_plain} THEN map({keys}, {held})"
    return _scalar(kind, part)


def _is_object(part: str) -> str:
    keys = f"json_keys({part})"
    return f"json_type({part}) = 'OBJECT' AND len({keys}) = len(list_distinct({keys}))"


def _struct(kind: RowType, part: str, depth: int) -> str:
    """Write a struct of the fields of an object."""
    names = [field.name for field in kind.fields]
    if len({name.lower() for name in names}) < len(names):
        raise WrongUseError
    parts = []
    for field in kind.fields:
        found = f"json_extract({part}, {quoted(_path(field.name))})"
        made = _bound(found, f"f{depth}", lambda name, of=field.type: _read(of, name, depth + 1))
        parts.append(f"{quoted(field.name)}: {made}")
    return f"{{{', '.join(parts)}}}"


def _path(name: str) -> str:
    return f'$."{name}"'


def _bound(found: str, name: str, made: Any) -> str:
    """Give an expression a name, since it is written several times."""
    return f"list_extract(list_transform([{found}], lambda {name}: {made(name)}), 1)"


def _scalar(kind: DataType, part: str) -> str:
    """Write the case of a value that is not nested."""
    held, text = f"json_type({part})", f"json_extract_string({part}, '$')"
    if kind == kinds.STRING:
        # Other values are the part of the text that has them, which is written otherwise here.
        return f"WHEN {held} IN ('VARCHAR', 'BOOLEAN', 'BIGINT', 'UBIGINT') THEN {text}"
    if kind == kinds.BOOLEAN:
        return f"WHEN {held} = 'BOOLEAN' THEN CAST({text} AS BOOLEAN)"
    if kinds.is_numeric(kind):
        read = f"TRY_CAST({text} AS {kinds.duck_type(kind)})"
        held += f" IN {_INTEGERS if kinds.is_whole(kind) else _NUMBERS}"
        if kind == kinds.DOUBLE:
            return f"WHEN {held} AND isfinite({read}) THEN {read}"
        return f"WHEN {held} AND {read} IS NOT NULL THEN {read}"
    fits, name = (_DAY, "DATE") if kind == kinds.DATE else (_TIME, "TIMESTAMP")
    read = f"TRY_CAST({text} AS {name})"
    made = read if kind == kinds.DATE else clocks.instant(read)
    is_read = f"{held} = 'VARCHAR' AND regexp_matches({text}, '{fits}') AND {read} IS NOT NULL"
    return f"WHEN {is_read} THEN {made}"


def _from_json(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text)
    given = values[1].literal if values[1].is_literal else None
    if not isinstance(given, str):
        raise WrongUseError
    kind, sql = schema(given), values[0].text
    opens = "[" if isinstance(kind, ArrayType) else "{"
    begins = f"regexp_matches({sql}, '^[ \\n\\r\\t]*[{opens}]') AND {IS_STRICT.format(sql)}"
    if _has_decimals(kind):
        begins += f" AND NOT regexp_matches({bare(sql)}, '{_LONG}')"
    whole = _bound(strict(sql), "whole", lambda name: _read(kind, name, 0))
    text = f"(CASE WHEN {sql} IS NULL THEN NULL WHEN {begins} THEN {whole} ELSE {_FAILS} END)"
    return Value(text, kind, f"from_json({values[0].name})")


def _has_decimals(kind: DataType) -> bool:
    match kind:
        case ArrayType():
            return _has_decimals(kind.element)
        case MapType():
            return _has_decimals(kind.value)
        case RowType():
            return any(_has_decimals(field.type) for field in kind.fields)
    return kinds.is_decimal(kind)


def _schema_of(values: Sequence[Value]) -> Value:
    """``schema_of_json`` of a text that the statement has."""
    expect(values, is_text)
    given = values[0].literal if values[0].is_literal else None
    if not isinstance(given, str) or not given:
        raise WrongUseError
    try:
        found = json.loads(given, parse_constant=_no_number, object_pairs_hook=_pairs)
    except ValueError:
        raise WrongUseError from None
    return Value(quoted(_shown(found)), kinds.STRING, named("schema_of_json", values))


def _no_number(_text: str) -> float:
    raise WrongUseError


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name.lower() for name, _ in pairs}) < len(pairs):
        raise WrongUseError
    return dict(pairs)


def _shown(value: object) -> str:
    """Name the type that Spark infers of a value."""
    match value:
        case bool():
            return "BOOLEAN"
        case int() if abs(value) < 2**63:
            return "BIGINT"
        case float():
            return "DOUBLE"
        case str() | None:
            return "STRING"
        case list() if value:
            found = {_shown(one) for one in value if one is not None}
            if len(found) != 1:
                raise WrongUseError
            return f"ARRAY<{found.pop()}>"
        case dict() if value and all(map(_PLAIN_NAME.fullmatch, value)):
            fields = (f"{name}: {_shown(value[name])}" for name in sorted(value))
            return f"STRUCT<{', '.join(fields)}>"
    raise WrongUseError


JSON_SCHEMAS: dict[str, Translate] = {"from_json": _from_json, "schema_of_json": _schema_of}
"""By name in small letters."""
