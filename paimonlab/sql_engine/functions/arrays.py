"""Functions that make arrays and maps of others, and those that take one value of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimonlab.spec.types.data_types import ArrayType, MapType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import fails
from paimonlab.sql_engine.functions.lists import element_kind
from paimonlab.sql_engine.functions.signatures import Translate, WrongUseError, expect, named
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.value import Value, cast, together

_OUTSIDE = "INVALID_ARRAY_INDEX_IN_ELEMENT_AT: an array has no element of that index; see size()"
_MOST_MADE = 10_000


def array_of(kind: Kind) -> ArrayType:
    """Return the type of an array of such elements."""
    if not kinds.is_atomic(kind) or kind == kinds.VOID:
        raise WrongUseError
    return ArrayType(kind)  # type: ignore[arg-type]


def _made(values: Sequence[Value]) -> Value:
    if not values:
        raise WrongUseError
    same = together(list(values), "array")
    text = f"[{', '.join(value.text for value in same)}]"
    kind = array_of(same[0].kind)
    return Value(text, kind, named("array", values), parts=tuple(values))


def _is_array(kind: Kind) -> bool:
    return isinstance(kind, ArrayType)


def _unique(sql: str) -> str:
    return f"list_filter({sql}, lambda x, i: list_position({sql}, x) = i)"


def _comparable(values: Sequence[Value]) -> Kind:
    kind = element_kind(values[0].kind)
    if not kinds.is_atomic(kind) or kind in (kinds.DOUBLE, kinds.FLOAT):
        raise WrongUseError
    if any(value.kind != values[0].kind for value in values):
        raise WrongUseError
    return kind


def _distinct(values: Sequence[Value]) -> Value:
    expect(values, _is_array)
    _comparable(values)
    text = _unique(values[0].text)
    return Value(text, values[0].kind, named("array_distinct", values))


def _extreme(name: str, duck: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, _is_array)
        kind = element_kind(values[0].kind)
        if not kinds.is_atomic(kind) or kind == kinds.BOOLEAN:
            raise WrongUseError
        return Value(f"{duck}({values[0].text})", kind, named(name, values))

    return translate


def _element_at(values: Sequence[Value]) -> Value:
    if len(values) != 2:
        raise WrongUseError
    whole, place = values
    name = named("element_at", values)
    if isinstance(whole.kind, MapType):
        kind = kinds.kind_of(whole.kind.value)
        is_key = place.kind == kinds.kind_of(whole.kind.key)
        if kind is None or not is_key or not kinds.is_atomic(kind):
            raise WrongUseError
        return Value(f"map_extract_value({whole.text}, {place.text})", kind, name)
    expect(values, _is_array, kinds.is_whole)
    kind, index = element_kind(whole.kind), cast(place, kinds.BIGINT).text
    text = (
        f"(CASE WHEN {index} = 0 OR abs({index}) > len({whole.text}) THEN {fails(_OUTSIDE)} "
        f"ELSE list_extract({whole.text}, {index}) END)"
    )
    return Value(text, kind, name)


def _position(values: Sequence[Value]) -> Value:
    if len(values) != 2:
        raise WrongUseError
    kind = element_kind(values[0].kind)
    if values[1].kind != kind or kind in (kinds.DOUBLE, kinds.FLOAT):
        raise WrongUseError
    whole, sought = values[0].text, values[1].text
    text = (
        f"(CASE WHEN {whole} IS NULL OR {sought} IS NULL THEN NULL "
        f"ELSE coalesce(CAST(list_position({whole}, {sought}) AS BIGINT), 0) END)"
    )
    return Value(text, kinds.BIGINT, named("array_position", values))


def _slice(values: Sequence[Value]) -> Value:
    expect(values, _is_array, kinds.is_whole, kinds.is_whole)
    begin, count = (value.literal if value.is_literal else None for value in values[1:])
    if type(begin) is not int or type(count) is not int or begin < 1 or count < 0:
        raise WrongUseError
    text = f"list_slice({values[0].text}, {begin}, {begin + count - 1})"
    return Value(text, values[0].kind, named("slice", values))


def _together(name: str, template: str) -> Translate:
    """Return what makes a set of two arrays, in the order of the first ones."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, _is_array, _is_array)
        _comparable(values)
        left, right = (value.text for value in values)
        made = template.format(left, right)
        text = f"(CASE WHEN {left} IS NULL OR {right} IS NULL THEN NULL ELSE {_unique(made)} END)"
        return Value(text, values[0].kind, named(name, values))

    return translate


def _flat(values: Sequence[Value]) -> Value:
    expect(values, _is_array)
    inner: Any = values[0].kind
    if not isinstance(inner.element, ArrayType):
        raise WrongUseError
    text = (
        f"(CASE WHEN list_count({values[0].text}) < len({values[0].text}) THEN NULL "
        f"ELSE flatten({values[0].text}) END)"
    )
    kind = kinds.kind_of(inner.element)
    if kind is None:
        raise WrongUseError
    return Value(text, kind, named("flatten", values))


