"""Commits of a process to a server of another, when answers are lost or the store is full.

A proxy between them, a third process, decides that. Data files, the manifest and its lists are sent
at the same time, so several requests fail at once.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.table.table import Table
from tests.repetitions import times
from tests.storage.stores import hdfs, proxy_process, radosgw
from tests.storage.stores.conftest import options_of
from tests.storage.stores.proxy_process import Between, Trouble

ROOT = Path(__file__).parents[3]
DATA, MANIFESTS, SNAPSHOT = ("/t/bucket-",), ("/manifest/",), ("/snapshot/snapshot-",)
TOGETHER = DATA + MANIFESTS
_BUCKETS = 3
_OLD, _NEW = range(100), range(50, 160)
_WRITER = """
import json, sys
import pyarrow as pa
import paimonlab as pl
from paimonlab.storage.stores import settling

options, user, old, new, settling.PATIENCE_SECONDS = map(json.loads, sys.argv[1:])
table = pl.connect(options).table("db.t")
for _ in range(2):  # what follows is sent together
    table.write(pa.table({"id": old, "v": ["old"] * len(old)}))
print(json.dumps("ready"), flush=True)
sys.stdin.readline()
rows = pa.table({"id": new, "v": ["new"] * len(new)})
try:
    if user:
        writer = table.new_writer(user=user)
        writer.write(rows)
        table.commit(writer.prepare_commit(1), identifier=1, user=user)
    else:
        table.write(rows)
    print(json.dumps(["", ""]))
except pl.errors.PaimonError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""


@pytest.fixture(scope="module")
def between(s3_server: str) -> Iterator[Between]:
    """Return the proxy before the server, each of them a process."""
    with proxy_process.running(s3_server) as running:
        yield running


@pytest.fixture
def options(between: Between, bucket: str) -> Iterator[Mapping[str, str]]:
    """Return the options of a catalog there, with a table that has rows."""
    options = options_of(between.url, bucket)
    make(options)
    yield options
    between.set(None)


def make(options: Mapping[str, str]) -> None:
    """Make the table, with rows."""
    catalog = pl.connect(options)
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": str(_BUCKETS), "write-only": "true"},
    )
    table.write(pa.table({"id": _OLD, "v": ["old"] * len(_OLD)}))


def write(
    options: Mapping[str, str],
    user: str = "",
    go: Callable[[], object] = lambda: None,
    patience_seconds: float = 0.2,
) -> tuple[str, str]:
    """Commit in a process of its own; return which error its last commit had, and the text.

    With a user that has an identifier, and may be sent again. ``go`` is called before it.
    """
    told = map(json.dumps, (dict(options), user, [*_OLD], [*_NEW], patience_seconds))
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, *told],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert json.loads(process.stdout.readline()) == "ready"
        go()
        process.stdin.close()
        kind, problem = json.loads(process.stdout.readline())
    assert process.returncode == 0
    return kind, problem


def again(options: Mapping[str, str], user: str = "") -> None:
    """Commit the rows here, with an identifier if there is a user."""
    table, rows = (
        pl.connect(options).table("db.t"),
        pa.table({"id": _NEW, "v": ["new"] * len(_NEW)}),
    )
    if user:
        writer = table.new_writer(user=user)
        writer.write(rows)
        table.commit(writer.prepare_commit(1), identifier=1, user=user)
    else:
        table.write(rows)


def commits(options: Mapping[str, str]) -> int:
    """Check that the table is whole; return how often the new rows were committed."""
    table = pl.connect(options).table("db.t")
    assert isinstance(table, Table)
    assert not table.fsck(deep=True).findings
    snapshots = table.snapshots.list()
    assert [one.id for one in snapshots] == [*range(1, len(snapshots) + 1)]
    counts = [one.delta_record_count for one in snapshots]
    assert {*counts} <= {len(_OLD), len(_NEW)}
    count = counts.count(len(_NEW))
    rows = table.scan().to_arrow()
    found = dict(zip(rows["id"].to_pylist(), rows["v"].to_pylist(), strict=True))
    assert {*found} == {*_OLD, *(_NEW if count else ())}
    assert count or {*found.values()} == {"old"}
    return count


