"""Functions of mathematics, of bits, and sums that give NULL where others fail."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from paimonlab.sql_engine import arithmetic, decimals, kinds
from paimonlab.sql_engine.failures import quotient
from paimonlab.sql_engine.functions.signatures import Translate, WrongUseError, expect, named
from paimonlab.sql_engine.kinds import Kind, duck_type
from paimonlab.sql_engine.value import Value, cast


def _is_plain(kind: Kind) -> bool:
    return kinds.is_numeric(kind) and kind != kinds.FLOAT


def _of_doubles(name: str, template: str, count: int = 1) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, *[_is_plain] * count)
        sides = [cast(value, kinds.DOUBLE).text for value in values]
        return Value(f"({template.format(*sides)})", kinds.DOUBLE, named(name, values))

    return translate


def _shifted(name: str) -> Translate:
    """Return what moves bits by a number of places that the statement has."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, kinds.is_whole, kinds.is_whole)
        count = values[1].literal if values[1].is_literal else None
        kind = kinds.BIGINT if values[0].kind == kinds.BIGINT else kinds.INT
        width = 64 if kind == kinds.BIGINT else 32
        if type(count) is not int or not 0 <= count < 31:
            raise WrongUseError
        sql = cast(values[0], kinds.BIGINT).text
        if name == "shiftright":
            text = f"({sql} >> {count})"
        elif name == "shiftleft":
            text = _wrapped(f"(CAST({sql} AS HUGEINT) * {2**count})", width)
        else:
            moved = f"((CAST({sql} AS HUGEINT) + {2**width}) // {2**count})"
            text = f"(CASE WHEN {sql} < 0 THEN {moved} ELSE {sql} // {2**count} END)"
            text = text if count else sql
        return Value(f"CAST({text} AS {duck_type(kind)})", kind, named(name, values))

    return translate


def _wrapped(sql: str, width: int) -> str:
    """Keep the lowest bits of a number, as Java does."""
    half, whole = 2 ** (width - 1), 2**width
    return f"(((({sql} + {half}) % {whole}) + {whole}) % {whole} - {half})"


def _bit(name: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, kinds.is_whole, kinds.is_whole)
        place = values[1].literal if values[1].is_literal else None
        width = 8 * 2 ** kinds.WHOLE.index(values[0].kind) if values[0].kind in kinds.WHOLE else 0
        if type(place) is not int or not 0 <= place < width:
            raise WrongUseError
        sql = cast(values[0], kinds.BIGINT).text
        text = f"CAST((({sql} >> {place}) & 1) AS TINYINT)"
        return Value(text, kinds.TINYINT, named(name, values))

    return translate


def _arc(name: str) -> Translate:
    """Return ``asin`` and ``acos``: NaN of what is no sine."""

    def translate(values: Sequence[Value]) -> Value:
        expect(values, _is_plain)
        sql = cast(values[0], kinds.DOUBLE).text
        text = (
            f"(CASE WHEN {sql} < -1 OR {sql} > 1 THEN 'nan'::DOUBLE ELSE {name.lower()}({sql}) END)"
        )
        return Value(text, kinds.DOUBLE, named(name, values))

    return translate


def _instead_of_nan(values: Sequence[Value]) -> Value:
    expect(values, lambda kind: kind == kinds.DOUBLE, _is_plain)
    first, second = (cast(value, kinds.DOUBLE).text for value in values)
    text = f"(CASE WHEN isnan({first}) THEN {second} ELSE {first} END)"
    return Value(text, kinds.DOUBLE, named("nanvl", values))


def _negative(values: Sequence[Value]) -> Value:
    if len(values) != 1:
        raise WrongUseError
    return replace(arithmetic.negate(values[0]), name=named("negative", values))


def _positive(values: Sequence[Value]) -> Value:
    expect(values, _is_plain)
    return Value(values[0].text, values[0].kind, f"(+ {values[0].name})")


