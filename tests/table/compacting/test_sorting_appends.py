"""Rows of append tables in an order: the same rows, in files with narrow ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.table import Table

VECTORS = {"deletion-vectors.enabled": "true"}
TRACKED = {"row-tracking.enabled": "true"}
SMALL = {"target-file-size": "4 kb"}


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    return opened


def make(
    catalog: paimonlab.Catalog, options: Mapping[str, str], partition: Sequence[str] = ()
) -> Table:
    columns = {"p": "STRING", "x": "INT", "y": "BIGINT", "t": "STRING"}
    return catalog.create_table("db.t", columns, partition_keys=partition, options=options)


def rows(count: int, rng: np.random.Generator) -> pa.Table:
    x = rng.integers(-1000, 1000, count)
    return pa.table(
        {
            "p": [f"p{number % 2}" for number in x],
            "x": pa.array(x, pa.int32()),
            "y": rng.normal(0, 10**9, count).astype(np.int64),
            "t": pa.array([None if number % 9 == 0 else f"t{number:05}" for number in x]),
        }
    )


def seen(table: Table) -> pa.Table:
    ids = ["_ROW_ID", "_SEQUENCE_NUMBER"] if "row-tracking.enabled" in table.options else []
    found = table.scan([*table.schema.field_names, *ids]).to_arrow()
    return found.sort_by([(name, "ascending") for name in (*ids, "y", "x")])


def files_of(table: Table, where: str | None = None) -> int:
    return int(table.scan(where=where).plan().files.num_rows)


@pytest.mark.parametrize(
    ("strategy", "partition", "options"),
    [
        ("order", [], VECTORS),
        ("zorder", ["p"], TRACKED),
        ("zorder", [], {"write-buffer-size": "280 kb"}),
        ("hilbert", ["p"], VECTORS | {"write-buffer-size": "280 kb"}),
    ],
    ids=str,
)
def test_filters_skip_files(
    strategy: str,
    partition: list[str],
    options: dict[str, str],
    catalog: paimonlab.Catalog,
    rng: np.random.Generator,
) -> None:
    table = make(catalog, SMALL | options, partition)
    for _ in range(3):
        table.write(rows(7000, rng))
    table.delete("x BETWEEN -10 AND 10")
    before = seen(table)

    result = table.compact(order_by=("x", "y"), strategy=strategy)  # type: ignore[arg-type]

    assert seen(table).equals(before)
    assert result.snapshot is not None
    assert result.snapshot.commit_kind is CommitKind.COMPACT
    assert result.buckets[0].reason == f"{strategy} by x, y"
    count = files_of(table)
    assert count >= 18
    assert files_of(table, "x BETWEEN 300 AND 310") <= 0.5 * count
    if strategy != "order":
        assert files_of(table, "y BETWEEN 300000000 AND 310000000") <= 0.7 * count
    assert table.fsck(deep=True).is_clean


def test_texts_are_in_order_nulls_first(
    catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    table = make(catalog, {})
    table.write(rows(500, rng))

    table.compact(order_by=["t"])

    found = table.scan(["t"]).to_arrow()["t"].to_pylist()
    texts = [text for text in found if text is not None]
    assert found == [None] * (len(found) - len(texts)) + sorted(texts)


def test_one_partition_alone_and_a_dry_run(
    catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    table = make(catalog, {}, ["p"])
    table.write(rows(500, rng))

    plan = table.compact(order_by=["x"], partitions=[{"p": "p1"}], dry_run=True)
    result = table.compact(order_by=["x"], partitions=[{"p": "p1"}])

    assert [one.partition for one in plan.buckets] == [one.partition for one in result.buckets]
    assert [one.partition for one in plan.buckets] == ["p=p1"]


def test_where_rows_have_an_order_of_their_own_it_is_refused(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, {"bucket": "1", "bucket-key": "x"}, ["p"])
    keyed = catalog.create_table(
        "db.k", {"k": "INT NOT NULL", "n": "INT"}, primary_keys=["k"], options={"bucket": "1"}
    )

    with pytest.raises(UnsupportedError, match="has buckets"):
        table.compact(order_by=["x"])
    with pytest.raises(UnsupportedError, match="primary key"):
        keyed.compact(order_by=["n"])
    with pytest.raises(SchemaError, match="partition column 'p'"):
        make_other(catalog).compact(order_by=["p"])
    with pytest.raises(ValueError, match="order_by"):
        make_other(catalog, "db.o2").compact(strategy="zorder")


def make_other(catalog: paimonlab.Catalog, name: str = "db.o") -> Table:
    return catalog.create_table(name, {"p": "STRING", "x": "INT"}, partition_keys=["p"])


@pytest.mark.parametrize("strategy", ["zorder", "hilbert"])
def test_rows_that_are_written_are_in_the_order_that_a_compaction_puts_them_in(
    strategy: str, catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    table = make(catalog, {"clustering.columns": "x,y", "clustering.strategy": strategy})
    given = rows(3000, rng)
    table.write(given)
    written = table.scan().to_arrow()

    table.compact(order_by=["x", "y"], strategy=strategy)  # type: ignore[arg-type]

    assert written.equals(table.scan().to_arrow())
    assert not written.equals(given)


def test_rows_of_each_partition_and_of_each_full_buffer_are_in_order(
    catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    options = {"sink.clustering.by-columns": "x,y", "clustering.strategy": "order"}
    table = make(catalog, options | {"write-buffer-size": "100 kb"}, ["p"])
    buffers = [rows(2000, rng) for _ in range(3)]  # more than half of 100 kB each
    table.write(pa.concat_tables(buffers))

    found = table.scan(where="p = 'p0'").to_arrow()

    by_x_y = [("x", "ascending"), ("y", "ascending")]
    of_p0 = [one.filter(pc.equal(one["p"], "p0")).sort_by(by_x_y) for one in buffers]
    assert found.equals(pa.concat_tables(of_p0))


def test_an_order_of_written_rows_that_cannot_be_is_refused(catalog: paimonlab.Catalog) -> None:
    with pytest.raises(UnsupportedError, match=r"clustering.columns = 'x'.*leave out 'bucket'"):
        make(catalog, {"clustering.columns": "x", "bucket": "1", "bucket-key": "x"})
    table = make(catalog, {"clustering.columns": "x", "clustering.strategy": "hilbert"})
    with pytest.raises(SchemaError, match=r"clustering.strategy = 'hilbert': .* two columns"):
        table.write(rows(3, np.random.default_rng(0)))


CLUSTERED = {"clustering.incremental": "true", "clustering.columns": "x,y"}


@pytest.mark.parametrize("options", [{}, VECTORS, TRACKED], ids=str)
def test_clustering_takes_what_is_new(
    options: dict[str, str], catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    given = CLUSTERED | options | {"num-sorted-run.compaction-trigger": "3"}
    table = make(catalog, given, ["p"])
    table.write(rows(4000, rng))
    assert table.compact().snapshot is None, "one run is fine"
    table.compact(full=True)
    assert levels(table) == {3}
    assert table.compact(full=True).snapshot is None, "it is in order already"
    old = set(table.scan().plan().files["file_name"].to_pylist())

    for number in range(3):
        table.write(rows(40, rng))
        table.delete(f"x = {number}")
        before = seen(table)
        table.compact()
        assert seen(table).equals(before)

    names = set(table.scan().plan().files["file_name"].to_pylist())
    if options == VECTORS:  # else what deletes rows rewrites the large run, too
        assert len(levels(table)) > 1
        assert old <= names, "large runs stay as they are"
    before = seen(table)
    table.compact(full=True)
    assert seen(table).equals(before)
    assert levels(table) == {3}
    assert table.fsck(deep=True).is_clean


def levels(table: Table) -> set[int]:
    return set(table.scan().plan().files["level"].to_pylist())


def test_other_columns_are_an_order_of_their_own(
    catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    table = make(catalog, CLUSTERED)
    table.write(rows(100, rng))
    table.compact(full=True)
    catalog.alter_table("db.t", paimonlab.SetOption("clustering.columns", "t"))
    changed = catalog.table("db.t")
    assert isinstance(changed, Table)

    result = changed.compact(full=True)

    assert result.buckets[0].reason == "full compaction, order by t"
    assert result.buckets[0].output_level == 5


def test_clustering_is_for_tables_without_buckets_and_keys(catalog: paimonlab.Catalog) -> None:
    with pytest.raises(SchemaError, match="without primary key and buckets"):
        make(catalog, CLUSTERED | {"bucket": "2", "bucket-key": "x"})
    table = make(catalog, {"clustering.incremental": "true"})
    with pytest.raises(SchemaError, match=r"needs clustering\.columns"):
        table.compact()
