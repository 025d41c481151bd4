"""Connections by libpq: statements, COPY, and the replication protocol.

psycopg's thin layer over libpq (``psycopg.pq``) is used, not its cursors: rows are taken apart in
columns elsewhere, and START_REPLICATION is beyond cursors. Nothing waits longer than half a second
without giving control back.

Source: PostgreSQL's documentation, "Streaming Replication Protocol".
"""

from __future__ import annotations

import re
import selectors
import struct
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.errors import SourceError, UnsupportedError
from paimonlab.ingest.sources.postgresql.login_answers import state_of
from paimonlab.ingest.sources.postgresql.logins import Login

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn, PGresult

_TICK_SECONDS = 0.5
_ANSWER_SECONDS = 120.0
"""For a statement that waits for nobody, before the connection is taken for lost."""
_NO_REPLICATION = ("superuser or replication role", "permission denied to start WAL sender")
_REFUSALS = (
    *_NO_REPLICATION,
    "authentication failed",
    "is not permitted to log in",
    "no pg_hba.conf entry",
    "permission denied for database",
)
"""What a server says in English to a login that waiting does not help. In other languages it is
asked again for its code."""
_REFUSED = "28000"
_REFUSED_STATES = re.compile("28...|42501|3D000")
"""Codes of such answers: a wrong password or user, a right that is missing, no such database."""
_STATUS_SECONDS = 10.0
"""How often the server is told how far reading came, though it did not ask."""
_EPOCH_2000_MICROS = 946_684_800_000_000
_BATCH_BYTES = 8 << 20
_FEW_BYTES = 1 << 20
"""Enough not to wait for more."""
_FEEDBACK = struct.Struct(">cQQQqB")
_MESSAGE_HEAD = 25
"""Bytes of an XLogData message before the message of pgoutput."""


class ServerError(SourceError):
    """What the server refused, with its code; or a connection that broke."""

    def __init__(self, source: str, problem: str, state: str | None) -> None:
        super().__init__(source, problem)
        self.state = state
        """SQLSTATE; None: the connection is lost."""


