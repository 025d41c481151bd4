"""Values that did not change, against a dict that is given one row after the other."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.errors import DataError
from paimonlab.ingest.changes import KIND_TYPE, RowChanges
from paimonlab.ingest.fitting import FittedRows, fitted
from paimonlab.ingest.unchanged import codes_of, filled, has_unchanged
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.schema.definition import Schema, new_table_schema
from tests.ingest.drawing import source

SCHEMA = source("a INT NOT NULL, b STRING NOT NULL, v STRING KEY(a, b)")
TABLE = new_table_schema(
    Schema(
        {"a": "BIGINT NOT NULL", "b": "STRING NOT NULL", "v": "STRING"}, primary_keys=["a", "b"]
    ),
    time_millis=0,
)

Row = tuple[str, int, str, str | None, bool]
"""Kind, key, value, and whether the value is not told."""


def _batch(rows: list[Row]) -> FittedRows:
    kinds, a, b, values, unchanged = zip(*rows, strict=True)
    changes = RowChanges(
        table="s.t",
        rows=pa.RecordBatch.from_arrays(
            [pa.array(a, pa.int32()), pa.array(b, pa.string()), pa.array(values, pa.string())],
            names=["a", "b", "v"],
        ),
        kinds=pa.array([SYMBOLS.index(kind) for kind in kinds], KIND_TYPE),
        schema=SCHEMA,
        unchanged={"v": pa.array(unchanged, pa.bool_())} if any(unchanged) else {},
    )
    return fitted(changes)


def _stored(state: dict[tuple[int, str], str | None]) -> Any:
    def look_up(keys: pa.Table, columns: list[str]) -> pa.Table:
        found = [
            {"a": row["a"], "b": row["b"], "v": state[row["a"], row["b"]]}
            for row in keys.to_pylist()
            if (row["a"], row["b"]) in state
        ]
        schema = pa.schema({"a": pa.int64(), "b": pa.string(), "v": pa.string()})
        return pa.Table.from_pylist(found[::-1], schema).select(columns)

    return look_up


def _filled(batches: list[FittedRows], state: dict[tuple[int, str], str | None]) -> list[Any]:
    made, bad = filled(batches, TABLE, "d.t", _stored(state))
    assert not bad
    assert not has_unchanged(made)
    return [row for rows in made for row in rows.rows.to_pylist()]


@pytest.mark.parametrize("number", range(40))
def test_values_are_those_of_the_row_before(number: int) -> None:
    draw = random.Random(number)
    stored = {(key, "x"): draw.choice([None, f"old{key}"]) for key in range(4)}
    state = dict(stored)
    rows: list[Row] = []
    wanted: list[str | None] = []
    for step in range(draw.randrange(1, 60)):
        key, other = (draw.randrange(6), "x"), (draw.randrange(6), draw.choice("xy"))
        if key not in state:
            state[key] = draw.choice([None, f"new{step}"])
            rows.append(("+I", *key, state[key], False))
            wanted.append(state[key])
        elif draw.random() < 0.15:
            rows.append(("-D", *key, None, False))
            wanted.append(None)
            del state[key]
        elif draw.random() < 0.3 and other not in state:
            value = state[other] = state.pop(key)
            rows += [("-D", *key, None, True), ("+I", *other, None, True)]
            wanted += [value, value]
        elif draw.random() < 0.7:
            rows.append(("+U", *key, None, True))
            wanted.append(state[key])
        else:
            state[key] = f"set{step}"
            rows.append(("+U", *key, state[key], False))
            wanted.append(state[key])
    cuts = sorted(draw.sample(range(1, len(rows)), min(3, len(rows) - 1)))
    # A pair of old and new key is never in two batches.
    cuts = [cut for cut in cuts if not (rows[cut - 1][0] == "-D" and rows[cut - 1][4])]
    ends = [0, *cuts, len(rows)]
    batches = [_batch(rows[start:end]) for start, end in pairwise(ends)]
    found = _filled(batches, stored)
    assert [row["v"] for row in found] == wanted
    assert [(row["a"], row["b"]) for row in found] == [(row[1], row[2]) for row in rows]


def test_a_row_that_is_nowhere_is_set_aside() -> None:
    rows: list[Row] = [
        ("+U", 1, "x", None, True),
        ("+I", 2, "x", "v", False),
        ("+U", 1, "x", None, True),
        ("+U", 2, "x", None, True),
    ]
    made, bad = filled([_batch(rows)], TABLE, "d.t", _stored({}))
    assert [row["v"] for one in made for row in one.rows.to_pylist()] == ["v", "v"]
    assert [one.rows.first for one in bad] == [0, 2]
    assert "did not change" in bad[0].error


def test_keys_are_told() -> None:
    batch = _batch([("+U", 1, "x", None, True)])
    table = new_table_schema(Schema({"v": "STRING NOT NULL"}, primary_keys=["v"]), time_millis=0)
    with pytest.raises(DataError, match="does not tell the key column 'v'"):
        filled([batch], table, "d.t", _stored({}))


def test_equal_rows_have_equal_codes() -> None:
    keys = pa.table({"a": [1, None, 1, 2, 1], "b": ["x", "x", "y", "x", "x"]})
    codes = codes_of(keys)
    assert codes[0] == codes[4]
    assert len({*codes.tolist()}) == 4
