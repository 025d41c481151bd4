"""WebHDFS of a service: its name nodes are killed and stopped while commits are on their way.

What both share is one folder, so what they answered is what they did. A list is the judge: each
commit adds one row, and is in the table once, whatever became of the node that it was sent to.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import StorageError, UnsupportedError
from paimonlab.storage.hdfs import open_warehouse, web
from paimonlab.storage.hdfs.name_nodes import NameNodes
from paimonlab.table.table import Table
from tests.ports import HOST, free_ports
from tests.storage.stores import name_nodes
from tests.storage.stores.name_nodes import NODES, Service

_FAULTS = (
    ("RENAME", "/snapshot/snapshot-", "kill before"),
    ("RENAME", "/snapshot/snapshot-", "kill after"),
    ("RENAME", "/snapshot/snapshot-", "stop before"),
    ("RENAME", "/snapshot/snapshot-", "stop after"),
    ("RENAME", "LATEST", "stop before"),
    ("DATA", "/bucket-0/", "kill before"),
)
_SHORT = {"webhdfs.connection.timeout": "150"}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Two name nodes of a service, each a process, of which the first is active."""
    with name_nodes.running(tmp_path) as service:
        yield service


def add(table: Table, number: int) -> None:
    """Commit one row."""
    table.write(pa.table({"id": pa.array([number], pa.int64())}))


def test_no_commit_is_lost_or_done_twice_while_name_nodes_die_and_hang(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "_FIRST_PAUSE_SECONDS", 0.01)
    catalog = pl.connect({**service.options, **_SHORT})
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "BIGINT"}, options={"write-only": "true"})
    numbers = itertools.count()
    add(table, next(numbers))

    for fault in _FAULTS:
        service.arm(*fault)
        with ThreadPoolExecutor() as two:  # the second meets the first's snapshot, or its fault
            [*two.map(add, [table] * 2, itertools.islice(numbers, 2))]
        assert not service.is_armed, fault
    service.activate(NODES[1 - NODES.index(service.active)])  # and one that nothing is wrong with
    add(table, next(numbers))

    assert (service.deaths, service.stops) == (3, 3)
    count = next(numbers)
    found = catalog.table("db.t")
    assert sorted(found.scan().to_arrow()["id"].to_pylist()) == [*range(count)]
    latest = found.snapshots.latest()
    assert latest is not None
    assert latest.id == count


def test_a_name_node_that_reads_but_is_not_active_is_not_asked(service: Service) -> None:
    store = open_warehouse("webhdfs://lake/w", {**service.options, **_SHORT})
    service.arm("RENAME", "/w/a", "kill after")
    assert store.publish(f"{store.root}/a", b"1"), "the other node says whose it is"
    assert not store.publish(f"{store.root}/a", b"1")
    service.observe()
    service.activate(NODES[1 - NODES.index(service.active)])
    assert store.publish(f"{store.root}/b", b"2")
    again = open_warehouse("webhdfs://lake/w", {**service.options, "webhdfs.user": "another"})
    assert again.read(f"{again.root}/b") == b"2"
    assert service.observed == 0


def test_options_and_files_name_the_nodes_of_a_service(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {k.removeprefix("hadoop."): v for k, v in service.options.items() if "dfs" in k}
    properties = "".join(
        f"<property><name>{k}</name><value>{v}</value></property>"
        for k, v in {**keys, "dfs.replication": "3"}.items()
    )
    (tmp_path / "hdfs-site.xml").write_text(f"<configuration>{properties}</configuration>")
    for options, folder in (({"hadoop-conf-dir": str(tmp_path)}, ""), ({}, str(tmp_path))):
        monkeypatch.setenv("HADOOP_CONF_DIR", folder)
        store = open_warehouse("webhdfs://lake/w", options)
        assert not store.exists(f"{store.root}/none")
    address = "hadoop.dfs.namenode.http-address.lake.nn2"
    for changed, told in (({address: ""}, "missing"), ({address: "a"}, "'a' and not host:port")):
        with pytest.raises(ValueError, match=rf"http-address\.lake\.nn2.*{told}"):
            pl.connect({**service.options, **changed})
    with pytest.raises(UnsupportedError, match=r"dfs\.replication = '1' with webhdfs:"):
        pl.connect({**service.options, "hadoop.dfs.replication": "1"})
    nowhere = dict(zip(NODES, free_ports(2), strict=True))
    gone = {f"hadoop.dfs.namenode.http-address.lake.{k}": f"{HOST}:{v}" for k, v in nowhere.items()}
    short = {**service.options, **gone, "webhdfs.attempts.maximum": "1"}
    with pytest.raises(StorageError, match=rf"{nowhere['nn2']}: no connection \(after 2 attempts"):
        open_warehouse("webhdfs://lake/w", short).exists("webhdfs://lake/w/a")


def test_only_the_first_that_saw_a_node_fail_leaves_it() -> None:
    nodes = NameNodes(["a", "b"])
    nodes.believe("a")
    nodes.leave("a")
    nodes.leave("a")
    nodes.believe("a")
    assert nodes.asked() == ("b", False)
    alone = NameNodes(["a"])
    alone.leave("a")
    assert alone.asked() == ("a", True)
