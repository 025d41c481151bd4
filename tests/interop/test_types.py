"""Values of every type, written by one and read by the other."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tests.interop.pair import SIDES, Pair, Side, random_rows

pytestmark = [pytest.mark.interop, pytest.mark.every_release]

PRIMITIVES = {
    "f_boolean": "BOOLEAN",
    "f_tinyint": "TINYINT",
    "f_smallint": "SMALLINT",
    "f_int": "INT",
    "f_bigint": "BIGINT",
    "f_float": "FLOAT",
    "f_double": "DOUBLE",
    "f_char": "CHAR(5)",
    "f_varchar": "VARCHAR(20)",
    "f_string": "STRING",
    "f_binary": "BINARY(4)",
    "f_varbinary": "VARBINARY(10)",
    "f_bytes": "BYTES",
    "f_date": "DATE",
    **{f"f_time{p}": f"TIME({p})" for p in (0, 3, 9)},
    **{f"f_ts{p}": f"TIMESTAMP({p})" for p in range(10)},
    **{f"f_ltz{p}": f"TIMESTAMP({p}) WITH LOCAL TIME ZONE" for p in range(10)},
}
DECIMALS = {
    f"f_dec{p}_{s}": f"DECIMAL({p}, {s})" for p in range(1, 39) for s in sorted({0, p // 2, p})
}
NESTED = {
    "f_array": "ARRAY<INT>",
    "f_strings": "ARRAY<STRING NOT NULL>",
    "f_map": "MAP<STRING, BIGINT>",
    "f_by_int": "MAP<INT, DECIMAL(20, 3)>",
    "f_row": "ROW<x INT, y STRING>",
    "f_deep": "ARRAY<ROW<m MAP<INT, ARRAY<STRING>>, d DECIMAL(20, 3), t TIMESTAMP(3)>>",
    "f_multiset": "MULTISET<STRING>",
}
WRITE_ONLY = {"bucket": "2", "write-only": "true"}


@pytest.mark.parametrize("writer", SIDES)
@pytest.mark.parametrize("creator", SIDES)
@pytest.mark.parametrize(
    "columns", [PRIMITIVES, DECIMALS, NESTED], ids=["primitives", "decimals", "nested"]
)
def test_an_append_table_keeps_every_value(
    pair: Pair, creator: Side, writer: Side, columns: dict[str, str], rng: np.random.Generator
) -> None:
    rows = random_rows(columns, 60, rng)
    pair.create(creator, "db.t", columns)

    pair.write(writer, "db.t", rows)

    pair.assert_same("db.t", rows)


@pytest.mark.parametrize("writer", SIDES)
@pytest.mark.parametrize(
    "columns", [PRIMITIVES, DECIMALS, NESTED], ids=["primitives", "decimals", "nested"]
)
def test_a_primary_key_table_keeps_every_value(
    pair: Pair, writer: Side, columns: dict[str, str], rng: np.random.Generator
) -> None:
    columns = {"id": "INT NOT NULL", **columns}
    rows = random_rows(columns, 60, rng)
    rows = rows.set_column(0, rows.field(0), pa.array(range(60), pa.int32()))
    pair.create(writer, "db.t", columns, pk=["id"], options=WRITE_ONLY)

    pair.write(writer, "db.t", rows.slice(0, 40))
    pair.write(writer, "db.t", rows.slice(20))

    pair.assert_same("db.t", rows)


@pytest.mark.parametrize("writer", SIDES)
def test_columns_that_take_no_nulls_keep_every_value(
    pair: Pair, writer: Side, rng: np.random.Generator
) -> None:
    columns = {name: f"{text} NOT NULL" for name, text in PRIMITIVES.items()}
    rows = random_rows(columns, 30, rng)
    pair.create(writer, "db.t", columns)

    pair.write(writer, "db.t", rows)

    pair.assert_same("db.t", rows)


@pytest.mark.parametrize("writer", SIDES)
def test_a_column_of_nulls_stays_one(pair: Pair, writer: Side) -> None:
    columns = {**PRIMITIVES, **NESTED}
    pair.create(writer, "db.t", columns)
    schema = pair.open("db.t").arrow_schema
    rows = pa.table([pa.nulls(3, field.type) for field in schema], schema=schema)

    pair.write(writer, "db.t", rows)

    pair.assert_same("db.t", rows)


@pytest.mark.parametrize("name", ["parquet", "orc", "avro"])
def test_null_rows_whose_fields_take_no_nulls_stay_null(pair: Pair, name: str) -> None:
    point = "ROW<x INT NOT NULL, name STRING NOT NULL, tags ARRAY<INT NOT NULL> NOT NULL>"
    columns = {"k": "INT NOT NULL", "p": point, "a": f"ARRAY<{point}>", "m": f"MAP<INT, {point}>"}
    options = {"bucket": "1", "write-only": "true", "file.format": name}
    pair.create("us", "db.t", columns, pk=["k"], options=options)
    kind = pa.struct({"x": pa.int32(), "name": pa.string(), "tags": pa.list_(pa.int32())})
    some = {"x": 1, "name": "a", "tags": [2, 3]}
    empty = {"x": 0, "name": "", "tags": []}
    points = [some, None, empty, None, None]
    lists = [[None, some, None], [], None, [empty], [None]]
    values = {
        "k": pa.array(range(5), pa.int32()),
        "p": pa.array(points, kind),
        "a": pa.array(lists, pa.list_(kind)),
        "m": pa.array(
            [points and [*enumerate(points)] for points in lists], pa.map_(pa.int32(), kind)
        ),
    }
    rows = pa.table(values)

    pair.write("us", "db.t", rows)
    pair.write("us", "db.t", rows.slice(1, 2))
    pair.assert_same("db.t", rows)
    pair.java("compact", table="db.t", full=True)
    pair.write("us", "db.t", rows.slice(3))
    pair.open("db.t").compact(full=True)

    pair.assert_same("db.t", rows)


@pytest.mark.parametrize("creator", SIDES)
def test_a_table_without_snapshots_is_empty(pair: Pair, creator: Side) -> None:
    pair.create(creator, "db.append", PRIMITIVES)
    pair.create(creator, "db.keyed", {"k": "INT NOT NULL"}, pk=["k"], options={"bucket": "1"})

    pair.assert_same("db.append", random_rows(PRIMITIVES, 0, np.random.default_rng(0)))
    pair.assert_same("db.keyed")
    assert pair.our_rows("db.keyed") == []


@pytest.mark.parametrize("creator", SIDES)
def test_both_read_the_same_schema(pair: Pair, creator: Side) -> None:
    columns = {"k": "INT NOT NULL", **PRIMITIVES, **DECIMALS, **NESTED}
    options = {"bucket": "3", "file.compression": "zstd"}

    pair.create(creator, "db.t", columns, pk=["k"], options=options)
    pair.create("java" if creator == "us" else "us", "db.u", columns, pk=["k"], options=options)

    ours, javas = pair.java("schema", table="db.t"), pair.java("schema", table="db.u")
    for document in (ours, javas):
        document.pop("timeMillis")
        document["options"].pop("path")
    assert ours == javas
