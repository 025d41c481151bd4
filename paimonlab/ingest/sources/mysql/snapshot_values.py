"""Values of result sets, which MySQL writes as text, to Arrow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_scalar, numpy_values
from paimonlab.ingest.formats.geometry import MYSQL_SHAPES, mysql_geometry_json
from paimonlab.ingest.formats.json_cells import Column
from paimonlab.ingest.formats.mysql_columns import mysql_type
from paimonlab.ingest.formats.text_values import read_or_errors
from paimonlab.ingest.sources.mysql.log_values import NO_BOOLEAN, NO_TIME, ZERO_DATE, Values
from paimonlab.ingest.sources.mysql.zones import moments
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import TEXT_ROOTS, AtomicType, DataType, TypeRoot

Read = Callable[[pa.Array], pa.Array]
"""From a binary array; raises ``ValueError`` or what Arrow raises if one value cannot be held."""

_BINARY = (TypeRoot.BINARY, TypeRoot.VARBINARY)


def selected(name: str, declared: str) -> str:
    """Return how a column is asked for: FLOAT is shown with six digits otherwise."""
    quoted = f"`{name.replace('`', '``')}`"
    return f"{quoted} * 1e0" if declared == "float" else quoted


def reader(declared: str, kind: DataType, zone: str) -> Callable[[pa.Array], Values]:
    """Return how the texts of a column become values of its type.

    Parameters
    ----------
    declared
        The type as `plain_type` writes it.
    kind
        The type here.
    zone
        Of TIMESTAMP without zone.
    """
    read = _read(declared, kind, zone)

    def read_all(texts: pa.Array) -> Values:
        try:
            return Values(read(texts), {})
        except (pa.ArrowInvalid, ValueError):
            every = np.ones(len(texts), np.bool_)
            found, errors = read_or_errors(
                lambda column: read(column.texts), Column(texts, every, None)
            )
            return Values(pa.nulls(len(texts), to_arrow(kind)) if found is None else found, errors)

    return read_all


def _read(declared: str, kind: DataType, zone: str) -> Read:  # noqa: PLR0911 - one a type
    source = mysql_type(declared)
    if not isinstance(kind, AtomicType):
        return _sets
    if source.name in MYSQL_SHAPES:
        return _geometries
    if source.name == "BIT":
        return _bit if kind.root is TypeRoot.BOOLEAN else _same
    if kind.root in _BINARY:
        return _same
    if kind.root in TEXT_ROOTS:
        return lambda texts: texts.cast(pa.string())
    if kind.root is TypeRoot.BOOLEAN:
        return _truth
    if kind.root is TypeRoot.DATE:
        return _dates(kind)
    if kind.root is TypeRoot.TIME:
        return _times
    if kind.root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        return _moments(kind, zone, is_instant=source.name == "TIMESTAMP")
    arrow = to_arrow(kind)
    return lambda texts: texts.cast(pa.string()).cast(arrow)


def _same(texts: pa.Array) -> pa.Array:
    return texts


def _bit(texts: pa.Array) -> pa.Array:
    return pc.equal(texts, arrow_scalar(b"\x01", pa.binary()))


def _geometries(texts: pa.Array) -> pa.Array:
    return pa.array(
        [None if value is None else mysql_geometry_json(value) for value in texts.to_pylist()],
        pa.string(),
    )


def _sets(texts: pa.Array) -> pa.Array:
    found = texts.cast(pa.string()).dictionary_encode()
    members = [text.split(",") if text else [] for text in found.dictionary.to_pylist()]
    return pa.array(members, pa.list_(pa.string())).take(found.indices)


def _truth(texts: pa.Array) -> pa.Array:
    numbers = texts.cast(pa.string()).cast(pa.int16())
    wrong = pc.any(pc.greater(pc.cast(pc.abs(numbers), pa.int16()), _ONE)).as_py()
    negative = pc.any(pc.less(numbers, _ZERO)).as_py()
    if wrong or negative:
        raise ValueError(f"{numbers[0].as_py()} {NO_BOOLEAN}")
    return numbers.cast(pa.bool_())


_ONE = arrow_scalar(1, pa.int16())
_ZERO = arrow_scalar(0, pa.int16())


def _dates(kind: AtomicType) -> Read:
    def read(texts: pa.Array) -> pa.Array:
        return _calendar(texts, pa.date32(), kind)

    return read


def _moments(kind: AtomicType, zone: str, *, is_instant: bool) -> Read:
    arrow = to_arrow(kind)

    def read(texts: pa.Array) -> pa.Array:
        found = _calendar(texts, pa.timestamp(arrow.unit), kind)
        return moments(found, arrow, zone) if is_instant else found

    return read


def _calendar(texts: pa.Array, arrow: pa.DataType, kind: AtomicType) -> pa.Array:
    """Read dates; those that no calendar has are null, where that is allowed."""
    found = texts.cast(pa.string())
    try:
        made = found.cast(arrow)
        if not pc.any(pc.starts_with(found, "0000-")).as_py():
            return made
    except pa.ArrowInvalid:
        pass
    is_date = np.array([_is_date(text) for text in found.to_pylist()], np.bool_)
    wrong = ~is_date
    if wrong.any() and not kind.nullable:
        raise ValueError(ZERO_DATE)
    nulls = wrong | numpy_values(found.is_null(), zero_copy_only=False)
    places = pa.array(np.arange(len(found)), mask=nulls)
    return found.take(places).cast(arrow)


_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _is_date(text: str | None) -> bool:
    if text is None:
        return True
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:10])
    if year < 1 or not 1 <= month <= 12 or day < 1:
        return False
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return day <= _DAYS[month - 1] and (month != 2 or day < 29 or is_leap)


def _times(texts: pa.Array) -> pa.Array:
    found = texts.cast(pa.string())
    joined = pc.binary_join_element_wise(_DAY, found, _BLANK)
    try:
        return joined.cast(pa.timestamp("us")).cast(pa.timestamp("ms")).cast(pa.time32("ms"))
    except pa.ArrowInvalid:
        raise ValueError(f"{found[0].as_py()}: {NO_TIME}") from None


_DAY, _BLANK = arrow_scalar("1970-01-01", pa.string()), arrow_scalar(" ", pa.string())
