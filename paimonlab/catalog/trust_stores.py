"""Whose certificates servers may have: files in PEM, and Java's key stores of the kind JKS.

Source: ``sun.security.provider.JavaKeyStore`` of OpenJDK, which describes the layout.
"""

from __future__ import annotations

import base64
import functools
import hmac
import ssl
import struct
import textwrap
from collections.abc import Iterator
from hashlib import sha1
from pathlib import Path

from paimonlab.errors import UnsupportedError

_PEM = b"-----BEGIN"
_JKS = 0xFEEDFEED
_KEY, _TRUSTED = 1, 2
_DIGEST_BYTES = 20
_SALT = b"Mighty Aphrodite"
"""What the format puts between the password and the contents."""


def trusting(path: str, password: str = "") -> ssl.SSLContext:
    """Return how servers are asked by TLS: their names and certificates are verified.

    Parameters
    ----------
    path
        A file with the certificates of those who sign; "": those that the system has.
    password
        Of a key store, which is then checked to be whole; "": it is not checked.

    Raises
    ------
    UnsupportedError
        If it is a key store of another kind, such as PKCS12.
    ValueError
        If the file cannot be read, or has no certificate.
    """
    if not path:
        return ssl.create_default_context()
    return ssl.create_default_context(cadata=_certificates(path, password))


@functools.lru_cache(maxsize=16)
def _certificates(path: str, password: str) -> str:
    """Return the certificates of a file in PEM."""
    local = path.removeprefix("file://").removeprefix("file:")
    try:
        data = Path(local).read_bytes()
    except OSError as error:
        raise ValueError(f"the certificates at {path} cannot be read: {error.strerror}") from None
    if _PEM in data:
        return data.decode("ascii", "ignore")
    if not data.startswith(struct.pack(">I", _JKS)):
        raise UnsupportedError(
            f"the trust store {path}",
            "it is neither PEM nor a JKS key store. `keytool -exportcert -rfc -keystore STORE "
            "-alias NAME -file NAME.pem` writes a certificate as PEM; name that file",
        )
    if password:
        _check_whole(data, path, password)
    try:
        found = list(_of_key_store(data))
    except (struct.error, UnicodeDecodeError):
        found = []
    if not found:
        raise ValueError(f"the key store {path} has no certificate that is trusted, or is damaged")
    return "\n".join(map(_as_pem, found))


def _check_whole(data: bytes, path: str, password: str) -> None:
    contents, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    expected = sha1(password.encode("utf-16-be") + _SALT + contents).digest()  # noqa: S324 - the format
    if not hmac.compare_digest(expected, digest):
        raise ValueError(f"the key store {path} is damaged, or has another password")


def _of_key_store(data: bytes) -> Iterator[bytes]:
    """Yield the certificates that are trusted, as DER; chains of keys are left out."""
    _, version, count = struct.unpack_from(">III", data)
    at = 12

    def text() -> None:
        nonlocal at
        at += 2 + int(struct.unpack_from(">H", data, at)[0])

    def piece() -> bytes:
        nonlocal at
        (size,) = struct.unpack_from(">I", data, at)
        at += 4 + size
        if at > len(data) - _DIGEST_BYTES:
            raise struct.error("it ends within an entry")
        return data[at - size : at]

    def certificate() -> bytes:
        if version > 1:
            text()  # its kind
        return piece()

    for _ in range(count):
        (kind,) = struct.unpack_from(">I", data, at)
        at += 4
        text()  # its alias
        at += 8  # when it was made
        if kind == _TRUSTED:
            yield certificate()
        elif kind == _KEY:
            piece()
            (chain,) = struct.unpack_from(">I", data, at)
            at += 4
            for _ in range(chain):
                certificate()
        else:
            raise struct.error("an entry of no known kind")


def _as_pem(der: bytes) -> str:
    body = "\n".join(textwrap.wrap(base64.b64encode(der).decode("ascii"), 64))
    return f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"
