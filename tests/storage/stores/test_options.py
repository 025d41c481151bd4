"""Which options reach a store, and that nothing shows what must not be shown."""

from __future__ import annotations

import logging
import pickle
import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.storage.places import Place, place_of
from paimonlab.storage.stores.s3_options import S3Options, s3_options
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Proxy

KEYS = {"s3.access-key": "a", "s3.secret-key": "b"}


@pytest.mark.parametrize(
    "options",
    [
        {"s3.access-key": "a", "s3.secret-key": "b", "s3.path-style-access": "true"},
        {"s3.access.key": "a", "s3.secret.key": "b", "s3.path.style.access": "true"},
        {"s3a.access-key": "a", "s3a.secret.key": "b", "s3a.path-style-access": "TRUE"},
        {
            "fs.s3a.access.key": "a",
            "fs.s3a.secret.key": "b",
            "fs.s3a.path.style.access": "true",
        },
    ],
)
def test_names_of_paimon_and_hadoop_mean_the_same(options: Mapping[str, str]) -> None:
    assert s3_options(options) == S3Options(access_key="a", secret_key="b", is_path_style=True)


@pytest.mark.parametrize(
    ("given", "endpoint", "region", "is_path_style"),
    [
        ({}, None, None, False),
        ({"s3.endpoint": "h:9000"}, "https://h:9000", None, True),
        ({"s3.endpoint": "http://h:9000/"}, "http://h:9000", None, True),
        (
            {"s3.endpoint": "h", "s3.connection.ssl.enabled": "false"},
            "http://h",
            None,
            True,
        ),
        (
            {"s3.endpoint": "s3.eu-west-1.amazonaws.com"},
            "https://s3.eu-west-1.amazonaws.com",
            "eu-west-1",
            True,
        ),
        (
            {"s3.endpoint": "h", "s3.region": "x-1", "s3.path-style-access": "false"},
            "https://h",
            "x-1",
            False,
        ),
        ({"fs.s3a.endpoint.region": "eu-north-1"}, None, "eu-north-1", False),
    ],
)
def test_where_requests_go(
    given: Mapping[str, str], endpoint: str | None, region: str | None, is_path_style: bool
) -> None:
    options = s3_options(given)

    assert (options.endpoint, options.region) == (endpoint, region)
    assert options.is_path_style is is_path_style


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"s3.multipart.size": "5M"}, "s3.multipart.size = '5M'"),
        ({"fs.s3a.bucket.b.endpoint": "x"}, "fs.s3a.bucket.b.endpoint"),
        ({"s3.signer-type": "S3SignerType"}, "s3.signer-type = 'S3SignerType'"),
        (
            {"fs.s3a.aws.credentials.provider": "org.example.Own"},
            "fs.s3a.aws.credentials.provider = ",
        ),
    ],
)
def test_what_is_not_obeyed_is_refused_by_name(given: Mapping[str, str], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pl.connect({"warehouse": "s3://b/w", **given})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"s3.access-key": "a"}, "only one is given"),
        ({"s3.session-token": "a"}, "without 's3.access-key'"),
        ({**KEYS, "fs.s3a.access.key": "c"}, "have different values"),
        ({"s3.path-style-access": "yes"}, "neither true nor false"),
        ({"s3.endpoint": "ftp://x"}, "not the address"),
        ({"s3.attempts.maximum": "-1"}, "not a whole number"),
    ],
)
def test_wrong_values_are_told(given: Mapping[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pl.connect({"warehouse": "s3://b/w", **given})


def test_options_of_a_store_are_no_options_of_a_disk(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the warehouse is not there"):
        pl.connect({"warehouse": str(tmp_path), **KEYS})


@pytest.mark.parametrize("scheme", ["ftp", "dls"])
def test_other_stores_are_refused_by_name(scheme: str) -> None:
    with pytest.raises(UnsupportedError, match=f"there is no built-in store for {scheme}:"):
        pl.connect(f"{scheme}://b/w")


def test_places_are_read_and_keys_in_them_refused() -> None:
    assert place_of("s3a://b") == Place("s3a", "b", "")
    assert place_of("S3://b/x/y/").uri == "s3://b/x/y"
    with pytest.raises(UnsupportedError, match="give keys as options"):
        place_of("s3://AK:zqhush@b/w")
    for path in ("s3://b/a/../c", "s3://b/a//c", "s3://b/./c"):
        with pytest.raises(CorruptMetadataError):
            place_of(path)


def test_without_obstore_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("paimonlab.storage.stores")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("paimonlab.storage.stores", raising=False)
    monkeypatch.setitem(sys.modules, "obstore", None)

    with pytest.raises(UnsupportedError, match=r"pip install 'paimonlab\[stores\]'"):
        pl.connect("s3://b/w")


def seen_keys(proxy: Proxy) -> set[str]:
    """Return the access keys that requests were signed with."""
    return {text.partition("Credential=")[2].partition("/")[0] for text in proxy.signatures}


def test_keys_come_from_the_environment_and_from_profiles(
    proxy: Proxy, bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    options = {"warehouse": f"s3://{bucket}/w", "s3.endpoint": proxy.url}
    profiles = tmp_path / "credentials"
    profiles.write_text(
        "[default]\naws_access_key_id = OFDEFAULT\naws_secret_access_key = s\n"
        "[team]\naws_access_key_id = OFTEAM\naws_secret_access_key = s\n"
    )
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(profiles))

    pl.connect(options).databases()
    assert seen_keys(proxy) == {"OFDEFAULT"}

    proxy.signatures.clear()
    monkeypatch.setenv("AWS_PROFILE", "team")
    pl.connect(options).databases()
    assert seen_keys(proxy) == {"OFTEAM"}

    proxy.signatures.clear()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "OFENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    pl.connect(options).databases()
    assert seen_keys(proxy) == {"OFENV"}

    proxy.signatures.clear()
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-other-keys")
    pl.connect({**options, "s3.access-key": "OFOPTION", "s3.secret-key": "s"}).databases()
    assert seen_keys(proxy) == {"OFOPTION"}
    assert "of-other-keys" not in proxy.tokens[-1:]


def test_a_profile_that_needs_a_program_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    config = tmp_path / "config"
    config.write_text("[profile sso]\nsso_session = team\nregion = eu-west-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_PROFILE", "sso")

    with pytest.raises(UnsupportedError, match="sso_session of the AWS profile 'sso'"):
        pl.connect("s3://b/w").databases()


def test_no_secret_is_shown(proxy: Proxy, bucket: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    options = {**options_of(proxy.url, bucket), "s3.session-token": "STzqhush"}
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    table.write(pa.table({"id": [1]}))
    shown = [repr(catalog), repr(catalog.file_io), repr(table), repr(table.scan())]
    proxy.choose = lambda *_: "403"
    for call in (catalog.databases, lambda: catalog.file_io.read(f"{catalog.path}/x")):
        with pytest.raises(OSError, match="403") as raised:
            call()
        shown += [str(raised.value), repr(raised.value), repr(raised.value.__cause__)]
    proxy.choose = lambda *_: None
    for status in catalog.file_io.list(f"{table.path}/schema"):
        shown.append(catalog.file_io.read(status.path).decode())
    for status in catalog.file_io.list(f"{table.path}/snapshot"):
        shown.append(catalog.file_io.read(status.path).decode())
    shown.append(str(catalog.system_table("sys.catalog_options").scan().to_arrow().to_pylist()))
    shown.append(caplog.text)

    assert "zqhush" not in "\n".join(shown)
    assert pickle.loads(pickle.dumps(catalog.file_io)) == catalog.file_io


def test_errors_name_the_object_and_the_attempts(proxy: Proxy, bucket: str) -> None:
    catalog = pl.connect({**options_of(proxy.url, bucket), "s3.attempts.maximum": "1"})
    proxy.choose = lambda *_: "503 before"

    said = rf"s3://{bucket}/w/x: reading failed after 2 attempts: .*503"
    with pytest.raises(OSError, match=said):
        catalog.file_io.read(f"s3://{bucket}/w/x")
    proxy.choose = lambda *_: None
    with pytest.raises(OSError, match="404 NoSuchBucket"):
        catalog.file_io.read("s3://no-such-bucket/w/x")