def _map_part(name: str, *, is_key: bool) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, lambda kind: isinstance(kind, MapType))
        whole: Any = values[0].kind
        part = kinds.kind_of(whole.key if is_key else whole.value)
        if part is None:
            raise WrongUseError
        return Value(f"{name}({values[0].text})", array_of(part), named(name, values))

    return translate


def _has_key(values: Sequence[Value]) -> Value:
    if len(values) != 2 or not isinstance(values[0].kind, MapType):
        raise WrongUseError
    if values[1].kind != kinds.kind_of(values[0].kind.key):
        raise WrongUseError
    whole, key = values[0].text, values[1].text
    text = (
        f"(CASE WHEN {whole} IS NULL OR {key} IS NULL THEN NULL "
        f"ELSE list_contains(map_keys({whole}), {key}) END)"
    )
    return Value(text, kinds.BOOLEAN, named("map_contains_key", values))


def _compact(values: Sequence[Value]) -> Value:
    expect(values, _is_array)
    text = f"list_filter({values[0].text}, lambda x: x IS NOT NULL)"
    return Value(text, values[0].kind, named("array_compact", values))


def _appended(values: Sequence[Value]) -> Value:
    if len(values) != 2 or values[1].kind != element_kind(values[0].kind):
        raise WrongUseError
    whole = values[0].text
    text = f"(CASE WHEN {whole} IS NULL THEN NULL ELSE list_append({whole}, {values[1].text}) END)"
    return Value(text, values[0].kind, named("array_append", values))


def _prepended(values: Sequence[Value]) -> Value:
    if len(values) != 2 or values[1].kind != element_kind(values[0].kind):
        raise WrongUseError
    whole = values[0].text
    text = f"(CASE WHEN {whole} IS NULL THEN NULL ELSE list_prepend({values[1].text}, {whole}) END)"
    return Value(text, values[0].kind, named("array_prepend", values))


def _removed(values: Sequence[Value]) -> Value:
    """``array_remove``: NULL is no value that is removed; of NULL the result is NULL."""
    if len(values) != 2 or not _is_array(values[0].kind):
        raise WrongUseError
    kind = _comparable(values[:1])
    if kinds.common(kind, values[1].kind) != kind or values[1].kind == kinds.VOID:
        raise WrongUseError
    gone = cast(values[1], kind).text
    kept = f"list_filter({values[0].text}, lambda x: x IS NULL OR x <> {gone})"
    text = f"(CASE WHEN {gone} IS NULL THEN NULL ELSE {kept} END)"
    return Value(text, values[0].kind, named("array_remove", values))


def _get(values: Sequence[Value]) -> Value:
    """``get``: from 0, NULL where there is no element."""
    expect(values, _is_array, kinds.is_whole)
    kind, index = element_kind(values[0].kind), cast(values[1], kinds.BIGINT).text
    found = f"list_extract({values[0].text}, {index} + 1)"
    text = f"(CASE WHEN {index} < 0 THEN NULL ELSE {found} END)"
    return Value(text, kind, named("get", values))


def _tried_element(values: Sequence[Value]) -> Value:
    if len(values) != 2 or not isinstance(values[0].kind, MapType):
        expect(values, _is_array, kinds.is_whole)
        kind, index = element_kind(values[0].kind), cast(values[1], kinds.BIGINT).text
        text = (
            f"(CASE WHEN {index} = 0 THEN {fails(_OUTSIDE)} "
            f"ELSE list_extract({values[0].text}, {index}) END)"
        )
        return Value(text, kind, named("try_element_at", values))
    found = _element_at(values)
    return Value(found.text, found.kind, named("try_element_at", values))


def _repeated(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_atomic, kinds.is_whole)
    kind, count = array_of(values[0].kind), values[1].literal if values[1].is_literal else None
    if type(count) is not int or count > _MOST_MADE:
        raise WrongUseError
    made = f"list_transform(range({max(count, 0)}), lambda n: {values[0].text})"
    return Value(made, kind, named("array_repeat", values))


def _overlap(values: Sequence[Value]) -> Value:
    """``arrays_overlap``: unknown where nothing is in both and one has a NULL."""
    expect(values, _is_array, _is_array)
    _comparable(values)
    left, right = (value.text for value in values)
    known = [f"list_filter({one}, lambda x: x IS NOT NULL)" for one in (left, right)]
    has_null = " OR ".join(f"list_count({one}) < len({one})" for one in (left, right))
    text = (
        f"(CASE WHEN {left} IS NULL OR {right} IS NULL THEN NULL "
        f"WHEN list_has_any({known[0]}, {known[1]}) THEN true "
        f"WHEN len({left}) > 0 AND len({right}) > 0 AND ({has_null}) THEN NULL ELSE false END)"
    )
    return Value(text, kinds.BOOLEAN, named("arrays_overlap", values))


