"""Compaction runs on executors: the driver plans, commits and holds no rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.compact import append_rewriting, compaction
from paimonlab.errors import PaimonError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.listening import listening
from paimonlab.spark.writing.executor_jobs import divided_by_size
from paimonlab.spark.writing.workers import SparkWorkers
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.compacting.after_write import compact_written
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

pytestmark = pytest.mark.usefixtures("interpreted")

COLUMNS = {"id": "INT NOT NULL", "v": "STRING"}
MANUAL = {"write-only": "true"}


def fill(table: Table, commits: int, *, rows: int = 20) -> list[dict[str, Any]]:
    """Write rows, of which half replace those of the commit before; return what is there."""
    for number in range(commits):
        first = number * rows // 2
        ids = pa.array(range(first, first + rows), pa.int32())
        table.write(pa.table({"id": ids, "v": [f"{number}-{one}" for one in range(rows)]}))
    return rows_of(table)


def rows_of(table: Table) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table.scan().to_arrow().to_pylist()
    return sorted(found, key=str)


def opened(catalog: Catalog) -> Table:
    """Open the table anew."""
    table = catalog.table("db.t")
    assert isinstance(table, Table)
    return table


def files_of(catalog: Catalog) -> pa.Table:
    return catalog.system_table("db.t$files").scan().to_arrow()


def files_on_disk(table: Table) -> set[str]:
    return {path.name for path in Path(table.path).rglob("*.parquet")}


@pytest.fixture
def no_rows_in_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let compaction in this process fail: tasks run in others."""
    pid = os.getpid()

    def refuse(*_: object, **__: object) -> None:
        assert os.getpid() != pid, "rows are read in the driver"

    monkeypatch.setattr(append_rewriting, "DataFileWriter", refuse)
    monkeypatch.setattr(compaction, "rewrite", refuse)


@pytest.mark.usefixtures("no_rows_in_driver")
@pytest.mark.parametrize("strategy", ["full", "minor"])
def test_buckets_are_compacted_by_tasks(
    strategy: str, spark: SparkSession, catalog: Catalog
) -> None:
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=["id"], options={"bucket": "7", **MANUAL}
    )
    before = fill(table, 6)

    spark.sql(f"CALL paimon.sys.compact(table => 'db.t', compact_strategy => '{strategy}')")

    table = opened(catalog)
    assert rows_of(table) == before
    assert table.snapshot is not None
    assert table.snapshot.commit_kind is CommitKind.COMPACT
    assert len(files_of(catalog)) == 7


@pytest.mark.usefixtures("no_rows_in_driver")
def test_small_files_are_put_together_by_tasks(spark: SparkSession, catalog: Catalog) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    before = fill(table, 6)

    spark.sql("CALL paimon.sys.compact(table => 'db.t', compact_strategy => 'full')")

    table = opened(catalog)
    assert rows_of(table) == before
    assert len(files_of(catalog)) == 1


@pytest.mark.usefixtures("no_rows_in_driver")
def test_rows_are_put_in_order_by_one_task_a_partition(
    spark: SparkSession, catalog: Catalog
) -> None:
    table = catalog.create_table("db.t", COLUMNS, partition_keys=["v"])
    ids = pa.array([5, 1, 4, 2, 3, 0], pa.int32())
    for part in ("a", "b"):
        table.write(pa.table({"id": ids, "v": [part] * 6}))

    spark.sql(
        "CALL paimon.sys.compact(table => 'db.t', order_strategy => 'order', order_by => 'id')"
    )

    found = opened(catalog).scan().to_arrow().to_pylist()
    assert [row["id"] for row in found if row["v"] == "b"] == [0, 1, 2, 3, 4, 5]
    assert sorted(row["id"] for row in found if row["v"] == "a") == [0, 1, 2, 3, 4, 5]


@pytest.mark.usefixtures("no_rows_in_driver")
@pytest.mark.parametrize("kind", ["keyed", "append"])
def test_what_statements_wrote_is_compacted_by_tasks(
    kind: str, spark: SparkSession, catalog: Catalog
) -> None:
    options = {"bucket": "2", "num-sorted-run.compaction-trigger": "3"}
    if kind == "keyed":
        table = catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options=options)
    else:
        options = {"bucket": "2", "bucket-key": "id", "compaction.min.file-num": "3"}
        table = catalog.create_table("db.t", COLUMNS, options=options)
    for number in range(3):
        spark.sql(f"INSERT INTO paimon.db.t SELECT CAST(id AS INT), '{number}' FROM range(20)")

    table = opened(catalog)
    assert table.snapshot is not None
    assert table.snapshot.commit_kind is CommitKind.COMPACT
    model = {"keyed": range(2, 3), "append": range(3)}[kind]
    assert rows_of(table) == sorted(
        ({"id": one, "v": str(number)} for one in range(20) for number in model), key=str
    )


