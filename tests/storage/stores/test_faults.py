"""Answers that are lost or wrong must neither lose nor double a commit."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import StorageError, UnsupportedError
from paimonlab.storage import stores
from paimonlab.storage.stores import object_outputs
from paimonlab.table.table import Table
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy import Fault, Proxy, proxy_of
from tests.storage.stores.rpc_proxy import Loss, RpcProxy, rpc_proxy_of

LOST: tuple[Fault, ...] = ("503 before", "503 after", "409", "reset before", "reset after")
LOSSES: tuple[Loss, ...] = ("reset before", "reset after")
READING: tuple[Fault, ...] = ("503 before", "reset before", "cut")
_WRITERS = int(os.environ.get("PAIMONLAB_STORE_WRITERS", "3"))
_COMMITS = int(os.environ.get("PAIMONLAB_STORE_COMMITS", "4"))
_MORE_STORES = ("azure", "ceph", "hdfs", "webhdfs", "local")
"""The local disk is asked without a proxy."""
_WRITER = """
import json, sys
import pyarrow as pa
import paimonlab as pl

options, number, commits = json.loads(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
table = pl.connect(options).table("db.t")
for turn in range(commits):
    table.write(pa.table({"id": [number * 1000 + turn, -1], "n": [turn, number * 1000 + turn]}))
"""


@pytest.fixture
def opened(proxy: Proxy, bucket: str) -> stores.ObjectFileIO:
    options = options_of(proxy.url, bucket)
    return stores.open_warehouse(options["warehouse"], options)


@pytest.fixture(params=["s3", "azure", "gcs", "oss", "obs"])
def anywhere(request: pytest.FixtureRequest) -> Iterator[tuple[stores.ObjectFileIO, Proxy]]:
    """A store of each kind behind a proxy."""
    if request.param == "s3":
        proxy, bucket = request.getfixturevalue("proxy"), request.getfixturevalue("bucket")
        options = options_of(proxy.url, bucket)
        yield stores.open_warehouse(options["warehouse"], options), proxy
        return
    if request.param == "obs" and os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("OBS, whose requests are those of OSS, is part of make interop")
    options = dict(request.getfixturevalue(f"{request.param}_warehouse"))
    place = next(key for key in options if key.endswith(("endpoint", "root.url")))
    with proxy_of(options[place]) as proxy:
        options[place] = proxy.url + urlsplit(options[place]).path
        yield stores.open_warehouse(options["warehouse"], options), proxy


def once(fault: Fault, of: Callable[[str, str, bool], bool]) -> Callable[..., Fault | None]:
    """Let the first of some requests go wrong."""
    left = [fault]

    def choose(method: str, path: str, is_conditional: bool) -> Fault | None:
        return left.pop() if left and of(method, path, is_conditional) else None

    return choose


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_to_publishing_is_found_out(
    anywhere: tuple[stores.ObjectFileIO, Proxy], fault: Fault
) -> None:
    opened, proxy = anywhere
    opened.publish(f"{opened.root}/warm", b"1")
    for turn in range(2):
        path = f"{opened.root}/snapshot-{turn}"
        proxy.choose = once(fault, lambda _, path, conditional: conditional)

        assert opened.publish(path, b"%d" % turn)

        proxy.choose = lambda *_: None
        assert opened.read(path) == b"%d" % turn
        assert not opened.publish(path, b"other")
    assert proxy.done[fault] == 2


@pytest.mark.parametrize("fault", LOST)
def test_a_lost_answer_never_makes_the_object_of_another_ours(
    anywhere: tuple[stores.ObjectFileIO, Proxy], fault: Fault
) -> None:
    opened, proxy = anywhere
    opened.publish(f"{opened.root}/warm", b"1")
    for turn in range(2):
        path = f"{opened.root}/snapshot-{turn}"
        assert opened.publish(path, b"same")
        proxy.choose = once(fault, lambda _, path, conditional: conditional)

        assert not opened.publish(path, b"same")


def test_answers_that_stay_away_leave_the_outcome_open(
    opened: stores.ObjectFileIO, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened.publish(f"{opened.root}/warm", b"1")
    monkeypatch.setattr("paimonlab.storage.stores.settling.PATIENCE_SECONDS", 0.2)
    proxy.choose = lambda _, path, conditional: "503 before" if conditional else None

    with pytest.raises(StorageError, match=r"snapshot-1.*503.*may be there or not \(\d attempts"):
        opened.publish(f"{opened.root}/snapshot-1", b"1")


def test_a_refusal_is_told_at_once(anywhere: tuple[stores.ObjectFileIO, Proxy]) -> None:
    opened, proxy = anywhere
    opened.publish(f"{opened.root}/warm", b"1")
    proxy.choose = lambda _, path, conditional: "403" if conditional else None

    with pytest.raises(
        StorageError, match="creating failed after 1 attempt: the answer was 403"
    ) as raised:
        opened.publish(f"{opened.root}/snapshot-1", b"1")

    assert raised.value.is_refusal
    assert proxy.done["403"] == 1


def test_a_denied_look_after_a_lost_answer_is_no_refusal(
    opened: stores.ObjectFileIO, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit may be there: nothing of it may be deleted."""
    opened.publish(f"{opened.root}/warm", b"1")
    monkeypatch.setattr("paimonlab.storage.stores.settling.PATIENCE_SECONDS", 0.2)
    proxy.choose = lambda _, path, conditional: "503 after" if conditional else "403"

    with pytest.raises(StorageError, match="may be there or not") as raised:
        opened.publish(f"{opened.root}/snapshot-1", b"1")

    assert not raised.value.is_refusal


@pytest.mark.parametrize("fault", READING)
def test_reads_are_tried_again(opened: stores.ObjectFileIO, proxy: Proxy, fault: Fault) -> None:
    data = random.Random(1).randbytes(300_000)
    opened.write(f"{opened.root}/a", data)
    for turn in range(5):
        proxy.choose = once(fault, lambda method, path, _: method == "GET")
        if turn % 2:
            assert opened.read(f"{opened.root}/a") == data
        else:
            with opened.open_input(f"{opened.root}/a") as source:
                assert source.read() == data


@pytest.mark.parametrize("page", [0, 1])
def test_listings_whose_answer_breaks_off_go_on(
    opened: stores.ObjectFileIO, proxy: Proxy, page: int
) -> None:
    """A page of the server has 100 names."""
    names = [f"{number:03}" for number in range(120)]
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda name: opened.write(f"{opened.root}/t/{name}", b"1"), names))
    seen: list[str] = []

    def choose(method: str, path: str, is_conditional: bool) -> Fault | None:
        del is_conditional
        if method != "GET" or "list-type" not in path:
            return None
        seen.append(path)
        return "cut" if len(seen) == page + 1 else None

    proxy.choose = choose
    assert sorted(opened.list_names(f"{opened.root}/t")) == names
    seen.clear()
    opened.delete_directory(f"{opened.root}/t")
    assert proxy.done["cut"] == 2
    assert not opened.exists(f"{opened.root}/t")


