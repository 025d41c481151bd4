"""A job of `test_spark_jobs` on a Spark of its own, which is killed: ``python -m …``."""

from __future__ import annotations

import sys

import paimonlab as pm
from paimonlab.spark.sessions.session import any_session
from tools import short_java


def main(warehouse: str, address: str, topics: str) -> None:
    """Run the job until it has caught up."""
    any_session(
        master="local[2]",
        memory="512m",
        conf={"spark.driver.extraJavaOptions": short_java.spark_options()},
    )
    source = pm.kafka(address).topic(topics.split(","), format="debezium-json")
    job = pm.connect(warehouse).ingest(
        source,
        into="ods",
        name="shop",
        engine="spark",
        max_rows=500,
        primary_keys={"keyed": ["id"], "other": ["id"]},
        options={"bucket": "-1"},
    )
    print("begun", flush=True)  # noqa: T201 - the test waits for it
    job.run(until="caught-up")
    print("ended", flush=True)  # noqa: T201 - and for this


if __name__ == "__main__":
    main(*sys.argv[1:])
