"""`is_wider` against Arrow: what it says of types must hold for the extremes of their values."""

from __future__ import annotations

import decimal
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.casting import is_castable, is_wider
from paimonlab.spec.types.text import parse_type

INTEGERS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
OTHERS = ("FLOAT", "DOUBLE", "DECIMAL(5, 2)", "DECIMAL(7, 2)", "DECIMAL(12, 2)", "DECIMAL(21, 1)")
NUMBERS = (*INTEGERS, *OTHERS)
"""Types of numbers."""


def extremes(name: str) -> list[object]:
    """Return values of a type that need all of its room."""
    if name in INTEGERS:
        top = 1 << INTEGERS[name]
        return [-top, top - 1, top - 2]
    if name in ("FLOAT", "DOUBLE"):
        number = np.finfo(np.float32 if name == "FLOAT" else np.float64)
        return [float(number.max), float(number.tiny)]
    target = to_arrow(parse_type(name))
    value = decimal.Decimal("9" * target.precision).scaleb(-target.scale)
    return [value, -value]


def survives(source: str, target: str) -> bool:
    """Return whether Arrow takes the extremes there and back unchanged."""
    values = pa.array(extremes(source), to_arrow(parse_type(source)))
    try:
        there = values.cast(to_arrow(parse_type(target)))
    except pa.ArrowInvalid:
        return False
    return [decimal.Decimal(one) for one in there.to_pylist()] == [
        decimal.Decimal(one) for one in values.to_pylist()
    ]


@pytest.mark.parametrize(("source", "target"), list(product(NUMBERS, NUMBERS)))
def test_a_wider_type_has_every_value(source: str, target: str) -> None:
    wider = is_wider(parse_type(source), parse_type(target))

    assert wider == survives(source, target)
    assert not wider or is_castable(parse_type(source), parse_type(target), explicitly=False)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("VARCHAR(3)", "VARCHAR(4)", True),
        ("VARCHAR(4)", "VARCHAR(3)", False),
        ("CHAR(3)", "STRING", True),
        ("CHAR(3)", "CHAR(4)", False),
        ("STRING", "CHAR(3)", False),
        ("BINARY(3)", "BYTES", True),
        ("TIMESTAMP(3)", "TIMESTAMP(6)", True),
        ("TIMESTAMP(6)", "TIMESTAMP(3)", False),
        ("TIMESTAMP(3)", "TIMESTAMP_LTZ(6)", False),
        ("DATE", "TIMESTAMP(6)", False),
        ("INT", "STRING", False),
        ("ARRAY<INT>", "ARRAY<BIGINT>", False),
        ("INT NOT NULL", "INT", True),
    ],
)
def test_texts_and_times(source: str, target: str, expected: bool) -> None:
    assert is_wider(parse_type(source), parse_type(target)) is expected
