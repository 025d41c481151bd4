"""Random Arrow columns of any data type, nulls and extremes included."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataType,
    MapType,
    MultisetType,
    RowType,
    TypeRoot,
    with_nullable,
)

_EXACT = Context(prec=60)
_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INT: 32, TypeRoot.BIGINT: 64}
_TEXTS = ["", "a", "1234567", "12345678", "é", "日本語テキスト", "\0", "🙂" * 5, "x" * 300]


def random_column(
    data_type: DataType, rows: int, rng: np.random.Generator, *, for_orc: bool = False
) -> pa.Array:
    """Return values of the Arrow type of ``data_type``, about a sixth of them null."""
    random = _seeded(rng)
    values = [_value(data_type, random, for_orc) for _ in range(rows)]
    return pa.array(values, to_arrow(data_type))


def random_value(data_type: DataType, rng: np.random.Generator, *, for_orc: bool = False) -> Any:
    """Return a value as `pyarrow.array` takes it.

    ``for_orc``: before 1970 only whole seconds, for Java's ORC files lose parts of the last one;
    no negative zero, for Java's reader takes zeros that follow it for the same.
    """
    return _value(data_type, _seeded(rng), for_orc)


def _seeded(rng: np.random.Generator) -> Random:
    """Draw a generator of single numbers; numpy's takes ten times as long for one."""
    return Random(int(rng.integers(2**63)))


def _value(data_type: DataType, random: Random, for_orc: bool) -> Any:
    if data_type.nullable and random.random() < 1 / 6:
        return None
    size = random.randrange(4)
    match data_type:
        case AtomicType():
            found = _atom(data_type, random)
            return _fit_for_orc(found, data_type) if for_orc else found
        case ArrayType(element):
            return [_value(element, random, for_orc) for _ in range(size * 12)]
        case MapType(key, value):
            return _map(key, value, size, random, for_orc)
        case MultisetType(element):
            count = AtomicType(TypeRoot.INT, nullable=False)
            return _map(element, count, size, random, for_orc)
        case RowType(fields):
            return {field.name: _value(field.type, random, for_orc) for field in fields}


def _map(
    key: DataType, value: DataType, size: int, random: Random, for_orc: bool
) -> list[tuple[Any, Any]]:
    key = with_nullable(key, nullable=False)
    pairs = {_value(key, random, for_orc): _value(value, random, for_orc) for _ in range(size)}
    return list(pairs.items())


def _atom(data_type: AtomicType, random: Random) -> Any:  # noqa: PLR0911
    root, precision = data_type.root, data_type.precision or 0
    match root:
        case TypeRoot.BOOLEAN:
            return random.random() < 0.5
        case TypeRoot.TINYINT | TypeRoot.SMALLINT | TypeRoot.INT | TypeRoot.BIGINT:
            return _signed(_BITS[root], random)
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            number = random.choice((0.0, -0.0, math.inf, -math.inf, 1.5, -1e30, random.gauss()))
            return float(np.float32(number)) if root is TypeRoot.FLOAT else number
        case TypeRoot.DECIMAL:
            return _decimal(precision, data_type.scale or 0, random)
        case TypeRoot.CHAR | TypeRoot.VARCHAR:
            return random.choice(_TEXTS)[: data_type.length]
        case TypeRoot.BINARY | TypeRoot.VARBINARY:
            return random.randbytes(random.choice((0, 1, 7, 8, 9, 40)))[: data_type.length]
        case TypeRoot.DATE:
            return random.randrange(-719162, 2932896)
        case TypeRoot.TIME:
            step = 10 ** (3 - min(precision, 3))
            return random.randrange(86_400_000 // step) * step
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _instant(precision, random)
        case _:
            raise AssertionError(f"no random values of {root}")


def _decimal(precision: int, scale: int, random: Random) -> Decimal:
    number = random.randrange(10 ** random.randint(1, precision))
    near_power = 2 ** random.randrange(8 * 16) % 10**precision
    chosen = random.choice((number, near_power, near_power - 1, 10**precision - 1))
    sign = "-" if random.random() < 0.5 else ""
    return Decimal(f"{sign}{chosen}").scaleb(-scale, context=_EXACT)


def _fit_for_orc(value: Any, data_type: AtomicType) -> Any:
    if data_type.root in (TypeRoot.FLOAT, TypeRoot.DOUBLE):
        return value + 0.0
    if data_type.root not in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ) or value >= 0:
        return value
    precision = data_type.precision or 0
    second = 10 ** (3 if precision <= 3 else 6 if precision <= 6 else 9)
    return value // second * second


def _signed(bits: int, random: Random) -> int:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return random.choice((0, -1, low, high, random.randrange(low, high)))


def _instant(precision: int, random: Random) -> int:
    """Return ticks of the Arrow unit: milli-, micro- or nanoseconds since the epoch."""
    unit = 3 if precision <= 3 else 6 if precision <= 6 else 9
    seconds = random.choice((random.randrange(-9 * 10**9, 9 * 10**9), -1, 0, 1))
    some = random.randrange(10**precision)
    fraction = random.choice((0, 1 % 10**precision, 10**precision - 1, some))
    return seconds * 10**unit + fraction * 10 ** (unit - precision)
