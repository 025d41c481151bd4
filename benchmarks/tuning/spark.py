"""Advices for Spark, measured in one warm local session or, where they are of sessions, in new ones."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

import paimonlab as pm
from benchmarks.tuning.pair import SCHEMA, TURNS, Pair, Workshop, apart
from paimonlab.spark import connect
from paimonlab.spark.reading import mask_source, relation
from paimonlab.spark.reading.mask_cache import MaskCache
from paimonlab.spark.sessions.session import any_session

WARM_UP = 3
TOTALS = "SELECT customer % 100 AS c, count(*) AS n, sum(amount) AS s FROM {}db.{} GROUP BY 1"


def warm_cell(shop: Workshop) -> Pair:
    """Do not start Spark for small tables: a sum of 1,000 rows in a warm session, and without Spark."""
    name = _small(shop)
    session = _session(shop)
    return Pair(
        lambda: session.sql(TOTALS.format("paimon.", name)).collect(),
        lambda: pm.sql(TOTALS.format("", name), catalog=shop.catalog).to_arrow(),
        warm_up=WARM_UP,
    )


def first_cell(shop: Workshop) -> Pair:
    """Do not start Spark for small tables: the same in a new process, with what it takes to start."""
    name = _small(shop)
    return Pair(
        lambda: apart(_first_of_spark, shop.folder, name),
        lambda: apart(_first_without, shop.folder, name),
    )


def cores(shop: Workshop) -> Pair:
    """Give a local session all cores: rows grouped with `master="local[1]"`, and with `local[2]`."""
    name = _loaded(shop, "grouped")
    one, two = (iter(apart(_grouped, shop.folder, name, f"local[{number}]")) for number in (1, 2))
    return Pair(one.__next__, two.__next__, unit="own s")


def shuffle(shop: Workshop) -> Pair:
    """Shuffle small tables into as many parts as there are cores: rows joined and grouped with `spark.sql.shuffle.partitions` of 200, and of 2."""
    name = _loaded(shop, "shuffled")
    session = _session(shop)
    query = f"SELECT a.customer, count(*) AS n FROM paimon.db.{name} a JOIN paimon.db.{name} b ON a.note = b.note GROUP BY 1"
    return Pair(
        lambda: _consume(_with(session, {"spark.sql.shuffle.partitions": "200"}), query),
        lambda: _consume(_with(session, {"spark.sql.shuffle.partitions": "2"}), query),
        warm_up=1,
    )


def analyzed(shop: Workshop) -> Pair:
    """Analyze tables that are joined: two tables joined, a condition on one that leaves some of its rows, before and after `ANALYZE TABLE`."""
    for name in ("facts", "plain_side", "known_side"):
        shop.table(name).write(shop.some_rows(0, shop.rows))
    session = _with(_session(shop), {"spark.sql.cbo.enabled": "true"})
    session.sql("ANALYZE TABLE paimon.db.known_side COMPUTE STATISTICS FOR ALL COLUMNS")
    query = (
        "SELECT f.amount, d.note, d.amount AS other FROM paimon.db.facts f JOIN paimon.db.{} d ON f.id = d.id "
        "WHERE d.customer < 500"
    )
    return Pair(
        lambda: _consume(session, query.format("plain_side")),
        lambda: _consume(session, query.format("known_side")),
        warm_up=WARM_UP,
    )


def pruned(shop: Workshop) -> Pair:
    """Join by partition columns: three days of 100, named by a small table, of five times as many rows without and with partitions."""
    whole = shop.catalog.create_table("db.whole", SCHEMA.append(pa.field("day", pa.int32())))
    parted = shop.table("parted", partition="day")
    for part in range(5):
        rows = shop.some_rows(part * shop.rows, shop.rows)
        day = pa.array(20 * part + np.arange(len(rows), dtype=np.int32) % 20)
        for table in (whole, parted):
            table.write(rows.append_column("day", day))
    shop.catalog.write_table("db.days", {"day": pa.array([7, 27, 47], pa.int32())})
    session = _session(shop)
    query = "SELECT max(note) FROM paimon.{} JOIN paimon.db.days USING (day)"
    return Pair(
        lambda: session.sql(query.format(whole.name)).collect(),
        lambda: session.sql(query.format(parted.name)).collect(),
        warm_up=WARM_UP,
    )


def bucketed(shop: Workshop) -> Pair:
    """Bucket alike what is joined: two tables with keys in 4 and 3 buckets, and both in 4."""
    for name, number in (("left", 4), ("right", 4), ("other", 3)):
        table = shop.table(name, keyed=True, options={"bucket": str(number)})
        table.write(shop.some_rows(0, shop.rows))
    session = _session(shop)
    query = "SELECT a.amount, b.note FROM paimon.db.left a JOIN paimon.db.{} b ON a.id = b.id"
    shuffled = {"spark.sql.autoBroadcastJoinThreshold": "-1"}
    return Pair(
        lambda: _consume(_with(session, shuffled), query.format("other")),
        lambda: _consume(_with(session, shuffled), query.format("right")),
        warm_up=WARM_UP,
    )


def overlapping(shop: Workshop) -> Pair:
    """Compact before many queries: the first query of a snapshot of 16 overlapping runs, and of the same rows compacted."""
    many, one = (shop.in_runs(name, 16, {}) for name in ("many", "one"))
    one.compact(full=True)
    session = _session(shop)
    return Pair(
        lambda: _consume_anew(session, f"SELECT * FROM paimon.{many.name}"),
        lambda: _consume_anew(session, f"SELECT * FROM paimon.{one.name}"),
        warm_up=WARM_UP,
    )


def spark_small(shop: Workshop) -> Pair:
    """Put small files together: a query of 1,000 files of 200 rows, and of one."""
    many, few = (shop.table(name, options={"write-only": "true"}) for name in ("many", "few"))
    for table in (many, few):
        for part in range(1000):
            table.write(shop.some_rows(200 * part, 200))
    few.compact(full=True)
    session = _session(shop)
    return Pair(
        lambda: _consume(session, f"SELECT * FROM paimon.{many.name}"),
        lambda: _consume(session, f"SELECT * FROM paimon.{few.name}"),
        warm_up=WARM_UP,
    )


def triggers(shop: Workshop) -> Pair:
    """Give a stream a longer trigger: 40 commits of 1,000 rows, streamed into a table one a batch, and ten."""
    source = shop.table("source", options={"write-only": "true"})
    for part in range(40):
        source.write(shop.some_rows(1000 * part, 1000))
    session = _session(shop)
    return Pair(
        partial(_streamed, session, shop, 1),
        partial(_streamed, session, shop, 10),
        warm_up=1,
    )


def worker_memory(shop: Workshop) -> Pair:
    """Leave Python workers what a writer takes: 4,000,000 rows inserted with `spark.executor.pyspark.memory` of 512 MB, and of 1 GB."""
    shop.table("wide")
    source = shop.table("from")
    for part in range(2):
        source.write(shop.some_rows(part * shop.rows, shop.rows))
    return Pair(
        lambda: apart(_inserted, shop.folder, {"spark.executor.pyspark.memory": "512m"}),
        lambda: apart(_inserted, shop.folder, {"spark.executor.pyspark.memory": "1g"}),
        unit="outcome",
    )


def _session(shop: Workshop) -> SparkSession:
    """Return the session of this process, with a new catalog."""
    return connect(shop.folder, spark=_built())


@cache
def _built() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = any_session(master="local[2]", memory="2g")
    session.sparkContext.setLogLevel("ERROR")
    return session


def _with(session: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    for key, value in settings.items():
        session.conf.set(key, value)
    return session


def _small(shop: Workshop) -> str:
    shop.table("small").write(shop.some_rows(0, 1000))
    return "small"


def _loaded(shop: Workshop, name: str) -> str:
    table = shop.table(name)
    for part in range(4):
        table.write(shop.some_rows(part * shop.rows // 4, shop.rows // 4))
    return name


def _consume(session: SparkSession, query: str) -> None:
    """Compute all rows and columns, keep nothing."""
    session.sql(query).write.format("noop").mode("overwrite").save()


def _consume_anew(session: SparkSession, query: str) -> None:
    """Consume as the first query of a snapshot does: plan it, find out which rows count."""
    relation._relations.clear()  # noqa: SLF001 - there is no reason to forget but this
    mask_source._CACHE = MaskCache()  # noqa: SLF001
    _consume(session, query)


def _streamed(session: SparkSession, shop: Workshop, commits: int) -> None:
    shop.table("target", keyed=True, options={"bucket": "1"})
    with tempfile.TemporaryDirectory(dir=shop.folder) as place:
        limits = {"read.stream.maxFilesPerTrigger": str(commits), "scan.mode": "from-snapshot"}
        stream = session.readStream.options(**limits, **{"scan.snapshot-id": "1"})
        query = (
            stream.table("paimon.db.source")
            .writeStream.option("checkpointLocation", place)
            .trigger(availableNow=True)
            .toTable("paimon.db.target")
        )
        query.awaitTermination()


def _first_of_spark(folder: Path, name: str) -> int:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = connect(folder, master="local[2]", memory="2g")
    try:
        return len(session.sql(TOTALS.format("paimon.", name)).collect())
    finally:
        session.stop()


def _first_without(folder: Path, name: str) -> int:
    return pm.sql(TOTALS.format("", name), catalog=pm.connect(folder)).to_arrow().num_rows


def _grouped(folder: Path, name: str, master: str) -> list[float]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = connect(folder, master=master, memory="2g")
    query = f"SELECT note, count(*) AS n FROM paimon.db.{name} GROUP BY 1"
    seconds = []
    try:
        for _turn in range(WARM_UP + TURNS):
            began = time.perf_counter()
            _consume(session, query)
            seconds.append(time.perf_counter() - began)
    finally:
        session.stop()
    return seconds[WARM_UP:]


def _inserted(folder: Path, conf: Mapping[str, str]) -> str:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = connect(folder, master="local[2]", memory="2g", conf=conf)
    session.sparkContext.setLogLevel("OFF")
    try:
        session.sql("INSERT OVERWRITE paimon.db.wide SELECT * FROM paimon.db.`from`").collect()
    except Exception as error:  # noqa: BLE001 - which one is the outcome
        return f"fails ({type(error).__name__})"
    finally:
        session.stop()
    return "works"


ADVICE: tuple[Callable[[Workshop], Pair], ...] = (
    warm_cell,
    first_cell,
    cores,
    shuffle,
    analyzed,
    pruned,
    bucketed,
    overlapping,
    spark_small,
    triggers,
    worker_memory,
)
