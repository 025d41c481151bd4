"""TLS to databases: whose certificates are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.errors import CatalogDatabaseError, UnsupportedError
from tests.catalog.jdbc.servers import PASSWORD, USER
from tests.certificates import Certificates, certificates


@pytest.fixture(scope="module")
def made() -> Certificates:
    return certificates()


def opened(uri: str, warehouse: Path, **parameters: str) -> pl.Catalog:
    options = {f"jdbc.{key}": value for key, value in parameters.items()}
    login = {"jdbc.user": USER, "jdbc.password": PASSWORD}
    return pl.connect(
        {"metastore": "jdbc", "uri": uri, "warehouse": str(warehouse), **login, **options}
    )


@pytest.mark.parametrize("mode", ["VERIFY_CA", "VERIFY_IDENTITY"])
def test_mariadb_shows_its_certificate(
    mariadb_uri: str, made: Certificates, tmp_path: Path, mode: str
) -> None:
    catalog = opened(mariadb_uri, tmp_path, sslMode=mode, serverSslCert=str(made.authority))
    catalog.create_database(f"encrypted_{mode.lower()}")
    assert f"encrypted_{mode.lower()}" in catalog.databases()

    other = opened(mariadb_uri, tmp_path, sslMode=mode, serverSslCert=str(made.other))
    with pytest.raises(CatalogDatabaseError, match="certificate verify failed"):
        other.databases()


def test_postgresql_shows_its_certificate(
    postgres_uri: str, made: Certificates, tmp_path: Path
) -> None:
    catalog = opened(postgres_uri, tmp_path, sslmode="verify-full", sslrootcert=str(made.authority))
    catalog.create_database("encrypted")
    assert "encrypted" in catalog.databases()

    other = opened(postgres_uri, tmp_path, sslmode="verify-full", sslrootcert=str(made.other))
    with pytest.raises(CatalogDatabaseError, match="certificate verify failed"):
        other.databases()


def test_certificates_that_nobody_looks_at_are_refused(tmp_path: Path) -> None:
    uri = "jdbc:mysql://127.0.0.1:1/d"
    with pytest.raises(UnsupportedError, match="sslMode = REQUIRED"):
        opened(uri, tmp_path, sslMode="REQUIRED", serverSslCert="ca.pem")
    with pytest.raises(UnsupportedError, match="trustCertificateKeyStoreType = 'PKCS12'"):
        opened(uri, tmp_path, sslMode="VERIFY_CA", trustCertificateKeyStoreType="PKCS12")