def files(options: Mapping[str, str]) -> set[str]:
    """Return the paths of all files of the table."""
    catalog = pl.connect(options)
    left, found = [catalog.table("db.t").path], set[str]()
    while left:
        for status in catalog.file_io.list(left.pop()):
            if status.is_directory:
                left.append(status.path)
            else:
                found.add(status.path)
    return found


def test_a_commit_all_of_whose_first_answers_are_lost_is_there_once(
    between: Between, options: Mapping[str, str]
) -> None:
    trouble = Trouble("reset after", parts=TOGETHER + SNAPSHOT, times=1)

    assert write(options, go=lambda: between.set(trouble)) == ("", "")

    done = between.set(None)
    assert done["reset after"] == _BUCKETS + 3 + 1, "data files, a manifest, two lists, a snapshot"
    assert commits(options) == 1


@pytest.mark.parametrize(
    ("fault", "parts", "reason"),
    [
        ("507", DATA, "507 XMinioStorageFull Storage .*; make room, then do it again"),
        ("507", MANIFESTS, "507 XMinioStorageFull Storage .*; make room, then do it again"),
        ("507", SNAPSHOT, "507 XMinioStorageFull Storage .*; make room, then do it again"),
        ("403 quota", DATA, "403 QuotaExceeded; make room or raise the quota, then do it again"),
    ],
)
def test_a_commit_for_which_there_is_no_room_did_not_happen_and_leaves_nothing(
    between: Between, options: Mapping[str, str], fault: Any, parts: tuple[str, ...], reason: str
) -> None:
    before = set[str]()

    def go() -> None:
        before.update(files(options))
        between.set(Trouble(fault, parts=parts))

    kind, told = write(options, go=go)

    assert between.set(None)[fault] == (
        _BUCKETS if parts == DATA else 3 if parts == MANIFESTS else 1
    )
    assert kind == "CommitError"
    key = rf"{options['warehouse']}/db\.db\S*{parts[0]}\S+"
    happened = r"db\.t: the commit did not happen"
    assert re.fullmatch(f"{happened}: {key}: creating failed after 1 attempt: {reason}", told)
    assert commits(options) == 0
    assert files(options) == before

    again(options)
    assert commits(options) == 1


@pytest.mark.interop
@pytest.mark.parametrize("room", range(_BUCKETS + 4))
def test_a_commit_beyond_a_quota_of_ceph_did_not_happen(
    ceph_server: str, ceph_warehouse: Mapping[str, str], room: int
) -> None:
    """There is room for so many objects: data files, a manifest, two lists, a snapshot."""
    bucket = urlsplit(ceph_warehouse["warehouse"]).netloc

    def limit(there: AbstractSet[str] | None) -> None:
        count = -1 if there is None else radosgw.count_objects(ceph_server, bucket) + room
        radosgw.limit(ceph_server, bucket, count)

    check_quota(ceph_warehouse, limit, r"s3://\S+: .*QuotaExceeded")


@pytest.mark.interop
@pytest.mark.parametrize("room", (0, 2, 4, 6) if times(1) > 1 else (2, 6))
def test_a_commit_beyond_a_quota_of_hdfs_did_not_happen(
    hdfs_server: str, hdfs_warehouse: Mapping[str, str], room: int
) -> None:
    root = hdfs_warehouse["warehouse"]

    def limit(there: AbstractSet[str] | None) -> None:
        count = -1
        if there is not None:
            folders = {root, f"{root}/db.db", f"{root}/db.db/t"}
            folders |= {path.rpartition("/")[0] for path in there}
            count = len(there | folders) + room
        hdfs.limit(hdfs_server, urlsplit(root).path, count)

    check_quota(hdfs_warehouse, limit, r"hdfs://\S+: .*QuotaExceeded.*raise the quota")


