"""Verbs that read or write many rows, or list many folders, do so on executors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.compact import append_rewriting
from paimonlab.errors import ArgumentError, PaimonError, UnsupportedError
from paimonlab.maintenance import stored_files
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.writing.workers import SparkWorkers
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.compacting import bucket_shares
from paimonlab.table.rewriting import file_indexes
from paimonlab.table.upkeep import analyze
from paimonlab.workers import Divided
from tests.spark.test_compaction_jobs import files_of, files_on_disk, opened, rows_of

pytestmark = pytest.mark.usefixtures("interpreted")

COLUMNS = {"id": "INT NOT NULL", "v": "STRING", "p": "INT NOT NULL"}


def batch(ids: range, part: int = 0) -> pa.Table:
    """Return rows in an order that is none."""
    mixed = [number * 7919 % 1009 * 10_000 + number for number in ids]
    values = {"id": pa.array(mixed, pa.int32()), "v": [f"v{number}" for number in ids]}
    return pa.table({**values, "p": pa.array([part] * len(ids), pa.int32())})


@pytest.fixture
def only_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what reads and writes rows, or lists folders of files, fail in this process."""
    pid = os.getpid()

    def refuse(*_: object, **__: object) -> None:
        assert os.getpid() != pid, "it is done in the driver"

    monkeypatch.setattr(append_rewriting, "DataFileWriter", refuse)
    monkeypatch.setattr(bucket_shares, "TableWriter", refuse)
    monkeypatch.setattr(file_indexes, "index_anew", refuse)
    monkeypatch.setattr(analyze, "read_split", refuse)
    monkeypatch.setattr(stored_files, "_data_sort", refuse)


def tasks_of_jobs(spark: SparkSession, before: set[int]) -> list[list[int]]:
    """Return how many tasks the stages of the jobs since then had."""
    tracker = spark.sparkContext.statusTracker()
    found = []
    for job in sorted(set(tracker.getJobIdsForGroup()) - before):
        info = tracker.getJobInfo(job)
        assert info is not None
        stages = (tracker.getStageInfo(stage) for stage in info.stageIds)
        found.append([stage.numTasks for stage in stages if stage is not None])
    return found


@pytest.mark.usefixtures("only_executors")
@pytest.mark.parametrize("partitioned", [False, True], ids=["whole", "partitions"])
def test_rows_that_wait_get_their_buckets_by_tasks(
    partitioned: bool,
    spark: SparkSession,
    catalog: Catalog,
) -> None:
    table = catalog.create_table(
        "db.t",
        COLUMNS,
        primary_keys=["p", "id"] if partitioned else ["id"],
        partition_keys=["p"] if partitioned else [],
        options={"bucket": "-2", "postpone.default-bucket-num": "5"},
    )
    model: dict[tuple[int, int], dict[str, Any]] = {}
    for number in range(3):  # keys come again, with other values
        ids, part = range(10 * number, 10 * number + 40), number % 2 if partitioned else 0
        rows = batch(ids, part).set_column(1, "v", pa.array([f"{number}-{one}" for one in ids]))
        table.write(rows)
        model |= {(row["p"], row["id"]): row for row in rows.to_pylist()}
        if number == 1:  # the second time there is something in the buckets
            spark.sql("CALL paimon.sys.compact(table => 'db.t')")
    before = set(spark.sparkContext.statusTracker().getJobIdsForGroup())

    spark.sql("CALL paimon.sys.compact(table => 'db.t')")

    table = opened(catalog)
    assert table.snapshot is not None
    assert table.snapshot.commit_kind is CommitKind.COMPACT
    assert rows_of(table) == sorted(model.values(), key=str)
    assert set(files_of(catalog)["bucket"].to_pylist()) == set(range(5))
    assert max(map(max, tasks_of_jobs(spark, before))) > 1


