"""A job of `test_hand_over`, in a process of its own that is killed: ``python -m …``."""

from __future__ import annotations

import os
import sys

import paimonlab as pm
from tests.ingest.mysql.server import PASSWORD, PASSWORD_ENV, USER


def main(warehouse: str, port: str, database: str) -> None:
    """Run the job until it has caught up."""
    os.environ[PASSWORD_ENV] = PASSWORD
    shop = pm.mysql(port=int(port), user=USER, password_env=PASSWORD_ENV)
    job = pm.connect(warehouse).ingest(
        shop.database(database), into="ods", name="job", max_rows=100
    )
    print("begun", flush=True)  # noqa: T201 - the test waits for it
    job.run(until="caught-up")
    print("ended", flush=True)  # noqa: T201 - and for this


if __name__ == "__main__":
    main(*sys.argv[1:])
