"""The options ``local-cache.…``; that they save requests, ``tests/storage/stores`` counts."""

from __future__ import annotations

from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.catalog.local_cache import local_cache
from paimonlab.errors import UnsupportedError

STORE = {"warehouse": "s3://lake/w", "s3.endpoint": "http://127.0.0.1:1"}
ON = {"local-cache.enabled": "true", "local-cache.dir": "/tmp/x"}


def test_they_are_read_as_java_has_them(tmp_path: Path) -> None:
    assert local_cache({}) is None
    assert local_cache({"local-cache.enabled": "false", "local-cache.dir": "/x"}) is None
    found = local_cache({"local-cache.enabled": "true", "local-cache.dir": str(tmp_path)})
    assert found is not None
    assert found.kinds == {"meta", "global-index"}
    assert (found.disk.block_bytes, found.disk.limit_bytes) == (1 << 20, None)
    more = {
        "local-cache.whitelist": "meta, data",
        "local-cache.max-size": "1 gb",
        "local-cache.block-size": "4 mb",
    }
    found = local_cache({**ON, **more})
    assert found is not None
    assert found.kinds == {"meta", "data"}
    assert (found.disk.block_bytes, found.disk.limit_bytes) == (4 << 20, 1 << 30)


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("local-cache.whitelist", "meta,all", "all is none of meta, global-index, bucket-index"),
        ("local-cache.max-size", "1 mb", "no room for two blocks"),
        ("local-cache.max-size", "much", "local-cache.max-size = 'much'"),
        ("local-cache.block-size", "1 kb", "not between 64 kb and 64 mb"),
        ("local-cache.enabled", "maybe", "local-cache.enabled = 'maybe'"),
        ("local-cache.folder", "/x", "unknown catalog option 'local-cache.folder'"),
    ],
)
def test_values_that_mean_nothing_are_refused(key: str, value: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        pl.connect({**STORE, **ON, key: value})


def test_what_has_no_use_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="for a warehouse on a local disk"):
        pl.connect({"warehouse": str(tmp_path), **ON})
    with pytest.raises(UnsupportedError, match=r"without local-cache\.dir"):
        pl.connect({**STORE, "local-cache.enabled": "true"})