def _array_sort(values: Sequence[Value]) -> Value:
    """``array_sort`` without a function: nulls last, unlike ``sort_array``."""
    expect(values, _is_array)
    if not kinds.is_atomic(element_kind(values[0].kind)):
        raise WrongUseError
    text = f"list_sort({values[0].text}, 'ASC', 'NULLS LAST')"
    order = (
        "lambdafunction((IF(((namedlambdavariable() IS NULL) AND (namedlambdavariable() IS NULL)), "
        "0, (IF((namedlambdavariable() IS NULL), 1, (IF((namedlambdavariable() IS NULL), -1, "
        "(IF((namedlambdavariable() < namedlambdavariable()), -1, (IF((namedlambdavariable() > "
        "namedlambdavariable()), 1, 0)))))))))), namedlambdavariable(), namedlambdavariable())"
    )
    return Value(text, values[0].kind, f"array_sort({values[0].name}, {order})")


def _sequence(values: Sequence[Value]) -> Value:
    if len(values) not in (2, 3):
        raise WrongUseError
    kind = values[0].kind
    name = named("sequence", values)
    if any(value.kind != kind for value in values):
        raise WrongUseError
    if kinds.is_whole(kind):
        return _numbers(values, name)
    if kind != kinds.DATE or len(values) != 2:
        raise WrongUseError
    first, last = (value.text for value in values)
    step = f"CASE WHEN {first} <= {last} THEN 1 ELSE -1 END"
    made = f"range(0, CAST({last} - {first} AS BIGINT) + ({step}), {step})"
    text = f"list_transform({made}, lambda n: {first} + CAST(n AS INTEGER))"
    return Value(_known(values, text), array_of(kind), name)


def _numbers(values: Sequence[Value], name: str) -> Value:
    kind = values[0].kind
    first, last = (cast(value, kinds.BIGINT).text for value in values[:2])
    step = f"(CASE WHEN {first} <= {last} THEN 1 ELSE -1 END)"
    if len(values) == 3:
        given = values[2].literal if values[2].is_literal else None
        if type(given) is not int or given <= 0:
            raise WrongUseError
        wrong = fails("ILLEGAL_SEQUENCE_BOUNDARIES: the step leads away from the end")
        step = f"(CASE WHEN {first} > {last} THEN {wrong} ELSE {given} END)"
    end = f"{last} + sign({step})::BIGINT"
    text = f"CAST(range({first}, {end}, {step}) AS {kinds.duck_type(kind)}[])"
    return Value(_known(values, text), array_of(kind), name)


def _known(values: Sequence[Value], text: str) -> str:
    unknown = " OR ".join(f"{value.text} IS NULL" for value in values[:2])
    return f"(CASE WHEN {unknown} THEN NULL ELSE {text} END)"


ARRAYS: dict[str, Translate] = {
    "array": _made,
    "array_distinct": _distinct,
    "array_max": _extreme("array_max", "list_max"),
    "array_min": _extreme("array_min", "list_min"),
    "element_at": _element_at,
    "array_position": _position,
    "slice": _slice,
    "array_union": _together("array_union", "list_concat({}, {})"),
    "array_intersect": _together(
        "array_intersect", "list_filter({0}, lambda e: list_position({1}, e) IS NOT NULL)"
    ),
    "array_except": _together(
        "array_except", "list_filter({0}, lambda e: list_position({1}, e) IS NULL)"
    ),
    "flatten": _flat,
    "map_keys": _map_part("map_keys", is_key=True),
    "map_values": _map_part("map_values", is_key=False),
    "map_contains_key": _has_key,
    "array_compact": _compact,
    "array_append": _appended,
    "array_prepend": _prepended,
    "array_remove": _removed,
    "array_repeat": _repeated,
    "array_sort": _array_sort,
    "arrays_overlap": _overlap,
    "get": _get,
    "try_element_at": _tried_element,
    "sequence": _sequence,
}
"""By name in small letters."""


def joined(values: Sequence[Value]) -> Value:
    """Put arrays of one type together, as ``concat`` does."""
    if any(value.kind != values[0].kind for value in values) or not _is_array(values[0].kind):
        raise WrongUseError
    unknown = " OR ".join(f"{value.text} IS NULL" for value in values)
    text = values[0].text
    for value in values[1:]:
        text = f"list_concat({text}, {value.text})"
    return Value(
        f"(CASE WHEN {unknown} THEN NULL ELSE {text} END)",
        values[0].kind,
        named("concat", values),
    )