def check_quota(
    options: Mapping[str, str], limit: Callable[[AbstractSet[str] | None], None], reason: str
) -> None:
    """Check a commit that has no room; ``limit`` gets the files there are, None to allow all."""
    make(options)
    before = set[str]()

    def go() -> None:
        before.update(files(options))
        limit(before)

    kind, told = write(options, go=go)

    limit(None)
    assert kind == "CommitError"
    assert re.search(rf"db\.t: the commit did not happen: {reason}", told, re.DOTALL)
    assert commits(options) == 0
    assert files(options) == before
    again(options)
    assert commits(options) == 1


@pytest.mark.parametrize(("fault", "there"), [("reset before", 0), ("reset after", 1)])
def test_a_commit_whose_answers_stay_away_may_be_sent_again(
    between: Between, options: Mapping[str, str], fault: Any, there: int
) -> None:
    """Nobody can look either, so nothing is deleted."""
    trouble = Trouble(fault, methods=("PUT", "GET"), parts=("/snapshot-4",))

    kind, told = write({**options, "s3.attempts.maximum": "1"}, "me", lambda: between.set(trouble))

    between.set(None)
    assert kind == "CommitOutcomeUnknownError"
    key = f"{options['warehouse']}/db.db/t/snapshot/snapshot-4"
    assert re.search(rf"{key}: .*the connection broke.*", told)
    assert re.search(r"\d attempts", told)
    assert commits(options) == there

    again(options, "me")
    assert commits(options) == 1


@pytest.mark.parametrize(
    ("fault", "parts", "there"),
    [("killed before", DATA, 0), ("killed after", SNAPSHOT, 1)],
)
def test_a_commit_whose_store_is_killed_may_be_sent_again(
    s3_server: str, bucket: str, fault: Any, parts: tuple[str, ...], there: int
) -> None:
    with proxy_process.running(s3_server) as store:
        options = options_of(store.url, bucket)
        make(options)
        trouble = Trouble(fault, parts=parts)

        kind, told = write(
            {**options, "s3.attempts.maximum": "1"}, "me", lambda: store.set(trouble)
        )

        assert kind == ("StorageError" if parts == DATA else "CommitOutcomeUnknownError"), told
        assert f"{options['warehouse']}/db.db/t/" in told
        store.start_again()
        assert commits(options) == there
        again(options, "me")
        assert commits(options) == 1


@pytest.mark.parametrize("fault", ["killed after"])
def test_a_commit_waits_for_a_store_that_is_killed_and_comes_back(
    s3_server: str, bucket: str, fault: Any
) -> None:
    with proxy_process.running(s3_server) as store, ThreadPoolExecutor(1) as pool:
        options = options_of(store.url, bucket)
        make(options)

        def go() -> None:
            store.set(Trouble(fault, parts=SNAPSHOT))
            pool.submit(store.start_again)  # when it has ended

        tried = {**options, "s3.attempts.maximum": "2"}
        assert write(tried, go=go, patience_seconds=120) == ("", "")

        assert commits(options) == 1


@pytest.mark.interop
def test_a_commit_happens_once_whenever_the_gateway_of_ceph_is_killed(
    ceph_server: str, ceph_warehouse: Mapping[str, str]
) -> None:
    gateway = radosgw.gateway_of(ceph_server)
    outcomes = []
    with ThreadPoolExecutor(1) as pool:
        for delay_seconds in (0.0, 0.02, 0.05, 0.1, 0.2):
            options = {
                **ceph_warehouse,
                "warehouse": f"{ceph_warehouse['warehouse']}-{delay_seconds}",
            }
            make(options)
            killing: list[Future[None]] = []

            def kill(after: float = delay_seconds) -> None:
                time.sleep(after)
                gateway.kill()
                gateway.start()

            def go(begun: list[Future[None]] = killing) -> None:
                begun.append(pool.submit(kill))

            kind, told = write(options, "me", go, patience_seconds=120)
            killing[0].result()
            assert kind in ("", "StorageError", "CommitOutcomeUnknownError", "CommitError"), told
            assert kind or commits(options) == 1
            again(options, "me")
            assert commits(options) == 1
            outcomes.append(kind)
    print(outcomes)  # noqa: T201 - what a run has to show
    # For half a minute a new gateway waits for the killed one where buckets are made.
    radosgw.wait_for_buckets(ceph_server)
