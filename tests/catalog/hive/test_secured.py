"""A metastore that is reached by TLS, and wants a login; Hive 4's own is in ``test_hive4.py``."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.errors import AccessDeniedError, CatalogServerError, UnsupportedError
from tests.catalog.hive.fronts import PASSWORD, front_of
from tests.catalog.hive.metastores import OWN_DATABASE
from tests.certificates import Certificates, certificates


@pytest.fixture(scope="module")
def made() -> Certificates:
    return certificates()


@pytest.fixture
def secured(hive_uri: str, made: Certificates, tmp_path: Path) -> Iterator[Mapping[str, str]]:
    with front_of(hive_uri, made) as options:
        yield {**options, "warehouse": str(tmp_path / "w")}


def test_a_table_lives_its_life_behind_tls_and_a_login(secured: Mapping[str, str]) -> None:
    catalog = pl.connect(secured)
    assert isinstance(catalog, HiveCatalog)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {f"c{n}": "INT" for n in range(120)})
    table.write({"c0": [1, 2]})
    catalog.alter_table("db.t", pl.AddColumn("x", "INT"))
    catalog.rename_table("db.t", "db.u")

    again = pickle.loads(pickle.dumps(catalog.table("db.u")))
    assert again.scan(columns=["c0"]).to_arrow().to_pydict() == {"c0": [1, 2]}
    assert pl.connect(secured).tables("db") == ["u"]
    assert PASSWORD not in f"{catalog!r} {catalog._metastore!r} {catalog._metastore._security!r}"


def test_who_is_not_let_in_is_told_why(
    secured: Mapping[str, str], made: Certificates, hive_uri: str
) -> None:
    def told(**changed: str) -> str:
        named = {f"hive.metastore.{key}": value for key, value in changed.items() if key != "uri"}
        uri = {"uri": changed["uri"]} if "uri" in changed else {}
        with pytest.raises((AccessDeniedError, CatalogServerError)) as raised:
            pl.connect({**secured, **named, **uri}).databases()
        assert "zqhush" not in f"{raised.value} {raised.value!r}"
        return str(raised.value)

    wrong = told(**{"client.plain.password": "zqhushother"})
    assert "the login of 'lake' is refused: it is not" in wrong
    assert "certificate is not trusted" in told(**{"truststore.path": str(made.other)})
    assert "certificate is not trusted: Hostname mismatch" in told(
        uri=secured["uri"].replace("127.0.0.1", "localhost")
    )
    assert "if it wants more: hive.metastore.use.SSL" in told(**{"use.SSL": "false"})
    assert "no TLS" in told(uri=hive_uri)


def test_hive_site_has_the_login_too(secured: Mapping[str, str], tmp_path: Path) -> None:
    properties = "".join(
        f"<property><name>{key}</name><value>{value}</value></property>"
        for key, value in secured.items()
        if key.startswith("hive.")
    )
    (tmp_path / "hive-site.xml").write_text(f"<configuration>{properties}</configuration>")
    given = {key: secured[key] for key in ("metastore", "uri", "warehouse")}
    assert pl.connect({**given, "hive-conf-dir": str(tmp_path)}).databases() == [OWN_DATABASE]


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"client.auth.mode": "KERBEROS"}, UnsupportedError, "client.auth.mode = 'KERBEROS'"),
        ({"sasl.enabled": "true"}, UnsupportedError, "without Kerberos"),
        ({"client.auth.mode": "PLAIN"}, ValueError, "takes hive.metastore.client.plain.username"),
        ({"use.SSL": "perhaps"}, ValueError, "hive.metastore.use.SSL = 'perhaps'"),
        ({"truststore.type": "PKCS12"}, UnsupportedError, "truststore.type = 'PKCS12'"),
    ],
)
def test_what_there_is_not_is_refused_by_name(
    options: Mapping[str, str], error: type[Exception], told: str, tmp_path: Path
) -> None:
    named = {f"hive.metastore.{key}": value for key, value in options.items()}
    with pytest.raises(error, match=told):
        pl.connect(
            {"metastore": "hive", "uri": "thrift://h:1", "warehouse": str(tmp_path), **named}
        )
