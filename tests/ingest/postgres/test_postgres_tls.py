"""Encrypted connections to PostgreSQL, for rows and for the log."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

import paimonlab as pm
from paimonlab.errors import SourceError
from tests.certificates import certificates
from tests.ingest.postgres.server import Database


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
    job = catalog.ingest(source, into="ods", name="tls")
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
