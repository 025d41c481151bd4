"""Executors with Hadoop's module for S3: Spark's own scan reads a bucket, with keys of a catalog.

A part of the job on a cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from paimonlab.catalog import Catalog
from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import PaimonError
from paimonlab.spark import connect
from paimonlab.spark.reading.own_scan import S3_READER_KEY
from tests.secret_options import MARK
from tests.spark.shown import executions_of, shown

_OWN = "FileScan parquet"
_ENCRYPTION = "fs.s3a.encryption.algorithm"
KEYS = (f"ONE{MARK}", f"TWO{MARK}")
"""Access keys of two catalogs of one bucket."""
DENIED = "denied"
"""A table whose data files nobody may read."""


def by_own_scan(spark: Any, options: Mapping[str, str]) -> dict[str, Any]:
    """Read tables by Spark's scan and by our reader, each with keys of its own catalog."""
    before = max((one.executionId() for one in executions_of(spark)[-1:]), default=-1)
    for number, key in enumerate(KEYS):
        connect({**options, "s3.access-key": key}, catalog=f"own{number}", spark=spark)
    catalog = open_catalog({**options, "s3.access-key": KEYS[0]})
    catalog.create_database("own")
    parted = catalog.create_table(
        "own.parted", {"id": "BIGINT", "v": "STRING", "p": "STRING"}, partition_keys=["p"]
    )
    rows = [(number, f"v{number}", "a b/%" if number % 2 else "c") for number in range(40)]
    parted.write(pa.table(dict(zip(("id", "v", "p"), zip(*rows, strict=True), strict=True))))
    spark.sql("ALTER TABLE own0.own.parted RENAME COLUMN v TO w")
    spark.sql("INSERT INTO own1.own.parted VALUES (99, 'w', 'c')")
    rows.append((99, "w", "c"))
    keyed = {"primary-key": "id", "bucket": "1", "deletion-vectors.enabled": "true"}
    deleted = catalog.create_table("own.deleted", {"id": "BIGINT", "v": "STRING"}, options=keyed)
    for step in range(3):
        deleted.write(pa.table({"id": range(step * 10, step * 10 + 20), "v": [f"{step}"] * 20}))
    wanted = {
        "parted": sorted(rows),
        "deleted": [(number, f"{min(number // 10, 2)}") for number in range(40)],
    }

    same = []
    for name, expected in wanted.items():
        for number in range(len(KEYS)):
            found, plan = _read(spark, f"SELECT * FROM own{number}.own.{name}")
            same.append(found == expected and _OWN in plan and MARK not in plan)
        spark.conf.set(S3_READER_KEY, "python")
        found, plan = _read(spark, f"SELECT * FROM own0.own.{name}")
        same.append(found == expected and f"by Python ({S3_READER_KEY} says so)" in plan)
        spark.conf.unset(S3_READER_KEY)
    some, plan = _read(
        spark, "SELECT id, __paimon_file_path f FROM own0.own.parted WHERE p = 'a b/%' AND id > 37"
    )
    is_placed = [
        (number, path.startswith(f"{parted.path}/p=a b%2F%25/bucket-0/data-"))
        for number, path in some
    ]
    spark.conf.set(_ENCRYPTION, "SSE-C")
    why = _read(spark, "SELECT * FROM own0.own.parted")[1].partition("by Python (")[2]
    spark.conf.unset(_ENCRYPTION)
    return {
        "same": same,
        "placed": (is_placed, _OWN in plan),
        "why": why.partition(")")[0],
        "missing": _missing(spark, catalog),
        "denied": _denied(spark, catalog),
        "secret": MARK in shown(spark, before),
    }


def _read(spark: Any, query: str) -> tuple[list[tuple[Any, ...]], str]:
    plan = str(spark.sql(f"EXPLAIN EXTENDED {query}").collect()[0][0])
    return sorted(tuple(row) for row in spark.sql(query).collect()), plan


def _error(spark: Any, query: str) -> list[str]:
    """Return the kind of the error and its message."""
    try:
        spark.sql(query).collect()
    except PaimonError as error:
        return [type(error).__name__, str(error)]
    return ["none", ""]


def _missing(spark: Any, catalog: Catalog) -> list[str]:
    """Read a table whose file is gone."""
    table = catalog.create_table("own.gone", {"id": "BIGINT"})
    table.write(pa.table({"id": [1]}))
    catalog.file_io.delete_directory(f"{table.path}/bucket-0")
    return _error(spark, "SELECT * FROM own0.own.gone")


def _denied(spark: Any, catalog: Catalog) -> list[str]:
    """Read a table whose files the store refuses."""
    catalog.create_table(f"own.{DENIED}", {"id": "BIGINT"}).write(pa.table({"id": [1]}))
    return _error(spark, f"SELECT * FROM own0.own.{DENIED}")
