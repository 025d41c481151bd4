"""Processes that were forked, as ``multiprocessing`` does on Linux before Python 3.14.

A child does one thing, hands back what came out, and is killed if it hangs.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import pickle
import select
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab as pl
from paimonlab.errors import ForkedProcessError
from paimonlab.storage import forks
from paimonlab.storage.recent import Recent
from paimonlab.table.table import Table

pytestmark = [
    # Python 3.12 and polars warn of what is tried here.
    pytest.mark.filterwarnings("ignore:.*fork.*"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
]

_COLUMNS = {"k": "BIGINT NOT NULL", "v": "STRING", "p": "INT NOT NULL"}
_SECONDS = 60
"""After which a child hangs for ever; nothing here takes as long."""
_FORK = multiprocessing.get_context("fork")
_TABLES: dict[str, dict[str, Any]] = {
    "append": {"partition_keys": ["p"], "options": {"write-buffer-size": "1 kb"}},
    "keyed": {
        "primary_keys": ["k"],
        "options": {
            "bucket": "2",
            "deletion-vectors.enabled": "true",
            "snapshot.num-retained.min": "100",
        },
    },
    "avro": {"primary_keys": ["k"], "options": {"bucket": "-1", "file.format": "avro"}},
}


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    return catalog


def _rows(*keys: int, value: str = "v") -> pa.Table:
    texts = [f"{value}{key}" for key in keys]
    parts = pa.array([key % 2 for key in keys], pa.int32())
    return pa.table({"k": pa.array(keys, pa.int64()), "v": texts, "p": parts})


def _keys(table: Table) -> list[int]:
    keys: list[int] = sorted(table.scan(["k"]).to_arrow()["k"].to_pylist())
    return keys


def _in_child(act: Callable[[], Any]) -> Any:
    """Return what an action returns, or raise what it raises, in a child of this process."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer: tuple[Any, BaseException | None] = act(), None
        except BaseException as error:  # noqa: BLE001 - raised by the parent
            answer = None, error
        with contextlib.suppress(BaseException):
            os.write(write, pickle.dumps(answer))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        if not select.select([pipe], [], [], _SECONDS)[0]:
            os.kill(child, signal.SIGKILL)
        said = pipe.read()
    os.waitpid(child, 0)
    assert said, "the child hung or died"
    result, raised = pickle.loads(said)
    if raised is not None:
        raise raised
    return result


_inherited: list[Table] = []
"""What workers have from their parent."""


def _write(key: int) -> int:
    assert _inherited[0].write(_rows(key)) is not None
    return key


def _written_files(key: int) -> list[pl.CommitMessage]:
    writer = _inherited[0].new_writer()
    writer.write(_rows(key))
    return writer.prepare_commit()