def test_a_statement_compacts_in_full_where_commits_are_counted(
    spark: SparkSession, catalog: Catalog
) -> None:
    options = {"bucket": "1", "full-compaction.delta-commits": "2"}
    table = catalog.create_table("db.t", COLUMNS, primary_keys=["id"], options=options)
    spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b')")
    spark.sql("DELETE FROM paimon.db.t WHERE id = 1")

    kinds = [snapshot.commit_kind for snapshot in opened(catalog).snapshots.list()]
    assert kinds == [CommitKind.APPEND, CommitKind.COMPACT] * 2
    assert files_of(catalog)["record_count"].to_pylist() == [1]

    for number in range(4):
        writer = opened(catalog).new_writer()
        writer.write(pa.table({"id": pa.array([number], pa.int32()), "v": ["c"]}))
        messages = writer.prepare_commit()
        written = opened(catalog).commit(messages)
        definition, store = definition_of(table), store_of(table)
        compacted = compact_written(definition, store, messages, written, round_number=number)
        assert (compacted is not None) == (number % 2 == 1)


def test_a_job_that_fails_leaves_nothing_behind(spark: SparkSession, catalog: Catalog) -> None:
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=["id"], options={"bucket": "5", **MANUAL}
    )
    fill(table, 3)
    lost = files_of(catalog).filter(pc.field("bucket") == 3)
    Path(lost["file_path"][0].as_py().removeprefix("file:")).unlink()
    before = files_on_disk(table)

    with pytest.raises(PaimonError, match="data-"):
        spark.sql("CALL paimon.sys.compact(table => 'db.t')")

    assert files_on_disk(table) == before
    assert opened(catalog).snapshot == table.snapshot


def test_progress_is_reported_and_ends_the_call(spark: SparkSession, catalog: Catalog) -> None:
    table = catalog.create_table(
        "db.t", COLUMNS, primary_keys=["id"], options={"bucket": "5", **MANUAL}
    )
    fill(table, 2)
    seen = []

    def stop(done: int, total: int, unit: str) -> None:
        seen.append((done, total, unit))
        if len(seen) == 2:
            raise KeyboardInterrupt

    spark.sparkContext.setJobGroup("compact", "a cell")
    try:
        with listening("compact", stop), pytest.raises(KeyboardInterrupt):
            spark.sql("CALL paimon.sys.compact(table => 'db.t')")
    finally:
        context: Any = spark.sparkContext
        context.setLocalProperty("spark.jobGroup.id", None)
        context.setLocalProperty("spark.job.description", None)

    assert seen == [(1, 5, "buckets"), (2, 5, "buckets")]
    assert opened(catalog).snapshot == table.snapshot


def test_a_job_has_at_most_two_tasks_for_each_core(spark: SparkSession) -> None:
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup())
    results = SparkWorkers(Bridge(spark))(
        str, range(50), what="counting", size=int, undo=lambda *_: None
    )

    assert results == [str(number) for number in range(50)]
    (job,) = set(tracker.getJobIdsForGroup()) - before
    info = tracker.getJobInfo(job)
    assert info is not None
    (stage,) = (tracker.getStageInfo(stage) for stage in info.stageIds)
    assert stage is not None
    assert stage.numTasks == 2 * spark.sparkContext.defaultParallelism


@pytest.mark.parametrize(
    ("sizes", "most", "expected"),
    [
        ([], 3, []),
        ([0, 0, 0], 2, [[0, 2], [1]]),
        ([5, 1, 1, 1, 1, 1], 2, [[0], [1, 2, 3, 4, 5]]),
        ([1, 2], 9, [[1], [0]]),
    ],
)
def test_jobs_are_divided_by_size(sizes: list[int], most: int, expected: list[list[int]]) -> None:
    assert divided_by_size(sizes, most) == expected