def test_requests_that_stand_still_are_sent_again_and_settled(proxy: Proxy, bucket: str) -> None:
    options = {**options_of(proxy.url, bucket), "s3.connection.timeout": "700"}
    opened = stores.open_warehouse(options["warehouse"], options)
    opened.publish(f"{opened.root}/warm", b"1")
    path, still, late = f"{opened.root}/snapshot-1", ["PUT", "GET"], threading.Event()
    this_thread = threading.local()

    def wait(method: str, target: str) -> None:
        if target.endswith("/snapshot-1") and still[:1] == [method]:
            this_thread.is_late = still.pop(0)
            time.sleep(2)

    def choose(method: str, *_: object) -> Fault | None:
        if getattr(this_thread, "is_late", "") != method:
            return None
        late.set()
        return "reset before" if method == "GET" else None  # what was put is there all the same

    proxy.wait, proxy.choose = wait, choose
    assert opened.publish(path, b"1")
    assert late.wait(30)
    assert opened.read(path) == b"1"
    assert still == []
    assert not opened.publish(path, b"other")


@pytest.mark.parametrize("fault", ["503 before", "503 after", "reset before", "reset after"])
def test_large_files_are_whole_after_lost_answers(
    opened: stores.ObjectFileIO, proxy: Proxy, fault: Fault
) -> None:
    data = random.Random(1).randbytes(20 << 20)
    proxy.choose = once(fault, lambda method, path, _: method == "PUT" and "partNumber=2" in path)
    told: list[str] = []
    try:
        with opened.open_output(f"{opened.root}/a") as output:
            output.write(data)
    except StorageError as error:
        told.append(str(error))

    if told:
        assert f"{opened.root}/a: writing failed" in told[0]
        assert not opened.exists(f"{opened.root}/a")
    else:
        assert opened.read(f"{opened.root}/a", limit_bytes=1 << 30) == data


