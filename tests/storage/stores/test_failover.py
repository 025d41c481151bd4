"""HDFS of two name nodes: a writer goes on while one hands over, or dies."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CommitError, StorageError
from paimonlab.table.table import Table
from tests.storage.stores import hdfs
from tests.storage.stores.server import ServerMissingError

pytest.importorskip("hdfs_native")
pytestmark = pytest.mark.interop
_COMMITS = int(os.environ.get("PAIMONLAB_STORE_COMMITS", "3"))
"""Before, between and after what happens to the name nodes."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hdfs.Service]:
    """Two name nodes, of which the first is active."""
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("a service of HDFS is part of make interop")
    try:
        with hdfs.two_name_nodes(tmp_path_factory.mktemp("service")) as made:
            yield made
    except ServerMissingError as error:
        pytest.skip(str(error))


def test_a_writer_goes_on_over_failovers(service: hdfs.Service) -> None:
    catalog = pl.connect(service.options)
    catalog.create_database("db")
    keyed = {"primary-key": "id", "bucket": "1"}
    table = catalog.create_table("db.t", {"id": "BIGINT", "n": "BIGINT"}, options=keyed)
    assert isinstance(table, Table)
    written, refused, ended = list[int](), list[str](), threading.Event()

    def write() -> None:
        while not ended.is_set():
            number = len(written)
            try:
                table.write(pa.table({"id": [number % 7], "n": [number]}))
            except (CommitError, StorageError) as error:
                # The library does not send again what was on its way to a node that died.
                refused.append(str(error))
            else:
                written.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    longest = 0.0
    try:
        for line in ("active 1", "kill 1", "start 1", "active 1", "active 0"):
            _wait(written, writer)
            service.tell(line)
            began = time.monotonic()
            _wait(written, writer, 1)
            longest = max(longest, time.monotonic() - began)
    finally:
        ended.set()
        writer.join()
    assert len(refused) <= 2, refused
    told = f"{len(written)} commits, {len(refused)} failed, the longest pause {longest:.1f} s"
    print(told)  # noqa: T201

    found = pl.connect(service.options).table("db.t")
    rows = {row["id"]: row["n"] for row in found.scan().to_arrow().to_pylist()}
    assert rows == {number % 7: number for number in written}
    assert isinstance(found, Table)
    kinds = [one.commit_kind.value for one in found.snapshots.list()]
    assert kinds.count("APPEND") == len(written)
    assert not found.fsck(deep=True).findings


def _wait(written: list[int], writer: threading.Thread, count: int = _COMMITS) -> None:
    wanted = len(written) + count
    while len(written) < wanted:
        assert writer.is_alive(), "the writer failed"
        time.sleep(0.02)
