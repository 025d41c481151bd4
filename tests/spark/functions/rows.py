"""Rows over which functions are compared."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pyarrow as pa

_STARTS = [
    *(datetime(2026, 3, 29, 0, 0) + timedelta(minutes=7 * n, microseconds=n) for n in range(12)),
    *(datetime(1969, 12, 31, 23, 58) + timedelta(seconds=37 * n) for n in range(6)),
    *(
        datetime(1970, 1, 1),
        datetime(2026, 3, 29, 0, 10),
        datetime(1600, 2, 29, 23, 59, 59, 999999),
    ),
]
TIMES = [*_STARTS, None]
OF_TIMES = pa.table(
    {
        "id": pa.array(range(len(TIMES)), pa.int32()),
        "n": pa.array([None if n % 7 == 6 else n * 86_399 - 500_000 for n in range(len(TIMES))]),
        "g": ["a" if n % 3 else "b" for n in range(len(TIMES))],
        "ts": pa.array(TIMES, pa.timestamp("us")),
        "at": pa.array([t and t.replace(tzinfo=UTC) for t in TIMES], pa.timestamp("us", "UTC")),
        "day": pa.array([t and date(t.year, t.month, t.day) for t in TIMES]),
    }
)
"""Times of both kinds, around a change of the clocks, the epoch and a leap day."""

NESTED = pa.table(
    {
        "id": pa.array([1, 2, 3, None, -5, 2147483647], pa.int32()),
        "g": ["a", "é", None, "", "a b", "\U0001f600"],
        "n": pa.array(
            [[1, 2, 3], [], None, [None, 4], [2147483647], [-1, 0]], pa.list_(pa.int32())
        ),
        "w": [["a", None, "b"], ["x"], [], None, ["", "é"], ["c", "d", "e", "f"]],
        "k": pa.array(
            [[("a", 1), ("b", None)], [], None, [("é", -2)], [("", 3), ("x", 4)], [("z", 2**62)]],
            pa.map_(pa.string(), pa.int64()),
        ),
        "m": pa.array(
            [[(1, "a")], [(2, None)], None, [], [(5, "x"), (6, "")], [(7, "y")]],
            pa.map_(pa.int32(), pa.string()),
        ),
    }
)
"""Lists and maps, empty ones and nulls among them."""
