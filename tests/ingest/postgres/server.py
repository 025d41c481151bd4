"""PostgreSQL of Debian with logical decoding, started on 127.0.0.1 for tests that may kill it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from paimonlab.ingest.sources.postgresql.source import Postgres, postgres
from tests.catalog.jdbc import servers
from tests.certificates import made_certificates
from tests.ports import free_port

PASSWORD_ENV = "PAIMONLAB_TEST_POSTGRES"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "wal_level": "logical",
    "max_replication_slots": "12",
    "max_wal_senders": "12",
    "max_connections": "40",
    "shared_buffers": "32MB",
    "fsync": "off",
    "min_wal_size": "32MB",
    "max_wal_size": "128MB",
}


@dataclass
class Server:
    """A server that can be stopped and started again."""

    folder: Path
    port: int
    programs: Path
    as_user: list[str] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None
    more: dict[str, str] = field(default_factory=dict)
    """Settings beside those of every server."""

    def start(self) -> None:
        told = [f"-c{name}={value}" for name, value in (_SETTINGS | self.more).items()]
        command = [
            *self.as_user,
            str(self.programs / "postgres"),
            *("-D", str(self.folder / "data"), "-p", str(self.port)),
            f"-cunix_socket_directories={self.folder}",
            *told,
        ]
        self.process = servers._start(self.folder / "log", *command)
        ready = [str(self.programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        servers._wait(ready, self.process)

    def stop(self, *, at_once: bool = False) -> None:
        """Stop it: in order, or as a crash does."""
        assert self.process is not None
        mode = "immediate" if at_once else "fast"
        control = [str(self.programs / "pg_ctl"), "-D", str(self.folder / "data"), "-m", mode]
        servers._run(*self.as_user, *control, "-w", "stop")
        self.process.wait(30)
        self.process = None

    def connect(self, database: str = "postgres", user: str = servers.USER) -> Any:
        connection = psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            dbname=database,
            user=user,
            password=servers.PASSWORD,
            autocommit=True,
            options="-c timezone=UTC -c extra_float_digits=3",
        )
        return contextlib.closing(connection)


@dataclass
class Database:
    """A database of one test."""

    server: Server
    name: str

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        """Run statements, each by itself; return the rows of the last one."""
        with self.server.connect(self.name) as connection:
            found: list[tuple[Any, ...]] = []
            for statement in statements:
                cursor = connection.execute(statement)
                found = list(cursor.fetchall()) if cursor.description else []
            return found

    def source(self, slot: str | None = None, user: str = servers.USER, **more: Any) -> Postgres:
        os.environ[PASSWORD_ENV] = servers.PASSWORD
        return postgres(
            port=more.pop("port", self.server.port),
            dbname=self.name,
            user=user,
            slot=slot or self.name,
            password_env=PASSWORD_ENV,
            **more,
        )


def _tls(folder: Path) -> dict[str, str]:
    """Let clients encrypt, where certificates can be had; the key is the server's alone."""
    made = made_certificates()
    if made is None:
        return {}
    key = folder / "key.pem"
    shutil.copy(made.key, key)
    key.chmod(0o600)
    if os.geteuid() == 0:
        shutil.chown(key, "postgres")
    for name, path in (("server", made.server), ("authority", made.authority)):
        shutil.copy(path, folder / f"{name}.pem")
        (folder / f"{name}.pem").chmod(0o644)
    return {
        "ssl": "on",
        "ssl_key_file": str(key),
        "ssl_cert_file": str(folder / "server.pem"),
        "ssl_ca_file": str(folder / "authority.pem"),
    }


@contextlib.contextmanager
def running_server() -> Iterator[Server]:
    """Run a server.

    Raises
    ------
    ServerMissingError
        If it cannot be had on this machine.
    """
    programs = servers._postgres_programs()
    if programs is None:
        raise servers.ServerMissingError("postgresql is not installed, and apt-get cannot")
    folder = Path(tempfile.mkdtemp(prefix="paimonlab-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    secret = folder / "password"
    secret.write_text(servers.PASSWORD)
    secret.chmod(0o644)
    server = Server(folder, free_port(), programs, as_user, more=_tls(folder))
    try:
        servers._run(
            *as_user,
            str(programs / "initdb"),
            f"--pgdata={folder / 'data'}",
            f"--username={servers.USER}",
            "--auth=scram-sha-256",
            f"--pwfile={secret}",
            *("--no-sync", "--encoding=UTF8", "--locale=C.UTF-8", "--wal-segsize=4"),
        )
        # Who connects often needs no password: checking one takes a hundredth of a second.
        login = f"host all {servers.USER} 127.0.0.1/32 trust\n"
        rules = folder / "data" / "pg_hba.conf"
        rules.write_text(login + rules.read_text())
        server.start()
        yield server
    finally:
        if server.process is not None:
            server.stop(at_once=True)
        shutil.rmtree(folder, ignore_errors=True)
