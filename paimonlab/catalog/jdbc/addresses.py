"""JDBC's addresses, as the arguments of Python's drivers. Nothing is connected here.

Parameters of an address and options that begin with ``jdbc.`` mean the same: both are parameters
of Java's driver. Each is translated, is one of those that change nothing here, or is refused.

Source: the manuals of sqlite-jdbc, MySQL Connector/J and pgJDBC; apache/paimon@1.4.2
``JdbcClientPool``, ``JdbcUtils.extractJdbcConfiguration``.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qsl, unquote

from paimonlab.catalog.trust_stores import trusting
from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.secrets import hides_secrets, without_credentials, without_secrets

Dialect: TypeAlias = Literal["sqlite", "mysql", "postgresql"]
PREFIX = "jdbc."
"""What options of the driver begin with."""
_DIALECTS: Mapping[str, Dialect] = {
    "sqlite": "sqlite",
    "mysql": "mysql",
    "mariadb": "mysql",
    "postgresql": "postgresql",
}
_BUSY_MILLIS = 60_000
"""How long SQLite waits for another process that writes."""


@hides_secrets
@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, and how to connect to it."""

    dialect: Dialect
    shown: str
    """The address without secrets, for messages."""
    database: str | None
    """The file of SQLite; None: it is in ``arguments``."""
    arguments: Mapping[str, Any] = field(repr=False)
    """What the driver is called with."""


def address_of(uri: str, options: Mapping[str, str]) -> Address:
    """Read an address.

    Parameters
    ----------
    uri
        ``jdbc:sqlite:/p/c.db``, ``jdbc:mysql://host:3306/db?…``,
        ``jdbc:postgresql://host:5432/db?…``; ``jdbc:mariadb:`` means the same as ``jdbc:mysql:``.
    options
        Of the catalog; those that begin with ``jdbc.`` are parameters as well.

    Raises
    ------
    UnsupportedError
        If the kind of database, or a parameter, is not implemented.
    ValueError
        If it is not an address, or a parameter has two values.
    """
    scheme, _, rest = uri.partition(":")
    kind, _, place = rest.partition(":")
    if scheme != "jdbc" or not kind or not place:
        raise ValueError(f"uri = {without_secrets(uri)!r} is not an address such as jdbc:sqlite:…")
    if kind not in _DIALECTS:
        raise UnsupportedError(
            f"uri = '{without_secrets(uri)}'", f"databases are {', '.join(_DIALECTS)}"
        )
    place, _, query = place.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    for key, value in options.items():
        if key.startswith(PREFIX):
            _add(given, key.removeprefix(PREFIX), value)
    shown = without_credentials(f"jdbc:{kind}:{place}")
    dialect = _DIALECTS[kind]
    if dialect == "sqlite":
        return _sqlite(place, given, shown)
    user, host, database = _server(place, uri)
    for key, value in user.items():
        _add(given, key, value)
    if dialect == "mysql":
        return Address(dialect, shown, None, _mysql(host, database, given, uri))
    return Address(dialect, shown, None, _postgresql(host, database, given))


def _add(given: dict[str, str], key: str, value: str) -> None:
    if given.get(key, value) != value:
        raise ValueError(f"{PREFIX}{key} and the uri have different values of {key}")
    given[key] = value


def _server(place: str, uri: str) -> tuple[dict[str, str], str, str]:
    """Return user and password, hosts, and the database."""
    slashes, _, rest = place.partition("//")
    hosts, slash, database = rest.partition("/")
    if slashes or not slash or not database:
        raise ValueError(
            f"uri = {without_secrets(uri)!r} names no database; write jdbc:mysql://host:3306/name"
        )
    user, at, hosts = hosts.rpartition("@")
    name, colon, password = user.partition(":")
    known = {"user": unquote(name)} if at else {}
    if colon:
        known["password"] = unquote(password)
    return known, hosts or "localhost", unquote(database)


# SQLite


def _sqlite(place: str, given: dict[str, str], shown: str) -> Address:
    if place == ":memory:" or given.get("mode") == "memory" or ":memory:" in place:
        raise UnsupportedError(
            f"uri = '{shown}'", "a catalog in memory ends with its connection; name a file"
        )
    if place.startswith("file:"):
        raise UnsupportedError(f"uri = '{shown}'", "write the path itself: jdbc:sqlite:/p/c.db")
    busy = given.pop("busy_timeout", str(_BUSY_MILLIS))
    _refuse_others(given, ("busy_timeout",))
    arguments = {"timeout": _number("busy_timeout", busy) / 1000, "check_same_thread": False}
    return Address("sqlite", shown, place, arguments)


