"""CAST: the conversions that DuckDB does as Spark, or can be made to."""

from __future__ import annotations

from sqlglot import exp

from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.functions import clocks, days, doubles, moments
from paimonlab.sql_engine.kinds import Kind, duck_type, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import Value, cast, read_text

_SIMPLE = {
    "BOOLEAN": kinds.BOOLEAN,
    "TINYINT": kinds.TINYINT,
    "SMALLINT": kinds.SMALLINT,
    "INT": kinds.INT,
    "BIGINT": kinds.BIGINT,
    "FLOAT": kinds.FLOAT,
    "DOUBLE": kinds.DOUBLE,
    "TEXT": kinds.STRING,
    "BINARY": kinds.BINARY,
    "DATE": kinds.DATE,
    "TIMESTAMPNTZ": kinds.TIMESTAMP_NTZ,
    "TIMESTAMPTZ": kinds.TIMESTAMP,
    "TIMESTAMPLTZ": kinds.TIMESTAMP,
    "TIMESTAMP": kinds.TIMESTAMP,
}
CALLED = {
    "boolean": kinds.BOOLEAN,
    "tinyint": kinds.TINYINT,
    "smallint": kinds.SMALLINT,
    "int": kinds.INT,
    "bigint": kinds.BIGINT,
    "float": kinds.FLOAT,
    "double": kinds.DOUBLE,
    "decimal": kinds.decimal(10, 0),
    "string": kinds.STRING,
    "timestamp": kinds.TIMESTAMP,
}
"""Conversions that are written as functions."""
_WHOLE_TEXT = "^[+-]?[0-9]{1,18}$"
_NUMBER_TEXT = "^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"
_DECIMAL_TEXT = "^[+-]?([0-9]{1,38}([.][0-9]{0,38})?|[.][0-9]{1,38})$"
_NO_NUMBER = "[A-DF-Za-df-z/:;,()_%*~]"
_WORDS = (("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0"))
"""Texts that are true, and false, in any case."""
_DATE_TEXT = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_CLOCKS = (kinds.DATE, kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP)
_AROUND = "[^!-~]*"
"""Blanks and controls, some of which Java leaves out around a value."""
_TRIED_WHOLE = ("^[+-]?[0-9]+$", f"^{_AROUND}[+-]?[0-9]+{_AROUND}$")
_MAY_BE_DOUBLE = (
    f"(?i)^{_AROUND}[+-]?(0x[0-9a-f.]*(p[+-]?[0-9]*)?|[0-9.]+(e[+-]?[0-9]+)?|inf|infinity|nan)"
    f"[fd]?{_AROUND}$"
)
_TRIED_DOUBLE = (_NUMBER_TEXT, _MAY_BE_DOUBLE)
_DAY_START = f"^{_AROUND}[+-]?[0-9]{{4,7}}(-[0-9]{{1,2}}"
_TRIED: dict[Kind, tuple[str, str]] = {
    **dict.fromkeys(kinds.WHOLE, _TRIED_WHOLE),
    kinds.FLOAT: _TRIED_DOUBLE,
    kinds.DOUBLE: _TRIED_DOUBLE,
    kinds.DATE: (_DATE_TEXT, f"(?s){_DAY_START}(-[0-9]{{1,2}}([ T].*)?)?)?{_AROUND}$"),
    **dict.fromkeys(
        (kinds.TIMESTAMP_NTZ, kinds.TIMESTAMP), (days.TIME_TEXT, f"^{_AROUND}T?[+-]?[0-9]")
    ),
}
"""Which texts are values that are proven, and which may be values: no other text is one.

Source: apache/spark@v4.2.0 ``UTF8String.toLong``, ``SparkDateTimeUtils.stringToDate`` and
``stringToTimestamp``; doubles are Java's ``parseDouble``.
"""


def type_of(node: exp.DataType) -> Kind:
    """Return the type that a statement names.

    Raises
    ------
    NotTranslatedError
        If values of it are not computed with.
    """
    name = str(node.this.value if hasattr(node.this, "value") else node.this).upper()
    given = (part for part in node.expressions if isinstance(part, exp.DataTypeParam))
    sizes = [int(part.this.name) for part in given]
    if name == "DECIMAL":
        precision, scale = [*sizes, *(10, 0)[len(sizes) :]][:2]
        return kinds.decimal(precision, scale)
    kind = _SIMPLE.get(name)
    if kind is None or node.expressions:
        raise NotTranslatedError(f"the type {name}", name)
    return kind


