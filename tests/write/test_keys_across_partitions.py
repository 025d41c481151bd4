"""Tables whose primary key lacks a partition column, against a dict."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import DataError, FilesConflictError, SchemaError, UnsupportedError
from tests.golden import golden


def make(catalog: pl.Catalog, **options: str) -> pl.Table:
    return catalog.create_table(
        "db.t",
        {"p": "STRING", "k": "BIGINT", "v": "BIGINT"},
        primary_keys=["k"],
        partition_keys=["p"],
        options={"dynamic-bucket.target-row-num": "10", **options},
    )


def contents(table: pl.Table) -> dict[int, tuple[str | None, int]]:
    found = table.scan().to_arrow().to_pylist()
    assert len({row["k"] for row in found}) == len(found), "a key has two rows"
    return {row["k"]: (row["p"], row["v"]) for row in found}


@pytest.mark.parametrize("buffer", ["256 mb", "1 kb"])
def test_keys_move_from_partition_to_partition(
    catalog: pl.Catalog, buffer: str, rng: np.random.Generator
) -> None:
    table = make(catalog, **{"write-buffer-size": buffer})
    model: dict[int, tuple[str | None, int]] = {}

    for turn in range(6):
        count = 60
        keys = rng.integers(0, 10 * (turn + 1), count).tolist()
        partitions = [None if one == "" else one for one in rng.choice(["a", "b", ""], count)]
        kinds = rng.choice(["+I", "+U", "-U", "-D"], count, p=[0.6, 0.2, 0.05, 0.15]).tolist()
        values = range(turn * 1000, turn * 1000 + count)
        data = pa.table({"p": pa.array(partitions, pa.string()), "k": keys,
                         "v": pa.array(values, pa.int64()), "kind": kinds})  # fmt: skip
        table.write(pa.Table.from_batches(data.to_batches(max_chunksize=17)), row_kinds="kind")
        for key, partition, value, kind in zip(keys, partitions, values, kinds, strict=True):
            if kind in ("+I", "+U"):
                model[key] = (partition, value)
            else:
                model.pop(key, None)
        assert contents(table) == model

    buckets = {split.bucket for split in table.scan().plan().splits}
    assert len(buckets) > 1


def test_one_writer_makes_many_commits_and_others_must_wait(catalog: pl.Catalog) -> None:
    table = make(catalog)
    writer, other = table.new_writer("me"), table.new_writer("other")
    for number, partition in enumerate("abab"):
        rows = pa.table({"p": [partition] * 5, "k": range(number, number + 5), "v": [number] * 5})
        writer.write(rows)
        table.commit(writer.prepare_commit(number), identifier=number, user="me")

    assert contents(table) == {
        0: ("a", 0), 1: ("b", 1), 2: ("a", 2), **dict.fromkeys(range(3, 8), ("b", 3)),
    }  # fmt: skip
    other.write(pa.table({"p": ["c"], "k": [0], "v": [9]}))
    with pytest.raises(FilesConflictError, match="One writer at a time"):
        table.commit(other.prepare_commit(), user="other")
    assert len(contents(table)) == 8


def test_the_whole_table_may_be_overwritten_but_no_part_of_it(catalog: pl.Catalog) -> None:
    table = make(catalog)
    rows = pa.table({"p": ["a", "b"], "k": [1, 2], "v": [1, 2]})
    table.write(rows)

    table.overwrite(pa.table({"p": ["b", "c"], "k": [1, 1], "v": [3, 4]}), dynamic=False)

    assert contents(table) == {1: ("c", 4)}
    for how in ({"dynamic": True}, {"partition": {"p": "a"}}):
        with pytest.raises(UnsupportedError, match="lacks a partition column"):
            table.overwrite(rows, **how)


def test_a_key_that_is_in_two_partitions_already_is_an_error(catalog: pl.Catalog) -> None:
    table = make(catalog)
    first, second = table.new_writer("me"), table.new_writer("me")
    for number, (writer, partition) in enumerate([(first, "a"), (second, "b")]):
        writer.write(pa.table({"p": [partition], "k": [1], "v": [1]}))
        table.commit(writer.prepare_commit(number), identifier=number, user="me")

    with pytest.raises(DataError, match="several partitions"):
        table.write(pa.table({"p": ["a"], "k": [2], "v": [1]}))


def test_the_order_of_a_key_is_that_of_arrival(catalog: pl.Catalog) -> None:
    with pytest.raises(SchemaError, match=r"sequence\.field"):
        make(catalog, **{"sequence.field": "v"})


@pytest.mark.parametrize(
    ("engine", "options", "expected"),
    [
        ("partial-update", {}, {1: ("a", 7), 2: ("b", 9), 3: ("b", 5)}),
        ("aggregation", {"fields.v.aggregate-function": "sum"},
         {1: ("a", 8), 2: ("b", 13), 3: ("b", 5)}),
    ],
)  # fmt: skip
def test_other_engines_leave_a_key_where_it_was(
    catalog: pl.Catalog, engine: str, options: dict[str, str], expected: dict[int, Any]
) -> None:
    table = make(catalog, **{"merge-engine": engine, **options})
    table.write(pa.table({"p": ["a", "b"], "k": [1, 2], "v": [1, 4]}))
    table.write(pa.table({"p": ["b", "a", "b", "a"], "k": [1, 2, 3, 3], "v": [7, 9, 5, None]}))

    assert contents(table) == expected


def test_the_first_row_of_a_key_stays_though_others_have_not_been_compacted(
    catalog: pl.Catalog,
) -> None:
    table = make(catalog, **{"merge-engine": "first-row", "write-only": "true"})
    table.write(pa.table({"p": ["a"], "k": [1], "v": [1]}))
    table.write(pa.table({"p": ["b", "b", "c"], "k": [1, 2, 2], "v": [2, 3, 4]}))

    files = catalog.system_table("db.t$files").scan().to_arrow().to_pylist()
    assert [file["record_count"] for file in files] == [1, 1]


def test_a_delete_that_readers_would_ignore_is_refused(catalog: pl.Catalog) -> None:
    table = make(catalog, **{"ignore-delete": "true"})

    with pytest.raises(UnsupportedError, match="ignore-delete"):
        table.write(pa.table({"p": ["a"], "k": [1], "v": [1]}))


def test_a_table_of_java_is_gone_on_with(tmp_path: Path) -> None:
    shutil.copytree(golden("java-1.3.1") / "wh/db.db/cross", tmp_path / "db.db/cross")
    table = pl.connect(tmp_path).table("db.cross")
    assert isinstance(table, pl.Table)
    before = {row["a"]: row for row in table.scan().to_arrow().to_pylist()}

    keys = pa.array([*before, 777], pa.int32())
    table.write(pa.table({"dt": ["new"] * len(keys), "a": keys, "b": ["x"] * len(keys)}))

    found = table.scan().to_arrow().to_pylist()
    assert sorted(row["a"] for row in found) == sorted([*before, 777])
    assert {(row["dt"], row["b"]) for row in found} == {("new", "x")}
