"""MariaDB of Debian with a binary log of rows, started for tests on 127.0.0.1."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.debian import is_installed
from tests.interop.java_build import build_once, cache_folder
from tests.ports import free_port

USER, PASSWORD = "lake", "zqsea"
PASSWORD_ENV = "PAIMONLAB_TEST_MYSQL"
_SECONDS_TO_START = 120
_INNODB = ("--innodb-log-file-size=8M", "--innodb-buffer-pool-size=32M")


class ServerMissingError(Exception):
    """There is no such server on this machine, and it cannot be installed."""


@dataclass
class Server:
    """One that runs, and can be killed and started again on its data."""

    folder: Path
    port: int
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self, *options: str) -> None:
        """Start it, and wait until it answers."""
        command = [
            "mariadbd",
            "--no-defaults",
            f"--user={pwd.getpwuid(os.geteuid()).pw_name}",
            f"--datadir={self.folder / 'data'}",
            f"--socket={self.folder / 's'}",
            f"--port={self.port}",
            "--bind-address=127.0.0.1",
            "--character-set-server=utf8mb4",
            "--server-id=7",
            f"--log-bin={self.folder / 'binlog'}",
            "--binlog-format=ROW",
            "--binlog-row-image=FULL",
            "--binlog-row-metadata=FULL",
            "--innodb-flush-log-at-trx-commit=2",  # what is committed outlives a killed server
            "--skip-name-resolve",
            *_INNODB,
            *options,
        ]
        log = self.folder / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/"
            )
        end = time.monotonic() + _SECONDS_TO_START
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"MariaDB did not start: {log.read_text()[-2000:]}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it as an administrator does."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        command = ["mariadb", "--no-defaults", "-uroot", f"--socket={self.folder / 's'}"]
        asked = subprocess.run([*command, "-e", "SELECT 1"], capture_output=True, check=False)
        return asked.returncode == 0

    def connect(self, database: str | None = None, **options: Any) -> Any:
        """Connect as the user of the tests."""
        import pymysql  # noqa: PLC0415 - an extra

        return pymysql.connect(
            host="127.0.0.1",
            port=self.port,
            user=USER,
            password=PASSWORD,
            database=database,
            charset="utf8mb4",
            ssl_disabled=True,  # it would load all authorities otherwise
            **{"autocommit": True, **options},
        )

    def run(self, *statements: str, database: str | None = None) -> None:
        """Run statements in one session."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, statement: str, database: str | None = None) -> Sequence[tuple[Any, ...]]:
        """Return what a statement gives."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            found: Sequence[tuple[Any, ...]] = cursor.fetchall()
            return found


@contextlib.contextmanager
def server(*options: str) -> Iterator[Server]:
    """Run MariaDB without databases."""
    try:
        import pymysql  # noqa: F401, PLC0415 - an extra
    except ImportError:
        raise ServerMissingError("pymysql is not installed") from None
    if shutil.which("mariadbd") is None and not is_installed("mariadb-server"):
        raise ServerMissingError("mariadb-server is not installed, and apt-get cannot")
    folder = Path(tempfile.mkdtemp(prefix="paimonlab-mysql-"))
    try:
        shutil.copytree(installed(), folder / "data")
        made = Server(folder, free_port())
        made.start(*options)
        try:
            socket_ = f"--socket={folder / 's'}"
            for statement in (
                f"CREATE USER {USER} IDENTIFIED BY '{PASSWORD}'",
                f"GRANT ALL ON *.* TO {USER} WITH GRANT OPTION",
            ):
                subprocess.run(
                    ["mariadb", "--no-defaults", "-uroot", socket_, "-e", statement],
                    check=True,
                    capture_output=True,
                )
            yield made
        finally:
            made.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def installed() -> Path:
    """Return the data of a server that never ran, made once."""
    version = subprocess.run(
        ["mariadbd", "--version"], check=True, capture_output=True, text=True
    ).stdout.split()[2]
    user = pwd.getpwuid(os.geteuid()).pw_name

    def build(folder: Path) -> None:
        subprocess.run(
            [
                "mariadb-install-db",
                "--no-defaults",
                f"--user={user}",
                f"--datadir={folder / 'data'}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                *_INNODB,
            ],
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )

    return build_once(cache_folder() / f"mariadb-{version}-{user}-1", build) / "data"