class Connection:
    """A connection to a server, in one thread."""

    def __init__(self, login: Login, name: str, *, replication: bool = False) -> None:
        try:
            from psycopg import conninfo, pq  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UnsupportedError(
                "reading PostgreSQL without psycopg", "pip install 'paimonlab[postgres]'"
            ) from error
        self._pq: Any = pq
        self.name = name
        parameters = login.parameters(replication=replication)
        told = conninfo.make_conninfo(**parameters)
        seconds = int(parameters["connect_timeout"])
        self._pg: PGconn = pq.PGconn.connect_start(told.encode())
        problem = self._connected(seconds)
        if problem is not None:
            is_answered = self._pg.status == pq.ConnStatus.BAD
            self._pg.finish()
            state = self._refusal(problem, told, seconds) if is_answered else None
            if any(text in problem for text in _NO_REPLICATION):
                problem += f": run ALTER ROLE {quoted(login.user)} REPLICATION"
            raise ServerError(name, f"no connection to {login.place}: {problem}", state)
        self._is_encrypted = bool(self._pg.ssl_in_use or self._pg.used_gssapi)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._pg.socket, selectors.EVENT_READ)
        self.answer: list[tuple[str | None, ...]] = []
        """Rows of the statement that was asked last."""
        self.wal_end = 0
        """How far the server's log had come with the last message."""
        self._flushed = 0
        self.process = int(self._pg.backend_pid)
        """Process of the server that answers."""
        self._told = self.heard = time.monotonic()
        """`heard`: when something came last."""

    def _refusal(self, problem: str, told: str, seconds: int) -> str | None:
        """Return the code of a login that waiting does not help; None: it may."""
        if any(text in problem for text in _REFUSALS):
            return _REFUSED
        self._pg = self._pq.PGconn.connect_start(told.encode())
        try:
            state = state_of(self._pg, lambda: self._connected(seconds))
        finally:
            self._pg.finish()
        return state if state is not None and _REFUSED_STATES.fullmatch(state) else None

    def _connected(self, seconds: int) -> str | None:
        """Wait until the connection is made; return what is wrong. PQconnectdb has the GIL."""
        polled = self._pq.PollingStatus
        end = time.monotonic() + (seconds if seconds > 0 else float("inf"))
        state = polled.WRITING
        while state in (polled.READING, polled.WRITING):
            if self._pg.status == self._pq.ConnStatus.BAD:
                break
            wanted = selectors.EVENT_READ if state == polled.READING else selectors.EVENT_WRITE
            with selectors.DefaultSelector() as selector:  # it may be another socket each time
                selector.register(self._pg.socket, wanted)
                is_ready = selector.select(_TICK_SECONDS)
            if is_ready:
                state = self._pg.connect_poll()
            elif time.monotonic() > end:
                return f"it did not answer within {seconds} s"
        if self._pg.status == self._pq.ConnStatus.OK:
            return None
        return _text(self._pg.error_message)

    def close(self) -> None:
        """Close it; may be called twice."""
        self._selector.close()
        self._pg.finish()

    # Statements

    def rows(self, statement: str, *values: str | None) -> list[tuple[str | None, ...]]:
        """Run a statement and return its rows as texts.

        Parameters
        ----------
        statement
            With ``$1`` … for values.
        *values
            Texts; the server knows their types.

        Raises
        ------
        ServerError
            If it is refused, or not answered for two minutes.
        """
        for _ in self.asked(statement, *values):
            self._check_answers(" ".join(statement.split())[:80])
        return self.answer

    def _check_answers(self, what: str) -> None:
        silent = time.monotonic() - self.heard
        if silent >= _ANSWER_SECONDS:
            problem = f"the server did not answer for {silent:.0f} s: {what}"
            raise ServerError(self.name, problem, None)

    def asked(self, statement: str, *values: str | None) -> Iterator[None]:
        """Run a statement; yield each half second that it takes. `answer` has the rows."""
        yield from self._sent(statement, *values)
        found: list[tuple[str | None, ...]] = []
        while (result := self._pg.get_result()) is not None:
            self._check(result)
            found += _rows_of(result)
            yield from self._busy()
        self.answer = found

    def copied(self, statement: str) -> Iterator[list[Any]]:
        """Run ``COPY … TO STDOUT`` and yield its messages, some at a time.

        Yields
        ------
        list of bytes-like
            One message per row, and the head and the end of the format; empty after half a second
            without any.
        """
        for _ in self._sent(statement):
            yield []
        result = self._pg.get_result()
        assert result is not None
        self._check(result)
        assert result.status == self._pq.ExecStatus.COPY_OUT, "a COPY TO STDOUT"
        while True:
            found, is_over = self._messages()
            if found:
                yield found
            if is_over:
                break
            if not found and not self._has_input(_TICK_SECONDS):
                yield []
        while (result := self._pg.get_result()) is not None:
            self._check(result)

    def _sent(self, statement: str, *values: str | None) -> Iterator[None]:
        """Send a statement; yield each half second until its answer begins."""
        self.heard = time.monotonic()
        try:
            if values:
                given = [None if value is None else value.encode() for value in values]
                self._pg.send_query_params(statement.encode(), given)
            else:
                self._pg.send_query(statement.encode())
        except self._pq_error() as error:
            raise self._lost(error) from error
        yield from self._busy()

    def _messages(self) -> tuple[list[Any], bool]:
        """Return messages that are there, and whether no more will come."""
        found: list[Any] = []
        append, get = found.append, self._pg.get_copy_data
        size, taken, tried = 0, -1, -1
        try:
            while size < _BATCH_BYTES:
                count, message = get(1)
                if count > 0:
                    append(message)
                    size += count
                elif count < 0:
                    return found, True
                elif self._is_encrypted and taken != size:
                    # Each message is a record of TLS, which is taken in alone: asking whether the
                    # socket has something would take longer than all the rest.
                    taken = size
                    self._pg.consume_input()
                elif not self._has_input(0.0):
                    if tried == size or not self._is_encrypted:
                        break
                    tried = size
        except self._pq_error() as error:
            raise self._lost(error) from error
        if found:
            self.heard = time.monotonic()
        return found, False

    def _busy(self) -> Iterator[None]:
        while self._pg.is_busy():
            if self._has_input(0.0) or not self._pg.is_busy():
                continue
            if not self._has_input(_TICK_SECONDS):
                yield

    def _has_input(self, seconds: float) -> bool:
        """Wait for something from the server, and take it in.

        What is decrypted already, but had no place in libpq's buffer, is not seen by who waits for
        the socket: it is taken in as well, and False returned.
        """
        is_ready = bool(self._selector.select(seconds))
        if is_ready:
            self.heard = time.monotonic()
        if is_ready or self._is_encrypted:
            try:
                self._pg.consume_input()
            except self._pq_error() as error:
                raise self._lost(error) from error
        return is_ready

    def _pq_error(self) -> type[Exception]:
        from psycopg import Error  # noqa: PLC0415 - an extra

        return Error

    def _lost(self, error: Exception) -> ServerError:
        return ServerError(self.name, f"the connection is lost: {error}".strip(), None)

    def _check(self, result: PGresult) -> None:
        status, good = result.status, self._pq.ExecStatus
        if status not in (good.FATAL_ERROR, good.BAD_RESPONSE, good.NONFATAL_ERROR):
            return
        field = self._pq.DiagnosticField
        state = result.error_field(field.SQLSTATE)
        message = result.error_field(field.MESSAGE_PRIMARY) or result.error_message
        problem = _text(message)
        for more in (field.MESSAGE_DETAIL, field.MESSAGE_HINT):
            if text := result.error_field(more):
                problem += f" ({_text(text)})"
        raise ServerError(self.name, problem, _text(state) if state else None)

    # Replication

    def start_replication(self, slot: str, lsn: int, publication: str, flushed: int) -> None:
        """Let the server send what its log has after a place.

        Parameters
        ----------
        slot, publication
            Their names.
        lsn
            The place.
        flushed
            What comes before it in the log is not needed any more; 0: unknown.

        Raises
        ------
        ServerError
            If it refuses.
        """
        plugin = f"proto_version '1', publication_names '{quoted(publication)}'"
        command = f"START_REPLICATION SLOT {quoted(slot)} LOGICAL {lsn_text(lsn)} ({plugin})"
        for _ in self._sent(command):
            self._check_answers(command)
        result = self._pg.get_result()
        assert result is not None
        self._check(result)
        self._flushed, self.wal_end = flushed, lsn
        self.tell()

    def received(self, seconds: float, gathering: float) -> list[Any]:
        """Return messages of the log, at most some MB.

        Each has 25 bytes before what pgoutput wrote: ``w``, where it begins and where the log
        ends, and the time.

        Parameters
        ----------
        seconds
            How long the first is waited for; without any the list is empty.
        gathering
            How many seconds more of them are waited for after the first.
        """
        end = time.monotonic() + seconds
        kept: list[Any] = []
        size = 0
        while True:
            found, is_over = self._messages()
            new = [message for message in found if message[0] == _XLOG_DATA]
            if len(new) < len(found):
                self._take_keepalives([one for one in found if one[0] != _XLOG_DATA])
            if is_over:
                self._end_of_stream()
            self.keep_alive()
            now = time.monotonic()
            if new:
                self.wal_end = max(self.wal_end, _be64(new[-1], 9))
                end = end if kept else now + gathering
                kept += new
                size += sum(map(len, new))
            if now >= end or size >= _FEW_BYTES:
                return kept
            self._has_input(min(max(end - now, 0.0), _TICK_SECONDS))

    def _take_keepalives(self, messages: Sequence[Any]) -> None:
        is_asked = False
        for message in messages:
            assert message[0] == _KEEPALIVE, message[0]
            self.wal_end = max(self.wal_end, _be64(message, 1))
            is_asked = is_asked or bool(message[17])
        if is_asked:
            self.tell()

    def _end_of_stream(self) -> None:
        while (result := self._pg.get_result()) is not None:
            self._check(result)
            if result.status == self._pq.ExecStatus.COPY_IN:
                break
        raise ServerError(self.name, "the server ended the stream", None)

    def keep_alive(self) -> None:
        """Tell the server now and then that somebody still reads, while nothing is received."""
        if (now := time.monotonic()) - self._told >= _STATUS_SECONDS:
            self.tell(asks=now - self.heard >= _STATUS_SECONDS)

    def flush_to(self, lsn: int) -> None:
        """Tell the server that all before a place of its log is not needed any more."""
        if lsn > self._flushed:
            self._flushed = lsn
            self.tell()

    def tell(self, *, asks: bool = False) -> None:
        """Tell the server how far reading came, and what it may forget.

        Parameters
        ----------
        asks
            Whether it is to answer at once.
        """
        self._told = time.monotonic()
        micros = time.time_ns() // 1000 - _EPOCH_2000_MICROS
        written = max(self.wal_end, self._flushed)
        message = _FEEDBACK.pack(b"r", written, self._flushed, self._flushed, micros, asks)
        try:
            self._pg.put_copy_data(message)
            self._pg.flush()
        except self._pq_error() as error:
            raise self._lost(error) from error


