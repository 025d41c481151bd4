"""Random Arrow columns of any data type, nulls and extremes included."""

from __future__ import annotations

from decimal import Context, Decimal
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
    values = [random_value(data_type, rng, for_orc=for_orc) for _ in range(rows)]
    return pa.array(values, to_arrow(data_type))


def random_value(data_type: DataType, rng: np.random.Generator, *, for_orc: bool = False) -> Any:
    """Return a value as `pyarrow.array` takes it.

    ``for_orc``: before 1970 only whole seconds, for Java's ORC files lose parts of the last one;
    no negative zero, for Java's reader takes zeros that follow it for the same.
    """
    if data_type.nullable and rng.random() < 1 / 6:
        return None
    size = int(rng.integers(0, 4))
    match data_type:
        case ArrayType(element):
            return [random_value(element, rng, for_orc=for_orc) for _ in range(size * 12)]
        case MapType(key, value):
            return _random_map(key, value, size, rng, for_orc=for_orc)
        case MultisetType(element):
            count = AtomicType(TypeRoot.INT, nullable=False)
            return _random_map(element, count, size, rng, for_orc=for_orc)
        case RowType(fields):
            return {field.name: random_value(field.type, rng, for_orc=for_orc) for field in fields}
        case AtomicType():
            found = _random_atom(data_type, rng)
            return _fit_for_orc(found, data_type) if for_orc else found


def _random_map(
    key: DataType, value: DataType, size: int, rng: np.random.Generator, *, for_orc: bool
) -> list[tuple[Any, Any]]:
    key = with_nullable(key, nullable=False)
    pairs = {
        random_value(key, rng, for_orc=for_orc): random_value(value, rng, for_orc=for_orc)
        for _ in range(size)
    }
    return list(pairs.items())


def _random_atom(data_type: AtomicType, rng: np.random.Generator) -> Any:  # noqa: PLR0911
    root, precision = data_type.root, data_type.precision or 0
    match root:
        case TypeRoot.BOOLEAN:
            return bool(rng.integers(2))
        case TypeRoot.TINYINT | TypeRoot.SMALLINT | TypeRoot.INT | TypeRoot.BIGINT:
            return _signed(_BITS[root], rng)
        case TypeRoot.FLOAT | TypeRoot.DOUBLE:
            number = rng.choice(np.array([0.0, -0.0, np.inf, -np.inf, 1.5, -1e30, rng.normal()]))
            return float(np.float32(number)) if root is TypeRoot.FLOAT else float(number)
        case TypeRoot.DECIMAL:
            digits = int(rng.integers(1, precision + 1))
            number = sum(int(d) * 10**k for k, d in enumerate(rng.integers(0, 10, digits)))
            near_power = 2 ** int(rng.integers(0, 8 * 16)) % 10**precision
            chosen = [number, near_power, near_power - 1, 10**precision - 1][rng.integers(4)]
            return Decimal(("-" if rng.random() < 0.5 else "") + str(chosen)).scaleb(
                -(data_type.scale or 0), context=_EXACT
            )
        case TypeRoot.CHAR | TypeRoot.VARCHAR:
            return str(rng.choice(_TEXTS))[: data_type.length]
        case TypeRoot.BINARY | TypeRoot.VARBINARY:
            return rng.bytes(int(rng.choice([0, 1, 7, 8, 9, 40])))[: data_type.length]
        case TypeRoot.DATE:
            return int(rng.integers(-719162, 2932896))
        case TypeRoot.TIME:
            step = 10 ** (3 - min(precision, 3))
            return int(rng.integers(0, 86_400_000 // step)) * step
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return _random_instant(precision, rng)
        case _:
            raise AssertionError(f"no random values of {root}")


def _fit_for_orc(value: Any, data_type: AtomicType) -> Any:
    if data_type.root in (TypeRoot.FLOAT, TypeRoot.DOUBLE):
        return value + 0.0
    if data_type.root not in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ) or value >= 0:
        return value
    precision = data_type.precision or 0
    second = 10 ** (3 if precision <= 3 else 6 if precision <= 6 else 9)
    return value // second * second


def _signed(bits: int, rng: np.random.Generator) -> int:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    chosen = [0, -1, low, high, int(rng.integers(low, high))]
    return chosen[rng.integers(len(chosen))]


def _random_instant(precision: int, rng: np.random.Generator) -> int:
    """Return ticks of the Arrow unit: milli-, micro- or nanoseconds since the epoch."""
    unit = 3 if precision <= 3 else 6 if precision <= 6 else 9
    seconds = (int(rng.integers(-9 * 10**9, 9 * 10**9)), -1, 0, 1)[rng.integers(4)]
    some = int(rng.integers(0, 10**precision))
    fraction = (0, 1 % 10**precision, 10**precision - 1, some)[rng.integers(4)]
    return seconds * 10**unit + fraction * 10 ** (unit - precision)