def convert(value: Value, kind: Kind) -> Value:
    """Convert as ``CAST`` does, with errors where a value does not fit.

    Raises
    ------
    NotTranslatedError
        If that is not proven to be what Spark does.
    """
    name = f"CAST({value.name} AS {spark_type(kind)})"
    if value.kind in (kind, kinds.VOID):
        text = value.text if value.kind == kind else f"CAST(NULL AS {duck_type(kind)})"
        return Value(text, kind, name, value.literal)
    read = read_text(value, kind)
    if read is not None:
        return Value(read.text, kind, name, read.literal)
    converted = _text(value, kind)
    if converted is None:
        types = f"{spark_type(value.kind)} to {spark_type(kind)}"
        raise NotTranslatedError(f"CAST of {types}", "CAST")
    return Value(converted, kind, name)


def tried(value: Value, kind: Kind) -> Value:
    """Convert as ``TRY_CAST`` does: a value that does not fit becomes NULL.

    Raises
    ------
    NotTranslatedError
        If that is not proven to be what Spark does.
    """
    name = f"TRY_CAST({value.name} AS {spark_type(kind)})"
    plain = f"TRY_CAST({value.text} AS {duck_type(kind)})"
    if value.kind == kinds.STRING and kind in _TRIED:
        is_plain, may_be = _TRIED[kind]
        sql = value.text if kind in _CLOCKS else f"trim({value.text}, ' ')"
        converted = f"TRY_CAST({sql} AS {duck_type(kind)})"
        if kind == kinds.TIMESTAMP:
            converted = clocks.instant(f"TRY_CAST({sql} AS TIMESTAMP)")
        message = fails(f"{NOT_PROVEN}: TRY_CAST of such a text")
        text = (
            f"(CASE WHEN regexp_matches({sql}, '{is_plain}') THEN {converted} "
            f"WHEN regexp_matches({sql}, '{may_be}') THEN {message} ELSE NULL END)"
        )
        return Value(text, kind, name)
    if kinds.is_whole(value.kind) and kinds.is_whole(kind):
        return Value(plain, kind, name)
    if value.kind == kinds.STRING and kinds.is_decimal(kind):
        sql = f"trim({value.text}, ' ')"
        message = fails(f"{NOT_PROVEN}: TRY_CAST of such a text")
        text = (
            f"(CASE WHEN regexp_matches({sql}, '{_DECIMAL_TEXT}') THEN "
            f"TRY_CAST({sql} AS {duck_type(kind)}) "
            f"WHEN regexp_matches({sql}, '[0-9]') AND NOT regexp_matches({sql}, '{_NO_NUMBER}') "
            f"THEN {message} ELSE NULL END)"
        )
        return Value(text, kind, name)
    if value.kind == kinds.STRING and kind == kinds.BOOLEAN:
        message = fails(f"{NOT_PROVEN}: TRY_CAST of such a text")
        is_word = f"regexp_matches({value.text}, '^[0-9A-Za-z ]*$')"
        other = f"(CASE WHEN {is_word} THEN NULL ELSE {message} END)"
        return Value(_truth(value.text, other), kind, name)
    if value.kind == kind or (kind == kinds.STRING and _text(value, kind) is not None):
        return Value(convert(value, kind).text, kind, name)
    types = f"{spark_type(value.kind)} to {spark_type(kind)}"
    raise NotTranslatedError(f"TRY_CAST of {types}", "TRY_CAST")


def _text(value: Value, kind: Kind) -> str | None:
    source, sql = value.kind, value.text
    if not kinds.is_atomic(source):
        return None
    plain = f"CAST({sql} AS {duck_type(kind)})"
    if kinds.is_numeric(kind):
        return _number(value, kind, plain)
    if kind == kinds.STRING and source != kinds.TIMESTAMP:
        if source == kinds.DOUBLE:
            return doubles.written(sql)
        as_text = kinds.is_whole(source) or kinds.is_decimal(source)
        return (
            plain if as_text or source in (kinds.BOOLEAN, kinds.DATE, kinds.TIMESTAMP_NTZ) else None
        )
    if kind == kinds.BOOLEAN:
        return _as_boolean(source, sql)
    return _as_time(value, kind, plain)


def _as_boolean(source: Kind, sql: str) -> str | None:
    if kinds.is_numeric(source):
        return f"({sql} <> 0)"
    if source == kinds.STRING:
        return _truth(sql, fails(f"{NOT_PROVEN}: CAST of such a text to BOOLEAN"))
    return None