_XLOG_DATA, _KEEPALIVE = b"wk"


def _rows_of(result: PGresult) -> list[tuple[str | None, ...]]:
    columns = range(result.nfields)
    found = []
    for row in range(result.ntuples):
        values = [result.get_value(row, column) for column in columns]
        found.append(tuple(None if value is None else _text(value) for value in values))
    return found


def _text(raw: Any) -> str:
    return bytes(raw).decode("utf-8", "replace").strip()


def _be64(message: Any, place: int) -> int:
    return int.from_bytes(message[place : place + 8], "big")


def quoted(name: str) -> str:
    """Write a name as SQL has it.

    Examples
    --------
    >>> quoted('a"b')
    '"a""b"'
    """
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Write a text as SQL has it.

    Examples
    --------
    >>> quoted_text("it's")
    "'it''s'"
    """
    plain = "'" + text.replace("'", "''") + "'"
    return "E" + plain.replace("\\", "\\\\") if "\\" in text else plain


def lsn_text(lsn: int) -> str:
    """Write a place of the log as PostgreSQL does.

    Examples
    --------
    >>> lsn_text((22 << 32) + 0xB37480)
    '16/B37480'
    """
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def lsn_of(text: str) -> int:
    """Read a place of the log.

    Examples
    --------
    >>> lsn_of("16/B37480") == (22 << 32) + 0xB37480
    True
    """
    high, _, low = text.partition("/")
    return (int(high, 16) << 32) + int(low, 16)
