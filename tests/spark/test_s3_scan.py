"""What Hadoop is told of a store of S3's protocol, and what in a session keeps it from reading."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("obstore")

from paimonlab.spark.reading.s3_scan import OwnScheme, against, hadoop_settings
from paimonlab.storage.stores.connecting import S3Access
from paimonlab.storage.stores.keys import Keys

_PROVIDERS = "org.apache.hadoop.fs.s3a."
_KEYS = Keys("zqhush", "zrhush", None)


def access(**given: Any) -> S3Access:
    return S3Access(None, "eu-west-1", False, False, None)._replace(**given)


@pytest.mark.parametrize(
    ("given", "provider"),
    [
        ({}, None),
        ({"is_anonymous": True}, "AnonymousAWSCredentialsProvider"),
        ({"keys": _KEYS}, "SimpleAWSCredentialsProvider"),
        ({"keys": _KEYS._replace(token="zthush")}, "TemporaryAWSCredentialsProvider"),
    ],
)
def test_keys_are_those_of_the_catalog_if_it_has_any(
    given: dict[str, Any], provider: str | None
) -> None:
    told = hadoop_settings(access(**given))

    assert told.get("aws.credentials.provider") == (provider and _PROVIDERS + provider)
    keys = given.get("keys")
    assert told.get("access.key") == (keys and keys.access_key)
    assert told.get("session.token") == (keys and (keys.token or ""))
    assert told["endpoint"] == "", "the session's would be another store"


@pytest.mark.parametrize(
    ("setting", "keeps", "keeps_keyless"),
    [
        ("accesspoint.arn", True, True),
        ("bucket.lake.accesspoint.arn", True, True),
        ("bucket.other.accesspoint.arn", False, False),
        ("delegation.token.binding", True, True),
        ("security.credential.provider.path", True, False),
        ("connection.maximum", False, False),
    ],
)
def test_settings_that_lead_elsewhere_keep_our_reader(
    setting: str, *, keeps: bool, keeps_keyless: bool
) -> None:
    given = {setting: "something"}

    assert bool(against(given, "lake", access(keys=_KEYS))) is keeps
    assert bool(against(given, "lake", access())) is keeps_keyless


def test_what_is_told_is_not_shown() -> None:
    told = tuple(hadoop_settings(access(keys=_KEYS)).items())

    assert "hush" in str(told)
    assert "hush" not in repr(OwnScheme("s3a-1", told))