def _try_remainder(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_numeric, kinds.is_numeric)
    rest = arithmetic.remainder(values[0], values[1])
    text = f"(CASE WHEN {values[1].text} = 0 THEN NULL ELSE {rest.text} END)"
    return Value(text, rest.kind, named("try_mod", values))


def _bit_count(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_whole)
    text = f"CAST(bit_count({cast(values[0], kinds.BIGINT).text}) AS INTEGER)"
    return Value(text, kinds.INT, named("bit_count", values))


def _positive_remainder(values: Sequence[Value]) -> Value:
    """``pmod``: the remainder, moved by the divisor where it is negative."""
    expect(values, kinds.is_numeric, kinds.is_numeric)
    first, second = values
    kind = arithmetic.remainder(first, second).kind
    if kinds.is_decimal(kind):
        above, below = decimals.alike(first, second)
    else:
        above, below = cast(first, kind).text, cast(second, kind).text
    rest = f"({above} % {below})"
    moved = f"(CASE WHEN {rest} < 0 THEN ({rest} + {below}) % {below} ELSE {rest} END)"
    text = quotient(moved, above, below, second)
    return Value(f"CAST({text} AS {duck_type(kind)})", kind, named("pmod", values))


def _try_divide(values: Sequence[Value]) -> Value:
    if len(values) != 2:
        raise WrongUseError
    divided = arithmetic.divide(*values)
    text = f"(CASE WHEN {values[1].text} = 0 THEN NULL ELSE {divided.text} END)"
    return Value(text, divided.kind, named("try_divide", values))


def _tried(name: str, sign: str) -> Translate:
    def translate(values: Sequence[Value]) -> Value:
        expect(values, kinds.is_whole, kinds.is_whole)
        kind = kinds.common(values[0].kind, values[1].kind)
        assert kind is not None, "whole numbers have a type together"
        sides = f" {sign} ".join(f"CAST({value.text} AS HUGEINT)" for value in values)
        return Value(f"TRY_CAST(({sides}) AS {duck_type(kind)})", kind, named(name, values))

    return translate


def _factorial(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_whole)
    sql = values[0].text
    text = (
        f"(CASE WHEN {sql} < 0 OR {sql} > 20 THEN NULL "
        f"ELSE CAST(factorial(CAST({sql} AS INTEGER)) AS BIGINT) END)"
    )
    return Value(text, kinds.BIGINT, named("factorial", values))


def _base_logarithm(values: Sequence[Value]) -> Value:
    expect(values, _is_plain, _is_plain)
    base, sql = (cast(value, kinds.DOUBLE).text for value in values)
    text = f"(CASE WHEN {base} <= 0 OR {sql} <= 0 THEN NULL ELSE ln({sql}) / ln({base}) END)"
    return Value(text, kinds.DOUBLE, named("LOG", values))


def _e(values: Sequence[Value]) -> Value:
    expect(values)
    return Value("2.718281828459045::DOUBLE", kinds.DOUBLE, "E()")


def _cbrt(values: Sequence[Value]) -> Value:
    return _of_doubles("CBRT", "cbrt({})")(values)


def _null_if_zero(values: Sequence[Value]) -> Value:
    expect(values, _is_plain)
    text = f"(CASE WHEN {values[0].text} = 0 THEN NULL ELSE {values[0].text} END)"
    return Value(text, values[0].kind, named("nullifzero", values))


def _zero_if_null(values: Sequence[Value]) -> Value:
    expect(values, kinds.is_whole)
    kind = kinds.INT if values[0].kind in (*kinds.WHOLE[:3], kinds.VOID) else kinds.BIGINT
    text = f"coalesce(CAST({values[0].text} AS {duck_type(kind)}), 0)"
    return Value(text, kind, named("zeroifnull", values))


