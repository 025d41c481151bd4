"""Partitions: values that need escaping, overwriting and dropping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tests.interop.pair import SIDES, Pair, Side, random_rows
from tests.java_values import unordered

pytestmark = pytest.mark.interop

TEXTS = [
    None,
    "",
    " ",
    "\t\n",
    "a/b c=d",
    "__DEFAULT_PARTITION__",
    "100%",
    "%41",
    "#?:*'\"\\{}[]^",
    "ünïcödé 🙂",
    "..",
    "a+b&c",
    "\x01\x7f",
    "x" * 60,
]
TYPES = [
    "BOOLEAN",
    "TINYINT",
    "INT",
    "BIGINT",
    "DECIMAL(9, 2)",
    "DECIMAL(30, 5)",
    "DATE",
    "TIMESTAMP(3)",
    "TIMESTAMP(6)",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "CHAR(5)",
    "SMALLINT",
    "TIME(0)",
    "TIME(3)",
]
PLAIN = {"partition.legacy-name": "false", "partition.default-name": "NO PART"}
KEYED = {"bucket": "1", "write-only": "true"}


def folders(pair: Pair, name: str) -> set[str]:
    """Return the partitions that are on disk, as Java's plan names them."""
    rows = pair.java.rows(f"{name}$files")
    return {row[2].split("/bucket-")[0] for row in rows}


@pytest.mark.parametrize("first", SIDES)
def test_any_text_can_be_a_partition(pair: Pair, first: Side) -> None:
    columns = {"p": "STRING", "q": "INT", "v": "INT"}
    pair.create(first, "db.t", columns, partition=["p", "q"])
    second: Side = "java" if first == "us" else "us"
    schema = pair.open("db.t").arrow_schema
    numbers = [None if i % 3 == 0 else i for i in range(len(TEXTS))]
    rows = pa.table([TEXTS, numbers, range(len(TEXTS))], schema=schema)

    pair.write(first, "db.t", rows)
    before = folders(pair, "db.t")
    pair.write(second, "db.t", rows)

    pair.assert_same("db.t", pa.concat_tables([rows, rows]))
    assert folders(pair, "db.t") == before
    for text in TEXTS[1:]:
        ours = pair.our_rows("db.t", where=f"p = {quoted(text)}")
        javas = pair.java_rows("db.t", filter=["=", "p", text])
        assert unordered(ours) == unordered(javas)
        assert len(ours) == 2


def quoted(text: str | None) -> str:
    assert text is not None
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize(
    ("type_", "options"),
    [
        *(pytest.param(type_, {}, id=f"{type_}-legacy") for type_ in TYPES),
        *(pytest.param(type_, PLAIN, id=f"{type_}-plain") for type_ in TYPES),
        # With legacy names Java names folders of bytes after the object's identity.
        pytest.param("BYTES", PLAIN, id="BYTES-plain"),
    ],
)
def test_partitions_of_every_type_lie_in_the_same_folders(
    pair: Pair, type_: str, first: Side, options: Mapping[str, str], rng: np.random.Generator
) -> None:
    columns = {"p": type_, "v": "INT"}
    pair.create(first, "db.t", columns, partition=["p"], options=options)
    second: Side = "java" if first == "us" else "us"
    rows = random_rows(columns, 8, rng)

    pair.write(first, "db.t", rows)
    root = Path(pair.open("db.t").path)
    before = sorted(root.glob("p=*"))
    pair.write(second, "db.t", rows)

    pair.assert_same("db.t", pa.concat_tables([rows, rows]))
    assert sorted(root.glob("p=*")) == before


def month_rows(months: list[str], first_value: int) -> pa.Table:
    values = range(first_value, first_value + len(months))
    return pa.table({"m": months, "k": pa.array(values, pa.int32()), "v": months})


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("pk", [[], ["m", "k"]], ids=["append", "keyed"])
def test_dropping_and_overwriting_partitions(pair: Pair, side: Side, pk: list[str]) -> None:
    columns = {"m": "STRING NOT NULL", "k": "INT NOT NULL", "v": "STRING"}
    other: Side = "java" if side == "us" else "us"
    pair.create(other, "db.t", columns, pk=pk, partition=["m"], options=KEYED if pk else {})
    pair.write(other, "db.t", month_rows(["jan", "jan", "feb", "mar"], 0))
    pair.write(side, "db.t", month_rows(["jan", "feb", "mar", "apr"], 2))

    drop(pair, side, "jan")
    pair.assert_same("db.t")
    overwrite(pair, side, month_rows(["feb", "feb"], 100), {"m": "feb"})
    pair.assert_same("db.t")
    pair.write(other, "db.t", month_rows(["jan"], 200))
    pair.assert_same("db.t")

    found = sorted((row[0], row[1]) for row in pair.our_rows("db.t"))
    old = [("apr", 5), ("feb", 100), ("feb", 101), ("jan", 200), ("mar", 3), ("mar", 4)]
    assert found == old
    kinds = [snapshot["commitKind"] for snapshot in pair.java("snapshots", table="db.t")]
    assert kinds[2:] == ["OVERWRITE", "OVERWRITE", "APPEND"]


@pytest.mark.parametrize("side", SIDES)
def test_overwriting_the_whole_table_or_just_the_partitions_written(pair: Pair, side: Side) -> None:
    columns = {"m": "STRING", "k": "INT", "v": "STRING"}
    pair.create(side, "db.t", columns, partition=["m"])
    pair.write(side, "db.t", month_rows(["jan", "feb", "mar"], 0))

    overwrite(pair, side, month_rows(["feb"], 10), {})  # the default is dynamic
    pair.assert_same("db.t")
    assert sorted(row[1] for row in pair.our_rows("db.t")) == [0, 2, 10]

    whole = {"dynamic-partition-overwrite": "false"}
    overwrite(pair, side, month_rows(["apr"], 20), {}, whole)
    pair.assert_same("db.t")
    assert [row[1] for row in pair.our_rows("db.t")] == [20]


def drop(pair: Pair, side: Side, month: str) -> None:
    if side == "us":
        pair.open("db.t").drop_partitions([{"m": month}])
    else:
        pair.java("drop_partition", table="db.t", partition={"m": month})


def overwrite(
    pair: Pair,
    side: Side,
    rows: pa.Table,
    partition: Mapping[str, str],
    options: Mapping[str, str] | None = None,
) -> None:
    if side == "us":
        dynamic = None if options is None else False
        pair.open("db.t").overwrite(rows, partition=dict(partition) or None, dynamic=dynamic)
        return
    values = [list(row.values()) for row in rows.to_pylist()]
    pair.java.write("db.t", values, overwrite=dict(partition), options=dict(options or {}))
