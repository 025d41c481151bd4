"""Packets of MySQL's protocol in large pieces, for results and binary logs of any size.

pymysql reads packet by packet into objects; here one piece of memory holds thousands of packets,
and where each begins, so that rows can be decoded in columns.

Source: MySQL Source Code Documentation, "Protocol Basics" (packets, ERR_Packet).
"""

from __future__ import annotations

import errno
import socket
import ssl
from dataclasses import dataclass

_HEADER = 4
_LONGEST = 0xFFFFFF
"""A packet of this length goes on in the next one."""
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Packets:
    """Whole packets, in order."""

    data: bytes
    starts: list[int]
    """Of the payload of each."""
    ends: list[int]


class ServerGoneError(ConnectionError):
    """The server closed the connection."""


class PacketReader:
    """Reads what a server sends after a command."""

    def __init__(self, connection: socket.socket, timeout_seconds: float) -> None:
        self._socket = connection
        self._rest = b""
        connection.settimeout(timeout_seconds)

    def read(self) -> Packets | None:
        """Wait for packets and return those that are whole; None: none came in time.

        Raises
        ------
        ServerGoneError
            If the connection is closed.
        OSError
            If it breaks.
        """
        found = _whole_packets(self._rest) if self._rest else None
        parts, have = ([self._rest] if self._rest else []), len(self._rest)
        while found is None:
            try:
                more = self._socket.recv(_READ_BYTES)
            except (TimeoutError, ssl.SSLWantReadError) as error:
                if error.errno == errno.ETIMEDOUT:
                    raise  # of the connection, not of this waiting
                self._rest = b"".join(parts)
                return None
            if not more:
                raise ServerGoneError("the server closed the connection")
            parts.append(more)
            have += len(more)
            if have < _needed(parts[0]):
                continue
            parts = [b"".join(parts)]
            found = _whole_packets(parts[0])
        packets, used = found
        self._rest = parts[0][used:]
        return packets


def _needed(first: bytes) -> int:
    """Return how many bytes the first packet takes, as far as that is known."""
    if len(first) < _HEADER:
        return _HEADER
    return _HEADER + int.from_bytes(first[:3], "little")


def _whole_packets(data: bytes) -> tuple[Packets, int] | None:
    """Find the whole packets at the begin of some bytes; None: there is none."""
    starts: list[int] = []
    ends: list[int] = []
    at, count = 0, len(data)
    while at + _HEADER <= count:
        size = data[at] | data[at + 1] << 8 | data[at + 2] << 16
        end = at + _HEADER + size
        if size == _LONGEST:
            if starts:
                break  # it comes alone
            return _long_packet(data)
        if end > count:
            break
        starts.append(at + _HEADER)
        ends.append(end)
        at = end
    return (Packets(data, starts, ends), at) if starts else None


def _long_packet(data: bytes) -> tuple[Packets, int] | None:
    """Join the parts of a packet that is longer than one can be."""
    parts: list[bytes] = []
    at = 0
    while at + _HEADER <= len(data):
        size = int.from_bytes(data[at : at + 3], "little")
        end = at + _HEADER + size
        if end > len(data):
            return None
        parts.append(data[at + _HEADER : end])
        at = end
        if size < _LONGEST:
            joined = b"".join(parts)
            return Packets(joined, [0], [len(joined)]), at
    return None
