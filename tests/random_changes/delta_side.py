"""Runs sequences of statements on tables of Delta; a program for a Spark that has it.

Only the standard library and PySpark. Arguments: a file of JSON with the sequences, one for the
rows after each statement, a folder, and jars, divided by commas.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from tests.random_changes.cells import cells

CONF = {
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.stats.collect": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.driver.memory": "1g",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.insertIntoReplaceUsing.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
}
PROPERTIES = "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = '{}'"


def main(given: str, found: str, folder: str, jars: str) -> None:
    """Run all sequences."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - cells are made without it

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder
    builder = builder.master("local[1]").config("spark.jars", jars)
    builder = builder.config("spark.sql.warehouse.dir", folder)
    for key, value in CONF.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    asked = json.loads(Path(given).read_text())
    create(spark, "u", asked["columns"], (), vectors=False)
    spark.sql(f"INSERT INTO u {asked['others']}")
    answers = []
    for number, one in enumerate(asked["sequences"]):
        create(spark, f"t{number}", one["columns"], one["partitions"], vectors=number % 2 == 0)
        answers.append(run(spark, f"t{number}", one["steps"]))
        spark.sql(f"DROP TABLE t{number}")
        Path(found).with_suffix(".new").write_text(
            json.dumps({"delta": spark.version, "answers": answers})
        )
    Path(found).with_suffix(".new").replace(found)
    spark.stop()


def create(spark: Any, name: str, columns: str, partitions: Any, *, vectors: bool) -> None:
    """Create a table, some with deletion vectors."""
    by = f"PARTITIONED BY ({', '.join(partitions)})" if partitions else ""
    properties = PROPERTIES.format(str(vectors).lower())
    spark.sql(f"CREATE TABLE {name} ({columns}) USING delta {by} TBLPROPERTIES ({properties})")


def run(spark: Any, name: str, steps: list[dict[str, Any]]) -> list[Any]:
    """Return the rows after each statement, or the error that ends the sequence."""
    answers: list[Any] = []
    for step in steps:
        for key, value in step["settings"].items():
            spark.conf.set(key, value)
        try:
            if step["text"]:
                spark.sql(step["text"].replace("{t}", name).replace("{u}", "u"))
            answers.append(cells(spark.table(name).collect()))
        except Exception as error:  # noqa: BLE001 - it is the answer
            answers.append(f"{type(error).__name__}: {str(error)[:2000]}")
            break
        finally:
            for key in step["settings"]:
                spark.conf.unset(key)
    return answers


if __name__ == "__main__":
    main(*sys.argv[1:])
