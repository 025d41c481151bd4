"""One server of each kind for all tests of a process, a bucket or container for each test."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.storage.stores import azurite, hdfs, radosgw, scripted
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
    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "OSS_", "ALIBABA_", "COSN_", "OBS_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("ALIBABA_CLOUD_CONFIG_FILE", str(tmp_path / "no-config"))
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


@pytest.fixture(scope="session")
def azure_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the account of the server."""
    log = tmp_path_factory.mktemp("azurite") / "log"
    try:
        with azurite.running(log) as url:
            yield url
    except ServerMissingError as error:
        pytest.skip(str(error))


@pytest.fixture
def azure_warehouse(azure_server: str) -> Mapping[str, str]:
    """Options of a catalog in a new container."""
    name = f"lake-{uuid.uuid4()}"
    azurite.make_container(azure_server, name)
    return azure_options_of(azure_server, name)


@pytest.fixture
def gcs_service() -> Iterator[scripted.Service]:
    """A server of GCS that follows its documentation."""
    with scripted.serving("gcs") as service:
        yield service


@pytest.fixture
def gcs_warehouse(
    gcs_service: scripted.Service, monkeypatch: pytest.MonkeyPatch
) -> Mapping[str, str]:
    """Options of a catalog there; the token is in the environment."""
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", scripted.TOKEN)
    return {"warehouse": "gs://lake/w", "gs.storage.root.url": gcs_service.url}


@pytest.fixture
def oss_service() -> Iterator[scripted.Service]:
    """A server of OSS that follows its documentation."""
    with scripted.serving("oss") as service:
        yield service


@pytest.fixture
def oss_warehouse(oss_service: scripted.Service) -> Mapping[str, str]:
    """Options of a catalog there."""
    return oss_options_of(oss_service.url)


@pytest.fixture
def cos_warehouse() -> Iterator[Mapping[str, str]]:
    """Options of a catalog on a server of COS that follows its documentation."""
    with scripted.serving("cos") as service:
        yield {
            "warehouse": "cosn://lake/w",
            "fs.cosn.bucket.endpoint_suffix": service.url,
            "fs.cosn.userinfo.secretId": scripted.KEY,
            "fs.cosn.userinfo.secretKey": scripted.SECRET,
        }


@pytest.fixture
def obs_service() -> Iterator[scripted.Service]:
    """A server of OBS that follows its documentation."""
    with scripted.serving("obs") as service:
        yield service


@pytest.fixture
def obs_warehouse(obs_service: scripted.Service) -> Mapping[str, str]:
    """Options of a catalog there."""
    return {
        "warehouse": "obs://lake/w",
        "fs.obs.endpoint": obs_service.url,
        "fs.obs.path.style.access": "true",
        "fs.obs.access.key": scripted.KEY,
        "fs.obs.secret.key": scripted.SECRET,
    }


def oss_options_of(url: str) -> Mapping[str, str]:
    """Return the options of a catalog on a server of OSS."""
    return {
        "warehouse": "oss://lake/w",
        "fs.oss.endpoint": url,
        "fs.oss.sld.enabled": "true",
        "fs.oss.accessKeyId": scripted.KEY,
        "fs.oss.accessKeySecret": scripted.SECRET,
    }


def azure_options_of(url: str, name: str) -> Mapping[str, str]:
    """Return the options of a catalog in a container."""
    host = f"{azurite.ACCOUNT}.dfs.core.windows.net"
    return {
        "warehouse": f"abfs://{name}@{host}/w",
        "azure.endpoint": url,
        f"fs.azure.account.key.{host}": azurite.KEY,
    }


@pytest.fixture(scope="session")
def name_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hdfs.Addresses]:
    """A name node: the one of ``PAIMONLAB_HDFS`` and ``PAIMONLAB_WEBHDFS``, else our own."""
    address, web_address = map(os.environ.get, ("PAIMONLAB_HDFS", "PAIMONLAB_WEBHDFS"))
    if address and web_address:
        yield hdfs.Addresses(address, web_address)
        return
    try:
        with hdfs.running(tmp_path_factory.mktemp("hdfs")) as addresses:
            yield addresses
    except ServerMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def hdfs_server(name_node: hdfs.Addresses) -> str:
    """Address of the name node for hdfs-native."""
    pytest.importorskip("hdfs_native", reason="hdfs-native is not installed")
    return name_node.url


@pytest.fixture
def webhdfs_warehouse(name_node: hdfs.Addresses) -> Mapping[str, str]:
    """Options of a catalog in a new folder, which WebHDFS reaches."""
    return {"warehouse": f"{name_node.web_url}/{uuid.uuid4()}"}


@pytest.fixture
def hdfs_warehouse(hdfs_server: str) -> Mapping[str, str]:
    """Options of a catalog in a new folder."""
    return {"warehouse": f"{hdfs_server}/{uuid.uuid4()}"}


@pytest.fixture(scope="session")
def ceph_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of Ceph's gateway, which only ``make interop`` starts."""
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("Ceph's gateway is part of make interop")
    try:
        with radosgw.running(tmp_path_factory.mktemp("ceph")) as url:
            yield url
    except ServerMissingError as error:
        pytest.skip(f"no Ceph: {error}")


@pytest.fixture
def ceph_warehouse(ceph_server: str) -> Mapping[str, str]:
    """Options of a catalog in a new bucket of Ceph."""
    name = f"bucket-{uuid.uuid4()}"
    radosgw.make_bucket(ceph_server, name)
    return options_of(ceph_server, name)