def test_parts_for_which_there_is_no_room_end_a_file_at_once(
    opened: stores.ObjectFileIO, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library would send each of them eleven times, for minutes."""
    monkeypatch.setattr(object_outputs, "_ROOM_ASKED_SECONDS", (0.05,) * 20)
    opened.write(f"{opened.root}/warm", b"1")
    proxy.choose = lambda method, path, _: "507" if method == "PUT" else None

    with (
        pytest.raises(
            StorageError, match=r"/a: writing failed: 507 XMinioStorageFull .*make room"
        ) as raised,
        opened.open_output(f"{opened.root}/a") as output,
    ):
        output.write(random.Random(1).randbytes(9 << 20))

    assert raised.value.errno == errno.ENOSPC
    assert proxy.done["507"] < 3 * 5
    proxy.choose = lambda *_: None
    assert not opened.exists(f"{opened.root}/a")


def test_parts_that_take_long_are_waited_for_where_there_is_room(
    opened: stores.ObjectFileIO, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_outputs, "_ROOM_ASKED_SECONDS", (0.05, 0.05, 0.05))
    data = random.Random(1).randbytes(9 << 20)
    proxy.wait = lambda method, path: time.sleep(0.4 if "partNumber" in path else 0)

    with opened.open_output(f"{opened.root}/a") as output:
        output.write(data)

    assert opened.read(f"{opened.root}/a", limit_bytes=1 << 30) == data
    assert opened.list_names(opened.root) == ["a"], "what the store was asked by is deleted"


def test_rows_in_a_large_file_for_which_there_is_no_room_leave_nothing(
    proxy: Proxy, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_outputs, "_ROOM_ASKED_SECONDS", (0.05,) * 20)
    catalog = pl.connect(options_of(proxy.url, bucket))
    catalog.create_database("db")
    options = {"file.compression": "uncompressed"}
    table = catalog.create_table("db.t", {"v": "BYTES"}, options=options)
    rows = pa.table({"v": [random.Random(1).randbytes(9 << 20)]})
    proxy.choose = lambda method, path, _: "507" if method == "PUT" and "/bucket-" in path else None

    with pytest.raises(StorageError, match=r"bucket-0/data-.*: writing failed: 507 XMinioStorage"):
        table.write(rows)

    proxy.choose = lambda *_: None
    assert catalog.file_io.list(f"{table.path}/bucket-0") == []
    assert table.snapshots.list() == []
    table.write(rows)
    assert table.scan().to_arrow().num_rows == 1


def test_a_store_without_conditions_is_only_read(proxy: Proxy, bucket: str) -> None:
    """A store that ignores If-None-Match lets every writer win."""
    options = options_of(proxy.url, bucket)
    pl.connect(options).create_database("db")
    pl.connect(options).create_table("db.t", {"id": "INT"}).write(pa.table({"id": [1]}))
    proxy.ignores_conditions = True
    catalog = pl.connect(options)
    table = catalog.table("db.t")
    assert isinstance(table, Table)

    with pytest.raises(UnsupportedError, match=r"created that exists.*unsafe.single-writer"):
        table.write(pa.table({"id": [2]}))
    with pytest.raises(UnsupportedError, match="writing to s3://"):
        catalog.create_table("db.u", {"id": "INT"})

    assert table.scan().to_arrow().to_pydict() == {"id": [1]}
    assert len(table.snapshots.list()) == 1


@pytest.fixture(
    params=["s3", *(pytest.param(name, marks=pytest.mark.interop) for name in _MORE_STORES)]
)
def shared(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[Mapping[str, str], Proxy | RpcProxy]]:
    """Options of a catalog that writers share, and the proxy that they ask, if any."""
    if request.param == "s3":
        proxy = request.getfixturevalue("proxy")
        yield options_of(proxy.url, request.getfixturevalue("bucket")), proxy
        return
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("other stores are part of make interop")
    if request.param == "local":
        yield {"warehouse": str(tmp_path / "w")}, Proxy("")
        return
    options = dict(request.getfixturevalue(f"{request.param}_warehouse"))
    if request.param == "hdfs":
        server, _, folder = options["warehouse"].rpartition("/")
        with rpc_proxy_of(server) as rpc:
            yield {"warehouse": f"{rpc.url}/{folder}"}, rpc
        return
    if request.param == "webhdfs":
        server, _, folder = options["warehouse"].rpartition("/")
        with proxy_of(server.replace("webhdfs:", "http:")) as proxy:
            yield {"warehouse": f"{proxy.url.replace('http:', 'webhdfs:')}/{folder}"}, proxy
        return
    place = next(key for key in options if key.endswith("endpoint"))
    with proxy_of(options[place]) as proxy:
        options[place] = proxy.url + urlsplit(options[place]).path
        yield options, proxy


def test_writers_lose_and_double_nothing_behind_answers_in_doubt(
    shared: tuple[Mapping[str, str], Proxy | RpcProxy], tmp_path: Path
) -> None:
    options, proxy = shared
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "n": "BIGINT"},
        primary_keys=["id"],
        options={"bucket": "1", "snapshot.num-retained.min": "1000", "write-only": "true"},
    )
    chance = random.Random(20261123)

    def choose(method: str, path: str, is_conditional: bool) -> Fault | None:
        is_move = "op=RENAME" in path and "snapshot-" in path
        if not (is_conditional or is_move) or chance.random() >= 0.2:
            return None
        return chance.choice(LOST)

    def choose_move() -> Loss | None:
        return chance.choice(LOSSES) if chance.random() < 0.2 else None

    if isinstance(proxy, RpcProxy):
        proxy.choose = choose_move
    else:
        proxy.choose = choose
    writers = [_started(options, number, tmp_path) for number in range(_WRITERS)]
    for writer, log in writers:
        assert writer.wait(300 + 20 * _COMMITS) == 0, log.read_text()
    proxy.choose = lambda *_: None

    print(dict(proxy.done))  # noqa: T201 - what a run at full size has to show
    model = {n * 1000 + turn: turn for n in range(_WRITERS) for turn in range(_COMMITS)}
    rows = dict(zip(*table.scan().to_arrow().to_pydict().values(), strict=True))
    assert rows.pop(-1) in {n * 1000 + _COMMITS - 1 for n in range(_WRITERS)}
    assert rows == model
    snapshots = table.snapshots.list()
    assert [snapshot.id for snapshot in snapshots] == list(range(1, _WRITERS * _COMMITS + 1))
    assert len({snapshot.commit_user for snapshot in snapshots}) == _WRITERS * _COMMITS
    is_hdfs = "hdfs:" in options["warehouse"]  # a move is asked once where it is lost, or twice
    least = _WRITERS * _COMMITS // (8 if is_hdfs else 2)
    assert not proxy.url or sum(proxy.done.values()) > least
    assert not table.fsck().findings


def _started(
    options: Mapping[str, str], number: int, folder: Path
) -> tuple[subprocess.Popen[bytes], Path]:
    log = folder / f"writer-{number}"
    command = [sys.executable, "-c", _WRITER, json.dumps(options), str(number), str(_COMMITS)]
    with log.open("wb") as output:
        return subprocess.Popen(command, stdout=output, stderr=output), log
