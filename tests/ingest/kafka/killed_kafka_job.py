"""A job of `test_kafka_jobs`, in a process of its own that is killed: ``python -m …``."""

from __future__ import annotations

import sys

import paimonlab as pm


def main(warehouse: str, address: str, topic: str, kind: str) -> None:
    """Run the job until it has caught up."""
    cluster = pm.kafka(address)
    if kind == "log":
        columns = {"no": "BIGINT", "what": "STRING"}
        source = cluster.topic(topic, format="json", key_format="none", columns=columns)
    else:
        source = cluster.topic(topic, format="debezium-json")
    job = pm.connect(warehouse).ingest(
        source,
        into="ods",
        name=kind,
        max_rows=400,
        options={"bucket": 1 if kind == "keyed" else -1},
    )
    print("begun", flush=True)  # noqa: T201 - the test waits for it
    job.run(until="caught-up")
    print("ended", flush=True)  # noqa: T201 - and for this


if __name__ == "__main__":
    main(*sys.argv[1:])
