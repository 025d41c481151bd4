from __future__ import annotations

import ssl
from typing import Any

import pytest

from paimonlab.catalog.jdbc.addresses import address_of
from paimonlab.errors import UnsupportedError

MYSQL = {"host": "h", "port": 3306, "database": "d", "charset": "utf8mb4"}
POSTGRESQL = {"host": "h", "port": "5432", "dbname": "d"}
SSL = ("sslmode", "verify-full")


@pytest.mark.parametrize(
    ("uri", "options", "expected"),
    [
        ("jdbc:mysql://h/d", {}, MYSQL),
        (
            "jdbc:mysql://me:a%40b@h:33/d?useSSL=false&connectTimeout=1500&socketTimeout=0",
            {"jdbc.useUnicode": "true", "jdbc.characterEncoding": "UTF-8", "catalog-key": "x"},
            MYSQL
            | {"port": 33, "user": "me", "password": "a@b", "ssl_disabled": True}
            | {"connect_timeout": 1, "read_timeout": None, "write_timeout": None},
        ),
        (
            "jdbc:mariadb://h/d?serverTimezone=UTC&autoReconnect=true",
            {"jdbc.user": "u", "jdbc.password": "p"},
            MYSQL | {"user": "u", "password": "p"},
        ),
        ("jdbc:postgresql://h/d", {}, POSTGRESQL),
        (
            "jdbc:postgresql://a:1,[::1]:2,c/d?currentSchema=s,%20public&sslmode=require",
            {"jdbc.user": "u", "jdbc.targetServerType": "primary", "jdbc.loginTimeout": "5"},
            {"host": "a,::1,c", "port": "1,2,5432", "dbname": "d", "user": "u"}
            | {"options": "-csearch_path=s,public", "sslmode": "require"}
            | {"target_session_attrs": "primary", "connect_timeout": 5},
        ),
        (
            "jdbc:postgresql://h/d?ssl=true&socketTimeout=3&prepareThreshold=0",
            {"jdbc.ApplicationName": "lab", "jdbc.tcpKeepAlive": "true"},
            POSTGRESQL
            | {"sslmode": "verify-full", "tcp_user_timeout": 3000}
            | {"application_name": "lab", "keepalives": 1},
        ),
    ],
)
def test_parameters_become_arguments_of_the_driver(
    uri: str, options: dict[str, str], expected: dict[str, Any]
) -> None:
    assert dict(address_of(uri, options).arguments) == expected


def test_a_file_of_sqlite_is_a_path() -> None:
    address = address_of("jdbc:sqlite:/p/a b.db?busy_timeout=1500", {})

    assert (address.dialect, address.database) == ("sqlite", "/p/a b.db")
    assert address.arguments["timeout"] == 1.5


@pytest.mark.parametrize(
    ("parameter", "verifies", "names"),
    [
        ("sslMode=REQUIRED", ssl.CERT_NONE, False),
        ("sslMode=VERIFY_CA", ssl.CERT_REQUIRED, False),
        ("sslMode=verify_identity", ssl.CERT_REQUIRED, True),
        ("requireSSL=true", ssl.CERT_NONE, False),
        ("verifyServerCertificate=true", ssl.CERT_REQUIRED, False),
    ],
)
def test_mysql_is_encrypted_as_asked(parameter: str, verifies: ssl.VerifyMode, names: bool) -> None:
    context = address_of(f"jdbc:mysql://h/d?{parameter}", {}).arguments["ssl"]

    assert (context.verify_mode, context.check_hostname) == (verifies, names)


@pytest.mark.parametrize(
    ("uri", "option", "told"),
    [
        ("jdbc:mysql://h/d?allowMultiQueries=true", "", "allowMultiQueries = 'true'"),
        ("jdbc:mysql://h/d?sslMode=MAYBE", "", "sslMode = 'MAYBE'"),
        ("jdbc:mysql://h,i/d", "", "name one host"),
        ("jdbc:mysql://h/d?characterEncoding=latin1", "", "characterEncoding = 'latin1'"),
        ("jdbc:postgresql://h/d", "jdbc.gssEncMode", "gssEncMode = 'x'"),
        ("jdbc:postgresql://h/d?targetServerType=best", "", "targetServerType = 'best'"),
        ("jdbc:sqlite:/p?journal_mode=WAL", "", "journal_mode = 'WAL'"),
        ("jdbc:sqlite::memory:", "", "ends with its connection"),
        ("jdbc:sqlite:file:x?mode=memory&cache=shared", "", "ends with its connection"),
        ("jdbc:oracle:thin:@h:1521/x", "", "databases are sqlite, mysql, mariadb, postgresql"),
    ],
)
def test_what_is_not_translated_is_refused_by_name(uri: str, option: str, told: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        address_of(uri, {option: "x"} if option else {})

    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "option"),
    [
        ("mysql://h/d", {}),
        ("jdbc:mysql://h", {}),
        ("jdbc:mysql:h/d", {}),
        ("jdbc:mysql://h/d?user=a", {"jdbc.user": "b"}),
        ("jdbc:mysql://h:x/d", {}),
        ("jdbc:mysql://h/d?useSSL=maybe", {}),
    ],
)
def test_what_is_no_address_is_a_wrong_value(uri: str, option: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"uri|whole number|neither true nor false"):
        address_of(uri, option)
