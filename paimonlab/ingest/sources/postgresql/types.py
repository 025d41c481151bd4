"""Types of PostgreSQL and the types of Paimon that hold their values: pure functions.

What Paimon has a type for gets it; anything else is STRING, as PostgreSQL prints it.

Source: PostgreSQL's documentation, "Data Types", "System Catalogs" (``pg_type``); the table in
``docs/ingest-postgres.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from paimonlab.ingest.type_words import checked_words
from paimonlab.spec.types.data_types import ArrayType, AtomicType, DataType, TypeRoot
from paimonlab.spec.types.text import parse_type

_MAX_DECIMAL_PRECISION = 38
_MAX_MILLIS = 3
_MAX_MICROS = 6
_HEAD = 4
"""What is added to lengths in the modifiers of types."""

_BOOL, _BYTEA, _INT8, _INT2, _INT4, _TEXT = 16, 17, 20, 21, 23, 25
_OID, _FLOAT4, _FLOAT8, _BPCHAR, _VARCHAR = 26, 700, 701, 1042, 1043
_DATE, _TIME, _TIMESTAMP, _TIMESTAMPTZ, _NUMERIC = 1082, 1083, 1114, 1184, 1700
_NO_ARRAYS = frozenset((22, 30))
"""int2vector and oidvector are called arrays, but are not written as such."""
_AS_TEXT_WHEN_SENT = frozenset((_TEXT, _VARCHAR, _BPCHAR, 19, 114))
"""Types whose binary form is their text: text, varchar, bpchar, name, json."""

TYPE_MAPPINGS = ("to-string", "char-to-string", "special-to-null")
"""What `type_mapping` may have."""


class Way(Enum):
    """How a value becomes one of Arrow."""

    PLAIN = "plain"
    """As Arrow reads its text; sent in binary it is big-endian."""
    BOOL = "bool"
    TEXT = "text"
    BYTES = "bytes"
    DATE = "date"
    TIME = "time"
    TIMESTAMP = "timestamp"
    """With or without zone: in UTC."""
    ARRAY = "array"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class Kind:
    """What values of a column are, and become."""

    data_type: DataType
    way: Way
    element: Kind | None = None
    """Of arrays."""
    delimiter: str = ","
    """Of arrays."""
    has_specials: bool = False
    """Whether there may be NaN or infinity, which the type of Paimon does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerType:
    """A row of ``pg_type``."""

    oid: int
    name: str
    kind: str
    """``typtype``: b base, c composite, d domain, e enum, p pseudo, r range, m multirange."""
    base: int
    """Of a domain, else 0."""
    base_modifier: int
    element: int
    """Of an array, else 0."""
    is_array: bool
    delimiter: str
    has_text_cast: bool
    """Whether there is a cast to text, which may give another text than what is printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What users said about types."""

    type_mapping: frozenset[str] = frozenset()
    as_text: Callable[[str], bool] = lambda _: False
    """Says of ``schema.table.column`` whether it becomes STRING."""

    def __post_init__(self) -> None:
        checked_words(self.type_mapping, TYPE_MAPPINGS, "PostgreSQL")


def kind_of(
    oid: int, modifier: int, dimensions: int, types: Mapping[int, ServerType], rules: Rules
) -> Kind:
    """Return what values of a type become.

    Parameters
    ----------
    oid, modifier
        Of the type: ``atttypid``, ``atttypmod``.
    dimensions
        Of an array as it was declared; 0: unknown, or no array.
    types
        By oid, with all that they need; what is missing is STRING.
    rules
        What users said.
    """
    if "to-string" in rules.type_mapping:
        return _string()
    return _kind(oid, modifier, dimensions, types, rules)


def _kind(
    oid: int, modifier: int, dimensions: int, types: Mapping[int, ServerType], rules: Rules
) -> Kind:
    known = types.get(oid)
    if known is not None and known.kind == "d":
        inner = known.base_modifier if modifier < 0 else modifier
        return _kind(known.base, inner, dimensions, types, rules)
    if known is not None and known.is_array and oid not in _NO_ARRAYS:
        if dimensions > 1:
            return _string()
        element = _kind(known.element, modifier, 0, types, rules)
        if element.way in (Way.ARRAY, Way.MAP):
            return _string()
        return Kind(ArrayType(element.data_type), Way.ARRAY, element, _delimiter(known, types))
    if known is not None and known.name == "hstore":
        return Kind(parse_type("MAP<STRING, STRING>"), Way.MAP)
    return _atomic(oid, modifier, rules)