@pytest.mark.usefixtures("only_executors")
@pytest.mark.parametrize("strategy", ["order", "zorder", "hilbert"])
def test_a_large_partition_is_put_in_order_by_ranges(
    strategy: str, spark: SparkSession, catalog: Catalog
) -> None:
    options = {"target-file-size": "4 kb", "write-buffer-size": "1 mb"}
    table = catalog.create_table("db.t", COLUMNS, partition_keys=["p"], options=options)
    for part, count in ((0, 3000), (0, 3000), (1, 20)):
        table.write(batch(range(count), part))
    before = rows_of(table)

    spark.sql(
        "CALL paimon.sys.compact(table => 'db.t', order_by => 'id, v', "
        f"order_strategy => '{strategy}')"
    )

    assert rows_of(opened(catalog)) == before
    files = files_of(catalog).sort_by("min_sequence_number").to_pylist()
    large = [file for file in files if file["partition"] == "{0}"]
    assert len(large) > 5
    assert len(files) == len(large) + 1
    ends = [(file["min_sequence_number"], file["max_sequence_number"]) for file in large]
    assert [low for low, _ in ends[1:]] == [high + 1 for _, high in ends[:-1]]
    if strategy == "order":
        paths = [file["file_path"].removeprefix("file:") for file in large]
        ids = [one for path in paths for one in pq.read_table(path)["id"].to_pylist()]
        assert ids == sorted(ids)


@pytest.mark.usefixtures("only_executors")
@pytest.mark.parametrize("kind", ["keyed", "append", "vectors"])
def test_buckets_are_rescaled_by_tasks(kind: str, spark: SparkSession, catalog: Catalog) -> None:
    options = {"bucket": "1"}
    options |= {"bucket-key": "id"} if kind == "append" else {}
    options |= {"deletion-vectors.enabled": "true"} if kind == "vectors" else {}
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=[] if kind == "append" else ["id"], options=options
    )
    for number in range(3):
        table.write(batch(range(10 * number, 10 * number + 50)))
    before = rows_of(opened(catalog))
    assert before

    spark.sql("CALL paimon.sys.rescale(table => 'db.t', bucket_num => 6)")

    table = opened(catalog)
    assert rows_of(table) == before
    assert table.options["bucket"] == "6"
    files = files_of(catalog)
    assert set(files["bucket"].to_pylist()) == set(range(6))
    if kind == "append":  # rows of a bucket stay in the order in which they were written
        order = [row["v"] for row in table.scan().to_arrow().to_pylist() if row["id"] % 7 == 3]
        assert sorted(order) == sorted(row["v"] for row in before if row["id"] % 7 == 3)


def test_what_rescale_cannot_do_is_refused(spark: SparkSession, catalog: Catalog) -> None:
    catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options={"bucket": "-2"})

    with pytest.raises(ArgumentError, match="give bucket_num"):
        spark.sql("CALL paimon.sys.rescale(table => 'db.t')")
    with pytest.raises(UnsupportedError, match="scan_parallelism => 8"):
        spark.sql("CALL paimon.sys.rescale(table => 'db.t', scan_parallelism => 8)")


@pytest.mark.usefixtures("only_executors")
def test_indexes_are_made_by_tasks(spark: SparkSession, catalog: Catalog) -> None:
    table = catalog.create_table("db.t", COLUMNS, partition_keys=["p"])
    for part in range(3):
        table.write(batch(range(20), part))
    spark.sql("ALTER TABLE paimon.db.t SET TBLPROPERTIES ('file-index.bloom-filter.columns' = 'v')")

    call = "CALL paimon.sys.rewrite_file_index(table => 'db.t', where => 'p < 2')"
    first, second = (spark.sql(call).collect()[0].asDict() for _ in range(2))

    assert first == {"written_partitions": 2, "written_indexes": 2}
    assert second == {"written_partitions": 0, "written_indexes": 0}
    indexes = catalog.system_table("db.t$file_indexes").scan().to_arrow()
    assert set(indexes["column_name"].to_pylist()) == {"v"}


