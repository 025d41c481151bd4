"""Spark on a cluster and tables in a store; run as a program, prints what it found as JSON.

Arguments: the URL of the master, JARs for the session or nothing, then options of one catalog after
the other, each as JSON. Without JARs none of Hadoop's modules for stores is there: executors have
what ``pip`` installs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from paimonlab.catalog import connect as open_catalog
from paimonlab.spark import connect
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured
from paimonlab.spec.snapshot import CommitKind
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table

_OF_FILES = ("create", "open_input", "open_output", "read", "write")
_TABLE = (
    "CREATE TABLE {}.db.t (id BIGINT NOT NULL, v STRING) TBLPROPERTIES "
    "('primary-key' = 'id', 'bucket' = '2', 'write-only' = 'true')"
)
_READ = "SELECT * FROM {}.db.t WHERE id >= 100"


def on_store(spark: Any, name: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Write, upsert, read and compact where only executors may touch data files."""
    connect(options, catalog=name, spark=spark)
    spark.sql(f"CREATE DATABASE {name}.db")
    spark.sql(_TABLE.format(name))
    table = open_catalog(options).table("db.t")
    assert isinstance(table, Table)
    model = dict[int, str]()
    with _no_data_files_here(type(store_of(table).file_io)):
        for step in range(2):
            first = step * 60
            rows = spark.range(first, first + 120, 1, 3).selectExpr("id", f"concat({step}, id) v")
            rows.writeTo(f"{name}.db.t").append()
            model |= {number: f"{step}{number}" for number in range(first, first + 120)}
        wanted = sorted((number, v) for number, v in model.items() if number >= 100)
        plan = spark.sql("EXPLAIN " + _READ.format(name)).collect()[0][0]
        answers = [sorted(map(tuple, spark.sql(_READ.format(name)).collect())) == wanted]
        spark.sql(f"CALL {name}.sys.compact(table => 'db.t')")
        answers += [sorted(map(tuple, spark.sql(_READ.format(name)).collect())) == wanted]
        compacted = spark.sql("EXPLAIN " + _READ.format(name)).collect()[0][0]
    files = open_catalog(options).system_table("db.t$files").scan(["level"]).to_arrow()
    said = {check.name: check.found for check in checks(measured(open_catalog(options)))}
    assert table.snapshot is not None
    return {
        "answers": answers,
        "rows": table.scan().to_arrow().num_rows,
        "compacted": table.snapshot.commit_kind is CommitKind.COMPACT,
        "levels": sorted(set(files["level"].to_pylist())),
        "by Python": ["by Python" in plan, "by Python" in compacted],
        "doctor": said["Spark reads"].partition(",")[0],
    }


@contextmanager
def _no_data_files_here(kind: type) -> Iterator[None]:
    """Let whoever opens a data file in this process fail."""

    def guarded(real: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, path: str, *arguments: Any, **named: Any) -> Any:
            assert "/bucket-" not in path, f"the driver touches {path}"
            return real(self, path, *arguments, **named)

        return method

    patches = [patch.object(kind, name, guarded(getattr(kind, name))) for name in _OF_FILES]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()


def main(master: str, jars: str, *stores: str) -> None:
    """Do it on each store."""
    from tests.spark.cluster_job import CONF  # noqa: PLC0415 - which imports this module

    options = [json.loads(one) for one in stores]
    conf = CONF | {"spark.jars": jars} if jars else CONF
    spark = connect(options[0], catalog="first", master=master, memory="512m", conf=conf)
    found = [on_store(spark, f"s{number}", one) for number, one in enumerate(options)]
    spark.stop()
    print(json.dumps(found))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
