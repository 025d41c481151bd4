"""Stores that do not keep conditions, and who may write to them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import UnsupportedError
from paimonlab.storage import stores
from paimonlab.storage.guards import lock_held
from paimonlab.table.table import Table
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Proxy
from tests.storage.stores.scripted import Service

_WRITERS, _COMMITS = 2, 3
_WRITER = """
import json, sys
import paimonlab as pl

options, number, commits = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
table = pl.connect(options).table("db.t")
for turn in range(commits):
    table.write([{"id": number * 100 + turn}])
"""


@pytest.fixture
def careless(proxy: Proxy, bucket: str) -> Mapping[str, str]:
    """Options of a catalog on a store that ignores If-None-Match and If-Match."""
    proxy.ignores_conditions = True
    return options_of(proxy.url, bucket)


def test_one_writer_is_believed_with_a_warning(careless: Mapping[str, str]) -> None:
    catalog = pl.connect({**careless, "unsafe.single-writer": "true"})
    with pytest.warns(UserWarning, match=r"created that exists.*commits are lost") as warned:
        catalog.create_database("db")
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = catalog.create_table("db.t", {"id": "INT"})
        for turn in range(3):
            table.write(pa.table({"id": [turn]}))
        table.tags.create("a")
        table.maintenance.rollback_to(snapshot=2)
        opened = catalog.table("db.t")
    assert isinstance(opened, Table)
    assert sorted(opened.scan().to_arrow().column("id").to_pylist()) == [0, 1]
    path = f"{catalog.path}/once"
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda n: catalog.file_io.publish(path, b"%d" % n), range(8)))
    assert won.count(True) == 1


def test_one_writer_is_not_warned_of_where_conditions_hold(warehouse: Mapping[str, str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pl.connect({**warehouse, "unsafe.single-writer": "true"}).create_database("db")


def test_under_the_lock_of_a_catalog_no_commit_is_lost(
    careless: Mapping[str, str], tmp_path: Path
) -> None:
    options = {
        **careless,
        "metastore": "jdbc",
        "uri": f"jdbc:sqlite:{tmp_path}/c.db",
        "lock-check-max-sleep": "50 ms",
    }
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    assert isinstance(table, Table)

    writers = [_started(options, number) for number in range(_WRITERS)]
    for writer in writers:
        _, said = writer.communicate(timeout=300)
        assert writer.returncode == 0, said

    found = sorted(table.scan().to_arrow().column("id").to_pylist())
    assert found == [n * 100 + turn for n in range(_WRITERS) for turn in range(_COMMITS)]
    with pytest.raises(UnsupportedError, match="not written under the catalog's lock"):
        table.tags.create("a")


def test_without_its_lock_a_catalog_writes_nothing_there(
    careless: Mapping[str, str], tmp_path: Path
) -> None:
    uri = f"jdbc:sqlite:{tmp_path}/c.db"
    catalog = pl.connect({**careless, "metastore": "jdbc", "uri": uri, "lock.enabled": "false"})
    catalog.create_database("db")
    with pytest.raises(UnsupportedError, match=r"metastore = jdbc.*unsafe\.single-writer"):
        catalog.create_table("db.t", {"id": "INT"})


def test_another_thread_does_not_hold_the_lock(careless: Mapping[str, str]) -> None:
    store = stores.open_warehouse(careless["warehouse"], careless, has_lock=True)
    said: list[Exception] = []

    def publish() -> None:
        try:
            store.publish(f"{store.root}/a", b"1")
        except UnsupportedError as error:
            said.append(error)

    with lock_held():
        thread = threading.Thread(target=publish)
        thread.start()
        thread.join()
        assert store.publish(f"{store.root}/b", b"1")
        assert not store.publish(f"{store.root}/b", b"1")
    assert len(said) == 1


def test_a_bucket_of_oss_with_versions_is_only_read(
    oss_service: Service, oss_warehouse: Mapping[str, str]
) -> None:
    """OSS ignores its header there."""
    pl.connect(oss_warehouse).create_database("db")
    oss_service.is_versioned = True
    catalog = pl.connect(oss_warehouse)

    assert catalog.databases() == ["db"]
    with pytest.raises(UnsupportedError, match="created that exists"):
        catalog.create_database("other")


def test_a_file_whose_mover_died_is_moved_by_another(
    oss_warehouse: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stores.open_warehouse(oss_warehouse["warehouse"], oss_warehouse)
    source = f"{store.root}/snapshot-1"
    store.write(source, b"{}")
    store.write(f"{store.root}/.snapshot-1.moving-0", b"")  # left by a process that was killed

    with pytest.raises(FileNotFoundError, match="others are moving it"):
        store.rename(source, f"{store.root}/a")
    monkeypatch.setattr("paimonlab.storage.stores.object_file_io._MOVING_SECONDS", 0.0)
    time.sleep(1.1)  # the server keeps whole seconds
    store.rename(source, f"{store.root}/a")

    assert store.list_names(store.root) == ["a"]


def _started(options: Mapping[str, str], number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _WRITER, json.dumps(options), str(number), str(_COMMITS)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
