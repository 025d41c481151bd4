"""Functions of arrays and maps."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.types.data_types import ArrayType, MapType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import fails
from paimonlab.sql_engine.functions.signatures import Translate, WrongUseError, expect, named
from paimonlab.sql_engine.kinds import Kind
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast, read_text

_OUTSIDE = "INVALID_ARRAY_INDEX: an array has no element of that index; see size()"


def _is_array(kind: Kind) -> bool:
    return isinstance(kind, ArrayType)


def _is_nested(kind: Kind) -> bool:
    return isinstance(kind, ArrayType | MapType)


def element_kind(kind: Kind) -> Kind:
    """Return the type of the elements of an array, of those that are computed with."""
    found = kinds.kind_of(kind.element) if isinstance(kind, ArrayType) else None
    if found is None:
        raise WrongUseError
    return found


def element(whole: Value, place: Value) -> Value:
    """Take an element of an array, from 0, or a value of a map.

    Raises
    ------
    NotTranslatedError
        If that is not proven for these types.
    """
    name = f"{whole.name}[{place.name}]"
    if isinstance(whole.kind, ArrayType) and kinds.is_whole(place.kind):
        kind = kinds.kind_of(whole.kind.element)
        if kind is not None:
            index = cast(place, kinds.BIGINT).text
            outside = f"{index} < 0 OR {index} >= len({whole.text})"
            found = f"list_extract({whole.text}, {index} + 1)"
            text = f"(CASE WHEN {outside} THEN {fails(_OUTSIDE)} ELSE {found} END)"
            return Value(text, kind, name)
    if isinstance(whole.kind, MapType) and place.kind == kinds.kind_of(whole.kind.key):
        kind = kinds.kind_of(whole.kind.value)
        if kind is not None and kinds.is_atomic(place.kind):
            return Value(f"map_extract_value({whole.text}, {place.text})", kind, name)
    types = f"{kinds.spark_type(whole.kind)}[{kinds.spark_type(place.kind)}]"
    raise NotTranslatedError(types, "[")


def _size(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, _is_array if name == "array_size" else _is_nested)
        length = "cardinality" if isinstance(values[0].kind, MapType) else "len"
        text = f"CAST({length}({values[0].text}) AS INTEGER)"
        return Value(text, kinds.INT, named(name, values))

    return translate


def _contains(values: Sequence[Value]) -> Value:
    if len(values) != 2:
        raise WrongUseError
    kind = element_kind(values[0].kind)
    sought = read_text(values[1], kind) or values[1]
    if not kinds.is_atomic(kind) or kinds.common(kind, sought.kind) != kind:
        raise WrongUseError
    whole, part = values[0].text, cast(sought, kind).text
    if values[1].kind == kinds.VOID:
        raise WrongUseError
    # Not found beside an element that is NULL, it is unknown.
    text = (
        f"(CASE WHEN list_contains({whole}, {part}) THEN true "
        f"WHEN {whole} IS NULL OR {part} IS NULL OR len({whole}) <> list_count({whole}) THEN NULL "
        "ELSE false END)"
    )
    return Value(text, kinds.BOOLEAN, named("array_contains", values))


def _joined(values: Sequence[Value]) -> Value:
    if len(values) != 2 or element_kind(values[0].kind) != kinds.STRING:
        raise WrongUseError
    separator = values[1].literal if values[1].is_literal else None
    if not isinstance(separator, str):
        raise WrongUseError
    whole = values[0].text
    text = (
        f"(CASE WHEN {whole} IS NULL THEN NULL "
        f"ELSE coalesce(array_to_string({whole}, {values[1].text}), '') END)"
    )
    return Value(text, kinds.STRING, named("array_join", values))


def _sorted(values: Sequence[Value]) -> Value:
    shown = [*values, Value("true", kinds.BOOLEAN, "true", literal=True)][:2]
    is_up = shown[1].literal if shown[1].is_literal else None
    if len(values) > 2 or not isinstance(is_up, bool):
        raise WrongUseError
    if not kinds.is_atomic(element_kind(values[0].kind)):
        raise WrongUseError
    way = "'ASC', 'NULLS FIRST'" if is_up else "'DESC', 'NULLS LAST'"
    text = f"list_sort({values[0].text}, {way})"
    return Value(text, values[0].kind, named("sort_array", shown))


LISTS: dict[str, Translate] = {
    "size": _size("size"),
    "cardinality": _size("cardinality"),
    "array_size": _size("array_size"),
    "array_contains": _contains,
    "array_join": _joined,
    "sort_array": _sorted,
}
"""By name in small letters."""
