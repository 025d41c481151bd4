"""Values of JSON texts, by a path or a name that the statement has, and ``to_json``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paimonlab.spec.types.data_types import (
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    with_nullable,
)
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions import clocks, doubles
from paimonlab.sql_engine.functions.json_texts import IS_STRICT, strict
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    expect,
    is_text,
    named,
)
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, quoted

_STEP = re.compile(r"\.([A-Za-z0-9_-]+)|\['([A-Za-z0-9_ .-]+)'\]|\[(\d{1,6})\]")
_REWRITTEN = r"\\|[0-9][.eE]|[0-9]{16}"
"""What a part of JSON may have that the two write in different ways."""


def _path(text: str) -> str:
    """Return a path in DuckDB's words."""
    if not text.startswith("$") or len(text) < 2:
        raise WrongUseError
    place, steps = 1, ["$"]
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None:
            raise WrongUseError
        place = step.end()
        name = step[1] or step[2]
        steps.append(f"[{step[3]}]" if name is None else f'."{name}"')
    return "".join(steps)


def _get(values: Sequence[Value]) -> Value:
    expect(values, is_text, is_text)
    given = values[1].literal if values[1].is_literal else None
    if not isinstance(given, str):
        raise WrongUseError
    found = _found(values[0].text, _path(given), "get_json_object", "[\\[{]")
    return Value(found, kinds.STRING, named("get_json_object", values))


def _found(sql: str, path: str, name: str, opens: str) -> str:
    """Write a value of a JSON text as a text; NULL if there is none, or it is null.

    Parameters
    ----------
    sql
        The text.
    path
        Where the value is, in DuckDB's words.
    name
        The function, for messages.
    opens
        How texts begin that may have a value.
    """
    path, json = quoted(path), strict(sql)
    part = f"json_extract({json}, {path})"
    message = fails(f"{NOT_PROVEN}: {name}() of such a JSON")
    # Spark reads until it has found the value: what is no JSON as a whole may have it.
    return (
        f"(CASE WHEN {sql} IS NULL OR NOT regexp_matches({sql}, '^[ \\n\\r\\t]*{opens}') THEN NULL "
        f"WHEN NOT {IS_STRICT.format(sql)} THEN {message} "
        f"WHEN json_type({json}, {path}) IN ('VARCHAR', 'BOOLEAN', 'BIGINT', 'UBIGINT', 'NULL') "
        f"THEN json_extract_string({json}, {path}) "
        f"WHEN {part} IS NULL THEN NULL "
        f"WHEN regexp_matches(CAST({part} AS VARCHAR), '{_REWRITTEN}') "
        f"AND NOT regexp_matches(CAST({part} AS VARCHAR), '^-?[0-9]{{1,7}}[.][0-9]{{1,7}}$') "
        f"THEN {message} ELSE CAST({part} AS VARCHAR) END)"
    )


TUPLE = "json_tuple"
"""Several values of the object in a JSON text: columns, not a value."""


def tuple_values(values: Sequence[Value]) -> list[Value]:
    """Return the columns that ``json_tuple`` gives, called ``c0``, ``c1`` ….

    Raises
    ------
    NotTranslatedError
        If it is not proven for these arguments.
    """
    names = [one.literal if one.is_literal else None for one in values[1:]]
    if not names or values[0].kind != kinds.STRING:
        raise NotTranslatedError("such a json_tuple()", TUPLE)
    sql, found = values[0].text, []
    keys = f"json_keys({strict(sql)})"
    message = fails(f"{NOT_PROVEN}: json_tuple() of a JSON with a name twice")
    for number, name in enumerate(names):
        if not isinstance(name, str) or not _PLAIN_NAME.fullmatch(name):
            raise NotTranslatedError("json_tuple() of such a name", TUPLE)
        part = _found(sql, f'$."{name}"', TUPLE, "{")
        twice = f"len({keys}) > len(list_distinct({keys}))"
        text = f"(CASE WHEN {twice} THEN {message} ELSE {part} END)"
        found.append(Value(text, kinds.STRING, f"c{number}"))
    return found


def _length(values: Sequence[Value]) -> Value:
    """``json_array_length``: NULL of what is no array."""
    text = _of_whole(values, "json_array_length", "\\[", "CAST(json_array_length({}) AS INTEGER)")
    return Value(text, kinds.INT, named("json_array_length", values))


def _keys(values: Sequence[Value]) -> Value:
    """``json_object_keys``: NULL of what is no object."""
    text = _of_whole(values, "json_object_keys", "{", "json_keys({})")
    return Value(text, ArrayType(kinds.STRING), named("json_object_keys", values))


def _of_whole(values: Sequence[Value], name: str, opens: str, answer: str) -> str:
    """Write what is asked of a JSON text as a whole; NULL if the text begins otherwise."""
    expect(values, is_text)
    sql = values[0].text
    message = fails(f"{NOT_PROVEN}: {name}() of such a JSON")
    return (
        f"(CASE WHEN {sql} IS NULL OR NOT regexp_matches({sql}, '^[ \\n\\r\\t]*{opens}') THEN NULL "
        f"WHEN NOT {IS_STRICT.format(sql)} THEN {message} "
        f"ELSE {answer.format(strict(sql))} END)"
    )


