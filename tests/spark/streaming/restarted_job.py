"""A driver with two streams from one table, to be killed; run as a program.

Arguments: the folder of the warehouse, the folder of the checkpoints. Prints a line once both run,
and ends when nothing is left to read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame

from paimonlab.spark import connect
from tools import short_java

CONF = {
    "spark.driver.extraJavaOptions": " ".join(short_java.OPTIONS),
    "spark.sql.shuffle.partitions": "2",
}


def twice(batch: DataFrame, number: int) -> None:
    """Write a batch by two statements, which tell which one of them it was."""
    del number
    batch.createOrReplaceTempView("batch")
    batch.sparkSession.sql("INSERT INTO paimon.db.twice SELECT id, 'first' FROM batch")
    batch.selectExpr("id", "'second' AS v").writeTo("paimon.db.twice").append()


def main(warehouse: str, checkpoints: str) -> None:
    """Run both streams to their end."""
    spark = connect(warehouse, master="local[2]", memory="1g", conf=CONF)
    queries = []
    for name in ("sink", "twice"):
        rows = spark.readStream.options(
            **{
                "scan.mode": "from-snapshot",
                "scan.snapshot-id": "1",
                "consumer-id": name,
                "read.stream.maxFilesPerTrigger": "1",
            }
        ).table("paimon.db.source")
        writer = rows.writeStream.trigger(availableNow=True).option(
            "checkpointLocation", str(Path(checkpoints, name))
        )
        is_sink = name == "sink"
        queries.append(
            writer.toTable("paimon.db.sink") if is_sink else writer.foreachBatch(twice).start()
        )
    print("running", flush=True)  # noqa: T201
    for query in queries:
        query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