# MySQL and MariaDB

_MYSQL_HARMLESS = frozenset(
    {
        "allowPublicKeyRetrieval",  # PyMySQL does it where the server asks for it
        "autoReconnect",  # connections are looked at before they are used
        "cachePrepStmts",
        "connectionTimeZone",  # times are compared by the server alone
        "nullCatalogMeansCurrent",
        "prepStmtCacheSize",
        "prepStmtCacheSqlLimit",
        "rewriteBatchedStatements",
        "serverTimezone",
        "useServerPrepStmts",
    }
)
_MYSQL = (
    *("characterEncoding", "connectTimeout", "password", "requireSSL", "socketTimeout"),
    *("serverSslCert", "sslMode", "trustCertificateKeyStorePassword"),
    *("trustCertificateKeyStoreType", "trustCertificateKeyStoreUrl"),
    *("useSSL", "useUnicode", "user", "verifyServerCertificate"),
)
_FOR_EVER_SECONDS = 31_536_000
"""The most that PyMySQL takes."""
_SSL_MODES = ("DISABLED", "PREFERRED", "REQUIRED", "VERIFY_CA", "VERIFY_IDENTITY")


def _mysql(hosts: str, database: str, given: dict[str, str], uri: str) -> dict[str, Any]:
    if "," in hosts or "(" in hosts:
        raise UnsupportedError(f"uri = '{without_secrets(uri)}'", "name one host")
    host, port = _host_and_port(hosts, "3306")
    given = {key: value for key, value in given.items() if key not in _MYSQL_HARMLESS}
    arguments: dict[str, Any] = {
        "host": host,
        "port": _number("port", port),
        "database": database,
        "charset": "utf8mb4",
        **_mysql_encryption(given),
    }
    if "user" in given:
        arguments["user"] = given.pop("user")
    if "password" in given:
        arguments["password"] = given.pop("password")
    if "connectTimeout" in given:
        seconds = _seconds("connectTimeout", given.pop("connectTimeout"))
        arguments["connect_timeout"] = seconds or _FOR_EVER_SECONDS
    if "socketTimeout" in given:
        seconds = _seconds("socketTimeout", given.pop("socketTimeout"))
        arguments |= {"read_timeout": seconds, "write_timeout": seconds}
    _only(given, "characterEncoding", ("utf8", "utf-8", "utf8mb4"))
    _only(given, "useUnicode", ("true",))
    _refuse_others(given, (*_MYSQL, *_MYSQL_HARMLESS))
    return arguments


def _mysql_encryption(given: dict[str, str]) -> dict[str, Any]:
    """Return how a connection is encrypted; by default it is where the server can."""
    mode = given.pop("sslMode", "").upper() or None
    uses = _flag(given, "useSSL", default=True)
    requires = _flag(given, "requireSSL", default=False)
    verifies = _flag(given, "verifyServerCertificate", default=False)
    trusted, password = _trusted(given)
    if mode is None:
        mode = "PREFERRED"
        if not uses:
            mode = "DISABLED"
        elif verifies:
            mode = "VERIFY_CA"
        elif requires:
            mode = "REQUIRED"
    if mode not in _SSL_MODES:
        raise UnsupportedError(f"sslMode = '{mode}'", f"it is one of {', '.join(_SSL_MODES)}")
    if trusted and not mode.startswith("VERIFY"):
        raise UnsupportedError(
            f"certificates at {trusted} with sslMode = {mode}",
            "VERIFY_CA and VERIFY_IDENTITY look at certificates",
        )
    if mode == "DISABLED":
        return {"ssl_disabled": True}
    if mode == "PREFERRED":
        return {}
    context = trusting(trusted, password)
    context.check_hostname = mode == "VERIFY_IDENTITY"
    if mode == "REQUIRED":
        context.verify_mode = ssl.CERT_NONE
    return {"ssl": context}


