"""Options of HDFS, as Paimon and Hadoop call them.

Sources: apache/paimon@1.3.1 ``org.apache.paimon.utils.HadoopUtils`` (``hadoop-conf-dir``,
``hadoop.`` before Hadoop's own keys) and ``SecurityConfiguration``
(``security.kerberos.login.principal`` …). ``hdfs.client`` and ``webhdfs.…`` are ours: what Hadoop's
clients of WebHDFS take from files and the login of a process is given as options here.
"""

from __future__ import annotations

import enum
import getpass
import os
from collections.abc import Mapping
from dataclasses import dataclass

from paimonlab.errors import UnsupportedError
from paimonlab.secrets import hides_secrets
from paimonlab.storage.hdfs.name_nodes import Settings, service_settings
from paimonlab.storage.schemes import (
    HADOOP_PREFIX,
    HDFS_CLIENT,
    KERBEROS_PREFIX,
    WEBHDFS,
    named_options,
    refuse_unknown,
)

_TICKETS = "use-ticket-cache"
_KNOWN = frozenset(
    (
        *("attempts.maximum", "certificates", "connection.timeout"),
        *("connection.establish.timeout", "delegation.token", "user"),
    )
)


class ClientKind(enum.Enum):
    """Which library reaches HDFS."""

    NATIVE = "hdfs-native"
    LIBHDFS = "libhdfs"


@hides_secrets
@dataclass(frozen=True, slots=True)
class HdfsOptions:
    """How HDFS is reached. Picklable."""

    config: tuple[tuple[str, str], ...] = ()
    """Hadoop's own keys."""
    config_folder: str | None = None
    """Where ``core-site.xml`` and ``hdfs-site.xml`` are; None: as ``HADOOP_CONF_DIR`` says."""
    principal: str | None = None
    keytab: str | None = None
    client: ClientKind = ClientKind.NATIVE


@hides_secrets
@dataclass(frozen=True, slots=True)
class WebHdfsOptions:
    """How WebHDFS is reached. Picklable."""

    user: str = ""
    """Whose files are read and written, where nobody has to prove who they are."""
    delegation_token: str | None = None
    certificates: str | None = None
    """A file in PEM of those who sign the certificates of servers; None: the system's."""
    attempts: int | None = None
    """How often a question is asked, of a service each name node; None: 10 times, there 20."""
    services: Settings = ()
    """Of which name nodes services are, in Hadoop's own keys."""
    timeout_millis: int = 60_000
    connect_timeout_millis: int = 10_000


def client_kind(options: Mapping[str, str]) -> ClientKind | None:
    """Return the library that options ask for; None: they leave it open.

    Raises
    ------
    UnsupportedError
        If there is no such library.
    """
    name = options.get(HDFS_CLIENT)
    if name is None:
        return None
    try:
        return ClientKind(name)
    except ValueError:
        known = ", ".join(kind.value for kind in ClientKind)
        raise UnsupportedError(f"{HDFS_CLIENT} = '{name}'", f"use {known}") from None


def webhdfs_options(options: Mapping[str, str], *, is_service: bool = False) -> WebHdfsOptions:
    """Read the options of WebHDFS among those of a catalog.

    Parameters
    ----------
    options
        Those of the catalog.
    is_service
        Whether the warehouse may be at the name of a service, which files of Hadoop's explain.

    Raises
    ------
    UnsupportedError
        If an option is not implemented, such as those of Kerberos.
    ValueError
        If a value is not allowed.
    """
    for key, value in options.items():
        if key.startswith(KERBEROS_PREFIX):
            raise UnsupportedError(
                f"{key} = '{value}' with webhdfs:",
                "Kerberos over HTTP (SPNEGO) is not implemented: use hdfs:, or give "
                "webhdfs.delegation-token",
            )
    services = service_settings(options, reads_files=is_service)
    values, keys = named_options(
        WEBHDFS, {key: value for key, value in options.items() if key.startswith("webhdfs.")}
    )
    refuse_unknown(values, keys, _KNOWN)

    def number(name: str, default: int, least: int) -> int:
        text = values.get(name, str(default))
        if not text.isdecimal() or int(text) < least:
            raise ValueError(f"{keys[name]} = {text!r} is not a whole number from {least} on")
        return int(text)

    token = values.get("delegation.token") or None
    if token and values.get("user"):
        raise ValueError(f"{keys['user']} and {keys['delegation.token']} cannot be combined")
    return WebHdfsOptions(
        user="" if token else values.get("user") or _user(),
        delegation_token=token,
        certificates=values.get("certificates") or None,
        attempts=number("attempts.maximum", 10, 1) if "attempts.maximum" in values else None,
        services=services,
        timeout_millis=number("connection.timeout", 60_000, 1),
        connect_timeout_millis=number("connection.establish.timeout", 10_000, 1),
    )


def _user() -> str:
    """Return who asks, as Hadoop's clients find it."""
    try:
        return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
    except (KeyError, OSError):
        raise ValueError("webhdfs.user is missing: this process's user has no name") from None


def hdfs_options(options: Mapping[str, str]) -> HdfsOptions:
    """Read the options of HDFS among those of a catalog.

    Raises
    ------
    UnsupportedError
        If an option is not implemented.
    ValueError
        If of principal and keytab one is missing.
    """
    kerberos = {
        key[len(KERBEROS_PREFIX) :]: value
        for key, value in options.items()
        if key.startswith(KERBEROS_PREFIX)
    }
    for name, value in kerberos.items():
        if name not in ("principal", "keytab", _TICKETS):
            raise UnsupportedError(f"{KERBEROS_PREFIX}{name} = '{value}'")
    principal, keytab = kerberos.get("principal") or None, kerberos.get("keytab") or None
    if (principal is None) != (keytab is None):
        raise ValueError(
            f"of {KERBEROS_PREFIX}principal and {KERBEROS_PREFIX}keytab one is missing"
        )
    if kerberos.get(_TICKETS, "true") != "true" and principal is None:
        raise UnsupportedError(f"{KERBEROS_PREFIX}{_TICKETS} = '{kerberos[_TICKETS]}'")
    return HdfsOptions(
        config=tuple(
            (key[len(HADOOP_PREFIX) :], value)
            for key, value in options.items()
            if key.startswith(HADOOP_PREFIX)
        ),
        config_folder=options.get("hadoop-conf-dir") or None,
        principal=principal,
        keytab=keytab,
        client=client_kind(options) or ClientKind.NATIVE,
    )
