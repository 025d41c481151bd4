"""Jobs of tables that change at random, killed in the midst: ``python -m … KIND WAREHOUSE …``.

``PAIMONLAB_INGEST_ATTACK_KILLS=2`` kills a job up to twice at random moments before each run that
comes to its end; usually none is, as each takes a process.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import paimonlab as pm
from paimonlab.ingest.job import Job
from tests.catalog.jdbc.servers import PASSWORD as POSTGRES_PASSWORD
from tests.catalog.jdbc.servers import USER as POSTGRES_USER
from tests.ingest.mysql.server import PASSWORD, PASSWORD_ENV, USER
from tests.ingest.postgres.server import PASSWORD_ENV as POSTGRES_ENV
from tests.ingest.run_and_kill import run_and_kill

KILLS = int(os.environ.get("PAIMONLAB_INGEST_ATTACK_KILLS", "0"))


def kill_some(draw: random.Random, kind: str, warehouse: Path, *words: object) -> list[str]:
    """Run a job some times and kill it; return what is to be told when the test fails."""
    told = []
    for _ in range(draw.randint(0, KILLS)):
        seconds = draw.uniform(0.0, 1.2)
        command = [sys.executable, "-m", "tests.ingest.attacked_job", kind, str(warehouse)]
        ended = run_and_kill([*command, *map(str, words)], seconds)
        told.append(f"-- the job is killed after {seconds:.2f} s{', and had ended' * ended}")
    return told


def mysql_job(warehouse: Path, port: str, database: str, name: str) -> Job:
    """Make a job of a database of MySQL."""
    shop = pm.mysql(port=int(port), user=USER, password_env=PASSWORD_ENV, time_zone="Asia/Shanghai")
    made: Job = pm.connect(warehouse).ingest(
        shop.database(database, excluding=r"aside"),
        into=name,
        name=name,
        evolve="exact",
        on_truncate="apply",
        options={"bucket": 1},
    )
    return made


def postgres_job(warehouse: Path, port: str, database: str) -> Job:
    """Make a job of a database of PostgreSQL."""
    os.environ[POSTGRES_ENV] = POSTGRES_PASSWORD
    server = pm.postgres(
        port=int(port),
        dbname=database,
        user=POSTGRES_USER,
        slot=database,
        password_env=POSTGRES_ENV,
    )
    made: Job = pm.connect(warehouse).ingest(
        server.tables("public.*", excluding=r"public\.(parts_.*|aside)"),
        into="ods",
        name="job",
        evolve="exact",
        on_truncate="apply",
        interval=0.2,
        options={"file.format": "parquet"},
    )
    return made


def kafka_job(warehouse: Path, address: str, topic: str, form: str) -> Job:
    """Make a job of a topic whose messages are of a format."""
    source = pm.kafka(address).topic(topic, format=form, columns={"id": "BIGINT"})
    made: Job = pm.connect(warehouse).ingest(
        source, into="ods", name="job", primary_keys=["id"], max_rows=60, options={"bucket": 2}
    )
    return made


_MAKERS: Mapping[str, Callable[..., Job]] = {
    "mysql": mysql_job,
    "postgres": postgres_job,
    "kafka": kafka_job,
}


def main(kind: str, warehouse: str, *words: str) -> None:
    """Run the job until it has caught up."""
    os.environ[PASSWORD_ENV] = PASSWORD
    job = _MAKERS[kind](Path(warehouse), *words)
    print("begun", flush=True)  # noqa: T201 - the test waits for it
    job.run(until="caught-up")
    print("ended", flush=True)  # noqa: T201 - and for this


if __name__ == "__main__":
    main(*sys.argv[1:])