def _delimiter(array: ServerType, types: Mapping[int, ServerType]) -> str:
    element = types.get(array.element)
    return "," if element is None else element.delimiter


def _atomic(oid: int, modifier: int, rules: Rules) -> Kind:  # noqa: PLR0911 - a list of cases
    plain = _PLAIN.get(oid)
    if plain is not None:
        return Kind(AtomicType(plain), Way.PLAIN)
    if oid == _BOOL:
        return Kind(AtomicType(TypeRoot.BOOLEAN), Way.BOOL)
    if oid == _BYTEA:
        return Kind(parse_type("BYTES"), Way.BYTES)
    if oid in (_VARCHAR, _BPCHAR):
        return _characters(oid, modifier, rules)
    if oid == _NUMERIC:
        return _number(modifier)
    if oid == _DATE:
        return Kind(AtomicType(TypeRoot.DATE), Way.DATE, has_specials=True)
    if oid == _TIME:
        precision = _MAX_MILLIS if modifier < 0 else min(modifier, _MAX_MILLIS)
        return Kind(AtomicType(TypeRoot.TIME, precision=precision), Way.TIME)
    if oid in (_TIMESTAMP, _TIMESTAMPTZ):
        precision = _MAX_MICROS if modifier < 0 else modifier
        root = TypeRoot.TIMESTAMP if oid == _TIMESTAMP else TypeRoot.TIMESTAMP_LTZ
        return Kind(AtomicType(root, precision=precision), Way.TIMESTAMP, has_specials=True)
    return _string()


def _characters(oid: int, modifier: int, rules: Rules) -> Kind:
    if modifier < _HEAD or "char-to-string" in rules.type_mapping:
        return _string()
    root = TypeRoot.VARCHAR if oid == _VARCHAR else TypeRoot.CHAR
    return Kind(AtomicType(root, length=modifier - _HEAD), Way.TEXT)


def _number(modifier: int) -> Kind:
    """Return DECIMAL where there is one; precision and scale are in the modifier."""
    if modifier < _HEAD:
        return _string()
    bits = modifier - _HEAD
    precision, scale = bits >> 16, bits & 0x7FF
    # 11 bits with a sign since PostgreSQL 15, 16 without before: scales were 0 to 1000 then.
    scale = (scale ^ 0x400) - 0x400
    if not 0 <= scale <= precision <= _MAX_DECIMAL_PRECISION:
        return _string()
    return Kind(
        AtomicType(TypeRoot.DECIMAL, precision=precision, scale=scale), Way.PLAIN, has_specials=True
    )


def _string() -> Kind:
    return Kind(parse_type("STRING"), Way.TEXT)


_PLAIN = {
    _INT2: TypeRoot.SMALLINT,
    _INT4: TypeRoot.INT,
    _INT8: TypeRoot.BIGINT,
    _OID: TypeRoot.BIGINT,
    _FLOAT4: TypeRoot.FLOAT,
    _FLOAT8: TypeRoot.DOUBLE,
}
_SENT_AS_THEY_ARE = frozenset(
    (_INT2, _INT4, _INT8, _FLOAT4, _FLOAT8, _BOOL, _BYTEA, _DATE, _TIME, _TIMESTAMP, _TIMESTAMPTZ)
)


def selected(
    column: str, oid: int, kind: Kind, types: Mapping[int, ServerType]
) -> tuple[str, bool]:
    """Return what a binary COPY selects for a column, and whether that is in binary.

    Values that are not in binary are the texts that the server prints, which pgoutput sends too:
    both ways agree.

    Parameters
    ----------
    column
        Its name, quoted.
    oid
        Its type.
    kind
        What values become.
    types
        By oid.

    Returns
    -------
    str
        The expression.
    bool
        False: values are texts.
    """
    while (known := types.get(oid)) is not None and known.kind == "d":
        oid = known.base
    if oid in _AS_TEXT_WHEN_SENT:
        return column, False
    if oid in _SENT_AS_THEY_ARE and kind.way is not Way.TEXT:
        return column, True
    if known is None or known.has_text_cast:
        # A cast may give another text (boolean, inet, xml); `concat` writes what is printed.
        return f"CASE WHEN num_nulls({column}) = 0 THEN concat({column}) END", False
    return f"{column}::text", False
