"""Primary keys of every type: buckets, order, upserts and deletes agree."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.spec.buckets.bucket import bucket_ids
from tests.interop.pair import KIND, SIDES, Pair, Side, random_rows, with_kinds

pytestmark = pytest.mark.interop

KEYS = {
    "BOOLEAN": {"k": "BOOLEAN"},
    "TINYINT": {"k": "TINYINT"},
    "SMALLINT": {"k": "SMALLINT"},
    "INT": {"k": "INT"},
    "BIGINT": {"k": "BIGINT"},
    "FLOAT": {"k": "FLOAT"},
    "DOUBLE": {"k": "DOUBLE"},
    "DECIMAL(9, 2)": {"k": "DECIMAL(9, 2)"},
    "DECIMAL(18, 0)": {"k": "DECIMAL(18, 0)"},
    "DECIMAL(19, 4)": {"k": "DECIMAL(19, 4)"},
    "DECIMAL(38, 10)": {"k": "DECIMAL(38, 10)"},
    "CHAR": {"k": "CHAR(5)"},
    "STRING": {"k": "STRING"},
    "BYTES": {"k": "BYTES"},
    "DATE": {"k": "DATE"},
    "TIME": {"k": "TIME(3)"},
    "TIMESTAMP(0)": {"k": "TIMESTAMP(0)"},
    "TIMESTAMP(3)": {"k": "TIMESTAMP(3)"},
    "TIMESTAMP(6)": {"k": "TIMESTAMP(6)"},
    "TIMESTAMP(9)": {"k": "TIMESTAMP(9)"},
    "TIMESTAMP_LTZ(3)": {"k": "TIMESTAMP(3) WITH LOCAL TIME ZONE"},
    "TIMESTAMP_LTZ(6)": {"k": "TIMESTAMP(6) WITH LOCAL TIME ZONE"},
    "three columns": {"k": "STRING", "l": "DECIMAL(20, 2)", "m": "TIMESTAMP(6)"},
    "mixed widths": {"k": "BIGINT", "l": "DATE", "m": "BOOLEAN"},
}


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_upserts_and_deletes_by_both_in_turn(
    pair: Pair, key: Mapping[str, str], first: Side, rng: np.random.Generator
) -> None:
    columns = {name: f"{text} NOT NULL" for name, text in key.items()} | {"v": "INT"}
    pair.create(first, "db.t", columns, pk=list(key), options={"bucket": "3", "write-only": "true"})
    keys = random_rows(columns, 40, rng)
    second: Side = "java" if first == "us" else "us"

    for turn, side in enumerate((first, second, first)):
        rows = keys.take(rng.integers(0, 40, 30))
        kinds = rng.choice(["+I", "+U", "-U", "-D"], 30, p=[0.5, 0.2, 0.1, 0.2])
        values = pa.array(range(turn * 100, turn * 100 + 30), pa.int32())
        rows = rows.drop(["v"]).append_column("v", values).append_column(KIND, pa.array(kinds))
        pair.write(side, "db.t", rows)
        pair.assert_same("db.t")

    pair.java("compact", table="db.t")
    pair.assert_same("db.t")


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_rows_go_to_the_same_buckets(
    pair: Pair, key: Mapping[str, str], rng: np.random.Generator
) -> None:
    columns = {**key, "v": "INT"}  # nulls are keys of buckets, too
    options = {"bucket": "1000003", "bucket-key": ",".join(key)}
    pair.create("us", "db.t", columns, options=options)
    rows = random_rows(columns, 200, rng)
    table = pair.open("db.t")

    ours = bucket_ids(rows, [table.schema.field(name) for name in key], 1_000_003)

    javas = pair.java("buckets", table="db.t", rows=with_kinds(rows, table.schema.fields))
    assert ours.tolist() == [bucket for _, bucket in javas]


@pytest.mark.parametrize("writer", SIDES)
def test_rows_are_found_by_their_keys(pair: Pair, writer: Side, rng: np.random.Generator) -> None:
    columns = {"k": "BIGINT NOT NULL", "s": "STRING NOT NULL", "v": "INT"}
    pair.create(writer, "db.t", columns, pk=["k", "s"], options={"bucket": "7"})
    rows = random_rows(columns, 100, rng)
    pair.write(writer, "db.t", rows)
    all_rows = pair.open("db.t").scan().to_arrow()

    for row in all_rows.to_pylist():
        found = pair.open("db.t").lookup({"k": [row["k"]], "s": [row["s"]]})
        assert found.to_pylist() == [row]


@pytest.mark.parametrize("options", [{"sequence.field": "s"}, {"sequence.field": "s,t"}], ids=str)
@pytest.mark.parametrize("first", SIDES)
def test_the_larger_sequence_field_wins(
    pair: Pair, first: Side, options: Mapping[str, str], rng: np.random.Generator
) -> None:
    columns = {"k": "INT NOT NULL", "s": "INT", "t": "TIMESTAMP(9)", "v": "STRING"}
    pair.create(
        first, "db.t", columns, pk=["k"], options={"bucket": "2", "write-only": "true", **options}
    )
    second: Side = "java" if first == "us" else "us"

    for side in (first, second, first, second):
        rows = random_rows(columns, 40, rng)
        keys = pa.array(rng.integers(0, 15, 40), pa.int32())
        orders = pa.array(rng.integers(0, 6, 40), pa.int32(), mask=rng.random(40) < 0.1)
        kinds = pa.array(rng.choice(["+I", "-D"], 40, p=[0.8, 0.2]))
        rows = rows.set_column(0, rows.field(0), keys).set_column(1, rows.field(1), orders)
        pair.write(side, "db.t", rows.append_column(KIND, kinds))
        pair.assert_same("db.t")

    pair.java("compact", table="db.t")
    pair.assert_same("db.t")
