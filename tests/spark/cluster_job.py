"""What the driver does in the test on a cluster; run as a program, prints what it found.

Arguments: the URL of the master, the folder of the warehouse, and perhaps options of a catalog in a
store as JSON, and JARs for the session.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import PaimonError
from paimonlab.spark import connect
from paimonlab.spark.reading.mask_source import DRIVER_ROWS_KEY
from tests.spark.cluster_ingest import changes_under_kills
from tests.spark.cluster_own_scan import by_own_scan
from tests.spark.cluster_store_job import on_store
from tools import short_java

CONF = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.executor.extraJavaOptions": short_java.spark_options(),
    "spark.executor.memory": "512m",
    "spark.sql.session.timeZone": "Europe/Berlin",
    "spark.sql.shuffle.partitions": "4",
}


def main(master: str, warehouse: str, store: str = "", jars: str = "") -> None:
    """Write, read and compare; every answer goes to standard output as JSON."""
    conf = CONF | {"spark.jars": jars} if jars else CONF
    spark = connect(warehouse, master=master, memory="512m", conf=conf)
    catalog = open_catalog(warehouse)
    found: dict[str, Any] = {"keyed": keyed(spark, catalog), "fine": fine(spark, catalog)}
    found["error"] = error(spark, catalog)
    found["dynamic"] = dynamic(spark, catalog)
    found["store"] = on_store(spark, "lake", json.loads(store)) if store else None
    found["own scan"] = by_own_scan(spark, json.loads(store)) if store and jars else None
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(False)
    found["tasks"] = {
        executors.apply(i).id(): executors.apply(i).completedTasks()
        for i in range(executors.size())
    }
    found["ingest"] = changes_under_kills(catalog, Path(f"{warehouse}.log"))
    spark.stop()
    print(json.dumps(found, default=str))  # noqa: T201


def keyed(spark: Any, catalog: Catalog) -> bool:
    """Upsert from executors; compare with our reader, with masks of the driver and of a job."""
    spark.sql("CREATE DATABASE paimon.db")
    spark.sql(
        "CREATE TABLE paimon.db.k (id BIGINT NOT NULL, dt STRING NOT NULL, at TIMESTAMP, v DOUBLE) "
        "PARTITIONED BY (dt) TBLPROPERTIES ('primary-key' = 'id,dt', 'bucket' = '2')"
    )
    for step in range(2):
        frame = spark.range(step * 300, step * 300 + 1000, 1, 4).selectExpr(
            "id",
            "concat('d', id % 2) dt",
            f"timestamp_micros(id * 1000003 + {step}) at",
            f"id * 0.5D + {step} v",
        )
        frame.writeTo("paimon.db.k").append()
    table = catalog.table("db.k")
    expected = table.scan().to_arrow().sort_by("id").to_pylist()
    answers = []
    for limit in ("10", "1000000"):
        spark.conf.set(DRIVER_ROWS_KEY, limit)
        rows = spark.sql("SELECT * FROM paimon.db.k ORDER BY id").toArrow().to_pylist()
        answers.append(rows == expected)
    return len(expected) == 1300 and all(answers)


def fine(spark: Any, catalog: Catalog) -> list[Any]:
    """Read what only our reader reads."""
    table = catalog.create_table("db.fine", {"i": "INT", "t": "TIMESTAMP(9)"})
    micros = pa.array(np.arange(5), pa.int64()).cast(pa.timestamp("us"))
    table.write(pa.table({"i": pa.array(range(5), pa.int32()), "t": micros}))
    rows = spark.sql("SELECT i, t FROM paimon.db.fine WHERE i > 2 ORDER BY i").collect()
    return [[row.i, row.t.microsecond] for row in rows]


def error(spark: Any, catalog: Catalog) -> str:
    """Fail on an executor; return the kind of the error, nothing of the rows may be left."""
    table = catalog.create_table("db.coarse", {"t": "TIMESTAMP(3)"})
    frame = spark.range(0, 100, 1, 4).selectExpr("cast(timestamp_micros(id) as timestamp_ntz) t")
    try:
        frame.writeTo("paimon.db.coarse").append()
    except PaimonError as problem:
        assert table.snapshot is None
        return type(problem).__name__
    return "none"


def dynamic(spark: Any, catalog: Catalog) -> list[int]:
    """Overwrite one of two partitions."""
    frame = spark.range(0, 100, 1, 3).selectExpr("id", "'d1' dt", "null at", "0D v")
    frame.writeTo("paimon.db.k").overwritePartitions()
    return [catalog.table("db.k").scan(where=f"dt = '{day}'").count() for day in ("d0", "d1")]


if __name__ == "__main__":
    main(*sys.argv[1:])
