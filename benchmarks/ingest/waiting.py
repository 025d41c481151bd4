"""Jobs of MariaDB and PostgreSQL that wait for their servers, then let them wait.

``python -m benchmarks.ingest.waiting`` does what `tests.ingest.idle_job` does in every run of the
tests, for as many seconds as ``PAIMONLAB_INGEST_IDLE_SECONDS`` says, of both servers at a time.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import paimonlab as pm
from tests.catalog.jdbc.servers import PASSWORD as POSTGRES_PASSWORD
from tests.ingest.idle_job import SECONDS
from tests.ingest.mysql import test_hand_over
from tests.ingest.mysql.server import PASSWORD, PASSWORD_ENV, USER, server
from tests.ingest.postgres import test_postgres_jobs
from tests.ingest.postgres.server import PASSWORD_ENV as POSTGRES_ENV
from tests.ingest.postgres.server import Database, running_server


def main() -> None:
    """Run both, print how each came out."""
    os.environ[PASSWORD_ENV] = PASSWORD
    os.environ[POSTGRES_ENV] = POSTGRES_PASSWORD
    with ThreadPoolExecutor() as threads:
        for one in [threads.submit(_timed, of) for of in (_mysql, _postgres)]:
            print(one.result(), flush=True)


def _timed(of: Callable[[Path], None]) -> str:
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        of(Path(folder))
    return (
        f"{of.__name__.strip('_')}: {SECONDS:.0f} s without changes, {SECONDS:.0f} s paused, a "
        f"table read anew, one added: equal after {time.monotonic() - begun:.0f} s"
    )


def _mysql(folder: Path) -> None:
    with server() as made:
        made.run("CREATE DATABASE shop")
        shop = pm.mysql(port=made.port, user=USER, password_env=PASSWORD_ENV)
        test_hand_over.test_a_job_waits_and_is_waited_for(folder, made, "shop", shop)


def _postgres(folder: Path) -> None:
    with running_server() as made, pytest.MonkeyPatch.context() as patch:
        Database(made, "postgres").run("CREATE DATABASE shop")
        shop = Database(made, "shop")
        test_postgres_jobs.test_a_job_waits_and_is_waited_for(folder, shop, patch)


if __name__ == "__main__":
    main()
