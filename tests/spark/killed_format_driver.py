"""A driver that writes a format table, in which a task is killed and then the driver itself.

Arguments: options of the catalog as JSON, a folder, a number. First rows are inserted while the
process of a task is killed, and its second attempt goes on. Then they are replaced, and right
before so many of the driver's changes to files everything is killed; ``-1`` lets it end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from paimonlab.spark import connect
from paimonlab.storage import LocalFileIO
from tools import short_java

CONF = {"spark.driver.extraJavaOptions": short_java.spark_options()}
ROWS = 40
_CHANGES = ("publish", "rename", "delete_files")


def dying(folder: str) -> Any:
    """Return what passes rows on, and kills the process of the task that is first to come."""

    def passed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(batches):
            yield batch
            if number == 0:
                try:
                    (Path(folder) / "killed").touch(exist_ok=False)
                except FileExistsError:
                    continue
                os.kill(os.getpid(), signal.SIGKILL)

    return passed


def watch(die_at: int) -> list[str]:
    """Kill this process, and all that it started, before one of its changes; return them."""
    seen: list[str] = []
    for name in _CHANGES:
        act = getattr(LocalFileIO, name)

        def acted(*arguments: Any, name: str = name, act: Any = act, **options: Any) -> Any:
            seen.append(name)
            if len(seen) - 1 == die_at:
                os.killpg(os.getpgid(0), signal.SIGKILL)
            return act(*arguments, **options)

        setattr(LocalFileIO, name, acted)
    return seen


def main(options: str, folder: str, die_at: str) -> None:
    """Insert, then replace."""
    spark: Any = connect(
        json.loads(options), catalog="served", master="local[2,3]", memory="512m", conf=CONF
    )
    rows = spark.range(0, ROWS, 1, 2).selectExpr("id", "'old' v", "id % 2 p")
    rows.mapInArrow(dying(folder), rows.schema).createOrReplaceTempView("dying")
    spark.sql("INSERT INTO served.db.t SELECT * FROM dying").collect()
    print("inserted", flush=True)  # noqa: T201
    seen = watch(int(die_at))
    spark.sql(
        f"INSERT OVERWRITE served.db.t SELECT id, 'new' v, id % 2 p FROM range(0, {ROWS}, 1, 2)"
    ).collect()
    print(json.dumps(seen))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
