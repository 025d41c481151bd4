"""Encrypted connections to PostgreSQL, for rows and for the log."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import paimonlab as pm
from paimonlab.errors import SourceError
from tests.catalog.jdbc.servers import PASSWORD, USER
from tests.certificates import certificates
from tests.ingest.postgres.server import PASSWORD_ENV, Database
from tests.ingest.relay import relay

_COPIES = """
import sys
from paimonlab.ingest.sources.postgresql.connections import Connection
from paimonlab.ingest.sources.postgresql.logins import Login

port, name, user, password_env = sys.argv[1:]
login = Login(host="127.0.0.1", port=int(port), dbname=name, user=user, password_env=password_env)
made = Connection(login, "relayed")
for rows in range(17, 33):
    found = 0
    for messages in made.copied(f"COPY (SELECT * FROM t LIMIT {rows}) TO STDOUT (FORMAT binary)"):
        assert messages, f"nothing comes any more after {found} of {rows} rows"
        found += len(messages)
    print(found - 1)
"""
"""Copies rows of 1 kB; each copy has one message for its end."""


def test_rows_and_changes_come_over_tls(database: Database, tmp_path: Path) -> None:
    made = certificates()
    key = tmp_path / "client-key.pem"
    shutil.copy(made.client_key, key)
    key.chmod(0o600)  # libpq asks for it
    options = {
        "sslmode": "verify-full",
        "sslrootcert": str(made.authority),
        "sslcert": str(made.client),
        "sslkey": str(key),
    }
    database.run("CREATE TABLE t (id int PRIMARY KEY, v text)", "INSERT INTO t VALUES (1, 'a')")
    catalog = pm.connect(tmp_path / "w")
    source = database.source(options=options).tables(r"public\.t")
    job = catalog.ingest(source, into="ods", name="tls", interval=0.1)
    job.run()
    big = "b" * 3_000_000  # more than one record of TLS
    database.run(f"INSERT INTO t VALUES (2, '{big}')")
    seen: list[tuple[bool, str]] = []
    job.start(None)
    while job.status.rows < 2 or not seen:
        time.sleep(0.05)
        seen += database.run(
            "SELECT ssl, client_dn FROM pg_stat_ssl JOIN pg_stat_replication USING (pid)"
        )
    job.stop()

    found = {row["id"]: row["v"] for row in catalog.table("ods.t").scan().to_arrow().to_pylist()}
    assert found == {1: "a", 2: big}
    assert set(seen) == {(True, "/CN=client")}

    wrong = database.source(options=options | {"sslrootcert": str(made.other)})
    with pytest.raises(SourceError, match="certificate verify failed"):
        wrong.tables(r"public\.t").tables()


def test_what_is_decrypted_but_not_taken_yet_is_not_waited_for(database: Database) -> None:
    """Before its 18th release libpq leaves a part of a large record to whoever asks again."""
    made = certificates()
    database.run("CREATE TABLE t AS SELECT i, repeat('x', 1000) FROM generate_series(1, 40) i")
    given = os.environ | {"PSYCOPG_IMPL": "python", PASSWORD_ENV: PASSWORD}
    with relay(database.server.port, made) as relayed:
        command = [sys.executable, "-c", _COPIES, str(relayed.port), database.name, USER]
        told = subprocess.run(
            [*command, PASSWORD_ENV], env=given, capture_output=True, text=True, check=False
        )
    assert told.stdout.split() == [str(rows) for rows in range(17, 33)], told.stderr
