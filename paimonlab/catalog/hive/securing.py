"""Connections to a metastore that are encrypted, and on which a user logs in with a password.

Source: Hive 4.0.1 ``HiveMetaStoreClient.open``, ``MetaStorePlainSaslHelper``; Thrift's
``TSaslTransport``; RFC 4616 for PLAIN.
"""

from __future__ import annotations

import io
import socket
import ssl
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from paimonlab.catalog.trust_stores import trusting
from paimonlab.errors import AccessDeniedError
from paimonlab.secrets import hides_secrets

ENCRYPTED = "hive.metastore.use.SSL"
TRUSTED = "hive.metastore.truststore.path"
LOGS_IN = "hive.metastore.client.auth.mode"
_START, _OK, _BAD, _ERROR, _COMPLETE = 1, 2, 3, 4, 5
_HEAD, _LENGTH = struct.Struct(">BI"), struct.Struct(">I")
_MOST_TOLD_BYTES = 1 << 16
"""A longer message about a login is not of this protocol."""
_MOST_BYTES = 1 << 30


@hides_secrets
@dataclass(frozen=True, slots=True)
class Login:
    """Who asks, by a password."""

    user: str
    password: str = field(repr=False)


@hides_secrets
@dataclass(frozen=True, slots=True)
class Security:
    """How a metastore is reached."""

    is_encrypted: bool = False
    """Whether by TLS."""
    trusted: str = ""
    """File of the certificates of those who sign; "": those of the system."""
    trusted_password: str = field(default="", repr=False)
    login: Login | None = None

    @property
    def unused(self) -> tuple[str, ...]:
        """The options by which a metastore could be reached otherwise."""
        left = ((self.is_encrypted, ENCRYPTED), (self.login is not None, LOGS_IN))
        return tuple(key for is_used, key in left if not is_used)


def encrypted(plain: socket.socket, host: str, shown: str, security: Security) -> socket.socket:
    """Begin TLS on a connection, if it is to be.

    Parameters
    ----------
    plain
        The connection; it is closed if that fails.
    host
        Whose certificate it must be.
    shown
        The address, for messages.
    security
        Whether, and whom to trust.

    Raises
    ------
    AccessDeniedError
        If the certificate is not one that is trusted.
    OSError
        If the other side does not begin TLS.
    """
    if not security.is_encrypted:
        return plain
    try:
        context = trusting(security.trusted, security.trusted_password)
        return context.wrap_socket(plain, server_hostname=host)
    except ssl.SSLCertVerificationError as error:
        plain.close()
        raise AccessDeniedError(
            shown,
            f"its certificate is not trusted: {error.verify_message.rstrip('.')}; "
            f"{TRUSTED} names those who may have signed it",
        ) from None
    except ssl.SSLError as error:
        plain.close()
        raise ConnectionError(f"no TLS: {error.reason or error}") from None
    except BaseException:
        plain.close()
        raise


class PlainLogin:
    """A transport of Thrift on which a user has logged in: what is flushed is one frame."""

    def __init__(self, below: Any) -> None:
        self._below = below
        self._read = io.BytesIO()
        self._written = bytearray()

    def begin(self, login: Login, shown: str) -> None:
        """Log in.

        Raises
        ------
        AccessDeniedError
            If the metastore does not accept it.
        """
        words = ("", login.user, login.password)
        self._tell(_START, b"PLAIN")
        self._tell(_OK, "\0".join(words).encode())
        status, told = self._told()
        if status != _COMPLETE:
            why = told.decode("utf-8", "replace").strip() or "it says no more"
            raise AccessDeniedError(
                shown, f"the login of {login.user!r} is refused: {why.replace(login.password, '…')}"
            )

    def read(self, size: int) -> bytes:
        """Return up to so many bytes, at least one."""
        found = self._read.read(size)
        while not found and size:
            (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
            if length > _MOST_BYTES:
                raise ConnectionError(
                    f"a frame of {length:,} bytes, which is none of this protocol"
                )
            self._read = io.BytesIO(self._exactly(length))
            found = self._read.read(size)
        return found

    def write(self, data: bytes) -> None:
        """Keep bytes until they are flushed."""
        self._written += data

    def flush(self) -> None:
        """Send what was written."""
        data = bytes(self._written)
        self._written.clear()
        self._below.write(_LENGTH.pack(len(data)) + data)
        self._below.flush()

    def is_open(self) -> bool:
        """Whether it can be used."""
        return bool(self._below.is_open())

    def open(self) -> None:
        """Do nothing: it was opened before the login."""

    def close(self) -> None:
        """Close the connection."""
        self._below.close()

    def _tell(self, status: int, words: bytes) -> None:
        self._below.write(_HEAD.pack(status, len(words)) + words)
        self._below.flush()

    def _told(self) -> tuple[int, bytes]:
        status, length = _HEAD.unpack(self._exactly(_HEAD.size))
        if status not in (_OK, _BAD, _ERROR, _COMPLETE) or length > _MOST_TOLD_BYTES:
            raise ConnectionError("it does not answer logins by SASL")
        return status, self._exactly(length)

    def _exactly(self, size: int) -> bytes:
        read: Callable[[int], bytes] = self._below.read
        found = bytearray()
        while len(found) < size:
            found += read(size - len(found))
        return bytes(found)
