"""Options of GCS, Azure, OSS, COS and OBS: what reaches the store, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pl
from paimonlab.errors import UnsupportedError
from paimonlab.storage.stores.azure_options import azure_options, container_config
from paimonlab.storage.stores.cloud_options import cosn_options, obs_options, oss_options
from paimonlab.storage.stores.gcs_options import GcsOptions, gcs_options
from paimonlab.storage.stores.keys import keys_of

AK = {"fs.oss.accessKeyId": "a", "fs.oss.accessKeySecret": "b"}
LAKE = "lake@acc.dfs.core.windows.net"
HOST = "acc.dfs.core.windows.net"
TENANT = "https://login.microsoftonline.com/t1/oauth2/token"


@pytest.mark.parametrize(
    ("given", "endpoint", "region", "has_path", "has_bucket"),
    [
        (
            {"fs.oss.endpoint": "oss-cn-hangzhou.aliyuncs.com"},
            "https://s3.oss-cn-hangzhou.aliyuncs.com",
            "cn-hangzhou",
            False,
            False,
        ),
        (
            {"fs.oss.endpoint": "http://oss-cn-beijing-internal.aliyuncs.com/"},
            "http://s3.oss-cn-beijing-internal.aliyuncs.com",
            "cn-beijing",
            False,
            False,
        ),
        (
            {"fs.oss.region": "cn-shanghai"},
            "https://s3.oss-cn-shanghai.aliyuncs.com",
            "cn-shanghai",
            False,
            False,
        ),
        (
            {"fs.oss.endpoint": "own.example", "fs.oss.cname.enabled": "true"},
            "https://own.example",
            None,
            False,
            True,
        ),
        (
            {"fs.oss.ENDPOINT": "http://127.0.0.1:1", "fs.oss.sld.enabled": "true"},
            "http://127.0.0.1:1",
            None,
            True,
            False,
        ),
    ],
)
def test_where_requests_to_oss_go(
    given: Mapping[str, str], endpoint: str, region: str | None, has_path: bool, has_bucket: bool
) -> None:
    options = oss_options({**given, **AK})

    assert (options.endpoint, options.region) == (endpoint, region)
    assert (options.is_path_style, options.is_bucket_in_endpoint) == (has_path, has_bucket)
    assert options.forbid_header == "x-oss-forbid-overwrite"
    assert (options.access_key, options.secret_key) == ("a", "b")


def test_tencent_and_huawei_are_reached_by_regions_and_endpoints() -> None:
    cos = cosn_options({"fs.cosn.bucket.region": "ap-guangzhou"})
    obs = obs_options({"fs.obs.endpoint": "obs.cn-north-4.myhuaweicloud.com"})

    assert (cos.service, cos.endpoint) == ("COS", "https://cos.ap-guangzhou.myqcloud.com")
    assert (cos.region, cos.forbid_header) == ("ap-guangzhou", "x-cos-forbid-overwrite")
    assert (obs.service, obs.endpoint) == ("OBS", "https://obs.cn-north-4.myhuaweicloud.com")
    assert (obs.region, obs.forbid_header) == ("cn-north-4", "x-obs-forbid-overwrite")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, GcsOptions()),
        (
            {"gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE"}
            | {"fs.gs.auth.service.account.json.keyfile": "/k.json"},
            GcsOptions(keyfile="/k.json"),
        ),
        ({"fs.gs.auth.type": "UNAUTHENTICATED"}, GcsOptions(is_anonymous=True)),
        ({"gs.storage.root.url": "http://h:1/"}, GcsOptions(endpoint="http://h:1")),
        (
            {"gcs.oauth2.token": "t", "gcs.oauth2.token-expires-at": "7"},
            GcsOptions(token="t"),
        ),
        (
            {"gs.http.max.retry": "2", "gs.http.read-timeout": "5"},
            GcsOptions(max_retries=2, timeout_millis=5),
        ),
    ],
)
def test_options_of_gcs(given: Mapping[str, str], expected: GcsOptions) -> None:
    assert gcs_options(given) == expected


def test_the_key_of_an_account_may_stand_in_options() -> None:
    options = gcs_options(
        {
            "fs.gs.auth.service.account.email": "me@p",
            "fs.gs.auth.service.account.private.key": "-----BEGIN\\nzqhush",
            "fs.gs.auth.service.account.private.key.id": "7",
        }
    )

    assert json.loads(options.key or "")["private_key"] == "-----BEGIN\nzqhush"
    assert "zqhush" not in repr(options)
    assert "-----BEGIN\nzqhush" in options.secrets


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        (
            {f"fs.azure.account.key.{HOST}": "k", "azure.account.key": "other"},
            {"credential_type": "access_key", "account_key": "k"},
        ),
        (
            {"fs.azure.account.key.acc.blob.core.windows.net": "k"},
            {"credential_type": "access_key", "account_key": "k"},
        ),
        ({"fs.azure.account.key.other.dfs.core.windows.net": "k"}, {}),
        (
            {"fs.azure.sas.lake.acc.blob.core.windows.net": "?sv=1&sig=x"},
            {"credential_type": "sas_token", "sas_key": "sv=1&sig=x"},
        ),
        (
            {"fs.azure.account.auth.type": "SAS", "fs.azure.sas.fixed.token": "sv=1&sig=x"},
            {"credential_type": "sas_token", "sas_key": "sv=1&sig=x"},
        ),
        (
            {
                f"fs.azure.account.auth.type.{HOST}": "OAuth",
                f"fs.azure.account.oauth.provider.type.{HOST}": (
                    "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider"
                ),
                "fs.azure.account.oauth2.client.id": "i",
                "fs.azure.account.oauth2.client.secret": "s",
                "fs.azure.account.oauth2.client.endpoint": TENANT,
            },
            {
                "credential_type": "client_secret",
                "client_id": "i",
                "client_secret": "s",
                "tenant_id": "t1",
                "authority_host": "https://login.microsoftonline.com",
            },
        ),
        (
            {"azure.account.oauth.provider.type": "x.MsiTokenProvider"}
            | {"azure.account.oauth2.client.id": "i"},
            {"credential_type": "managed_identity", "client_id": "i"},
        ),
    ],
)
def test_keys_of_azure_are_those_of_the_account(
    given: Mapping[str, str], expected: dict[str, Any]
) -> None:
    found = container_config(azure_options(given), LAKE)

    place = {"container_name": "lake", "account_name": "acc"}
    assert found == {**place, "endpoint": "https://acc.blob.core.windows.net", **expected}


@pytest.mark.parametrize(
    ("warehouse", "given", "said"),
    [
        ("gs://b/w", {"gs.auth.type": "USER_CREDENTIALS"}, "gs.auth.type = 'USER_CREDENTIALS'"),
        ("gs://b/w", {"gs.encryption.algorithm": "AES256"}, "gs.encryption.algorithm"),
        ("oss://b/w", {**AK, "fs.oss.server-side-encryption": "KMS"}, "server-side-encryption"),
        (f"abfs://{LAKE}/w", {"azure.account.keyprovider": "x"}, "azure.account.keyprovider"),
        ("abfs://lake/w", {}, "container@account.dfs.core.windows.net"),
        ("oss://ak:zqhush@b/w", {"fs.oss.endpoint": "h"}, "give keys as options"),
    ],
)
def test_what_is_not_obeyed_is_refused_by_name(
    warehouse: str, given: Mapping[str, str], said: str
) -> None:
    with pytest.raises(UnsupportedError, match=said) as raised:
        pl.connect({"warehouse": warehouse, "unsafe.single-writer": "false", **given})
    assert "zqhush" not in str(raised.value)


@pytest.mark.parametrize(
    ("warehouse", "given", "said"),
    [
        ("oss://b/w", AK, "'fs.oss.endpoint' is missing"),
        ("oss://b/w", {"fs.oss.endpoint": "h", "fs.oss.accessKeyId": "a"}, "only some are given"),
        ("cosn://b/w", {}, "'fs.cosn.bucket.region' is missing"),
        ("obs://b/w", {}, "'fs.obs.endpoint' is missing"),
        ("gs://b/w", {"gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE"}, "without 'fs.gs.auth"),
        ("gs://b/w", {"gs.auth.service.account.email": "e"}, "some are missing"),
        (
            "gs://b/w",
            {"gcs.oauth2.token": "t", "gs.auth.type": "UNAUTHENTICATED"},
            "'gcs.oauth2.token' is given, and another way",
        ),
        ("gs://b/w", {"s3.endpoint": "h"}, "'s3.endpoint' is an option of S3"),
        ("s3://b/w", {"unsafe.single-writer": "yes"}, "neither true nor false"),
    ],
)
def test_wrong_values_are_told(warehouse: str, given: Mapping[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        pl.connect({"warehouse": warehouse, **given})


def test_one_writer_is_no_matter_of_a_disk(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="for object stores"):
        pl.connect({"warehouse": str(tmp_path), "unsafe.single-writer": "true"})


def test_keys_of_oss_come_from_the_environment_and_from_profiles(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"no keys of OSS: give fs\.oss\.accessKeyId"):
        keys_of("OSS")
    profiles = [
        {"name": "team", "mode": "AK", "access_key_id": "T", "access_key_secret": "s"},
        {"name": "sso", "mode": "CloudSSO"},
    ]
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"current": "team", "profiles": profiles}))
    monkeypatch.setenv("ALIBABA_CLOUD_CONFIG_FILE", str(file))
    assert keys_of("OSS") == ("T", "s", None)
    monkeypatch.setenv("ALIBABA_CLOUD_PROFILE", "sso")
    with pytest.raises(UnsupportedError, match="mode 'CloudSSO' of the Aliyun profile 'sso'"):
        keys_of("OSS")
    file.write_text('{"secret zqhush')
    with pytest.raises(ValueError, match="is not a file of Aliyun profiles") as raised:
        keys_of("OSS")
    assert "zqhush" not in repr(raised.value)
    monkeypatch.setenv("OSS_ACCESS_KEY_ID", "E")
    monkeypatch.setenv("OSS_ACCESS_KEY_SECRET", "s")
    monkeypatch.setenv("OSS_SESSION_TOKEN", "t")
    assert keys_of("OSS") == ("E", "s", "t")