def _trusted(given: dict[str, str]) -> tuple[str, str]:
    """Return the file of certificates that are trusted, and its password; "": the system's."""
    found = [given.pop(key, "") for key in ("serverSslCert", "trustCertificateKeyStoreUrl")]
    password = given.pop("trustCertificateKeyStorePassword", "")
    kind = given.pop("trustCertificateKeyStoreType", "JKS")
    if kind.upper() not in ("JKS", "PEM"):
        raise UnsupportedError(f"trustCertificateKeyStoreType = '{kind}'", "it is JKS, or PEM")
    if all(found):
        raise ValueError("serverSslCert and trustCertificateKeyStoreUrl mean the same: give one")
    return "".join(found), password


# PostgreSQL

_POSTGRESQL_HARMLESS = frozenset(
    {
        "binaryTransfer",
        "defaultRowFetchSize",
        "preferQueryMode",
        "preparedStatementCacheQueries",
        "preparedStatementCacheSizeMiB",
        "prepareThreshold",
        "reWriteBatchedInserts",
        "stringtype",
    }
)
_POSTGRESQL: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "user": ("user", str),
    "password": ("password", str),
    "connectTimeout": ("connect_timeout", lambda text: _number("connectTimeout", text)),
    "loginTimeout": ("connect_timeout", lambda text: _number("loginTimeout", text)),
    "socketTimeout": (
        "tcp_user_timeout",
        lambda text: _number("socketTimeout", text) * 1000,
    ),
    "currentSchema": ("options", lambda text: f"-csearch_path={text.replace(' ', '')}"),
    "sslmode": ("sslmode", str),
    "sslcert": ("sslcert", str),
    "sslkey": ("sslkey", str),
    "sslpassword": ("sslpassword", str),
    "sslrootcert": ("sslrootcert", str),
    "ApplicationName": ("application_name", str),
    "tcpKeepAlive": ("keepalives", lambda text: 1 if text == "true" else 0),
}
_TARGETS = {
    "any": "any",
    "primary": "primary",
    "master": "primary",
    "secondary": "standby",
    "preferSecondary": "prefer-standby",
}


def _postgresql(hosts: str, database: str, given: dict[str, str]) -> dict[str, Any]:
    pairs = [_host_and_port(one, "5432") for one in hosts.split(",")]
    arguments: dict[str, Any] = {
        "host": ",".join(host for host, _ in pairs),
        "port": ",".join(port for _, port in pairs),
        "dbname": database,
    }
    if _flag(given, "ssl", default=False) and "sslmode" not in given:
        arguments["sslmode"] = "verify-full"
    for key, (name, translated) in _POSTGRESQL.items():
        if key in given:
            arguments[name] = translated(given.pop(key))
    if "targetServerType" in given:
        arguments["target_session_attrs"] = _target(given.pop("targetServerType"))
    for key in _POSTGRESQL_HARMLESS:
        given.pop(key, None)
    _refuse_others(given, ("ssl", "targetServerType", *_POSTGRESQL, *_POSTGRESQL_HARMLESS))
    return arguments


def _target(text: str) -> str:
    if text not in _TARGETS:
        raise UnsupportedError(
            f"targetServerType = '{text}'", f"it is one of {', '.join(_TARGETS)}"
        )
    return _TARGETS[text]


def _host_and_port(text: str, port: str) -> tuple[str, str]:
    """Split ``host:1``, ``[::1]:1``."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        return host, rest.removeprefix(":") or port
    host, _, given = text.partition(":")
    return host or "localhost", given or port


def _number(key: str, text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{key} = {text!r} is not a whole number")
    return int(text)


def _seconds(key: str, millis: str) -> int | None:
    """Return a time that Java's driver has in milliseconds; 0 there is for ever."""
    number = _number(key, millis)
    return max(number // 1000, 1) if number else None


def _flag(given: dict[str, str], key: str, *, default: bool) -> bool:
    text = given.pop(key, "true" if default else "false").lower()
    if text not in {"true", "false"}:
        raise ValueError(f"{key} = {text!r} is neither true nor false")
    return text == "true"


def _only(given: dict[str, str], key: str, allowed: tuple[str, ...]) -> None:
    value = given.pop(key, allowed[0])
    if value.lower() not in allowed:
        raise UnsupportedError(f"{key} = '{value}'", f"it is one of {', '.join(allowed)}")


def _refuse_others(given: Mapping[str, str], known: tuple[str, ...]) -> None:
    for key, value in given.items():
        raise UnsupportedError(
            without_secrets(f"the parameter {key} = '{value}' of uri, or {PREFIX}{key}"),
            f"it is not translated to Python's driver.{close_matches(key, known)}",
        )
