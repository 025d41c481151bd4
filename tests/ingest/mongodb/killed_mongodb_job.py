"""A job of `test_mongodb_kills`, in a process of its own that is killed: ``python -m …``."""

from __future__ import annotations

import sys

import paimonlab as pm


def main(warehouse: str, hosts: str) -> None:
    """Run the job until it has caught up."""
    cluster = pm.mongodb(hosts, options={"replicaSet": "rs0"})
    job = pm.connect(warehouse).ingest(
        cluster.tables(r"shop\..*"),
        into="ods",
        name="job",
        max_rows=60,
        options={"bucket": "1", "changelog-producer": "input"},
    )
    print("begun", flush=True)  # noqa: T201 - the test waits for it
    job.run(until="caught-up")
    print("ended", flush=True)  # noqa: T201 - and for this


if __name__ == "__main__":
    main(*sys.argv[1:])
