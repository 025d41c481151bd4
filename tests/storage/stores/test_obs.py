"""OBS: what its listed errors do to a file that is published.

Source: support.huaweicloud.com, "OBS Server-Side Error Codes".
"""

from __future__ import annotations

import errno
from collections.abc import Mapping

import pytest

from paimonlab.errors import StorageError, UnsupportedError
from paimonlab.storage import stores
from tests.storage.stores.scripted import Service

_REFUSED = (
    *((400, code) for code in ("InvalidArgument", "InvalidRequest", "KeyTooLongError")),
    *((403, code) for code in ("AccessDenied", "AccountProblem", "AllAccessDisabled")),
    *((403, code) for code in ("InvalidAccessKeyId", "NotSignedUp", "RequestTimeTooSkewed")),
    *((403, code) for code in ("SignatureDoesNotMatch", "InsufficientStorageSpace")),
    *((404, "NoSuchBucket"), (405, "MethodNotAllowed"), (411, "MissingContentLength")),
)
_PASSING = (
    (409, "OperationAborted"),
    (500, "InternalError"),
    (503, "ServiceUnavailable"),
    (503, "SlowDown"),
)


def opened(options: Mapping[str, str]) -> stores.ObjectFileIO:
    store = stores.open_warehouse(options["warehouse"], options)
    store.publish(f"{store.root}/first", b"1")  # conditions are tried out before it
    return store


def test_an_error_that_lasts_is_named_and_nothing_is_published(
    obs_service: Service, obs_warehouse: Mapping[str, str]
) -> None:
    store = opened(obs_warehouse)
    for status, code in _REFUSED:
        path = f"{store.root}/{code}"
        obs_service.errors[:] = [(status, code)]
        with pytest.raises(StorageError, match=f"after 1 attempt: {status} {code}") as raised:
            store.publish(path, b"1")
        assert str(raised.value).startswith(path)
        is_full = code == "InsufficientStorageSpace"
        assert (raised.value.errno == errno.EDQUOT) is is_full
        assert not store.exists(path)


def test_an_error_that_passes_is_tried_again(
    obs_service: Service, obs_warehouse: Mapping[str, str]
) -> None:
    store = opened(obs_warehouse)
    for status, code in _PASSING:
        path = f"{store.root}/{code}"
        obs_service.errors[:] = [(status, code)]
        assert store.publish(path, b"1")
        obs_service.errors[:] = [(status, code)]
        assert not store.publish(path, b"1"), "equal bytes of another call are not its own"
        assert not obs_service.errors


def test_without_its_condition_writing_is_refused(
    obs_service: Service, obs_warehouse: Mapping[str, str]
) -> None:
    obs_service.is_versioned = True
    with pytest.raises(UnsupportedError, match="lets an object be created that exists"):
        opened(obs_warehouse)
    assert not obs_service.objects


def test_another_secret_is_refused(obs_warehouse: Mapping[str, str]) -> None:
    with pytest.raises(StorageError, match="403 SignatureDoesNotMatch") as raised:
        opened({**obs_warehouse, "fs.obs.secret.key": "other-zqhush"})
    assert "zqhush" not in str(raised.value)
