"""Fields of structs, and functions of arrays that take a function: ``transform(a, x -> x + 1)``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from paimonlab.errors import ColumnNotFoundError
from paimonlab.spec.types.data_types import ArrayType, RowType
from paimonlab.sql_engine import arithmetic, kinds
from paimonlab.sql_engine.functions.arrays import array_of
from paimonlab.sql_engine.functions.lists import element_kind
from paimonlab.sql_engine.functions.signatures import WrongUseError
from paimonlab.sql_engine.kinds import Kind, duck_type, spark_type
from paimonlab.sql_engine.protocols import Translating
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast, quoted

HIGHER = frozenset(
    {"transform", "filter", "exists", "forall", "any", "some", "aggregate", "reduce"}
)
"""Functions that take a function, in small letters."""
_VARIABLE = "namedlambdavariable()"


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
    translator: Translating, node: exp.Expression, types: Sequence[Kind], least: int
) -> tuple[list[str], Value, str]:
    """Translate a function; return its parameters in DuckDB's SQL, its value, and its name."""
    if not isinstance(node, exp.Lambda) or not least <= len(node.expressions) <= len(types):
        raise NotTranslatedError("such a function of a function", "->")
    before = translator.variables
    depth = len(before)
    names = [f"v{depth + number}" for number in range(len(node.expressions))]
    made = {
        one.name.lower(): Value(name, kind, _VARIABLE)
        for one, name, kind in zip(node.expressions, names, types, strict=False)
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
    whole = translator.value(parts[0])
    if not isinstance(whole.kind, ArrayType):
        raise NotTranslatedError(f"{name}({spark_type(whole.kind)})", name)
    try:
        element = element_kind(whole.kind)
        if name in ("aggregate", "reduce"):
            return _reduced(translator, name, whole, element, parts)
        if name == "transform" and len(parts) == 2:
            return _transformed(translator, whole, element, parts[1])
        names, body, shown = _called(translator, parts[-1], [element], len(parts) - 1)
        test = arithmetic.truth(body, name).text
    except WrongUseError:
        raise NotTranslatedError(f"{name}() of such an array", name) from None
    called = f"{name}({whole.name}, {shown})"
    if name == "filter":
        text = f"list_filter({whole.text}, lambda {names[0]}: {test})"
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
    names, body, shown = _called(translator, node, [element, kinds.INT], 1)
    text = body.text
    if len(names) == 2:  # DuckDB counts from 1
        text = _with_word(text, names[1], f"CAST({names[1]} - 1 AS INTEGER)")
    made = f"list_transform({whole.text}, lambda {', '.join(names)}: {text})"
    return Value(made, array_of(body.kind), f"transform({whole.name}, {shown})")


def _with_word(text: str, word: str, new: str) -> str:
    """Replace a variable, which is no part of another word or of a text."""
    if "'" in text:
        raise NotTranslatedError("texts in a function of two parameters", "->")
    return " ".join(new if piece == word else piece for piece in _spaced(text)).strip()


def _spaced(text: str) -> list[str]:
    pieces, word = [], ""
    for letter in text:
        if letter.isalnum() or letter in "_.":
            word += letter
            continue
        pieces += [word, letter] if word else [letter]
        word = ""
    return [*pieces, word]


def _reduced(
    translator: Translating,
    name: str,
    whole: Value,
    element: Kind,
    parts: Sequence[exp.Expression],
) -> Value:
    if len(parts) != 3:
        raise WrongUseError
    begin = translator.value(parts[1])
    names, body, shown = _called(translator, parts[2], [begin.kind, element], 2)
    if not begin.kind == element == body.kind:
        raise WrongUseError
    begin = cast(begin, element)
    made = f"list_reduce({whole.text}, lambda {', '.join(names)}: {body.text}, {begin.text})"
    text = f"(CASE WHEN {whole.text} IS NULL THEN NULL ELSE {made} END)"
    end = f"lambdafunction({_VARIABLE}, {_VARIABLE})"
    called = f"{name}({whole.name}, {begin.name}, {shown}, {end})"
    return Value(text, element, called)
