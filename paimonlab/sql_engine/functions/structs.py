"""Functions that make structs and maps."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.sql_text.call_text import quoted as quoted_name
from paimonlab.spec.types.data_types import ArrayType, DataField, DataType, MapType, RowType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.functions.signatures import Translate, WrongUseError, named
from paimonlab.sql_engine.kinds import IntervalType, Kind, VoidType, duck_type
from paimonlab.sql_engine.value import Value, quoted, together


def _stored(kind: Kind) -> DataType:
    """Return the type as a part of another."""
    if isinstance(kind, VoidType | IntervalType):
        raise WrongUseError
    return kind


def _packed(name: str, fields: Sequence[tuple[str, Value]]) -> Value:
    if not fields or len({one.lower() for one, _ in fields}) < len(fields):
        raise WrongUseError
    parts = []
    for called, value in fields:
        kind = _stored(value.kind)
        is_plain = kinds.is_atomic(kind)
        text = f"CAST({value.text} AS {duck_type(kind)})" if is_plain else value.text
        parts.append(f"{quoted(called)}: {text}")
    row = RowType(
        tuple(
            DataField(number, called, _stored(value.kind))
            for number, (called, value) in enumerate(fields)
        )
    )
    return Value(f"{{{', '.join(parts)}}}", row, name)


def _struct(values: Sequence[Value]) -> Value:
    names = _struct_names(values, [""] * len(values))
    return _packed(named("struct", values), list(zip(names, values, strict=True)))


def aliased_struct(values: Sequence[Value], aliases: Sequence[str]) -> Value:
    """Translate ``struct(a + 1 AS b, c)``; an alias is empty where there is none."""
    fields = list(zip(_struct_names(values, aliases), values, strict=True))
    shown = [
        f"{value.name} AS {quoted_name(alias)}" if alias else value.name
        for value, alias in zip(values, aliases, strict=True)
    ]
    return _packed(f"struct({', '.join(shown)})", fields)


def _struct_names(values: Sequence[Value], aliases: Sequence[str]) -> list[str]:
    names = []
    for number, (value, alias) in enumerate(zip(values, aliases, strict=True), 1):
        if not alias and value.column is None and not value.is_literal and "." in value.name:
            raise WrongUseError  # fields of structs, which keep their names
        names.append(alias or (value.name if value.column is not None else f"col{number}"))
    return names


def _named_struct(values: Sequence[Value]) -> Value:
    names = [value.literal if value.is_literal else None for value in values[::2]]
    if len(values) % 2 or not all(isinstance(name, str) for name in names):
        raise WrongUseError
    return _packed(
        named("named_struct", values), list(zip(map(str, names), values[1::2], strict=True))
    )


def _map(values: Sequence[Value]) -> Value:
    if not values or len(values) % 2:
        raise WrongUseError
    keys, held = together(list(values[::2]), "map"), together(list(values[1::2]), "map")
    if not all(kinds.is_atomic(side[0].kind) for side in (keys, held)):
        raise WrongUseError
    if keys[0].kind in (kinds.DOUBLE, kinds.FLOAT):
        raise WrongUseError
    pairs = ", ".join(f"{key.text}: {one.text}" for key, one in zip(keys, held, strict=True))
    kind = MapType(_stored(keys[0].kind), _stored(held[0].kind))
    return Value(f"MAP {{{pairs}}}", kind, named("map", values))


def _entries(values: Sequence[Value]) -> Value:
    if len(values) != 1 or not isinstance(values[0].kind, MapType):
        raise WrongUseError
    whole = values[0].kind
    fields = (DataField(0, "key", whole.key), DataField(1, "value", whole.value))
    text = f"map_entries({values[0].text})"
    return Value(text, ArrayType(RowType(fields)), named("map_entries", values))


STRUCTS: dict[str, Translate] = {
    "struct": _struct,
    "named_struct": _named_struct,
    "map": _map,
    "map_entries": _entries,
}
"""By name in small letters."""