def test_all_that_forked_workers_wrote_is_there(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", _COLUMNS)
    table.write(_rows(0))
    keys = list(range(1, 9))

    with _FORK.Pool(2, _inherited.append, (table,)) as pool:
        acknowledged = pool.map_async(_write, keys, chunksize=1).get(_SECONDS)

    assert acknowledged == keys
    assert _keys(table) == [0, *keys]
    assert not table.fsck(deep=True).findings


def test_what_forked_workers_wrote_is_committed_by_their_parent(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", _COLUMNS, **_TABLES["keyed"])
    table.write(_rows(0))
    assert _keys(table) == [0]

    with _FORK.Pool(2, _inherited.append, (table,)) as pool:
        messages = pool.map_async(_written_files, range(1, 5), chunksize=1).get(_SECONDS)
    table.commit([one for of_worker in messages for one in of_worker])

    assert _keys(table) == [0, 1, 2, 3, 4]
    assert not table.fsck(deep=True).findings


@pytest.fixture(scope="module", params=_TABLES)
def used(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Table:
    """Return a table with which this process did all there is to do."""
    catalog = pl.connect(tmp_path_factory.mktemp(request.param))
    catalog.create_database("db")
    table = catalog.create_table("db.t", _COLUMNS, **_TABLES[request.param])
    for first in (0, 5, 10):
        table.write(_rows(*range(first, first + 10)))
    table.scan().to_arrow()
    if table.primary_keys:
        table.lookup(pa.table({"k": [1, 2]}))
    list(table.follow(until="latest"))
    table.changes(1, 2).to_arrow()
    table.maintenance.analyze()
    table.delete(pl.col("k") == 100)
    table.compact(full=True)
    assert not table.fsck(deep=True).findings
    return table


def _upsert(table: Table) -> object:
    table.write(_rows(1, value="new "))
    return table.scan(where=pl.col("v") == "new 1").count()


def _overwrite(table: Table) -> object:
    table.overwrite(_rows(1, 2))
    return _keys(table)[:2]


def _delete(table: Table) -> object:
    table.delete(pl.col("k") == 4)
    return 4 in _keys(table)


def _update(table: Table) -> object:
    table.update({"v": "'set'"}, where=pl.col("k") == 2)
    return set(table.scan(["v"], where=pl.col("k") == 2).to_arrow()["v"].to_pylist())


def _compact(table: Table) -> object:
    before = _keys(table)
    table.write(_rows(30))
    table.compact(full=True)
    return _keys(table) == sorted([*before, 30])


def _expire(table: Table) -> object:
    table.maintenance.expire_snapshots(retain_max=3, retain_min=1)
    return len(table.snapshots.ids()) <= 3


def _tag(table: Table) -> object:
    table.tags.create("of-child")
    found = "of-child" in table.tags.list()
    table.tags.delete("of-child")
    return found


def _branch(table: Table) -> object:
    table.branches.create("of_child")
    table.on_branch("of_child").write(_rows(77))
    found = 77 in _keys(table.on_branch("of_child"))
    table.branches.delete("of_child")
    return found


def _follow(table: Table) -> object:
    with table.follow(until="latest") as follower:
        return sorted(key for batch in follower for key in batch.data["k"].to_pylist())


def _changes(table: Table) -> object:
    return table.changes(1, 2).to_arrow().num_rows


_VERBS: dict[str, tuple[Callable[[Table], object], Callable[[Table], object]]] = {
    "scan": (_keys, _keys),
    "count": (lambda table: table.scan().count(), lambda table: len(_keys(table))),
    "files": (lambda table: pc.sum(_files(table)["record_count"]).as_py() > 0, lambda _: True),
    "follow": (_follow, _keys),
    "changes": (_changes, _changes),
    "upsert": (_upsert, lambda _: 1),
    "delete": (_delete, lambda _: False),
    "update": (_update, lambda _: {"set"}),
    "compact": (_compact, lambda _: True),
    "analyze": (lambda table: table.maintenance.analyze() is not None, lambda _: True),
    "tag": (_tag, lambda _: True),
    "branch": (_branch, lambda _: True),
    "orphans": (lambda table: len(table.maintenance.remove_orphan_files().paths), lambda _: 0),
    "expire": (_expire, lambda _: True),
    "overwrite": (_overwrite, lambda _: [1, 2]),
    "fsck": (lambda table: table.fsck(deep=True).findings, lambda _: ()),
}
"""What a child does, and what comes out of it."""


def _files(table: Table) -> pa.Table:
    from paimonlab.table.system import open_system_table  # noqa: PLC0415

    return open_system_table(table, "files").scan().to_arrow()


@pytest.mark.parametrize("verb", _VERBS)
def test_a_child_does_what_its_parent_did_before(used: Table, verb: str) -> None:
    act, expected = _VERBS[verb]
    wanted = expected(used)

    assert _in_child(lambda: act(used)) == wanted


@pytest.mark.parametrize("used", ["keyed"], indirect=True)
def test_a_child_looks_up_keys(used: Table) -> None:
    found = _in_child(lambda: used.lookup(pa.table({"k": [1, 2]})))

    assert sorted(found["k"].to_pylist()) == [1, 2]


@contextlib.contextmanager
def _all_locks_held() -> Iterator[None]:
    """Let another thread hold every lock that processes would share."""
    shared = [one for one in forks._renewables if isinstance(one, Recent)]
    is_held, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        with contextlib.ExitStack() as stack:
            for one in shared:
                stack.enter_context(one._lock)
            is_held.set()
            may_end.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    assert shared
    try:
        yield
    finally:
        may_end.set()
        thread.join()


def test_locks_of_another_thread_hold_no_child_up(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", _COLUMNS, **_TABLES["keyed"])
    table.write(_rows(1, 2))
    assert table.lookup(pa.table({"k": [2]})).num_rows == 1

    def act() -> list[int]:
        table.write(_rows(3))
        return [*_keys(table), table.lookup(pa.table({"k": [2]})).num_rows]

    with _all_locks_held():
        assert _in_child(act) == [1, 2, 3, 1]


@pytest.mark.parametrize("kind", _TABLES)
def test_a_writer_is_of_use_only_to_its_own_process(catalog: pl.Catalog, kind: str) -> None:
    table = catalog.create_table("db.t", _COLUMNS, **_TABLES[kind])
    held = [table.new_writer()]
    held[0].write(_rows(*range(1000)))

    def refused() -> list[str]:
        said = []
        for act in (lambda: held[0].write(_rows(3)), held[0].prepare_commit, lambda: held[0].user):
            with pytest.raises(ForkedProcessError) as caught:
                act()
            said.append(str(caught.value))
        held[0].abort()
        held.clear()
        gc.collect()  # what is forgotten must not end a file that the parent writes
        return said

    said = _in_child(refused)
    assert all("db.t" in one and "spawn" in one for one in said)
    table.commit(held[0].prepare_commit(), user=held[0].user)

    assert _keys(table) == list(range(1000))
    assert not table.fsck(deep=True).findings


@pytest.mark.parametrize("split", ["1 b", "1 gb"])
def test_a_scan_that_has_begun_is_of_use_only_to_its_own_process(
    catalog: pl.Catalog, split: str
) -> None:
    options = {"source.split.target-size": split, "source.split.open-file-cost": "1 b"}
    table = catalog.create_table("db.t", _COLUMNS, options=options)
    for key in range(6):
        table.write(_rows(key))
    batches = table.scan().to_batches()
    found = next(batches)["k"].to_pylist()

    def refused() -> str:
        with pytest.raises(ForkedProcessError) as caught:
            next(batches)
        batches.close()
        return str(caught.value)

    assert "spawn" in _in_child(refused)
    found += [key for batch in batches for key in batch["k"].to_pylist()]
    assert sorted(found) == list(range(6))


def test_a_follower_is_of_use_only_to_its_own_process(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", _COLUMNS)
    for key in range(3):
        table.write(_rows(key))
    follower = table.follow(1, until="latest", consumer_id="job")
    first = next(follower)

    def refused() -> list[str]:
        said = []
        for act in (lambda: next(follower), follower.poll, follower.commit, follower.wake):
            with pytest.raises(ForkedProcessError) as caught:
                act()
            said.append(str(caught.value))
        follower.close()
        again = table.follow(follower.position, until="latest")
        return [*said, *(str(batch.data["k"].to_pylist()) for batch in again)]

    *said, second, third = _in_child(refused)
    assert all("db.t" in one and "spawn" in one for one in said)
    assert (second, third) == ("[1]", "[2]")
    assert [batch.snapshot_id for batch in (first, *follower)] == [1, 2, 3]
    assert table.consumers.get("job") == 4


def _write_thrice(table: Table) -> None:
    for key in (20, 21, 22):
        table.write(_rows(key))


def test_a_child_expires_snapshots_behind_its_commits(catalog: pl.Catalog) -> None:
    options = {
        "snapshot.expire.execution-mode": "async",
        "snapshot.num-retained.min": "1",
        "snapshot.num-retained.max": "1",
    }
    table = catalog.create_table("db.t", _COLUMNS, options=options)
    _write_thrice(table)

    child = _FORK.Process(target=_write_thrice, args=(table,))
    child.start()
    child.join(_SECONDS)
    if child.is_alive():
        child.kill()

    assert child.exitcode == 0
    assert table.snapshots.latest_id() == 6
    assert min(table.snapshots.ids()) > 3


def _spawned(warehouse: Path) -> list[int]:
    table = pl.connect(warehouse).table("db.t")
    assert isinstance(table, Table)
    table.write(_rows(2))
    return _keys(table)


def test_a_spawned_process_works_too(catalog: pl.Catalog, tmp_path: Path) -> None:
    table = catalog.create_table("db.t", _COLUMNS)
    table.write(_rows(1))
    assert _keys(table) == [1]

    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(_spawned, (tmp_path,)).get(_SECONDS)

    assert found == [1, 2]
