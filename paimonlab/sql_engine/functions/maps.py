"""Functions that make maps and arrays of structs of arrays, maps and texts."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.types.data_types import ArrayType, DataField, MapType, RowType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions.patterns import plain_text
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    expect,
    is_text,
    named,
)
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.value import Value, quoted


def _is_array(kind: Kind) -> bool:
    return isinstance(kind, ArrayType)


def _is_map(kind: Kind) -> bool:
    return isinstance(kind, MapType)


def _known(values: Sequence[Value], text: str) -> str:
    unknown = " OR ".join(f"{value.text} IS NULL" for value in values)
    return f"(CASE WHEN {unknown} THEN NULL ELSE {text} END)"


def _check_key(kind: object) -> None:
    key = kinds.kind_of(kind)  # type: ignore[arg-type]
    if key is None or not kinds.is_atomic(key) or key in (kinds.DOUBLE, kinds.FLOAT):
        raise WrongUseError


def _of_arrays(values: Sequence[Value]) -> Value:
    expect(values, _is_array, _is_array)
    keys, held = (value.kind for value in values)
    if not isinstance(keys, ArrayType) or not isinstance(held, ArrayType):
        raise WrongUseError
    _check_key(keys.element)
    text = _known(values, f"map({values[0].text}, {values[1].text})")
    return Value(text, MapType(keys.element, held.element), named("map_from_arrays", values))


def _joined(values: Sequence[Value]) -> Value:
    """``map_concat``: a key that is in two maps is an error."""
    if len(values) < 2 or any(value.kind != values[0].kind for value in values):
        raise WrongUseError
    kind = values[0].kind
    if not isinstance(kind, MapType):
        raise WrongUseError
    _check_key(kind.key)
    sides = []
    for part in ("map_keys", "map_values"):
        text = f"{part}({values[0].text})"
        for value in values[1:]:
            text = f"list_concat({text}, {part}({value.text}))"
        sides.append(text)
    return Value(_known(values, f"map({', '.join(sides)})"), kind, named("map_concat", values))


def _of_entries(values: Sequence[Value]) -> Value:
    """``map_from_entries``: NULL where an entry is."""
    expect(values, _is_array)
    row = values[0].kind.element if isinstance(values[0].kind, ArrayType) else None
    if not isinstance(row, RowType) or len(row.fields) != 2:
        raise WrongUseError
    key, held = row.fields
    _check_key(key.type)
    sides = (
        f"list_transform({values[0].text}, lambda e: struct_extract(e, {quoted(one.name)}))"
        for one in (key, held)
    )
    text = f"map({', '.join(sides)})"
    text = f"CASE WHEN list_count({values[0].text}) = len({values[0].text}) THEN {text} END"
    return Value(f"({text})", MapType(key.type, held.type), named("map_from_entries", values))


def _of_text(values: Sequence[Value]) -> Value:
    expect(values, *[is_text] * max(len(values), 1))
    if len(values) > 3:
        raise WrongUseError
    usual = [Value("','", kinds.STRING, ",", ","), Value("':'", kinds.STRING, ":", ":")]
    shown = [*values, *usual[len(values) - 1 :]]
    between, before = (plain_text(value) for value in shown[1:])
    pairs = f"string_split({values[0].text}, {quoted(between)})"
    place = f"strpos(pair, {quoted(before)})"
    keys = f"list_transform({pairs}, lambda pair: split_part(pair, {quoted(before)}, 1))"
    held = (
        f"list_transform({pairs}, lambda pair: "
        f"CASE WHEN {place} > 0 THEN substring(pair, {place} + {len(before)}) END)"
    )
    text = _known(values[:1], f"map({keys}, {held})")
    kind = MapType(kinds.STRING, kinds.STRING)
    return Value(text, kind, named("str_to_map", shown))


def _zipped(values: Sequence[Value]) -> Value:
    """``arrays_zip``: what a shorter array lacks is NULL."""
    if not values:
        raise WrongUseError
    fields, parts = [], []
    for number, value in enumerate(values):
        if not isinstance(value.kind, ArrayType):
            raise WrongUseError
        if value.column is None and not value.is_literal and "." in value.name:
            raise WrongUseError  # fields of structs, which keep their names
        name = value.name if value.column is not None else str(number)
        fields.append(DataField(number, name, value.kind.element))
        parts.append(f"{quoted(name)}: list_extract({value.text}, place)")
    if len({field.name.lower() for field in fields}) < len(fields):
        raise WrongUseError
    length = f"greatest({', '.join(f'len({value.text})' for value in values)})"
    text = f"list_transform(range(1, {length} + 1), lambda place: {{{', '.join(parts)}}})"
    kind = ArrayType(RowType(tuple(fields)))
    return Value(_known(values, text), kind, named("arrays_zip", values))


MAPS: dict[str, Translate] = {
    "map_from_arrays": _of_arrays,
    "map_concat": _joined,
    "map_from_entries": _of_entries,
    "str_to_map": _of_text,
    "arrays_zip": _zipped,
}
"""By name in small letters."""
