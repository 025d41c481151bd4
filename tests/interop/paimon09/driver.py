"""Runs SQL on Spark 3.5 with Paimon 0.9, in an environment of its own.

``driver.py WAREHOUSE JAR`` reads JSON lines ``{"sql": …, "out": folder or null}`` and answers
each with a line, ``{}`` or ``{"error": …}``. Rows are written to ``out`` as Parquet.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

CONF = {
    "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
    "spark.sql.catalog.paimon": "org.apache.paimon.spark.SparkCatalog",
    "spark.sql.catalog.paimon.cache-enabled": "false",
    "spark.sql.defaultCatalog": "paimon",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
}


def session(warehouse: str, jar: str) -> Any:
    """Start Spark; its own messages must not mix with the answers."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - of this environment, not of the tests'

    builder = SparkSession.builder.master("local[1]").config("spark.jars", jar)
    builder = builder.config("spark.driver.extraClassPath", jar)
    builder = builder.config("spark.sql.catalog.paimon.warehouse", f"file:{warehouse}")
    for key, value in CONF.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def answer(spark: Any, command: dict[str, str | None]) -> dict[str, str]:
    """Run one command."""
    try:
        rows = spark.sql(command["sql"])
        if command["out"]:
            rows.coalesce(1).write.parquet(command["out"])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return {"error": str(error)[:4000]}
    return {}


def main() -> None:
    """Answer until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = session(*sys.argv[1:3])
    for line in sys.stdin:
        answers.write(json.dumps(answer(spark, json.loads(line))) + "\n")
        answers.flush()
    spark.stop()


if __name__ == "__main__":
    main()
