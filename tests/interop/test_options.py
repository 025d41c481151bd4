"""Options that change what is on disk: the other side reads it nevertheless."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import SchemaError
from tests.interop.oracle import JavaError
from tests.interop.pair import SIDES, Pair, Side, random_rows
from tests.interop.test_partitions import folders
from tests.schema_cases import COLUMNS as CASE_COLUMNS
from tests.schema_cases import schema_cases

pytestmark = pytest.mark.interop

COLUMNS = {"p": "DATE", "q": "STRING", "k": "INT NOT NULL", "t": "TIMESTAMP(6)", "v": "STRING"}
OF_FILES: list[Mapping[str, str]] = [
    {"file.compression": "uncompressed"},
    {"file.compression": "snappy"},
    {"file.compression": "gzip"},
    {"file.compression": "lz4"},
    {"file.compression": "lz4_raw"},
    {"file.compression": "zstd", "file.compression.zstd-level": "9"},
    {"file.block-size": "1 kb"},
    {"parquet.enable.dictionary": "false"},
    {"data-file.prefix": "part-"},
    {"manifest.compression": "null"},
    {"manifest.target-file-size": "1 kb", "manifest.merge-min-count": "2"},
]
OF_FOLDERS: list[Mapping[str, str]] = [
    {"partition.default-name": "NOTHING"},
    {"partition.legacy-name": "false"},
]


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("options", OF_FILES, ids=str)
def test_files_written_with_an_option(
    pair: Pair, first: Side, options: Mapping[str, str], rng: np.random.Generator
) -> None:
    pair.create(first, "db.t", COLUMNS, options=options)
    rows = [random_rows(COLUMNS, 50, rng) for _ in range(4)]

    for side, some in zip((first, "us", "java", "us"), rows, strict=True):
        pair.write("us" if side == "us" else "java", "db.t", some)

    pair.assert_same("db.t", pa.concat_tables(rows))


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("file_format", ["orc", "parquet"])
@pytest.mark.parametrize("kind", ["vectors", "hashes"])
def test_manifests_of_other_formats(
    pair: Pair, first: Side, file_format: str, kind: str, rng: np.random.Generator
) -> None:
    options = {
        "manifest.format": file_format,
        "write-only": "true",
        "manifest.merge-min-count": "3",
    }
    columns = {"p": "STRING NOT NULL", "k": "INT NOT NULL", "v": "STRING"}
    keys = ["p", "k"] if kind == "hashes" else []
    if kind == "vectors":
        options["deletion-vectors.enabled"] = "true"
    pair.create(first, "db.t", columns, pk=keys, partition=["p"], options=options)
    second: Side = "java" if first == "us" else "us"

    for turn, side in enumerate((first, second, first, second)):
        numbers = pa.array(rng.permutation(60)[:20], pa.int32())
        rows = pa.table({"p": ["x", "y"] * 10, "k": numbers, "v": [str(turn)] * 20})
        pair.write(side, "db.t", rows)
        pair.assert_same("db.t")
        if kind == "vectors":
            chosen = ["<", "k", int(rng.integers(60))]
            if side == "us":
                pair.open("db.t").delete(paimonlab.col("k") < chosen[2])
            else:
                pair.java("append_delete", table="db.t", filter=chosen)
            pair.assert_same("db.t")

    magic = {"orc": b"ORC", "parquet": b"PAR1"}[file_format]
    manifests = list((Path(pair.open("db.t").path) / "manifest").iterdir())
    assert {path.name.split("-")[0] for path in manifests} == {"manifest", "index"}
    assert all(path.read_bytes().startswith(magic) for path in manifests)
    assert pair.open("db.t").fsck(deep=True).findings == ()


@pytest.mark.parametrize("first", SIDES)
@pytest.mark.parametrize("options", OF_FOLDERS, ids=str)
def test_folders_named_by_an_option(
    pair: Pair, first: Side, options: Mapping[str, str], rng: np.random.Generator
) -> None:
    columns = {**COLUMNS, "q": "VARCHAR(5)"}
    pair.create(first, "db.t", columns, partition=["p", "q", "t"], options=options)
    rows = random_rows(columns, 10, rng)

    pair.write(first, "db.t", rows)
    before = folders(pair, "db.t")
    pair.write("java" if first == "us" else "us", "db.t", rows)

    pair.assert_same("db.t", pa.concat_tables([rows, rows]))
    assert folders(pair, "db.t") == before


@pytest.mark.parametrize("order", ["ascending", "descending"])
def test_the_order_of_the_sequence_field(pair: Pair, order: str, rng: np.random.Generator) -> None:
    # Java keeps a comparator per column types and columns, whatever the order: each order has
    # columns of its own here. And Java sorts the rows of one commit ascending, always: so keys
    # are written once a commit.
    columns = {**COLUMNS, order: "INT"}
    options = {"bucket": "1", "write-only": "true", "sequence.field": "t"}
    options["sequence.field.sort-order"] = order
    if order == "descending":
        columns["another"] = "INT"
    pair.create("us", "db.t", columns, pk=["k"], options=options)
    winners: dict[int, tuple[bool, Any]] = {}

    for side in (*SIDES, *SIDES):
        rows = random_rows(columns, 9, rng)
        keys = pa.array(rng.permutation(9), pa.int32())
        rows = rows.set_column(2, rows.field(2), keys)
        pair.write(side, "db.t", rows)
        pair.assert_same("db.t")
        for key, time in zip(
            keys.to_pylist(), rows.column("t").cast("int64").to_pylist(), strict=True
        ):
            rank = (
                time is not None,
                0 if time is None else time if order == "ascending" else -time,
            )
            winners[key] = max(winners.get(key, rank), rank)

    found = pair.open("db.t").scan(["k", "t"]).to_arrow()
    times = dict(zip(found["k"].to_pylist(), found["t"].cast("int64").to_pylist(), strict=True))
    assert {key: time is not None for key, time in times.items()} == {
        key: rank[0] for key, rank in winners.items()
    }
    assert {key: abs(time or 0) for key, time in times.items()} == {
        key: abs(rank[1]) for key, rank in winners.items()
    }


@pytest.mark.parametrize("pk", [[], ["k"]], ids=["append", "keyed"])
def test_many_rows_in_many_files_pages_and_row_groups(
    pair: Pair, pk: list[str], rng: np.random.Generator
) -> None:
    columns = {"k": "INT NOT NULL", "v": "STRING", "d": "DECIMAL(20, 2)", "x": "DOUBLE"}
    options = {"target-file-size": "300 kb", "file.block-size": "256 kb"}
    if pk:
        options |= {"bucket": "2", "write-only": "true"}
    pair.create("us", "db.t", columns, pk=pk, options=options)
    count = 600_000
    numbers = rng.permutation(count)
    rows = pa.table(
        {
            "k": pa.array(numbers, pa.int32()),
            "v": [f"value {number * 7919}" for number in numbers.tolist()],
            "d": pa.array(numbers, pa.int32()).cast(pa.decimal128(20, 2)),
            "x": pa.array(rng.normal(size=count)),
        }
    )

    pair.write("us", "db.t", rows)

    assert len(pair.java("files", table="db.t")) > 2
    assert pair.java("count", table="db.t") == count
    chosen = [int(number) for number in numbers[:20]]
    javas = pair.java_rows("db.t", filter=["in", "k", chosen])
    where = f"k IN ({', '.join(map(str, chosen))})"
    assert sorted(map(str, pair.our_rows("db.t", where=where))) == sorted(map(str, javas))
    assert len(javas) == len(chosen)


@pytest.mark.every_release
@pytest.mark.parametrize(
    "options",
    [
        {"deletion-vectors.enabled": "true", "changelog-producer": "full-compaction"},
        {"deletion-vectors.enabled": "true", "merge-engine": "first-row"},
        {"merge-engine": "aggregation", "fields.vv.aggregate-function": "sum"},
        {"merge-engine": "partial-update", "fields.t,x.sequence-group": "v"},
        {"partition.expiration-time": "1 d"},
    ],
    ids=str,
)
def test_neither_makes_a_table_of_options_that_do_not_go_together(
    pair: Pair, options: Mapping[str, str]
) -> None:
    bucket = {"bucket": "1", **options}

    with pytest.raises(JavaError):
        pair.create("java", "db.t", COLUMNS, pk=["k"], options=bucket)
    with pytest.raises(SchemaError):
        pair.create("us", "db.t", COLUMNS, pk=["k"], options=bucket)


@pytest.mark.releases("1.4.2")
def test_java_creates_the_tables_that_the_cases_say(pair: Pair) -> None:
    """Compare what the cases claim; ``catalog/test_schema_options.py`` does so with ours."""
    wrong = []
    for number, case in enumerate(schema_cases()):
        try:
            pair.create(
                "java",
                f"db.t{number}",
                CASE_COLUMNS,
                pk=case.primary_keys,
                partition=case.partition_keys,
                options=case.options,
            )
            is_created = True
        except JavaError:
            is_created = False
        if is_created != case.is_java_willing:
            wrong.append((case.title, case.options))

    assert wrong == []
