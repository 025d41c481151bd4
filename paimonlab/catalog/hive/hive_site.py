"""Settings of Hive's clients: ``hive-site.xml``, and options that begin with ``hive.``.

Source: apache/paimon@1.4.2 ``HiveCatalog.createHiveConf``; Hive's ``HiveConf``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from paimonlab.catalog.hive.securing import ENCRYPTED, LOGS_IN, TRUSTED, Login, Security
from paimonlab.errors import UnsupportedError
from paimonlab.spec.options.grammar import parse_boolean

CONF_DIR = "hive-conf-dir"
PREFIX = "hive."
_FILE = "hive-site.xml"
_URIS = "hive.metastore.uris"
_TIMEOUT = "hive.metastore.client.socket.timeout"
_BATCH = "hive.metastore.batch.retrieve.max"
_SENDS_USER = "hive.metastore.execute.setugi"
_TRUSTED_KIND = "hive.metastore.truststore.type"
_TRUSTED_PASSWORD = "hive.metastore.truststore.password"  # noqa: S105 - a name
_USER = "hive.metastore.client.plain.username"
_PASSWORD = "hive.metastore.client.plain.password"  # noqa: S105 - a name; ours
_OF_CONNECTION = (ENCRYPTED, TRUSTED, _TRUSTED_KIND, _TRUSTED_PASSWORD, LOGS_IN, _USER, _PASSWORD)
_KNOWN = (_URIS, _TIMEOUT, _BATCH, _SENDS_USER, *_OF_CONNECTION)
_DEFAULTS = {_BATCH: "300", _SENDS_USER: "true", ENCRYPTED: "false", LOGS_IN: "NOSASL"}
_OFF = (
    "hive.metastore.sasl.enabled",
    "hive.metastore.thrift.framed.transport.enabled",
    "hive.metastore.thrift.compact.protocol.enabled",
    "hive.metastore.token.signature",
)
"""What makes a connection one that there is not here."""
_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveSettings:
    """What a client of a metastore goes by."""

    uris: str
    """A comma list; "" if none are set."""
    timeout_seconds: float
    """How long an answer is waited for."""
    batch_size: int
    """How many objects are asked for at once."""
    sends_user: bool
    """Whether the metastore is told who asks."""
    security: Security
    """Whether by TLS, and who logs in."""


def settings_of(options: Mapping[str, str], *, timeout: str = "600s") -> HiveSettings:
    """Read the settings: those of the file, then those of the catalog.

    Parameters
    ----------
    options
        Those of the catalog.
    timeout
        How long an answer is waited for if neither says so.

    Raises
    ------
    UnsupportedError
        If one asks for what is not implemented, such as Kerberos.
    ValueError
        If the file is missing, or a value is not what it must be.
    """
    for key, value in options.items():
        if key.startswith(PREFIX) and key not in (*_KNOWN, *_OFF):
            raise UnsupportedError(f"{key} = '{value}'", f"there are {', '.join(_KNOWN)}")
    found = {_TIMEOUT: timeout, **_DEFAULTS, **_of_file(options), **options}
    for key in _OFF:
        value = found.get(key, "")
        if value and value.strip().lower() != "false":
            raise UnsupportedError(
                f"{key} = '{value}'",
                f"the metastore is reached without Kerberos and tokens; {LOGS_IN} = PLAIN logs in "
                "by a password",
            )
    return HiveSettings(
        uris=found.get("uri") or found.get(_URIS, ""),
        timeout_seconds=_seconds(found[_TIMEOUT]),
        batch_size=_count(found[_BATCH]),
        sends_user=_flag(_SENDS_USER, found[_SENDS_USER]),
        security=_security(found),
    )


def _security(found: Mapping[str, str]) -> Security:
    """Read how the metastore is reached."""
    mode = found[LOGS_IN].strip().upper()
    if mode not in ("NOSASL", "PLAIN"):
        raise UnsupportedError(f"{LOGS_IN} = '{found[LOGS_IN]}'", "there are NOSASL and PLAIN")
    kind = found.get(_TRUSTED_KIND, "")
    if kind.strip().upper() not in ("", "JKS", "PEM"):
        raise UnsupportedError(
            f"{_TRUSTED_KIND} = '{kind}'",
            "certificates are read from JKS key stores and PEM files; `keytool -exportcert -rfc` "
            "writes PEM",
        )
    login = None
    if mode == "PLAIN":
        user, password = found.get(_USER, ""), found.get(_PASSWORD, "")
        if not user or not password:
            raise ValueError(f"{LOGS_IN} = PLAIN takes {_USER} and {_PASSWORD}")
        if "\0" in user + password:
            raise ValueError(f"{_USER} and {_PASSWORD} must not have the character NUL")
        login = Login(user, password)
    return Security(
        is_encrypted=_flag(ENCRYPTED, found[ENCRYPTED]),
        trusted=found.get(TRUSTED, ""),
        trusted_password=found.get(_TRUSTED_PASSWORD, ""),
        login=login,
    )


def _of_file(options: Mapping[str, str]) -> dict[str, str]:
    """Return what ``hive-site.xml`` says, if there is one."""
    given = options.get(CONF_DIR)
    folder = given or os.environ.get("HIVE_CONF_DIR")
    if not folder:
        return {}
    path = Path(folder.removeprefix("file://").removeprefix("file:")) / _FILE
    try:
        text = path.read_bytes()
    except OSError as error:
        if given is None:
            return {}
        raise ValueError(f"{CONF_DIR} = {folder!r}: {path} cannot be read: {error}") from None
    try:
        root = ET.fromstring(text)  # noqa: S314 - the user's own file
    except ET.ParseError as error:
        raise ValueError(f"{path}: {error}") from None
    named = {
        (one.findtext("name") or "").strip(): (one.findtext("value") or "").strip()
        for one in root.iter("property")
    }
    return {key: value for key, value in named.items() if key.startswith(PREFIX)}


def _seconds(text: str) -> float:
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :]
    if not number.strip().isdecimal() or unit not in _SECONDS or not int(number):
        raise ValueError(f"{_TIMEOUT} = {text!r} is not a time such as 600s")
    return int(number) * _SECONDS[unit]


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{_BATCH} = {text!r} is not a positive number")
    return int(text)


def _flag(key: str, text: str) -> bool:
    try:
        return parse_boolean(text)
    except ValueError as error:
        raise ValueError(f"{key} = {text!r}: {error}") from None