@pytest.mark.usefixtures("only_executors")
def test_statistics_are_computed_by_tasks(spark: SparkSession, catalog: Catalog) -> None:
    table = catalog.create_table("db.t", COLUMNS, partition_keys=["p"])
    for part in range(4):
        table.write(batch(range(10 * part, 10 * part + 30), part))

    spark.sql("ANALYZE TABLE paimon.db.t COMPUTE STATISTICS FOR ALL COLUMNS")

    found = opened(catalog).statistics
    assert found is not None
    (expected,) = spark.sql(
        "SELECT count(*), count(DISTINCT id), count(DISTINCT v), count(DISTINCT p), "
        "string(min(id)), string(max(id)), max(length(v)) FROM paimon.db.t"
    ).collect()
    columns = found.columns
    assert tuple(expected) == (
        found.merged_record_count,
        *(columns[name].distinct_count for name in ("id", "v", "p")),
        columns["id"].min,
        columns["id"].max,
        columns["v"].max_length,
    )


@pytest.mark.usefixtures("only_executors")
def test_folders_are_listed_by_tasks(spark: SparkSession, catalog: Catalog) -> None:
    table = catalog.create_table("db.t", COLUMNS, partition_keys=["p"])
    for part in range(5):
        table.write(batch(range(5), part))
    known = files_on_disk(table)
    orphans = [Path(table.path, f"p={part}", "bucket-0", "data-left.parquet") for part in (1, 4)]
    for path in orphans:
        path.write_bytes(b"left")
        os.utime(path, (1_600_000_000,) * 2)

    (found,) = spark.sql("CALL paimon.sys.remove_orphan_files(table => 'db.t')").collect()

    assert tuple(found) == (2, 8)
    assert files_on_disk(table) == known
    mode = "CALL paimon.sys.remove_orphan_files(table => 'db.t', mode => 'distributed')"
    assert tuple(spark.sql(mode).collect()[0]) == (0, 0)


def test_rows_pass_between_tasks_in_their_order(spark: SparkSession) -> None:
    workers = SparkWorkers(Bridge(spark))
    undone: list[object] = []
    told: set[int] = set()

    made = workers.exchange(
        _read,
        range(6),
        _write,
        ["a", "b", "c", "d"],
        what="passing rows",
        undo=lambda *one: undone.append(one),
        done=told.add,
    )

    def expected(share: int) -> list[int]:
        return [
            one for job in range(6) for one in range(100 * job, 100 * job + 100) if one % 3 == share
        ]

    assert made == [("a", expected(0)), ("b", expected(1)), ("c", expected(2)), None]
    assert not undone
    assert told == set(range(6))


@pytest.mark.parametrize("fails", ["read", "write"])
def test_what_was_written_is_undone_if_a_task_fails(fails: str, spark: SparkSession) -> None:
    workers, undone = SparkWorkers(Bridge(spark)), []

    with pytest.raises(PaimonError, match="as planned"):
        workers.exchange(
            _read_and_fail if fails == "read" else _read,
            range(4),
            _write,
            ["a", "fails" if fails == "write" else "b", "c"],
            what="passing rows",
            undo=lambda share, _: undone.append(share),
        )

    assert sorted(undone) == (["a", "c"] if fails == "write" else [])


def _read(job: int) -> Divided:
    for first in range(100 * job, 100 * job + 100, 50):
        for share in range(3):
            ours = [number for number in range(first, first + 50) if number % 3 == share]
            yield share, pa.RecordBatch.from_pydict({"a": ours})


def _read_and_fail(job: int) -> Divided:
    yield from _read(job)
    if job == 2:
        raise UnsupportedError("this job", "as planned")


def _write(share: str, batches: Iterator[pa.RecordBatch]) -> tuple[str, list[Any]]:
    if share == "fails":
        raise UnsupportedError("this share", "as planned")
    return share, [one for rows in batches for one in rows["a"].to_pylist()]
