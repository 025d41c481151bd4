"""Fields of structs, and functions that take a function: ``transform(a, x -> x + 1)``."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from sqlglot import exp

from paimonlab.errors import ColumnNotFoundError
from paimonlab.spec.types.data_types import ArrayType, DataType, MapType, RowType
from paimonlab.sql_engine import arithmetic, kinds
from paimonlab.sql_engine.functions.arrays import array_of
from paimonlab.sql_engine.functions.lists import element_kind
from paimonlab.sql_engine.functions.signatures import WrongUseError
from paimonlab.sql_engine.kinds import Kind, duck_type, spark_type
from paimonlab.sql_engine.protocols import Translating
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, quoted

_OF_MAPS = ("map_filter", "transform_keys", "transform_values")
HIGHER = frozenset(
    {"transform", "filter", "exists", "forall", "any", "some", "aggregate", "reduce", "zip_with"}
    | {*_OF_MAPS, "map_zip_with"}
)
"""Functions that take a function, in small letters."""
_VARIABLE = "namedlambdavariable()"
_PLACED = ("{0}", "CAST({1} - 1 AS INTEGER)")
"""An element and its place, which DuckDB counts from 1."""


def field(value: Value, name: str) -> Value:
    """Take a field of a struct.

    Raises
    ------
    ColumnNotFoundError, NotTranslatedError
        If it has none of this name, or is no struct.
    """
    if not isinstance(value.kind, RowType):
        raise NotTranslatedError(f"{spark_type(value.kind)}.{name}", name)
    known = [one.name for one in value.kind.fields]
    same = [one for one in value.kind.fields if one.name.lower() == name.lower()]
    if not same:
        raise ColumnNotFoundError(name, value.name, known)
    kind = kinds.kind_of(same[0].type)
    if kind is None or len(same) > 1:
        raise NotTranslatedError(f"the field {value.name}.{name}", name)
    text = f"struct_extract({value.text}, {quoted(same[0].name)})"
    if kinds.is_atomic(kind):
        text = f"CAST({text} AS {duck_type(kind)})"
    return Value(text, kind, f"{value.name}.{name}")


def path(translator: Translating, parts: Sequence[str]) -> Value | None:
    """Return the field that a name with points means; None if it begins with no column."""
    for end in range(len(parts) - 1, 0, -1):
        *tables, column = parts[:end]
        try:
            value = translator.scope.find(tables, column)
        except ColumnNotFoundError:
            continue
        for name in parts[end:]:
            value = field(value, name)
        return value
    return None


def dotted(translator: Translating, node: exp.Dot) -> Value:
    """Translate a field of what is not a column alone."""
    parts: list[str] = []
    inner: exp.Expression = node
    while isinstance(inner, exp.Dot) and isinstance(inner.expression, exp.Identifier):
        parts.insert(0, inner.expression.name)
        inner = inner.this
    if isinstance(inner, exp.Column):
        found = path(translator, [*(part.name for part in inner.parts), *parts])
        if found is not None:
            return found
    value = translator.value(inner)
    for name in parts:
        value = field(value, name)
    return value


def variable(translator: Translating, node: exp.Identifier) -> Value:
    """Translate a parameter of a function that is written in the statement."""
    found = translator.variables.get(node.name.lower())
    if found is None:
        raise NotTranslatedError(f"the variable {node.name}", node.name)
    return found


def _called(
    translator: Translating,
    node: exp.Expression,
    types: Sequence[Kind],
    least: int,
    texts: Sequence[str] = (),
) -> tuple[list[str], Value, str]:
    """Translate a function; return its parameters in DuckDB's SQL, its value, and its name.

    ``texts`` are what stands for parameters in the value, if not their names; ``{n}`` in them is
    the n-th of the names.
    """
    if not isinstance(node, exp.Lambda) or not least <= len(node.expressions) <= len(types):
        raise NotTranslatedError("such a function of a function", "->")
    before = translator.variables
    depth = len(before)
    names = [f"v{depth + number}" for number in range(len(node.expressions))]
    stands = [one.format(*names, *names) for one in texts] or names
    made = {
        one.name.lower(): Value(text, kind, _VARIABLE)
        for one, text, kind in zip(node.expressions, stands, types, strict=False)
    }
    if len(made) < len(names):
        raise NotTranslatedError("two parameters of one name", "->")
    translator.variables = {**before, **made}
    try:
        body = translator.value(node.this)
    finally:
        translator.variables = before
    shown = ", ".join([body.name, *[_VARIABLE] * len(names)])
    return names, body, f"lambdafunction({shown})"


def higher(translator: Translating, name: str, parts: Sequence[exp.Expression]) -> Value:
    """Translate a call of a function that takes a function.

    Raises
    ------
    NotTranslatedError
        If it is not proven.
    """
    if name == "zip_with" and len(parts) == 3:
        return _zipped(translator, parts)
    if name == "map_zip_with" and len(parts) == 3:
        return _zipped_maps(translator, parts)
    whole = translator.value(parts[0])
    if name in _OF_MAPS and len(parts) == 2 and isinstance(whole.kind, MapType):
        return _of_map(translator, name, whole, whole.kind, parts[1])
    if not isinstance(whole.kind, ArrayType):
        raise NotTranslatedError(f"{name}({spark_type(whole.kind)})", name)
    try:
        element = element_kind(whole.kind)
        if name in ("aggregate", "reduce"):
            return _reduced(translator, name, whole, element, parts)
        if name == "transform" and len(parts) == 2:
            return _transformed(translator, whole, element, parts[1])
        types = [element, kinds.INT] if name == "filter" else [element]
        names, body, shown = _called(translator, parts[-1], types, len(parts) - 1, _PLACED)
        test = arithmetic.truth(body, name).text
    except WrongUseError:
        raise NotTranslatedError(f"{name}() of such an array", name) from None
    called = f"{name}({whole.name}, {shown})"
    if name == "filter":
        text = f"list_filter({whole.text}, lambda {', '.join(names)}: {test})"
        return Value(text, whole.kind, called)
    results = f"list_transform({whole.text}, lambda {names[0]}: {test})"
    sought, other = ("false", "true") if name == "forall" else ("true", "false")
    text = (
        f"(CASE WHEN {whole.text} IS NULL THEN NULL WHEN list_contains({results}, {sought}) "
        f"THEN {sought} WHEN list_count({results}) < len({results}) THEN NULL ELSE {other} END)"
    )
    return Value(text, kinds.BOOLEAN, called)


def _transformed(
    translator: Translating, whole: Value, element: Kind, node: exp.Expression
) -> Value:
    names, body, shown = _called(translator, node, [element, kinds.INT], 1, _PLACED)
    made = f"list_transform({whole.text}, lambda {', '.join(names)}: {body.text})"
    return Value(made, array_of(body.kind), f"transform({whole.name}, {shown})")


def _zipped(translator: Translating, parts: Sequence[exp.Expression]) -> Value:
    """``zip_with``: what the shorter array lacks is NULL."""
    left, right = translator.value(parts[0]), translator.value(parts[1])
    try:
        types = [element_kind(one.kind) for one in (left, right)]
        texts = [f"list_extract({_escaped(one.text)}, {{0}})" for one in (left, right)]
        names, body, shown = _called(translator, parts[2], types, 2, texts)
        kind = array_of(body.kind)
    except WrongUseError:
        raise NotTranslatedError("zip_with() of such arrays", "zip_with") from None
    places = f"range(1, greatest(len({left.text}), len({right.text})) + 1)"
    made = f"list_transform({places}, lambda {names[0]}: {body.text})"
    text = f"(CASE WHEN {left.text} IS NULL OR {right.text} IS NULL THEN NULL ELSE {made} END)"
    return Value(text, kind, f"zip_with({left.name}, {right.name}, {shown})")


def _zipped_maps(translator: Translating, parts: Sequence[exp.Expression]) -> Value:
    """``map_zip_with``: keys of either map; a value is NULL where a map lacks the key."""
    left, right = translator.value(parts[0]), translator.value(parts[1])
    if not isinstance(left.kind, MapType) or not isinstance(right.kind, MapType):
        raise NotTranslatedError("map_zip_with() of such maps", "map_zip_with")
    key, other = kinds.kind_of(left.kind.key), kinds.kind_of(right.kind.key)
    held = [kinds.kind_of(one.value) for one in (left.kind, right.kind)]
    is_plain = key is not None and kinds.is_atomic(key) and key not in (kinds.DOUBLE, kinds.FLOAT)
    if not is_plain or key != other or None in held:
        shown_types = f"{spark_type(left.kind)}, {spark_type(right.kind)}"
        raise NotTranslatedError(f"map_zip_with({shown_types})", "map_zip_with")
    texts = [
        "{0}",
        *(
            f"list_extract(map_values({_escaped(one.text)}), "
            f"list_position(map_keys({_escaped(one.text)}), {{0}}))"
            for one in (left, right)
        ),
    ]
    types = [kind for kind in (key, *held) if kind is not None]
    names, body, shown = _called(translator, parts[2], types, 3, texts)
    mine, others = f"map_keys({left.text})", f"map_keys({right.text})"
    keys = f"list_concat({mine}, list_filter({others}, lambda k: NOT list_contains({mine}, k)))"
    made = f"map({keys}, list_transform({keys}, lambda {names[0]}: {body.text}))"
    text = f"(CASE WHEN {left.text} IS NULL OR {right.text} IS NULL THEN NULL ELSE {made} END)"
    kind = MapType(left.kind.key, _part(body.kind, "map_zip_with"))
    return Value(text, kind, f"map_zip_with({left.name}, {right.name}, {shown})")


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def _of_map(
    translator: Translating, name: str, whole: Value, kind: MapType, node: exp.Expression
) -> Value:
    """Translate a function of a map and of a function of keys and values."""
    key, held = kinds.kind_of(kind.key), kinds.kind_of(kind.value)
    if key is None or held is None or not kinds.is_atomic(key):
        raise NotTranslatedError(f"{name}({spark_type(kind)})", name)
    texts = ["struct_extract({0}, 'key')", "struct_extract({0}, 'value')"]
    names, body, shown = _called(translator, node, [key, held], 2, texts)
    called = f"{name}({whole.name}, {shown})"
    entries, made = f"map_entries({whole.text})", kind
    if name == "map_filter":
        test = arithmetic.truth(body, name).text
        text = f"map_from_entries(list_filter({entries}, lambda {names[0]}: {test}))"
    else:
        stored = _part(body.kind, name)
        other = f"list_transform({entries}, lambda {names[0]}: {body.text})"
        if name == "transform_values":
            made, text = MapType(kind.key, stored), f"map(map_keys({whole.text}), {other})"
        else:
            if not kinds.is_atomic(body.kind) or body.kind in (kinds.DOUBLE, kinds.FLOAT):
                raise NotTranslatedError(f"{name}() to {spark_type(body.kind)}", name)
            made, text = MapType(stored, kind.value), f"map({other}, map_values({whole.text}))"
    return Value(f"(CASE WHEN {whole.text} IS NOT NULL THEN {text} END)", made, called)


def _part(kind: Kind, name: str) -> DataType:
    """Return a type as a part of another one.

    Raises
    ------
    NotTranslatedError
        If it is that of NULL.
    """
    if isinstance(kind, kinds.VoidType | kinds.IntervalType):
        raise NotTranslatedError(f"{name}() to {kinds.spark_type(kind)}", name)
    return kind


def _reduced(
    translator: Translating,
    name: str,
    whole: Value,
    element: Kind,
    parts: Sequence[exp.Expression],
) -> Value:
    if len(parts) not in (3, 4):
        raise WrongUseError
    begin = translator.value(parts[1])
    names, body, shown = _called(translator, parts[2], [begin.kind, element], 2)
    if begin.kind != body.kind or not kinds.is_atomic(begin.kind) or begin.kind == kinds.VOID:
        raise WrongUseError
    if begin.is_literal:
        begin = replace(begin, text=f"CAST({begin.text} AS {duck_type(begin.kind)})")
    made = f"list_reduce({whole.text}, lambda {', '.join(names)}: {body.text}, {begin.text})"
    text = f"(CASE WHEN {whole.text} IS NULL THEN NULL ELSE {made} END)"
    kind, end = begin.kind, f"lambdafunction({_VARIABLE}, {_VARIABLE})"
    if len(parts) == 4:
        last, body, end = _called(translator, parts[3], [kind], 1)
        ended = f"list_extract(list_transform([{made}], lambda {last[0]}: {body.text}), 1)"
        text = f"(CASE WHEN {whole.text} IS NULL THEN NULL ELSE {ended} END)"
        kind = body.kind
        if not kinds.is_atomic(kind):
            raise WrongUseError
    called = f"{name}({whole.name}, {begin.name}, {shown}, {end})"
    return Value(text, kind, called)
