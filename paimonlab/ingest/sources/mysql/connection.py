"""Connections to a server, what it is and whether its log has what is needed.

Source: MySQL Reference Manual 8.4, "Binary Logging Options and Variables"; MariaDB Knowledge Base,
"Replication and Binary Log System Variables".
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.sources.mysql.positions import Place
from paimonlab.ingest.sources.mysql.wire import PacketReader, ServerGoneError
from paimonlab.ingest.sources.silence import ConnectionEndedError
from paimonlab.secrets import hides_secrets

T = TypeVar("T")

_CONTACT_SECONDS = 8
_ANSWER_SECONDS = 120
"""For a statement, before the connection is taken for lost."""
_LOCK_SECONDS = 60
_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 60_000}
"""After a minute a peer is gone that does not even say that it is there; some systems lack some."""
_PATIENT_SECONDS = 86_400
"""How long the server waits for a reader that is busy: commits and compactions take their time."""
_NEEDED = {
    "log_bin": ("ON", "start the server with --log-bin"),
    "binlog_format": ("ROW", "SET GLOBAL binlog_format = 'ROW'"),
    "binlog_row_image": ("FULL", "SET GLOBAL binlog_row_image = 'FULL'"),
    "binlog_row_metadata": ("FULL", "SET GLOBAL binlog_row_metadata = 'FULL'"),
    "binlog_row_value_options": ("", "SET GLOBAL binlog_row_value_options = ''"),
    "binlog_transaction_compression": ("OFF", "SET GLOBAL binlog_transaction_compression = OFF"),
}
_NOT_EVERYWHERE = ("binlog_row_value_options", "binlog_transaction_compression")
"""Not every server has them."""
_NOT_TOLD = (1227, 1401)
_DENIED = (1044, 1045, 1142, 1143, 1227)


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class Login:
    """Who connects to which server. The password is only named."""

    host: str
    port: int
    user: str
    password_env: str | None = None
    password_file: str | os.PathLike[str] | None = None
    tls: bool | str = False
    certificate: str | None = None
    """A file with the client's certificate and its key."""

    @property
    def name(self) -> str:
        """The address."""
        return f"mysql {self.host}:{self.port}"

    def password(self) -> str:
        """Look the password up.

        Raises
        ------
        SourceError
            If it is not where it should be.
        """
        if self.password_env is not None:
            found = os.environ.get(self.password_env)
            if found is None:
                raise SourceError(
                    self.name, f"{self.password_env}, which has the password, is not set"
                )
            return found
        if self.password_file is not None:
            try:
                return Path(self.password_file).read_text("utf-8").rstrip("\r\n")
            except OSError as error:
                raise SourceError(
                    self.name, f"{self.password_file}, which has the password: {error.strerror}"
                ) from error
        return ""


