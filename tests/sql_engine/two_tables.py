"""Two tables with a column of each kind, and hostile values, for comparing answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

T = {
    "id": "INT",
    "g": "STRING",
    "x": "BIGINT",
    "s": "SMALLINT",
    "d": "DOUBLE",
    "m": "DECIMAL(10, 2)",
    "day": "DATE",
    "ts": "TIMESTAMP(6)",
    "b": "BOOLEAN",
    "at": "TIMESTAMP_LTZ(6)",
    "w": "ARRAY<STRING>",
    "n": "ARRAY<INT>",
    "k": "MAP<STRING, INT>",
    "p": "ROW<c STRING, q INT>",
    "j": "STRING",
    "i": "TINYINT",
    "f": "FLOAT",
    "big": "BIGINT",
    "dec": "DECIMAL(20, 4)",
    "wide": "DECIMAL(38, 10)",
    "v": "DOUBLE",
    "z": "STRING",
    "o": "ROW<a INT, b ROW<c DOUBLE, d DATE>>",
    "l": "ARRAY<ROW<c STRING, q INT>>",
    "km": "MAP<INT, DOUBLE>",
}
U = {"uid": "INT", "h": "STRING", "y": "INT", "e": "DATE"}
_JSON = [
    '{"a": 1, "b": {"c": "x"}, "d": [1, "y"]}',
    '{"a": "text", "b": null}',
    '{"b": {"c": true}}',
    '{"a": 2.5, "d": []}',
    "no json",
    "[1, 2]",
]
_HOSTILE = [
    "it's", 'say "x"', "back\\slash", "two\nlines", "tab\there", "100%", "a_b", "\U0001f600",
    "e\u0301", "ß", "ǅ", "İ", "  ", "-7", "1e3", "2000-02-30", "2000-02-29", "NaN", "true", "NULL",
    "x" * 300, "`q`", "${v}", ":p", "?", "--", "/* */", "\u200b", "A,B,,C", "0x1F",
]  # fmt: skip
_DOUBLES = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.5, 1e300, -1e-300, 2.0, 1 / 3]
_LARGE = [2**63 - 1, -(2**63), 2**53 + 1, -(2**31), 10**12, 7, 0, -1]
_TEXTS = ["", "a", "A", "ab", "a%b", "b_c", " x ", "zebra", "Zürich", "\u4e2d", "10", "é"]


def tables(rng: random.Random, count: int = 60) -> tuple[pa.Table, pa.Table]:
    """Make rows of both tables; a fifth of the values is NULL."""

    def some(make: Callable[[], object]) -> list[object]:
        return [None if rng.random() < 0.2 else make() for _ in range(count)]

    first = date(1999, 12, 25)
    t = pa.table(
        {
            "id": pa.array(list(range(count)), pa.int32()),
            "g": pa.array(some(lambda: rng.choice(_TEXTS))),
            "x": pa.array(some(lambda: rng.randint(-50, 50)), pa.int64()),
            "s": pa.array(some(lambda: rng.randint(-3, 3)), pa.int16()),
            "d": pa.array(
                some(lambda: rng.choice([0.0, -0.0, 1.5, -2.675, 1e6, 3.25, 0.125, 7.0, -1e-3]))
            ),
            "m": pa.array(
                some(lambda: Decimal(rng.randint(-99999, 99999)) / 100), pa.decimal128(10, 2)
            ),
            "day": pa.array(some(lambda: first + timedelta(rng.randint(0, 900))), pa.date32()),
            "ts": pa.array(
                some(lambda: datetime(2000, 2, 28) + timedelta(seconds=rng.randint(0, 10**7) / 4)),
                pa.timestamp("us"),
            ),
            "b": pa.array(some(lambda: rng.random() < 0.5), pa.bool_()),
            "at": pa.array(
                some(
                    lambda: (
                        datetime(2000, 2, 28, tzinfo=UTC)
                        + timedelta(seconds=rng.randint(0, 10**7) / 4)
                    )
                ),
                pa.timestamp("us", "UTC"),
            ),
            "w": pa.array(some(lambda: rng.choices(["a", "b", "cd", None], k=rng.randint(0, 3)))),
            "n": pa.array(
                some(lambda: rng.choices([1, 2, -3, None], k=rng.randint(0, 3))),
                pa.list_(pa.int32()),
            ),
            "k": pa.array(
                some(lambda: [(one, rng.randint(0, 9)) for one in "ab"[: rng.randint(0, 2)]]),
                pa.map_(pa.string(), pa.int32()),
            ),
            "p": pa.array(
                some(lambda: {"c": rng.choice(["a", None]), "q": rng.randint(-5, 5)}),
                pa.struct([("c", pa.string()), ("q", pa.int32())]),
            ),
            "j": pa.array(some(lambda: rng.choice(_JSON)), pa.string()),
            "i": pa.array(some(lambda: rng.randint(-128, 127)), pa.int8()),
            "f": pa.array(some(lambda: rng.choice([0.5, -1.25, 3.0, 0.1, -0.0])), pa.float32()),
            "big": pa.array(some(lambda: rng.choice(_LARGE)), pa.int64()),
            "dec": pa.array(
                some(lambda: Decimal(rng.randint(-(10**9), 10**9)).scaleb(-4)),
                pa.decimal128(20, 4),
            ),
            "wide": pa.array(
                some(lambda: Decimal(rng.randint(-(10**20), 10**20)).scaleb(-10)),
                pa.decimal128(38, 10),
            ),
            "v": pa.array(some(lambda: rng.choice(_DOUBLES)), pa.float64()),
            "z": pa.array(some(lambda: rng.choice(_HOSTILE)), pa.string()),
            "o": pa.array(
                some(
                    lambda: {
                        "a": rng.choice([None, 1, 2]),
                        "b": rng.choice([None, {"c": 0.5, "d": first}, {"c": None, "d": None}]),
                    }
                ),
                pa.struct(
                    [
                        ("a", pa.int32()),
                        ("b", pa.struct([("c", pa.float64()), ("d", pa.date32())])),
                    ]
                ),
            ),
            "l": pa.array(
                some(
                    lambda: [
                        {"c": rng.choice(["a", None]), "q": rng.randint(0, 3)}
                        for _ in range(rng.randint(0, 2))
                    ]
                ),
                pa.list_(pa.struct([("c", pa.string()), ("q", pa.int32())])),
            ),
            "km": pa.array(
                some(lambda: [(n, rng.choice([None, 0.5])) for n in range(rng.randint(0, 3))]),
                pa.map_(pa.int32(), pa.float64()),
            ),
        }
    )
    u = pa.table(
        {
            "uid": pa.array([rng.randint(0, count) for _ in range(count // 2)], pa.int32()),
            "h": pa.array([rng.choice([*_TEXTS, None]) for _ in range(count // 2)]),
            "y": pa.array(
                [rng.choice([None, *range(-9, 9)]) for _ in range(count // 2)], pa.int32()
            ),
            "e": pa.array(
                [first + timedelta(rng.randint(0, 900)) for _ in range(count // 2)], pa.date32()
            ),
        }
    )
    return t, u
