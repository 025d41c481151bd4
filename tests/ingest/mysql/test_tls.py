"""Encrypted connections to MySQL: whose certificates are taken, and what is refused."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.errors import SourceError, UnsupportedError
from tests.certificates import Certificates, certificates
from tests.ingest.mysql.server import (
    PASSWORD,
    PASSWORD_ENV,
    Server,
    ServerMissingError,
    server,
)


@pytest.fixture(scope="module")
def made() -> Certificates:
    return certificates()


@pytest.fixture(scope="module")
def tls_server(made: Certificates) -> Iterator[Server]:
    """Run a server that encrypts: old clients of others cannot connect to it."""
    options = (f"--ssl-ca={made.authority}", f"--ssl-cert={made.server}", f"--ssl-key={made.key}")
    try:
        with server(*options) as running:
            running.run("CREATE DATABASE shop")
            yield running
    except ServerMissingError as missing:
        pytest.skip(f"no MariaDB: {missing}")


@pytest.fixture(autouse=True)
def _password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PASSWORD_ENV, PASSWORD)


def _shop(server: Server, user: str, **more: Any) -> Any:
    return pm.mysql(port=server.port, user=user, password_env=PASSWORD_ENV, time_zone="UTC", **more)


def test_rows_and_changes_come_over_tls(
    tls_server: Server, made: Certificates, tmp_path: Path
) -> None:
    user = "encrypted"
    tls_server.run(
        f"CREATE USER {user} IDENTIFIED BY '{PASSWORD}' REQUIRE X509",
        f"GRANT ALL ON *.* TO {user}",
        "CREATE TABLE t (id INT PRIMARY KEY, v TEXT)",
        "INSERT INTO t VALUES (1, repeat('a', 65535))",
        database="shop",
    )
    client = tmp_path / "client.pem"
    client.write_text(made.client.read_text("ascii") + made.client_key.read_text("ascii"))
    shop = _shop(tls_server, user, tls=str(made.authority), certificate=str(client))
    catalog = pm.connect(tmp_path / "w")
    job = catalog.ingest(shop.tables(r"shop\.t"), into="ods", name="tls")
    job.run()
    text = "b" * 3_000_000  # more than one record of TLS
    tls_server.run(f"INSERT INTO t VALUES (2, '{text[:60_000]}')", database="shop")
    tls_server.run("ALTER TABLE t MODIFY v LONGTEXT", database="shop")
    tls_server.run(f"INSERT INTO t VALUES (3, '{text}')", database="shop")
    job.run()

    found = {row["id"]: row["v"] for row in catalog.table("ods.t").scan().to_arrow().to_pylist()}
    assert found == {1: "a" * 65_535, 2: text[:60_000], 3: text}

    with pytest.raises(SourceError, match="Access denied"):  # without a certificate
        _shop(tls_server, user, tls=str(made.authority)).tables(r"a\.b").tables()
    with pytest.raises(SourceError, match="Access denied"):
        _shop(tls_server, user).tables(r"a\.b").tables()


def test_a_server_of_another_authority_is_refused(tls_server: Server, made: Certificates) -> None:
    shop = _shop(tls_server, "anyone", tls=str(made.other))
    with pytest.raises(SourceError, match="certificate verify failed"):
        shop.tables(r"a\.b").tables()
    by_name = pm.mysql("localhost", port=tls_server.port, user="anyone", tls=str(made.authority))
    with pytest.raises(SourceError, match="not valid for 'localhost'"):
        by_name.tables(r"a\.b").tables()


def test_a_certificate_is_for_tls() -> None:
    with pytest.raises(ValueError, match="certificate= is for tls=True"):
        pm.mysql(user="cdc", certificate="client.pem")


def test_a_login_of_mysql_without_cryptography_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As pymysql 1.2 says it of MySQL 9.7 to a user who has not logged in there before."""
    import pymysql  # noqa: PLC0415 - an extra

    def connect(**_: object) -> None:
        raise RuntimeError("'cryptography' package is required for caching_sha2_password")

    monkeypatch.setattr(pymysql, "connect", connect)
    with pytest.raises(UnsupportedError, match=r"caching_sha2.*pip install cryptography.*tls=True"):
        pm.mysql(user="lake", password_env=PASSWORD_ENV).database("shop").tables()


@pytest.mark.parametrize("plugin", ["caching_sha2_password", "sha256_password"])
def test_a_password_of_mysql_is_encrypted_without_tls(plugin: str) -> None:
    """As MySQL 8 asks for it, in the words of its protocol: by RSA, with the server's key."""
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    told: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        answering = threading.Thread(
            target=_log_one_in, args=(listening, plugin.encode(), key, told), daemon=True
        )
        answering.start()
        with pytest.raises(SourceError, match="gone with the wind"):
            pm.mysql(port=port, user="lake", password_env=PASSWORD_ENV).database("shop").tables()
        answering.join(10)

    password, *sent = told
    assert password == PASSWORD.encode() + b"\0"
    assert not any(PASSWORD.encode() in packet for packet in sent)


def _log_one_in(listening: socket.socket, plugin: bytes, key: Any, told: list[bytes]) -> None:
    """Ask who connects for a password, as a server does that does not know its hash yet."""
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415 - an extra
    from cryptography.hazmat.primitives.asymmetric import padding  # noqa: PLC0415 - the same

    salt = bytes(range(1, 21))
    connection, _ = listening.accept()
    with connection, connection.makefile("rwb") as stream:

        def send(number: int, data: bytes) -> None:
            stream.write(len(data).to_bytes(3, "little") + bytes([number]) + data)
            stream.flush()

        def received() -> bytes:
            size = int.from_bytes(stream.read(4)[:3], "little")
            data: bytes = stream.read(size)
            told.append(data)
            return data

        can = (0x000F_A201).to_bytes(4, "little")  # protocol 4.1, secure logins, plugins
        begin = b"\x0a8.4.0\0" + bytes(4) + salt[:8] + b"\0" + can[:2] + b"\x2d\x02\0" + can[2:]
        send(0, begin + b"\x15" + bytes(10) + salt[8:] + b"\0" + plugin + b"\0")
        received()
        number = 2
        if plugin == b"caching_sha2_password":
            send(number, b"\x01\x04")  # the hash is not known: the password itself
            assert received() == b"\x02", "the client asks for the key"
            number += 2
        pem = key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        send(number, b"\x01" + pem)
        secret = padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None)
        mixed = key.decrypt(received(), secret)
        told.insert(0, bytes(one ^ salt[at % 20] for at, one in enumerate(mixed)))
        send(number + 2, b"\xff\x51\x04#08S01gone with the wind")
