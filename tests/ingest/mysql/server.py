"""MariaDB of Debian with a binary log of rows, started for tests on 127.0.0.1.

``PAIMONLAB_MYSQLD=/path/to/mysqld`` takes that MySQL in its place: 9.7.4 of Debian did;
tests that speak MariaDB's own SQL fail there.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
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
MYSQLD = os.environ.get("PAIMONLAB_MYSQLD", "")
"""A server of MySQL; empty: MariaDB's is taken."""
_PROGRAM = MYSQLD or "mariadbd"
_LOG_SIZE = "--innodb-redo-log-capacity=16M" if MYSQLD else "--innodb-log-file-size=8M"
_INNODB = (_LOG_SIZE, "--innodb-buffer-pool-size=32M")
_OF_MYSQL = (
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    "--mysqlx=OFF",
    "--secure-file-priv=",
    "--log-bin-trust-function-creators=ON",
)


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
            _PROGRAM,
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
            *(_OF_MYSQL if MYSQLD else ()),
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
                raise RuntimeError(f"{_PROGRAM} did not start: {log.read_text()[-2000:]}")
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
        import pymysql  # noqa: PLC0415 - an extra

        try:
            with socket.socket(socket.AF_UNIX) as asked:  # pymysql leaves its own open
                asked.connect(str(self.folder / "s"))
            self.run_as_root("SELECT 1")
        except (OSError, pymysql.err.OperationalError):
            return False
        return True

    def run_as_root(self, *statements: str) -> None:
        """Run statements as the administrator."""
        import pymysql  # noqa: PLC0415 - an extra

        socket_ = str(self.folder / "s")
        with (
            pymysql.connect(unix_socket=socket_, user="root", ssl_disabled=True) as connection,
            connection.cursor() as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)

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
            ssl_disabled=not MYSQLD,  # it would load all authorities; MySQL asks for it
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
    if not MYSQLD and shutil.which("mariadbd") is None and not is_installed("mariadb-server"):
        raise ServerMissingError("mariadb-server is not installed, and apt-get cannot")
    folder = Path(tempfile.mkdtemp(prefix="paimonlab-mysql-"))
    try:
        shutil.copytree(installed(), folder / "data")
        made = Server(folder, free_port())
        made.start(*options)
        try:
            made.run_as_root(
                f"CREATE USER {USER} IDENTIFIED BY '{PASSWORD}'",
                f"GRANT ALL ON *.* TO {USER} WITH GRANT OPTION",
            )
            yield made
        finally:
            made.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def installed() -> Path:
    """Return the data of a server that never ran, made once."""
    version = subprocess.run(
        [_PROGRAM, "--version"], check=True, capture_output=True, text=True
    ).stdout.split()[2]
    user = pwd.getpwuid(os.geteuid()).pw_name
    maker = [MYSQLD] if MYSQLD else ["mariadb-install-db"]
    kind = ["--initialize-insecure"] if MYSQLD else ["--auth-root-authentication-method=normal"]
    more = () if MYSQLD else ("--skip-test-db",)

    def build(folder: Path) -> None:
        subprocess.run(
            [
                *maker,
                "--no-defaults",
                *kind,
                f"--user={user}",
                f"--datadir={folder / 'data'}",
                *more,
                *_INNODB,
            ],
            check=True,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )

    return build_once(cache_folder() / f"{Path(_PROGRAM).name}-{version}-{user}-1", build) / "data"