MATHEMATICS: dict[str, Translate] = {
    "sin": _of_doubles("SIN", "sin({})"),
    "cos": _of_doubles("COS", "cos({})"),
    "tan": _of_doubles("TAN", "tan({})"),
    "atan": _of_doubles("ATAN", "atan({})"),
    "atan2": _of_doubles("ATAN2", "atan2({}, {})", 2),
    "degrees": _of_doubles("DEGREES", "degrees({})"),
    "radians": _of_doubles("RADIANS", "radians({})"),
    "cbrt": _cbrt,
    "rint": _of_doubles("rint", "round_even({}, 0)"),
    "e": _e,
    "acosh": _of_doubles(
        "ACOSH", "CASE WHEN {0} < 1 THEN 'NaN'::DOUBLE ELSE ln({0} + sqrt({0} * {0} - 1)) END"
    ),
    "asinh": _of_doubles("ASINH", "asinh({})"),
    "atanh": _of_doubles(
        "ATANH",
        "CASE WHEN abs({0}) > 1 THEN 'NaN'::DOUBLE WHEN abs({0}) = 1 "
        "THEN {0} * 'Infinity'::DOUBLE ELSE atanh({0}) END",
    ),
    "expm1": _of_doubles("EXPM1", "2 * sinh({0} / 2) * exp({0} / 2)"),
    "log1p": _of_doubles(
        "LOG1P",
        "CASE WHEN {0} <= -1 THEN NULL WHEN abs({0}) < 0.5 "
        "THEN 2 * atanh({0} / (2 + {0})) ELSE ln(1 + {0}) END",
    ),
    "hypot": _of_doubles(
        "HYPOT",
        "CASE WHEN isinf({0}) OR isinf({1}) THEN 'Infinity'::DOUBLE "
        "ELSE sqrt({0} * {0} + {1} * {1}) END",
        2,
    ),
    "sinh": _of_doubles("SINH", "sinh({})"),
    "cosh": _of_doubles("COSH", "cosh({})"),
    "tanh": _of_doubles("TANH", "tanh({})"),
    "asin": _arc("ASIN"),
    "acos": _arc("ACOS"),
    "cot": _of_doubles("COT", "1.0::DOUBLE / tan({})"),
    "sec": _of_doubles("SEC", "1.0::DOUBLE / cos({})"),
    "csc": _of_doubles("CSC", "1.0::DOUBLE / sin({})"),
    "nanvl": _instead_of_nan,
    "negative": _negative,
    "positive": _positive,
    "try_mod": _try_remainder,
    "bit_get": _bit("bit_get"),
    "getbit": _bit("getbit"),
    "shiftleft": _shifted("shiftleft"),
    "shiftright": _shifted("shiftright"),
    "shiftrightunsigned": _shifted("shiftrightunsigned"),
    "bit_count": _bit_count,
    "factorial": _factorial,
    "pmod": _positive_remainder,
    "try_divide": _try_divide,
    "try_add": _tried("try_add", "+"),
    "try_subtract": _tried("try_subtract", "-"),
    "try_multiply": _tried("try_multiply", "*"),
    "nullifzero": _null_if_zero,
    "zeroifnull": _zero_if_null,
}
"""By name in small letters."""


def logarithm(one: Translate) -> Translate:
    """Return ``log`` of one argument or of a base and one.

    Parameters
    ----------
    one
        Translates it of one argument.
    """

    def translate(values: Sequence[Value]) -> Value:
        return _base_logarithm(values) if len(values) == 2 else one(values)

    return translate


def bits(sign: str, left: Value, right: Value) -> Value:
    """Translate ``&``, ``|`` and ``^``.

    Raises
    ------
    WrongUseError
        If they are not whole numbers.
    """
    expect([left, right], kinds.is_whole, kinds.is_whole)
    kind = kinds.common(left.kind, right.kind)
    assert kind is not None, "whole numbers have a type together"
    sides = cast(left, kind).text, cast(right, kind).text
    text = f"xor({sides[0]}, {sides[1]})" if sign == "^" else f"({sides[0]} {sign} {sides[1]})"
    return Value(text, kind, f"({left.name} {sign} {right.name})")
