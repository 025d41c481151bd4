"""One S3 server for all tests of a process, a bucket for each test."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.storage.stores.proxy import Proxy, proxy_of
from tests.storage.stores.server import ServerMissingError, make_bucket, running


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the server."""
    log = tmp_path_factory.mktemp("moto") / "log"
    try:
        with running(log) as url:
            yield url
    except ServerMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True)
def _no_keys_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))


@pytest.fixture
def bucket(s3_server: str) -> str:
    """Name of a new bucket."""
    name = f"bucket-{uuid.uuid4()}"
    make_bucket(s3_server, name)
    return name


@pytest.fixture
def proxy(s3_server: str) -> Iterator[Proxy]:
    """A proxy before the server."""
    with proxy_of(s3_server) as proxy:
        yield proxy


def options_of(url: str, bucket: str) -> Mapping[str, str]:
    """Return the options of a catalog in a bucket."""
    return {
        "warehouse": f"s3://{bucket}/w",
        "s3.endpoint": url,
        "s3.access-key": "AKzqhush",
        "s3.secret-key": "SKzqhush",
    }


@pytest.fixture
def warehouse(s3_server: str, bucket: str) -> Mapping[str, str]:
    """Options of a catalog in a new bucket."""
    return options_of(s3_server, bucket)