_PLAIN_NAME = re.compile(r"[A-Za-z0-9_ .-]+")


_MOST_DEPTH = 5
_MOST_PLACES = 6
"""Decimals of so many digits after the point are never written with an exponent."""


def _written(values: Sequence[Value]) -> Value:
    """Write a struct, an array or a map; fields of structs that are NULL are left out.

    Both write texts with the same escapes; numbers with fractions are written in other ways.
    """
    if len(values) != 1 or not isinstance(values[0].kind, RowType | ArrayType | MapType):
        raise WrongUseError
    sql = values[0].text
    text = f"(CASE WHEN {sql} IS NOT NULL THEN {_nested(values[0].kind, sql, 0)} END)"
    return Value(text, kinds.STRING, named("to_json", values))


def _nested(kind: RowType | ArrayType | MapType, sql: str, depth: int) -> str:
    """Write a nested value that is not NULL."""
    if depth > _MOST_DEPTH:
        raise WrongUseError
    name, quote = f"v{depth}", "to_json({})".format
    match kind:
        case RowType():
            parts = [_field(field, sql, depth) for field in kind.fields]
            return f"'{{' || concat_ws(',', {', '.join(parts)}) || '}}'"
        case ArrayType():
            made = f"list_transform({sql}, lambda {name}: {_known(kind.element, name, depth)})"
            return f"'[' || array_to_string({made}, ',') || ']'"
    if with_nullable(kind.key, nullable=True) != kinds.STRING:
        raise WrongUseError
    key, held = f"struct_extract({name}, 'key')", f"struct_extract({name}, 'value')"
    pair = f"CAST({quote(key)} AS VARCHAR) || ':' || {_known(kind.value, held, depth)}"
    made = f"list_transform(map_entries({sql}), lambda {name}: {pair})"
    return f"'{{' || array_to_string({made}, ',') || '}}'"


def _field(field: DataField, sql: str, depth: int) -> str:
    """Write name and value of a field; NULL if the value is, which ``concat_ws`` leaves out."""
    if not _PLAIN_NAME.fullmatch(field.name):
        raise WrongUseError
    part = f"struct_extract({sql}, {quoted(field.name)})"
    head = quoted(f'"{field.name}":')
    return f"CASE WHEN {part} IS NOT NULL THEN {head} || {_plain(field.type, part, depth)} END"


def _known(kind: DataType, sql: str, depth: int) -> str:
    """Write a value, or ``null``."""
    return f"(CASE WHEN {sql} IS NULL THEN 'null' ELSE {_plain(kind, sql, depth)} END)"


def _plain(kind: DataType, sql: str, depth: int) -> str:
    """Write a value that is not NULL."""
    kind = with_nullable(kind, nullable=True)
    if isinstance(kind, RowType | ArrayType | MapType):
        return _nested(kind, sql, depth + 1)
    if kinds.is_whole(kind) or kind in (kinds.STRING, kinds.BOOLEAN):
        return f"CAST(to_json({sql}) AS VARCHAR)"
    if kinds.is_decimal(kind) and kinds.shape(kind)[1] <= _MOST_PLACES:
        return f"CAST({sql} AS VARCHAR)"
    if kind == kinds.DATE:
        message = fails(f"{NOT_PROVEN}: to_json() of years beyond 1000 to 9999")
        is_plain = f"year({sql}) BETWEEN 1000 AND 9999"
        written = f"'\"' || CAST({sql} AS VARCHAR) || '\"'"
        return f"(CASE WHEN {is_plain} THEN {written} ELSE {message} END)"
    if kind in (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ):
        return _time(kind, sql)
    if kind == kinds.DOUBLE:
        text = doubles.written(sql)
        return f"(CASE WHEN isfinite({sql}) THEN {text} ELSE '\"' || {text} || '\"' END)"
    raise WrongUseError


def _time(kind: Kind, sql: str) -> str:
    """Write a time to the millisecond; an instant with the difference of the clock from UTC."""
    clock = clocks.shown(Value(sql, kind, "")).text
    message = fails(f"{NOT_PROVEN}: to_json() of years beyond 1000 to 9999")
    written = f"strftime({clock}, '%Y-%m-%dT%H:%M:%S.%g')"
    if kind == kinds.TIMESTAMP:
        minutes = f"((epoch_us({clock}) - epoch_us({sql})) // 60000000)"
        apart = (
            f"if({minutes} < 0, '-', '+') || lpad(CAST(abs({minutes}) // 60 AS VARCHAR), 2, '0') "
            f"|| ':' || lpad(CAST(abs({minutes}) % 60 AS VARCHAR), 2, '0')"
        )
        written += f" || (CASE WHEN {minutes} = 0 THEN 'Z' ELSE {apart} END)"
    return (
        f"(CASE WHEN year({clock}) BETWEEN 1000 AND 9999 THEN '\"' || {written} || '\"' "
        f"ELSE {message} END)"
    )


JSON_FIELDS: dict[str, Translate] = {
    "get_json_object": _get,
    "to_json": _written,
    "json_array_length": _length,
    "json_object_keys": _keys,
}
"""By name in small letters."""