class Connection:
    """One connection, in UTC, that waits for who reads it."""

    def __init__(self, login: Login) -> None:
        self.name = login.name
        try:
            import pymysql  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UnsupportedError(
                "reading MySQL without pymysql", "pip install 'paimonlab[mysql]'"
            ) from error
        self._errors = pymysql.err
        # It would load all authorities for each connection otherwise, and not check the server.
        tls: dict[str, Any] = {"ssl_disabled": True}
        if login.tls:
            tls = {"ssl_verify_cert": True, "ssl_verify_identity": True}
            tls["ssl_ca" if isinstance(login.tls, str) else "ssl"] = (
                login.tls if isinstance(login.tls, str) else {"check_hostname": True}
            )
        if login.certificate is not None:
            tls["ssl_cert"] = login.certificate
        self._made = self._try(
            lambda: pymysql.connect(
                host=login.host,
                port=login.port,
                user=login.user,
                password=login.password(),
                charset="utf8mb4",
                autocommit=True,
                connect_timeout=_CONTACT_SECONDS,
                read_timeout=_CONTACT_SECONDS,
                init_command=(
                    "SET time_zone = '+00:00', sql_mode = '', "
                    f"net_write_timeout = {_PATIENT_SECONDS}, net_read_timeout = 3600, "
                    f"wait_timeout = {_PATIENT_SECONDS}, lock_wait_timeout = {_LOCK_SECONDS}"
                ),
                **tls,
            )
        )
        self._made._read_timeout = _ANSWER_SECONDS  # noqa: SLF001 - the first answer comes soon
        for name, value in _ALIVE.items():
            if (option := getattr(socket, name, None)) is not None:
                self._made._sock.setsockopt(socket.IPPROTO_TCP, option, value)  # noqa: SLF001

    def _try(self, what: Callable[[], T]) -> T:
        try:
            return what()
        except self._errors.OperationalError as error:
            code, text = (*error.args, "")[:2]
            raise ServerError(self.name, _with_grants(code, f"{text or code}"), code) from error
        except RuntimeError as error:
            if "cryptography" not in str(error):
                raise
            raise UnsupportedError(
                f"{self.name}: the login of MySQL (caching_sha2_password) over a connection that "
                "is not encrypted, without the package cryptography",
                "pip install cryptography, or give tls=True or a file with authorities",
            ) from error
        except self._errors.MySQLError as error:
            code, text = (*error.args, "")[:2]
            raise ServerError(self.name, f"{text or code}", code) from error

    def close(self) -> None:
        """Close it, whatever state it is in."""
        self._made._force_close()  # noqa: SLF001 - close() would ask a server that may be sending

    def rows(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """Ask, and return all rows.

        Raises
        ------
        ServerError
            If the server refuses or is gone.
        """

        def ask() -> Sequence[tuple[Any, ...]]:
            with self._made.cursor() as cursor:
                cursor.execute(statement)
                found: Sequence[tuple[Any, ...]] = cursor.fetchall()
                return found

        return self._try(ask)

    def run(self, statement: str) -> None:
        """Run a statement."""
        self.rows(statement)

    @property
    def process(self) -> int:
        """Number of this connection at the server."""
        return int(self._made.thread_id())

    def doing(self, process: int) -> str | None:
        """Say what another connection of the same user waits for; None: it does not wait.

        Raises
        ------
        ConnectionEndedError
            If the server does not know it any more.
        """
        statement = f"SELECT state FROM information_schema.processlist WHERE id = {process}"  # noqa: S608
        found = self.rows(statement)
        if not found:
            raise ConnectionEndedError(self.name, f"it has ended connection {process} of the job")
        state = str(found[0][0] or "")
        return f"it is {state[:1].lower()}{state[1:]}" if state.startswith("Waiting") else None

    def variables(self, *names: str) -> dict[str, str]:
        """Return variables of the server, those that it has."""
        wanted = ", ".join(f"'{name}'" for name in names)
        found = self.rows(f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({wanted})")
        return {str(name).lower(): str(value) for name, value in found}

    def text(self, value: str) -> str:
        """Write a text into a statement."""
        return str(self._made.escape(value))

    def command(self, command: int, payload: bytes) -> None:
        """Send a command whose answer is read with `reader`."""
        self._try(lambda: self._made._execute_command(command, payload))  # noqa: SLF001

    def reader(self, timeout_seconds: float) -> PacketReader:
        """Return what reads the answer of a command."""
        return PacketReader(self._made._sock, timeout_seconds)  # noqa: SLF001 - rows in columns

    def problem(self, packet: bytes) -> ServerError:
        """Read an ERR packet."""
        code = int.from_bytes(packet[1:3], "little")
        text = packet[9:] if packet[3:4] == b"#" else packet[3:]
        told = _with_grants(code, text.decode("utf-8", "replace"))
        return ServerError(self.name, told, code)

    @cached_property
    def version(self) -> str:
        """As the server says it."""
        return str(self.rows("SELECT VERSION()")[0][0])

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB."""
        return "mariadb" in self.version.lower()

    @cached_property
    def server(self) -> str:
        """What tells this server from others."""
        found = self.variables("server_uuid", "server_uid", "server_id", "hostname", "port")
        own = found.get("server_uuid") or found.get("server_uid")
        return own or "{hostname}:{port}#{server_id}".format(**found)

    def check_log(self) -> None:
        """Make sure that the binary log has whole rows with names.

        Raises
        ------
        SourceError
            If a variable of the server is another; says how to set it.
        """
        found = self.variables(*_NEEDED)
        wrong = []
        for name, (wanted, remedy) in _NEEDED.items():
            value = found.get(name, wanted if name in _NOT_EVERYWHERE else "missing")
            if value.upper() != wanted:
                wrong.append(f"{name} is {value}: {remedy}")
        if wrong:
            raise SourceError(
                self.name,
                f"its binary log lacks what is needed. {'; '.join(wrong)}; and write it into the "
                "server's configuration. Sessions that are open keep what they had",
            )

    def place(self) -> Place:
        """Return where the log ends."""
        statement = "SHOW MASTER STATUS"
        if not self.is_mariadb and _numbers(self.version) >= (8, 2):
            statement = "SHOW BINARY LOG STATUS"
        found = self.rows(statement)
        if not found:
            raise SourceError(self.name, "it has no binary log: start the server with --log-bin")
        return Place(file=str(found[0][0]), at=int(found[0][1]))

    def prepared(self) -> set[str]:
        """Return the XA transactions that are prepared, as statements name them.

        None are told to a user of MySQL without XA_RECOVER_ADMIN.
        """
        try:
            if self.is_mariadb:
                return {str(row[3]) for row in self.rows("XA RECOVER FORMAT='SQL'")}
            return set(map(recovered_xa, self.rows("XA RECOVER CONVERT XID")))
        except ServerError as error:
            if error.code in _NOT_TOLD:
                return set()
            raise

    def gtids_at(self, place: Place) -> str:
        """Return the transactions before a place; of MySQL, those there are now."""
        if self.is_mariadb:
            file = self.text(place.file)
            found = self.rows(f"SELECT BINLOG_GTID_POS({file}, {place.at})")[0][0]
            return str(found or "")
        if self.variables("gtid_mode").get("gtid_mode") != "ON":
            return ""
        return str(self.rows("SELECT @@GLOBAL.gtid_executed")[0][0]).replace("\n", "")


class ServerError(SourceError):
    """What a server answered, with its number."""

    def __init__(self, source: str, problem: str, code: object) -> None:
        super().__init__(source, problem)
        self.code = code


GRANTS = "SELECT, REPLICATION SLAVE, REPLICATION CLIENT (MariaDB: BINLOG MONITOR)"
"""What a user must be allowed; MySQL needs RELOAD too, for the moment at which rows are read."""

GONE = (ServerGoneError, OSError)


def _with_grants(code: object, text: str) -> str:
    """Say what a user needs, if that is what is missing."""
    return f"{text}. The user needs: {GRANTS}" if code in _DENIED else text


def recovered_xa(row: Sequence[Any]) -> str:
    """Write the name of an XA transaction: its format, the lengths of both parts, and their hex."""
    form, length, _, text = row
    digits = str(text).removeprefix("0x")
    cut = 2 * int(length)
    return f"X'{digits[:cut]}',X'{digits[cut:]}',{form}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:2])