def _as_time(value: Value, kind: Kind, plain: str) -> str | None:
    source, sql = value.kind, value.text
    if {source, kind} == {kinds.DATE, kinds.TIMESTAMP_NTZ}:
        return plain
    if source == kinds.TIMESTAMP and kind in (kinds.DATE, kinds.STRING, kinds.TIMESTAMP_NTZ):
        return f"CAST({clocks.shown(value).text} AS {duck_type(kind)})"
    if kind == kinds.TIMESTAMP and source in (kinds.DATE, kinds.TIMESTAMP_NTZ):
        return clocks.as_instant(value).text
    if kind == kinds.TIMESTAMP and kinds.is_whole(source):
        return moments.seconds_as_time(cast(value, kinds.BIGINT).text, "CAST")
    if kind in (kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ) and source == kinds.STRING:
        return days.moment_of_text(sql, kind, "CAST")
    if kind == kinds.DATE and source == kinds.STRING:
        return _guarded(sql, _DATE_TEXT, f"CAST({sql} AS DATE)")
    return None


def _number(value: Value, kind: Kind, plain: str) -> str | None:
    source, sql = value.kind, value.text
    if source == kinds.STRING:
        return _number_of_text(f"trim({sql}, ' ')", kind)
    if source == kinds.BOOLEAN:
        return plain
    if source == kinds.TIMESTAMP:
        return _seconds(sql, kind)
    if not kinds.is_numeric(source):
        return None
    if kinds.is_whole(kind):
        return plain if kinds.is_whole(source) else f"CAST(trunc({sql}) AS {duck_type(kind)})"
    if kinds.is_decimal(kind):
        if source not in (kinds.FLOAT, kinds.DOUBLE):
            return plain
        return _double_as_decimal(cast(value, kinds.DOUBLE).text, kind)
    if kind == kinds.DOUBLE:
        return cast(value, kind).text
    return plain if source in (*kinds.WHOLE, kinds.DOUBLE) else None


def _number_of_text(sql: str, kind: Kind) -> str | None:
    converted = f"CAST({sql} AS {duck_type(kind)})"
    if kinds.is_whole(kind):
        return _guarded(sql, _WHOLE_TEXT, converted)
    if kinds.is_decimal(kind):
        return _guarded(sql, _DECIMAL_TEXT, converted)
    return _guarded(sql, _NUMBER_TEXT, converted) if kind == kinds.DOUBLE else None


def _seconds(sql: str, kind: Kind) -> str | None:
    """Count the seconds of an instant since 1970: whole ones are rounded down."""
    micros = f"epoch_us({sql})"
    if kind == kinds.DOUBLE:
        return f"(CAST({micros} AS DOUBLE) / 1000000)"
    if not kinds.is_whole(kind):
        return None
    down = f"(({micros} % 1000000 + 1000000) % 1000000)"
    return f"CAST(({micros} - {down}) // 1000000 AS {duck_type(kind)})"


def _truth(sql: str, other: str) -> str:
    """Read a text as true or false; ``other`` is what becomes of the rest."""
    yes, no = (", ".join(f"'{word}'" for word in words) for words in _WORDS)
    word = f"lower(trim({sql}, ' '))"
    return (
        f"(CASE WHEN {sql} IS NULL THEN NULL WHEN {word} IN ({yes}) THEN true "
        f"WHEN {word} IN ({no}) THEN false ELSE {other} END)"
    )


def _double_as_decimal(sql: str, kind: Kind) -> str:
    """Round the digits that a double is written with, as Java's ``BigDecimal`` does."""
    least = 10.0 ** -(kinds.shape(kind)[1] + 1)
    return (
        f"(CASE WHEN {sql} IS NULL OR NOT isfinite({sql}) THEN NULL "
        f"WHEN abs({sql}) < {least!r} THEN CAST(0 AS {duck_type(kind)}) "
        f"ELSE CAST(CAST({sql} AS VARCHAR) AS {duck_type(kind)}) END)"
    )


def _guarded(sql: str, pattern: str, converted: str) -> str:
    message = fails(f"{NOT_PROVEN}: CAST of such a text")
    return (
        f"(CASE WHEN {sql} IS NULL THEN NULL WHEN regexp_matches({sql}, '{pattern}') "
        f"THEN {converted} ELSE {message} END)"
    )
