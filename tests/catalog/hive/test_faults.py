"""Several processes, connections that are cut, a metastore that is killed, locks that expire.

``PAIMONLAB_RACES=16x25`` lets 16 processes race 25 times, and ``PAIMONLAB_COMMITS=8x25`` lets 8
writers commit 25 times each; without them fewer do.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyiceberg.table import StaticTable

import paimonlab as pl
from paimonlab.catalog.hive import catalog as hive_catalog
from paimonlab.catalog.hive import formats, iceberg, views
from paimonlab.catalog.hive.catalog import HiveCatalog
from paimonlab.catalog.hive.client import Metastore as Asked
from paimonlab.catalog.hive.client import NoAnswerError, addresses_of
from paimonlab.errors import CatalogServerError, CommitError, PostCommitError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.view import View
from tests.catalog.hive.metastores import Metastore
from tests.catalog.hive.proxy import Proxy, proxy
from tests.catalog.jdbc import racing

pytest.importorskip("thriftpy2")

PROCESSES, ROUNDS = map(int, os.environ.get("PAIMONLAB_RACES", "4x2").split("x"))
WRITERS, COMMITS = map(int, os.environ.get("PAIMONLAB_COMMITS", "3x2").split("x"))
NAMES = "abcd"[: max(PROCESSES // 4, 1)]
"""Four processes want each."""
COLUMNS = {"id": "INT"}
LOCKS = {"lock.enabled": "true", "lock-check-max-sleep": "100 ms"}


@pytest.fixture
def options(hive_uri: str, tmp_path: Path) -> dict[str, str]:
    return {"metastore": "hive", "uri": hive_uri, "warehouse": str(tmp_path / "w")}


@pytest.fixture
def between(hive: Metastore, options: dict[str, str]) -> Iterator[Proxy]:
    """Cut connections between the catalog and the metastore."""
    opened(options)
    with proxy(hive.port) as running:
        yield running


@pytest.fixture(scope="module")
def processes() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([racing.__name__, "paimonlab.catalog.hive.opening"])
    return context


def opened(options: Mapping[str, str], **more: str) -> HiveCatalog:
    catalog = pl.connect({**options, **more})
    assert isinstance(catalog, HiveCatalog)
    catalog.create_database("db", exist_ok=True)
    return catalog


def folders(catalog: HiveCatalog) -> list[str]:
    return sorted(path.name for path in Path(catalog.path, "db.db").iterdir())


def test_of_those_who_want_a_name_one_gets_it(options: dict[str, str], processes: Any) -> None:
    catalog = opened(options)

    racing.each_name_has_one_winner(options, processes, PROCESSES, NAMES, ROUNDS)

    assert catalog.tables("db") == sorted(f"own{number}" for number in range(PROCESSES))
    assert folders(catalog) == catalog.tables("db")


def commit(options: Mapping[str, str], number: int) -> None:
    table = pl.connect(options).table("db.t")
    for turn in range(COMMITS):
        table.write([{"id": number * 1000 + turn}])


def test_writers_with_the_lock_lose_no_commit(options: dict[str, str], processes: Any) -> None:
    catalog = opened(options)
    catalog.create_table("db.t", COLUMNS)
    writers = [
        processes.Process(target=commit, args=(options | LOCKS, number))
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(600)

    assert [writer.exitcode for writer in writers] == [0] * WRITERS
    table = catalog.table("db.t")
    wanted = {number * 1000 + turn for number in range(WRITERS) for turn in range(COMMITS)}
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == sorted(wanted)
    assert [one.id for one in table.snapshots] == [*range(1, WRITERS * COMMITS + 1)]


def test_a_holder_that_stands_still_past_expiry_loses_nothing(
    options: dict[str, str], processes: Any
) -> None:
    catalog = opened(options, **LOCKS)
    assert catalog._lock is not None
    catalog.create_table("db.t", COLUMNS)
    impatient = opened(options, **LOCKS, **{"lock-acquire-timeout": "100 ms"}).table("db.t")
    holder = processes.Process(target=racing.stand_still, args=(options | LOCKS,))
    holder.start()
    while not is_stopped(holder.pid):
        assert holder.is_alive()
        time.sleep(0.02)
    with pytest.raises(CommitError, match=r"db\.t: not taken within 0\.1 s: others hold it"):
        impatient.write([{"id": 3}])

    catalog.table("db.t").write([{"id": 2}])  # waits until the lock expires
    with catalog._lock.held(Identifier("db", "t")) as held:
        os.kill(holder.pid, signal.SIGCONT)
        time.sleep(0.5)  # the holder gives back what it no longer has
        assert held.is_held()
    assert not held.is_held()
    holder.join(60)

    table = catalog.table("db.t")
    assert holder.exitcode == 0
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 2]
    assert [snapshot.id for snapshot in table.snapshots] == [1, 2]


def is_stopped(pid: int) -> bool:
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "T"


ALTER = "alter_table_with_environment_context"
DROP = "drop_table_with_environment_context"
CHANGES = ("create_database", "alter_database", "create_table", ALTER, DROP, "drop_database")


@pytest.mark.parametrize("fault", ["loses", "loses_answers_of"])
def test_answers_that_are_lost_are_settled(
    fault: str, options: dict[str, str], between: Proxy
) -> None:
    catalog = opened(options | {"uri": between.uri} | LOCKS)
    broken: set[str] = getattr(between, fault)

    def losing(*calls: str) -> None:
        assert not broken
        broken.update(calls)

    losing("create_database", "get_database")
    catalog.create_database("other", options={"a": "1"})
    losing("alter_database")
    catalog.alter_database("other", set={"a": "2"})
    losing("create_table", "lock", "unlock", "get_table")
    table = catalog.create_table("db.a", COLUMNS)
    losing(ALTER)
    catalog.alter_table("db.a", pl.AddColumn("v", "INT"))
    losing(ALTER)
    catalog.rename_table("db.a", "db.b")
    losing("lock", "heartbeat", "unlock")
    catalog.table("db.b").write([{"id": 1, "v": 2}])
    losing("get_all_tables", "get_table_objects_by_name")
    assert catalog.tables("db") == ["b"]
    losing("create_table")
    catalog.create_view("db.w", View(fields=(), query="SELECT 1"))
    losing(ALTER)
    catalog.rename_view("db.w", "db.x")
    losing(DROP)
    catalog.drop_view("db.x")
    assert catalog.table("db.b").scan().to_arrow().to_pylist() == [{"id": 1, "v": 2}]
    losing(DROP)
    catalog.drop_table("db.b")
    losing("drop_database")
    catalog.drop_database("other")

    assert not broken
    assert set(CHANGES) <= set(between.calls)
    assert not catalog.has_database("other")
    assert catalog.tables("db") == []
    assert (catalog.views("db"), folders(catalog)) == ([], [])
    assert not Path(table.path).exists()


class Followed:
    """A table whose Iceberg metadata a metastore is told of, at each commit."""

    def __init__(self, hive: Metastore, folder: Path) -> None:
        self.hive, self.ids = hive, list[int]()
        self.site = folder / "hive-site.xml"
        self.waits("60s")
        shown = {"metadata.iceberg.uri": hive.uri, "metadata.iceberg.hive-conf-dir": str(folder)}
        catalog = pl.connect({"warehouse": str(folder / "lake")})
        catalog.create_database("ice")
        stored = {"metadata.iceberg.storage": "hive-catalog", **shown}
        self.table = catalog.create_table("ice.t", COLUMNS, options=stored)
        self.write()

    def write(self) -> None:
        self.ids.append(len(self.ids) + 1)
        self.table.write([{"id": self.ids[-1]}])

    def waits(self, time: str) -> None:
        """Set how long an answer is waited for."""
        self.site.write_text(
            "<configuration><property><name>hive.metastore.client.socket.timeout</name>"
            f"<value>{time}</value></property></configuration>"
        )
        iceberg._metastore.cache_clear()

    def fails_afterwards(self, problem: str) -> None:
        """Write: the commit stands, and what the metastore still names is there."""
        with pytest.raises(PostCommitError, match="committed, do not repeat.*" + problem) as raised:
            self.write()
        assert isinstance(raised.value.__cause__, CatalogServerError)
        assert (raised.value.snapshot_id, self.table.scan().count()) == (len(self.ids),) * 2
        folder = Path(self.table.path).parents[1] / "iceberg/ice/t/metadata"
        assert self.rows(folder / f"v{len(self.ids)}.metadata.json") == self.ids

    def rows(self, metadata: Path) -> list[int]:
        rows = StaticTable.from_metadata(str(metadata)).scan().to_arrow()
        return sorted(rows["id"].to_pylist())

    def check(self, *, missing: int = 0) -> None:
        """Look at what the metastore names."""
        asked = Asked(addresses_of(self.hive.uri), pool_size=1, timeout_seconds=60)
        shown = asked.table("ice", "t")
        asked.close()
        assert shown is not None
        newest = shown.parameters["metadata_location"].removeprefix("file:")
        assert self.rows(Path(newest)) == self.ids[: len(self.ids) - missing]


def test_commits_stand_while_the_metastore_of_their_iceberg_metadata_stands_still(
    hive: Metastore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hive.clear()
    followed = Followed(hive, tmp_path)
    told, waits = NoAnswerError.told, list[str]()

    def noted(*why: str) -> CatalogServerError:
        waits.append(why[1])
        return told(*why)

    monkeypatch.setattr(NoAnswerError, "told", noted)
    followed.waits("1s")
    with hive.standing_still():
        for _ in range(2):
            followed.fails_afterwards("no metastore answers .*no answer within 1 s")
    assert waits == ["set_ugi", "connecting"] * 2, "each commit waits once"
    followed.waits("60s")
    followed.check(missing=2)
    followed.write()
    followed.check()


def test_a_metastore_that_is_killed_leaves_what_can_be_repaired(
    hive: Metastore, options: dict[str, str], between: Proxy, tmp_path: Path
) -> None:
    followed = Followed(hive, tmp_path)
    catalog = opened(options | {"uri": between.uri})
    before = catalog.create_table("db.t", COLUMNS)
    between.before["create_table"] = hive.kill
    with pytest.raises(CatalogServerError, match=r"no metastore answers|connection broke"):
        catalog.create_table("db.u", COLUMNS)
    assert folders(catalog) == ["t", "u"]  # nobody can say that it did not happen
    with pytest.raises(CatalogServerError):
        catalog.alter_table("db.t", pl.AddColumn("v", "INT"))
    for _ in range(2):
        followed.fails_afterwards("no metastore answers")

    hive.start()
    followed.check(missing=2)
    followed.write()
    followed.check()
    assert catalog.tables("db") == ["t"]
    catalog.repair("db.u")
    assert catalog.table("db.u").scan().count() == 0
    assert catalog.table("db.t").schema == before.schema
    catalog.alter_table("db.t", pl.AddColumn("v", "INT"))
    catalog.rename_table("db.t", "db.s")
    catalog.drop_table("db.u")
    assert folders(catalog) == catalog.tables("db") == ["s"]


def test_a_lost_answer_is_settled_if_the_clock_of_the_metastore_is_another(
    options: dict[str, str], between: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The metastore sets the time at which a table was created itself."""
    catalog = opened(options | {"uri": between.uri})
    for module in (hive_catalog, formats, views):
        clock = SimpleNamespace(time=lambda: time.time() - 100, monotonic=time.monotonic)
        monkeypatch.setattr(module, "time", clock)
    between.loses_answers_of.add("create_table")
    catalog.create_table("db.t", COLUMNS)
    between.loses_answers_of.add("create_table")
    catalog.create_view("db.v", View(fields=(), query="SELECT 1"))
    between.loses_answers_of.add("create_table")
    kept_as = {"type": "format-table", "file.format": "csv"}
    catalog.create_table("db.f", COLUMNS, options=kept_as)

    assert (catalog.tables("db"), catalog.format_tables("db")) == (["t"], ["f"])
    assert catalog.views("db") == ["v"]
