"""What clients of a Spark Connect server change and stream: as a classic session does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.errors.exceptions.connect import SparkConnectException
from pyspark.sql.connect.functions import expr

import paimonlab
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.table import Table
from tests.notebook.connections.connect_server import Server
from tests.spark.streaming.running import WAIT_SECONDS, forget_last_batch

COLUMNS = {"id": "BIGINT NOT NULL", "v": "STRING"}
FROM_FIRST = {
    "scan.mode": "from-snapshot",
    "scan.snapshot-id": "1",
    "read.stream.maxFilesPerTrigger": "1",
}
Make = Callable[..., Table]


@pytest.fixture
def make(warehouse: Path, tmp_path: Path) -> Make:
    """Return a function that makes tables of this test's own database, ``tmp_path.name``."""
    catalog = paimonlab.connect(warehouse)
    catalog.create_database(database(tmp_path))

    def made(name: str, *keys: str, rows: int = 0, **options: str) -> Table:
        table = catalog.create_table(
            f"{database(tmp_path)}.{name}", COLUMNS, primary_keys=keys, options=options
        )
        for first in range(0, rows, 2):
            table.write(pa.table({"id": [first, first + 1], "v": ["a", "b"]}))
        return table

    return made


def database(tmp_path: Path) -> str:
    """Return the name of a test's own database."""
    return tmp_path.name


def rows_of(table: Table) -> dict[int, str]:
    """Return values by id."""
    return {row["id"]: row["v"] for row in table.scan().to_arrow().to_pylist()}


def run(writer: Any, checkpoint: Path) -> Any:
    """Return a writer of a stream that ends when all is read."""
    return writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)


def ended(query: Any) -> None:
    """Wait for a stream; raise its error."""
    try:
        assert query.awaitTermination(WAIT_SECONDS)
    finally:
        query.stop()


