"""A name node that is not there, as the library for HDFS sees it."""

from __future__ import annotations

import pytest

import paimonlab as pm
from paimonlab.errors import StorageError
from tests.ports import free_port

pytest.importorskip("hdfs_native")
from paimonlab.storage.hdfs import native


def test_a_port_where_nobody_listens_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_FIRST_ANSWER_SECONDS", 0.2)
    with pytest.raises(StorageError, match="nobody listens there"):
        pm.connect(f"hdfs://127.0.0.1:{free_port()}/w").databases()
