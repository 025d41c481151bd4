"""A driver with streams from one table, to be killed; run as a program.

Arguments: the folder of the warehouse, the folder of the checkpoints. Prints a line once all run,
and ends when nothing is left to read.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import DataFrame

from paimonlab.spark import connect
from tests.spark.interpreting import INTERPRETED
from tools import short_java

CONF = {
    **INTERPRETED,
    "spark.driver.extraJavaOptions": short_java.spark_options(),
    "spark.sql.shuffle.partitions": "2",
}

SINKS = ("sink", "counted", "twice")
"""Tables and consumers of the streams into them: without a key, with one, by two statements."""


def twice(batch: DataFrame, number: int) -> None:
    """Write a batch by two statements, which tell which one of them it was."""
    del number
    batch.createOrReplaceTempView("batch")
    batch.sparkSession.sql("INSERT INTO paimon.db.twice SELECT id, 'first', n FROM batch")
    batch.selectExpr("id", "'second' AS v", "n").writeTo("paimon.db.twice").append()


def main(warehouse: str, checkpoints: str) -> None:
    """Run the streams to their end."""
    spark = connect(warehouse, master="local[2]", memory="1g", conf=CONF)
    queries = []
    for name in SINKS:
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
        queries.append(
            writer.foreachBatch(twice).start()
            if name == "twice"
            else writer.toTable(f"paimon.db.{name}")
        )
    print("running", flush=True)  # noqa: T201
    for query in queries:
        query.awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