@pytest.mark.parametrize("keys", [["id"], []], ids=["keys", "append"])
def test_rows_are_changed_and_counted(
    session: Any, make: Make, tmp_path: Path, keys: list[str]
) -> None:
    table = make("t", *keys, rows=4, **({"bucket": "1"} if keys else {}))
    name = table.name

    merged = session.sql(
        f"MERGE INTO {name} t USING (SELECT 1 AS id, 'x' AS v UNION ALL SELECT 7, 'y') s "
        "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    ).collect()
    updated = session.sql(f"UPDATE {name} SET v = 'u' WHERE id = 2").collect()
    deleted = session.sql(f"DELETE FROM {name} WHERE id = 3").collect()
    session.sql("SELECT CAST(9 AS BIGINT) AS id, 'n' AS v").mergeInto(
        name, expr(f"{table.identifier.table}.id = 9")
    ).whenNotMatched().insertAll().merge()

    assert merged[0].asDict() == {
        "num_affected_rows": 2,
        "num_updated_rows": 1,
        "num_deleted_rows": 0,
        "num_inserted_rows": 1,
    }
    assert (updated[0][0], deleted[0][0]) == (1, 1)
    assert rows_of(table) == {0: "a", 1: "x", 2: "u", 7: "y", 9: "n"}


def test_a_stream_into_a_table_is_written_once(session: Any, make: Make, tmp_path: Path) -> None:
    source, sink = make("s", rows=6), make("t")
    rows = session.readStream.options(**FROM_FIRST).table(source.name)

    for _ in range(2):
        ended(run(rows.writeStream, tmp_path / "c").toTable(sink.name))
        forget_last_batch(tmp_path / "c")
    ended(run(rows.writeStream, tmp_path / "c").toTable(sink.name))

    assert sorted(sink.scan().to_arrow()["id"].to_pylist()) == list(range(6))
    assert [snapshot.id for snapshot in sink.snapshots.list()] == [1, 2, 3]


def test_statements_of_a_batch_are_done_once(session: Any, make: Make, tmp_path: Path) -> None:
    source, sink = make("s", rows=6), make("t")
    sums = make("u", "id", bucket="1")
    names = sink.name, sums.name  # the function runs in another process

    def each(batch: Any, _: int) -> None:
        log, latest = names
        batch.createOrReplaceTempView("batch")
        there = batch.sparkSession
        there.sql(f"INSERT INTO {log} SELECT * FROM batch").collect()
        there.sql(f"INSERT INTO {log} SELECT id + 100, v FROM batch").collect()
        there.sql(
            f"MERGE INTO {latest} t USING (SELECT id % 2 AS id, v FROM batch) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET v = concat(t.v, s.v) WHEN NOT MATCHED THEN INSERT *"
        ).collect()

    rows = session.readStream.options(**FROM_FIRST).table(source.name)
    for _ in range(2):
        ended(run(rows.writeStream.foreachBatch(each), tmp_path / "c").start())
        forget_last_batch(tmp_path / "c")
    ended(run(rows.writeStream.foreachBatch(each), tmp_path / "c").start())

    found = sorted(sink.scan().to_arrow()["id"].to_pylist())
    assert found == [*range(6), *range(100, 106)]
    assert rows_of(sums) == {0: "aaa", 1: "bbb"}


def test_changes_are_streamed_by_sql(session: Any, make: Make, tmp_path: Path) -> None:
    source = make("s", "id", rows=2, bucket="1", **{"changelog-producer": "lookup"})
    source.delete("id = 0")
    changes = session.sql(
        f"SELECT rowkind, id FROM STREAM {source.name} WITH ('read.changelog' = 'true', "
        "'scan.mode' = 'from-snapshot', 'scan.snapshot-id' = '1')"
    )

    query = run(changes.writeStream.format("memory").queryName("seen"), tmp_path / "c").start()
    ended(query)

    assert sorted(map(tuple, session.sql("SELECT * FROM seen").collect())) == [
        ("+I", 0),
        ("+I", 1),
        ("-D", 0),
    ]


def test_the_format_means_tables_of_the_catalog(session: Any, make: Make, tmp_path: Path) -> None:
    table = make("t", "id", rows=2, bucket="1")
    named = {"catalog": "paimon", "database": database(tmp_path), "table": "t"}

    session.sql("SELECT 5L id, 'x' v").write.format("paimon").mode("append").save(table.path)
    session.sql("SELECT 1L id, 'y' v").write.format("paimon").options(**named).mode("append").save()
    stream = session.readStream.format("paimon").load(table.path)
    query = run(stream.writeStream.format("memory").queryName("loaded"), tmp_path / "c").start()
    ended(query)

    for read in (session.read.options(**named), session.read):
        found = read.format("paimon").load(table.path).collect()
        assert {row.id: row.v for row in found} == {0: "a", 1: "y", 5: "x"} == rows_of(table)
    assert session.sql("SELECT id FROM loaded").count() == 3


def test_what_cannot_be_streamed_is_an_error(session: Any, make: Make, tmp_path: Path) -> None:
    source, sink = make("s", rows=2), make("t")

    with pytest.raises(AnalysisException, match="streaming sources must be executed"):
        session.sql(f"INSERT INTO {sink.name} SELECT * FROM STREAM {source.name}").collect()
    with pytest.raises(SparkConnectException, match=r"scan\.mood"):
        session.readStream.option("scan.mood", "latest").table(source.name).schema  # noqa: B018
    with pytest.raises(SparkConnectException, match="stream the table itself"):
        session.readStream.table(f"{database(tmp_path)}.`s$files`").schema  # noqa: B018

    assert sink.scan().count() == 0


def test_a_procedure_that_fails_says_why(session: Any, make: Make) -> None:
    table = make("t", rows=4)

    done = session.sql(f"CALL sys.compact(table => '{table.name}')").collect()
    with pytest.raises(SparkConnectException, match="not found"):
        session.sql("CALL sys.compact(table => 'db.nope')").collect()

    assert done[0].result is True
    assert table.scan().count() == 4


def test_a_procedure_tells_how_far_it_is_and_ends_when_it_is_interrupted(
    session: Any, make: Make, server: Server
) -> None:
    table = make("t", "id", bucket="16", **{"write-only": "true"})
    for number in range(3):
        ids = np.arange(number, 400_000, dtype=np.int64)
        table.write(pa.table({"id": ids, "v": np.char.mod("%d", ids)}))
    call = f"CALL sys.compact(table => '{table.name}')"
    stages: list[Any] = []
    errors: list[Exception] = []

    def interrupted() -> None:
        try:
            session.sql(call).collect()
        except SparkConnectException as error:
            errors.append(error)

    def note(**progress: Any) -> None:
        stages.extend(progress["stages"] or ())

    client = Thread(target=interrupted)
    client.start()
    while client.is_alive() and not server.count("jobs"):
        Event().wait(0.02)
    session.interruptAll()
    client.join(WAIT_SECONDS)
    while server.count("jobs"):
        Event().wait(0.05)

    assert errors
    assert [one.commit_kind for one in table.refresh().snapshots.list()] == [CommitKind.APPEND] * 3
    session.registerProgressHandler(note)
    try:
        session.sql(call).collect()
    finally:
        session.removeProgressHandler(note)
    newest = table.refresh().snapshot
    assert newest is not None
    assert newest.commit_kind is CommitKind.COMPACT
    assert any(stage.num_tasks for stage in stages)
