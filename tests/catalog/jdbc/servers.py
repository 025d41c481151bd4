"""MariaDB and PostgreSQL of Debian, started for tests on 127.0.0.1."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.certificates import made_certificates
from tests.debian import is_installed
from tests.ingest.mysql.server import installed
from tests.ports import free_port

USER, PASSWORD = "lake", "zqsea"
_SECONDS_TO_START = 120


class ServerMissingError(Exception):
    """There is no such server on this machine, and it cannot be installed."""


@contextlib.contextmanager
def mariadb() -> Iterator[str]:
    """Run MariaDB; yield its address with an empty database, ``jdbc:mysql://127.0.0.1:…/lake``."""
    if shutil.which("mariadbd") is None and not is_installed("mariadb-server"):
        raise ServerMissingError("mariadb-server is not installed, and apt-get cannot")
    folder, port = Path(tempfile.mkdtemp(prefix="paimonlab-mariadb-")), free_port()
    user = pwd.getpwuid(os.geteuid()).pw_name
    data, connection = folder / "data", folder / "s"
    common = ["--no-defaults", f"--user={user}", f"--datadir={data}", "--innodb-log-file-size=8M"]
    try:
        shutil.copytree(installed(), data)
        server = _start(
            folder / "log",
            *("mariadbd", *common, f"--port={port}", "--bind-address=127.0.0.1"),
            *(f"--socket={connection}", "--character-set-server=utf8mb4"),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M"),
            *_encrypting_mariadb(),
        )
        with _ended(server):
            client = ["mariadb", "--no-defaults", "-uroot", f"--socket={connection}", "-e"]
            _wait([*client, "SELECT 1"], server)
            _run(*client, f"CREATE DATABASE {USER}")
            _run(*client, f"CREATE USER {USER} IDENTIFIED BY '{PASSWORD}'")
            _run(*client, f"GRANT ALL ON *.* TO {USER}")
            yield f"jdbc:mysql://127.0.0.1:{port}/{USER}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Run PostgreSQL; yield its address, ``jdbc:postgresql://127.0.0.1:…/postgres``."""
    programs = _postgres_programs()
    if programs is None:
        raise ServerMissingError("postgresql is not installed, and apt-get cannot")
    folder, port = Path(tempfile.mkdtemp(prefix="paimonlab-postgres-")), free_port()
    as_user: list[str] = []
    if os.geteuid() == 0:  # it refuses to run as root
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    data, secret = folder / "data", folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    try:
        _run(
            *as_user,
            str(programs / "initdb"),
            f"--pgdata={data}",
            f"--username={USER}",
            "--auth=scram-sha-256",
            f"--pwfile={secret}",
            "--no-sync",
            "--encoding=UTF8",
        )
        server = _start(
            folder / "log",
            *as_user,
            str(programs / "postgres"),
            "-D",
            str(data),
            "-p",
            str(port),
            "-c",
            "listen_addresses=127.0.0.1",
            "-c",
            f"unix_socket_directories={folder}",
            "-c",
            "fsync=off",
            *_encrypting_postgres(folder),
        )
        with _ended(server):
            ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
            _wait(ready, server)
            yield f"jdbc:postgresql://127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _encrypting_mariadb() -> tuple[str, ...]:
    """Let clients encrypt, where certificates can be had."""
    made = made_certificates()
    if made is None:
        return ()
    return (f"--ssl-ca={made.authority}", f"--ssl-cert={made.server}", f"--ssl-key={made.key}")


def _encrypting_postgres(folder: Path) -> tuple[str, ...]:
    """Let clients encrypt, where certificates can be had; the key is the server's alone."""
    made = made_certificates()
    if made is None:
        return ()
    for name, source in (("key.pem", made.key), ("server.pem", made.server)):
        shutil.copy(source, folder / name)
        (folder / name).chmod(0o600)
        if os.geteuid() == 0:
            shutil.chown(folder / name, "postgres")
    settings = ("ssl=on", f"ssl_key_file={folder}/key.pem", f"ssl_cert_file={folder}/server.pem")
    return tuple(part for setting in settings for part in ("-c", setting))


def uri_of(server: Callable[[], AbstractContextManager[str]]) -> Iterator[str]:
    """Run a server for a fixture, or skip its tests."""
    pytest.importorskip("sqlalchemy")
    try:
        with server() as uri:
            yield uri
    except ServerMissingError as missing:
        pytest.skip(str(missing))


def login_of(uri: str) -> dict[str, str]:
    """Return the options that say who connects."""
    return {} if ":sqlite:" in uri else {"jdbc.user": USER, "jdbc.password": PASSWORD}


def _postgres_programs() -> Path | None:
    def newest() -> Path | None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        return found[-1].parent if found else None

    return newest() or (newest() if is_installed("postgresql") else None)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, cwd="/")


def _start(log: Path, *command: str) -> subprocess.Popen[bytes]:
    with log.open("wb") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/"
        )


def _wait(command: Sequence[str], server: subprocess.Popen[bytes]) -> None:
    """Repeat a command until it works."""
    end = time.monotonic() + _SECONDS_TO_START
    while subprocess.run(command, capture_output=True, check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"{server.args!r} did not start")
        time.sleep(0.1)


@contextlib.contextmanager
def _ended(server: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        server.terminate()
        try:
            server.wait(30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
