"""A job of `test_postgres_kills`, in a process of its own that is killed: ``python -m …``."""

from __future__ import annotations

import sys

import paimonlab as pm
from tests.ingest.postgres.server import PASSWORD_ENV


def main(warehouse: str, port: str, database: str, user: str) -> None:
    """Run the job until it has caught up."""
    source = pm.postgres(
        port=int(port), dbname=database, user=user, slot=database, password_env=PASSWORD_ENV
    ).tables("keyed", "log")
    job = pm.connect(warehouse).ingest(
        source, into="ods", name="job", interval=0.05, options={"file.format": "parquet"}
    )
    print("begun", flush=True)  # noqa: T201 - the test waits for it
    job.run(until="caught-up")
    print("ended", flush=True)  # noqa: T201 - and for this


if __name__ == "__main__":
    main(*sys.argv[1:])
