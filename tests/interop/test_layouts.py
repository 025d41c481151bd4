"""Where rows and files go: bucket functions, folders of data files, external roots."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.spec.buckets.bucket import bucket_ids
from tests.interop.pair import SIDES, Pair, Side, random_rows, with_kinds

pytestmark = pytest.mark.interop


@pytest.mark.parametrize("type_", ["INT", "BIGINT"])
def test_buckets_by_remainder_are_the_same(
    pair: Pair, type_: str, rng: np.random.Generator
) -> None:
    columns = {"k": type_, "v": "STRING"}
    options = {"bucket": "7", "bucket-key": "k", "bucket-function.type": "mod"}
    pair.create("us", "db.t", columns, options=options)
    rows = random_rows(columns, 200, rng)
    table = pair.open("db.t")

    ours = bucket_ids(rows, [table.schema.field("k")], 7, table.schema.bucket_function)
    pair.write("us", "db.t", rows)
    pair.write("java", "db.t", rows)

    javas = pair.java("buckets", table="db.t", rows=with_kinds(rows, table.schema.fields))
    assert ours.tolist() == [bucket for _, bucket in javas]
    pair.assert_same("db.t", pa.concat_tables([rows, rows]))
    for key in rows["k"].to_pylist()[:20]:
        if key is not None:
            wanted = rows.filter(pa.compute.equal(rows["k"], key)).num_rows
            assert table.scan(where=f"k = {key}").count() == 2 * wanted


@pytest.mark.parametrize("first", SIDES)
def test_both_write_to_a_folder_of_data_files_and_to_external_roots(
    pair: Pair, first: Side, tmp_path: Path, rng: np.random.Generator
) -> None:
    columns = {"k": "INT NOT NULL", "p": "STRING NOT NULL", "v": "STRING"}
    roots = [tmp_path / "one", tmp_path / "two"]
    options = {
        "bucket": "2",
        "write-only": "true",
        "data-file.path-directory": "data/files",
        "data-file.external-paths": ",".join(f"file://{root}/t" for root in roots),
        "data-file.external-paths.strategy": "round-robin",
    }
    pair.create(first, "db.t", columns, pk=["p", "k"], partition=["p"], options=options)
    second: Side = "java" if first == "us" else "us"

    for side in (first, second, first, second):
        rows = random_rows(columns, 30, rng)
        pair.write(side, "db.t", rows.set_column(1, rows.field(1), pa.array(["a:b", "c"] * 15)))
        pair.assert_same("db.t")

    assert not list(Path(pair.open("db.t").path).rglob("*.parquet"))
    for root in roots:
        folders = {str(file.parent.relative_to(root)) for file in root.rglob("*.parquet")}
        assert folders <= {f"t/data/files/p={p}/bucket-{b}" for p in ("a%3Ab", "c") for b in (0, 1)}
        assert folders
    pair.java("compact", table="db.t")
    pair.assert_same("db.t")


@pytest.mark.parametrize(
    "options",
    [
        {"data-file.external-paths.strategy": "none"},
        {
            "data-file.external-paths.strategy": "specific-fs",
            "data-file.external-paths.specific-fs": "file",
        },
    ],
)
def test_files_go_where_the_strategy_says(
    pair: Pair, options: Mapping[str, str], tmp_path: Path
) -> None:
    root = tmp_path / "out"
    paths = {"data-file.external-paths": f"s3://bucket/t,file:{root}"}
    if options["data-file.external-paths.strategy"] == "none":
        paths = {"data-file.external-paths": f"file:{root}"}
    pair.create("us", "db.t", {"v": "INT"}, options={**paths, **options})
    rows = pa.table({"v": pa.array([1, 2], pa.int32())})

    for side in SIDES:
        pair.write(side, "db.t", rows)

    pair.assert_same("db.t", pa.concat_tables([rows, rows]))
    count = 0 if options["data-file.external-paths.strategy"] == "none" else 2
    assert len(list(root.rglob("*.parquet"))) == count


@pytest.mark.parametrize("strategy", ["entropy-inject", "weight-robin"])
def test_java_reads_files_that_strategies_of_paimon_2_have_spread(
    pair: Pair, strategy: str, tmp_path: Path
) -> None:
    options = {
        "data-file.external-paths": f"file:{tmp_path}/one,file:{tmp_path}/two",
        "data-file.external-paths.strategy": strategy,
        "data-file.external-paths.weights": "1,3",
    }
    pair.create("us", "db.t", {"v": "INT"}, options=options)
    for number in range(4):
        pair.write("us", "db.t", pa.table({"v": pa.array([number], pa.int32())}))

    known = {"data-file.external-paths.strategy": "round-robin"}  # Java 1.3.1 has not the others
    found = pair.java.rows("db.t", options=known)

    assert sorted(found) == [[0], [1], [2], [3]]
