"""Scalar functions: which there are, for which types, and what DuckDB computes for each."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from msgspec.structs import replace

from paimonlab.sql_engine import kinds, words
from paimonlab.sql_engine.aggregates import AGGREGATES, WINDOWS
from paimonlab.sql_engine.functions.addresses import ADDRESSES
from paimonlab.sql_engine.functions.arrays import ARRAYS
from paimonlab.sql_engine.functions.choices import CHOICES
from paimonlab.sql_engine.functions.codes import CODES
from paimonlab.sql_engine.functions.days import DAYS
from paimonlab.sql_engine.functions.hashes import HASHES
from paimonlab.sql_engine.functions.intervals import is_interval
from paimonlab.sql_engine.functions.json_fields import JSON_FIELDS
from paimonlab.sql_engine.functions.json_schemas import JSON_SCHEMAS
from paimonlab.sql_engine.functions.lists import LISTS
from paimonlab.sql_engine.functions.made_lengths import LENGTHS
from paimonlab.sql_engine.functions.maps import MAPS
from paimonlab.sql_engine.functions.mathematics import MATHEMATICS
from paimonlab.sql_engine.functions.moments import MOMENTS
from paimonlab.sql_engine.functions.number_formats import NUMBER_FORMATS
from paimonlab.sql_engine.functions.numbers import NUMBERS
from paimonlab.sql_engine.functions.patterns import PATTERNS
from paimonlab.sql_engine.functions.pieces import PIECES
from paimonlab.sql_engine.functions.signatures import Translate, WrongUseError
from paimonlab.sql_engine.functions.structs import STRUCTS
from paimonlab.sql_engine.functions.texts import TEXTS
from paimonlab.sql_engine.kinds import spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import NOT_WRITTEN, Value, cast

FUNCTIONS = {
    **TEXTS,
    **PIECES,
    **NUMBERS,
    **NUMBER_FORMATS,
    **MATHEMATICS,
    **DAYS,
    **MOMENTS,
    **CHOICES,
    **PATTERNS,
    **LISTS,
    **ARRAYS,
    **JSON_FIELDS,
    **JSON_SCHEMAS,
    **STRUCTS,
    **MAPS,
    **CODES,
    **HASHES,
    **ADDRESSES,
    **LENGTHS,
}
"""By name in small letters: the closed list."""
_OF_TEXT = frozenset(
    {"upper", "ucase", "lower", "lcase", "length", "char_length", "trim", "ltrim", "rtrim"}
    | {"substring", "substr", "lpad", "rpad", "replace", "left", "right", "instr", "split"}
    | {"contains", "startswith", "endswith", "substring_index", "split_part", "translate"}
    | {"character_length", "len", "mask", "regexp_instr", "regexp_count", "regexp_substr"}
    | {"initcap", "regexp_like", "rlike", "regexp_extract", "regexp_replace", "ascii"}
)
"""Functions of a text first, which take a number or a day as the text that it is written as."""


_OF_INTERVALS = frozenset(
    {"coalesce", "nvl", "ifnull", "nullif", "nvl2", "equal_null", "typeof", "isnull", "isnotnull"}
)
"""Functions that take lengths of time."""
_PLAIN = (kinds.DATE, kinds.BOOLEAN, kinds.TIMESTAMP, kinds.TIMESTAMP_NTZ)


def call(name: str, values: Sequence[Value]) -> Value:
    """Translate a call of a function.

    Raises
    ------
    NotTranslatedError
        If it is not proven, for these types.
    """
    translate = FUNCTIONS.get(name)
    if translate is None:
        raise NotTranslatedError(f"{name}()", name, meant(name))
    try:
        return _translated(name, translate, values)
    except (IndexError, WrongUseError):
        types = ", ".join(spark_type(value.kind) for value in values)
        raise NotTranslatedError(f"{name}({types})", name, words.written(name)) from None


def _translated(name: str, translate: Translate, values: Sequence[Value]) -> Value:
    if name not in _OF_INTERVALS and any(map(is_interval, values)):
        raise WrongUseError
    if name in _OF_TEXT and values and _is_written_plainly(values[0]):
        written = replace(cast(values[0], kinds.STRING), literal=NOT_WRITTEN, column=None)
        return translate([written, *values[1:]])
    return translate(values)


def _is_written_plainly(value: Value) -> bool:
    """Tell whether a value is the same text in both, where a text is expected."""
    kind = value.kind
    return kinds.is_whole(kind) or kinds.is_decimal(kind) or kind in _PLAIN


def meant(name: str) -> str:
    """Say which function is probably meant by a name; empty if that is unclear."""
    if name in words.ELSEWHERE:
        return words.written(name)
    known = sorted({*FUNCTIONS, *AGGREGATES, *WINDOWS})
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    return f"Did you mean {close[0]}()?" if close else ""
