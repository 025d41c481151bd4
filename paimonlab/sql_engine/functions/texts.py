"""Functions of texts."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.types.data_types import ArrayType
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions import arrays, slices
from paimonlab.sql_engine.functions.signatures import (
    Translate,
    WrongUseError,
    constant,
    expect,
    is_text,
    named,
    simple,
)
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast

OTHER_CASE = (
    r"[\x{DF}\x{130}\x{149}\x{19B}\x{1F0}\x{264}\x{390}\x{3A3}\x{3B0}\x{587}\x{1C80}-\x{1C8F}"
    r"\x{1E96}-\x{1E9A}\x{1F50}-\x{1F57}\x{1F80}-\x{1FFC}\x{2C2F}\x{2C5F}\x{A7AE}-\x{A7FF}"
    r"\x{FB00}-\x{FB17}\x{10570}-\x{105BF}\x{10D40}-\x{10D8F}\x{16E00}-\x{16EFF}"
    r"\x{1E900}-\x{1E95F}]"
)
"""Letters whose case is several letters or depends on those beside them, and scripts that have got
capitals since Unicode 11, which not every Java knows. That all others have the same case in both
is tested letter by letter."""


def _cased(duck: str, name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text)
        message = fails(f"{NOT_PROVEN}: {name}() of such characters")
        sql = values[0].text
        text = (
            f"(CASE WHEN regexp_matches({sql}, '{OTHER_CASE}') THEN {message} "
            f"ELSE {duck}({sql}) END)"
        )
        return Value(text, kinds.STRING, named(name, values))

    return translate


_TIMES = (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ)


def _as_text(value: Value) -> str:
    """Write a value as the text that Spark makes of it beside texts."""
    kind = value.kind
    plain = (kinds.BOOLEAN, kinds.DATE, kinds.STRING, kinds.VOID, *_TIMES)
    if not (kind in plain or kinds.is_whole(kind) or kinds.is_decimal(kind)):
        raise WrongUseError
    return cast(value, kinds.STRING).text


def _concat(values: Sequence[Value]) -> Value:
    if not values:
        raise WrongUseError
    if isinstance(values[0].kind, ArrayType):
        return arrays.joined(values)
    text = " || ".join(map(_as_text, values))
    return Value(f"({text})", kinds.STRING, named("concat", values))


def _substring(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, kinds.is_whole, *[kinds.is_whole] * (len(values) - 2))
        if len(values) > 3:
            raise WrongUseError
        shown = list(values)
        if len(values) == 2:
            shown.append(Value("", kinds.INT, "2147483647"))
        if all(map(_is_count, values[2:])) and type(values[1].literal) is int:
            begin = values[1].text if values[1].literal else "1"
            text = f"substring({', '.join([values[0].text, begin, *(v.text for v in values[2:])])})"
        else:
            text = slices.cut(values)
        return Value(text, kinds.STRING, named(name, shown))

    return translate


def _padded(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, kinds.is_whole, *[is_text] * (len(values) - 2))
        if len(values) > 3:
            raise WrongUseError
        shown = [*values, Value("", kinds.STRING, " ")][:3]
        is_plain = _is_count(values[1]) and all(_is_letters(value) for value in values[2:])
        if is_plain:
            pad = values[2].text if len(values) > 2 else "' '"
            text = f"{name}({values[0].text}, {values[1].text}, {pad})"
        else:
            text = slices.padded(name, values)
        return Value(text, kinds.STRING, named(name, shown))

    return translate


def _is_count(value: Value) -> bool:
    """Tell whether a number of characters is written in the statement."""
    return value.is_literal and type(value.literal) is int and value.literal >= 0


def _is_letters(value: Value) -> bool:
    return value.is_literal and type(value.literal) is str and bool(value.literal)


def _replace(values: Sequence[Value]) -> Value:
    if len(values) == 2:
        values = [*values, Value("''", kinds.STRING, "")]
    expect(values, is_text, is_text, is_text)
    text = f"replace({', '.join(value.text for value in values)})"
    if not _is_letters(values[1]):
        is_empty = f"{values[1].text} = '' AND {values[2].text} IS NOT NULL"
        text = f"(CASE WHEN {is_empty} THEN {values[0].text} ELSE {text} END)"
    return Value(text, kinds.STRING, named("replace", values))


def _position(name: str, whole: int, part: int) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, is_text)
        text = f"CAST(instr({values[whole].text}, {values[part].text}) AS INTEGER)"
        shown = [*values, Value("", kinds.INT, "1")] if name != "instr" else values
        return Value(text, kinds.INT, named(name, shown))

    return translate


_TEXT_LIST = ArrayType(kinds.STRING)


def _concat_ws(values: Sequence[Value]) -> Value:
    expect(values, is_text, *[lambda _: True] * (len(values) - 1))
    separator = constant(values[0], str)
    if len(values) < 2:
        raise WrongUseError
    rest = ", ".join(
        f"CASE WHEN list_count({value.text}) = 0 "
        f"THEN NULL ELSE array_to_string({value.text}, {separator}) END"
        if value.kind == _TEXT_LIST
        else _as_text(value)
        for value in values[1:]
    )
    return Value(f"concat_ws({separator}, {rest})", kinds.STRING, named("concat_ws", values))


def _end(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, is_text, kinds.is_whole)
        if _is_count(values[1]):
            text = f"{name}({values[0].text}, {values[1].text})"
        else:
            text = slices.end(values, is_left=name == "left")
        return Value(text, kinds.STRING, named(name, values))

    return translate


def _repeat(values: Sequence[Value]) -> Value:
    expect(values, is_text, kinds.is_whole)
    return Value(slices.repeated(values), kinds.STRING, named("repeat", values))


def trimmed(where: str, value: Value, what: Value | None) -> Value:
    """Translate ``trim(BOTH 'x' FROM …)``.

    Raises
    ------
    NotTranslatedError
        If what is cut off is not written in the statement.
    """
    names = {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}
    duck = names[where]
    if value.kind != kinds.STRING:
        raise NotTranslatedError(f"trim of {kinds.spark_type(value.kind)}", "trim")
    if what is None:
        called = f"{duck}({value.name})"
        return Value(f"{duck}({value.text}, ' ')", kinds.STRING, called)
    try:
        letters = constant(what, str)
    except WrongUseError:
        raise NotTranslatedError("trim of such letters", "trim") from None
    called = f"TRIM({where or 'BOTH'} {what.name} FROM {value.name})"
    return Value(f"{duck}({value.text}, {letters})", kinds.STRING, called)


TEXTS: dict[str, Translate] = {
    "upper": _cased("upper", "upper"),
    "ucase": _cased("upper", "ucase"),
    "lower": _cased("lower", "lower"),
    "lcase": _cased("lower", "lcase"),
    "length": simple("length", "CAST(length({}) AS INTEGER)", kinds.INT, is_text),
    "char_length": simple("char_length", "CAST(length({}) AS INTEGER)", kinds.INT, is_text),
    "character_length": simple(
        "character_length", "CAST(length({}) AS INTEGER)", kinds.INT, is_text
    ),
    "len": simple("len", "CAST(length({}) AS INTEGER)", kinds.INT, is_text),
    "position": _position("position", 1, 0),
    "trim": simple("trim", "trim({}, ' ')", kinds.STRING, is_text),
    "ltrim": simple("ltrim", "ltrim({}, ' ')", kinds.STRING, is_text),
    "rtrim": simple("rtrim", "rtrim({}, ' ')", kinds.STRING, is_text),
    "concat": _concat,
    "concat_ws": _concat_ws,
    "substring": _substring("substring"),
    "substr": _substring("substr"),
    "lpad": _padded("lpad"),
    "rpad": _padded("rpad"),
    "replace": _replace,
    "left": _end("left"),
    "right": _end("right"),
    "repeat": _repeat,
    "md5": simple("md5", "md5({})", kinds.STRING, is_text),
    "instr": _position("instr", 0, 1),
    "locate": _position("locate", 1, 0),
    "contains": simple("contains", "contains({}, {})", kinds.BOOLEAN, is_text, is_text),
    "startswith": simple("startswith", "starts_with({}, {})", kinds.BOOLEAN, is_text, is_text),
    "endswith": simple("endswith", "ends_with({}, {})", kinds.BOOLEAN, is_text, is_text),
}
"""By name in small letters."""
