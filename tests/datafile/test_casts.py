"""Casts against what Java Paimon 1.3.1 made of the same values (``cases/casts.jsonl``).

One line a pair of types; ``{"error": true}`` where Java refuses a value. Recorded on Java 17 in
the zone UTC.
"""

from __future__ import annotations

import json
import math
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.datafile.casts import atomic_cast
from paimonlab.errors import UnsupportedError
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, TypeRoot
from paimonlab.spec.types.text import parse_type

_CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "casts.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
ERROR = {"error": True}

DIFFERENT_HERE = {
    # JDK 17 spells some doubles with a digit too many; since JDK 19 they are as here.
    ("DOUBLE", 1e23),
    ("FLOAT", 2147483648.0),
    # Java wraps this number of seconds, here it is out of range.
    ("VARCHAR", "9223372036854775807"),
    ("VARCHAR", "2147483647"),
}


def _atomic(text: str) -> AtomicType:
    kind = parse_type(text)
    assert isinstance(kind, AtomicType)
    return kind


def _fraction(text: str) -> tuple[str, int]:
    """Split nanoseconds off a time or timestamp text."""
    whole, _, digits = text.rstrip("Z").partition(".")
    return whole, int(digits.ljust(9, "0")) if digits else 0


def _nanos(text: str) -> int:
    whole, nanos = _fraction(text)
    day, _, clock = whole.partition("T")
    year, month, rest = day.rsplit("-", 2)
    # Years beyond Python's are moved by whole cycles of the calendar.
    cycles, in_cycle = divmod(int(year) - 2000, 400)
    days = date(2000 + in_cycle, int(month), int(rest)).toordinal() + cycles * 146097
    hour, minute, *second = map(int, clock.split(":"))
    minutes = ((days - date(1970, 1, 1).toordinal()) * 24 + hour) * 60 + minute
    return (minutes * 60 + sum(second)) * 10**9 + nanos


def _physical(value: Any, kind: AtomicType) -> Any:  # noqa: PLR0911 - one a type
    """Return the number, text or bytes that stands for a recorded value; None for null."""
    if value is None:
        return None
    match kind.root:
        case TypeRoot.DECIMAL:
            return Decimal(value)
        case TypeRoot.BINARY | TypeRoot.VARBINARY:
            return bytes.fromhex(value)
        case TypeRoot.DATE:
            return _nanos(value + "T00:00") // (86400 * 10**9)
        case TypeRoot.TIME:
            return _nanos("1970-01-01T" + value) // 1_000_000
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            unit = to_arrow(kind).unit
            return _nanos(value) // {"ms": 10**6, "us": 10**3, "ns": 1}[unit]
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            return float(value)
    return value


def _storage(kind: AtomicType) -> pa.DataType:
    arrow = to_arrow(kind)
    if pa.types.is_temporal(arrow):
        return pa.int64() if arrow.bit_width == 64 else pa.int32()
    return arrow


def _array(values: list[Any], kind: AtomicType) -> pa.Array:
    physical = [_physical(value, kind) for value in values]
    return pa.array(physical, _storage(kind)).view(to_arrow(kind))


def _is_plain(target: AtomicType) -> bool:
    return target.root in (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)


def _is_representable(expected: Any, target: AtomicType) -> bool:
    """Whether Arrow's type has the value: nanoseconds end in 2262."""
    if target.root not in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ):
        return True
    if to_arrow(target).unit != "ns":
        return True
    return abs(_nanos(expected)) < 2**63


def _same(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and isinstance(expected, float):
        if math.isnan(expected):
            return math.isnan(found)
        return found == expected and math.copysign(1, found) == math.copysign(1, expected)
    return bool(found == expected)


def _expected(value: Any, kind: AtomicType) -> Any:
    physical = _physical(value, kind)
    return pa.scalar(physical, pa.float32()).as_py() if kind.root is TypeRoot.FLOAT else physical


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case['from']}-{case['to']}")
def test_values_are_cast_as_java_casts_them(case: Any) -> None:
    source, target = _atomic(case["from"]), _atomic(case["to"])
    cast = atomic_cast(source, target, column="db.t, column c")
    assert cast is not None
    for value, expected in zip(case["values"], case["expected"], strict=True):
        if (source.root.value, value) in DIFFERENT_HERE and not _is_plain(target):
            continue
        array = _array([None, value], source)
        if expected == ERROR or not _is_representable(expected, target):
            with pytest.raises(ValueError, match=r"cannot read|out of the range"):
                cast(array)
            continue

        result = cast(array)

        assert result.type == to_arrow(target)
        found = result.view(_storage(target)).to_pylist()
        assert found[0] is None
        assert _same(found[1], _expected(expected, target)), (value, found[1], expected)


def test_an_unchanged_type_needs_no_cast() -> None:
    assert atomic_cast(_atomic("INT NOT NULL"), _atomic("INT"), column="c") is None


def test_a_cast_that_is_none_names_column_and_types() -> None:
    with pytest.raises(UnsupportedError, match=r"db\.t, column c: reading DATE as INT"):
        atomic_cast(_atomic("DATE"), _atomic("INT"), column="db.t, column c")


def test_what_needs_a_zone_is_refused_outside_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.timezone", -32400)

    with pytest.raises(UnsupportedError, match="set TZ=UTC"):
        atomic_cast(_atomic("TIMESTAMP(3)"), _atomic("TIMESTAMP_LTZ(3)"), column="c")
