"""How many requests opening, planning, reading and committing take; see ``docs/stores-tests.md``.

A budget here is what is measured; that of the table's second column is the aim. Whoever makes it
less lowers the number in both.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qs, unquote, urlsplit

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import CommitError, CorruptDataError, SnapshotExpiredError, TableNotFoundError
from paimonlab.formats.parquet.footers import shared_footers
from paimonlab.metadata import schemas
from paimonlab.metadata.last_seen import LastSeen
from paimonlab.read import splits
from paimonlab.storage.stores.object_inputs import recent_tails
from paimonlab.table.table import Table
from tests.storage.stores.proxy import Proxy, proxy_of
from tests.storage.stores.scripted import Service


@dataclass
class Requests:
    """What was asked: methods, ``LIST`` for listings."""

    asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def counts(self) -> Counter[str]:
        return Counter(kind for kind, _ in self.asked)

    def listed(self) -> list[str]:
        return [path for kind, path in self.asked if kind == "LIST"]

    def of(self, part: str) -> int:
        return sum(part in path for _, path in self.asked)


@pytest.fixture
def counted(gcs_service: Service, gcs_warehouse: Mapping[str, str]) -> Iterator[Proxy]:
    """A proxy before a store; the token is in the environment."""
    with proxy_of(gcs_service.url) as proxy:
        yield proxy


@contextmanager
def counting(proxy: Proxy) -> Iterator[Requests]:
    """Count the requests of a block."""
    found = Requests()

    def choose(method: str, target: str, _: bool) -> None:
        parts = urlsplit(target)
        query = parse_qs(parts.query)
        if method == "GET" and "list-type" in query:
            found.asked.append(("LIST", query.get("prefix", [""])[0]))
        else:
            found.asked.append((method, unquote(parts.path)))

    proxy.choose = choose
    yield found
    proxy.choose = lambda *_: None
    print(*found.asked, sep="\n")  # noqa: T201 - what a failure has to show


def opened(proxy: Proxy) -> Table:
    table = pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": proxy.url}).table("db.t")
    assert isinstance(table, Table)
    return table


@pytest.fixture
def table(counted: Proxy) -> Table:
    """A table with keys, of three commits."""
    catalog = pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": counted.url})
    catalog.create_database("db")
    made = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1"},
    )
    assert isinstance(made, Table)
    for turn in range(3):
        made.write(pa.table({"id": [turn, 9], "v": ["a", str(turn)]}))
    return made


def test_a_table_is_opened_by_one_listing_and_one_read(
    table: Table, counted: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schemas, "schema_ids", LastSeen(9))
    with counting(counted) as requests:
        opened(counted)
    assert requests.counts == {"LIST": 1, "GET": 1}
    assert requests.listed() == ["w/db.db/t/schema/"]
    with counting(counted) as requests:
        opened(counted)
    assert requests.counts == {"HEAD": 1, "GET": 1}, "at the same time"


def test_a_table_that_others_took_back_is_opened_as_it_is(
    table: Table, counted: Proxy, gcs_service: Service
) -> None:
    """What a process saw last says where it looks first, not what it finds."""
    catalog = pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": counted.url})
    catalog.alter_table("db.t", pl.AddColumn("x", "INT"))
    opened(counted).write(pa.table({"id": [3], "v": ["a"], "x": [1]}))
    assert opened(counted).scan().to_arrow().column_names == ["id", "v", "x"]
    assert [one.id for one in opened(counted).snapshots.list()] == [1, 2, 3, 4]
    objects = gcs_service.objects
    taken = objects["w/db.db/t/snapshot/snapshot-4"]
    for name in ("schema/schema-1", "snapshot/snapshot-4"):
        del objects[f"w/db.db/t/{name}"]
    objects["w/db.db/t/snapshot/LATEST"] = objects["w/db.db/t/snapshot/EARLIEST"]
    again = opened(counted)
    latest = again.snapshots.latest()
    assert latest is not None
    assert (again.schema.id, latest.id) == (0, 3)
    del objects["w/db.db/t/snapshot/snapshot-1"]
    assert [one.id for one in again.snapshots.list()] == [2, 3], "of 1 to 4 that were read ahead"
    objects["w/db.db/t/snapshot/snapshot-4"] = replace(
        objects["w/db.db/t/snapshot/snapshot-3"], data=taken.data
    )
    assert [one.id for one in again.snapshots.list()] == [2, 3, 4]


def test_the_latest_snapshot_takes_three_requests_and_no_listing(
    table: Table, counted: Proxy
) -> None:
    again = opened(counted)
    with counting(counted) as requests:
        again.snapshots.latest()
    assert requests.counts == {"GET": 2, "HEAD": 1}


def test_a_scan_lists_nothing_and_a_plan_reads_each_manifest_once(
    table: Table, counted: Proxy
) -> None:
    again = opened(counted)
    with counting(counted) as requests:
        again.scan().to_arrow()
    assert requests.listed() == []
    assert requests.of("/snapshot/") == 3
    assert requests.of("/schema/") == 0, "it was read when the table was opened"
    assert requests.of("/manifest/") == 0, "this process wrote them"
    assert "HEAD" not in {kind for kind, path in requests.asked if "/bucket-" in path}
    with counting(counted) as requests:
        again.scan().to_arrow()
    assert requests.of("/manifest/") + requests.of("/schema/") + len(requests.listed()) == 0


def test_threads_that_share_a_file_ask_for_its_end_once_and_again_for_ranges_alone(
    counted: Proxy, gcs_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(splits, "_SHARE_BYTES", 1 << 18)
    catalog = pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": counted.url})
    catalog.create_database("db")
    made = catalog.create_table("db.t", {"id": "BIGINT", "v": "STRING"})
    made.write(pa.table({"id": range(300_000), "v": [str(n) * 3 for n in range(300_000)]}))
    files = catalog.file_io.list(f"{made.path}/bucket-0")
    assert [file.size_bytes > 1 << 20 for file in files] == [True]
    shared_footers.clear()
    recent_tails.clear()
    for ends in (1, 0):
        with counting(counted) as requests:
            assert opened(counted).scan().to_arrow().num_rows == 300_000
        assert requests.of("/bucket-0/") == ends + 3, "and the columns of each row group"

    (name,) = (name for name in gcs_service.objects if "/bucket-0/" in name)
    whole = gcs_service.objects.pop(name)
    with pytest.raises(CorruptDataError, match="the data file is missing") as raised:
        opened(counted).scan().to_arrow()
    assert raised.value.referrer == "db.t"
    rows = opened(counted).scan().to_batches()
    snapshot = gcs_service.objects.pop("w/db.db/t/snapshot/snapshot-1")
    with pytest.raises(SnapshotExpiredError, match="expired while it was read"):
        rows.read_all()
    gcs_service.objects["w/db.db/t/snapshot/snapshot-1"] = snapshot
    shared_footers.clear()
    recent_tails.clear()
    for wrong in (whole.data[:-9], whole.data + b"PAR1", whole.data[:4]):
        gcs_service.objects[name] = replace(whole, data=wrong)
        with pytest.raises(CorruptDataError, match=f"the file has {len(wrong):,} bytes, metadata"):
            opened(counted).scan().to_arrow()


def test_merged_files_take_a_request_each_once_it_is_known_which_rows_count(
    counted: Proxy,
) -> None:
    catalog = pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": counted.url})
    catalog.create_database("db")
    columns = {"id": "BIGINT NOT NULL", "a": "BIGINT", "b": "STRING"}
    options = {"bucket": "1", "write-only": "true"}
    made = catalog.create_table("db.t", columns, primary_keys=["id"], options=options)
    for first in (0, 15_000):
        ids = range(first, first + 50_000)
        texts = [f"{number * 7919 % 50_021}" for number in ids]
        made.write(pa.table({"id": ids, "a": ids, "b": texts}))
    for budget in (3 * 2, 2):  # the end, the keys and the pages with such rows; the pages
        with counting(counted) as requests:
            assert opened(counted).scan().to_arrow().num_rows == 65_000
        assert requests.of("/bucket-0/") == budget


def test_one_key_is_looked_up_by_at_most_two_requests_for_each_file(
    table: Table, counted: Proxy
) -> None:
    again = opened(counted)
    again.scan(where="id = 9").to_arrow()
    with counting(counted) as requests:
        found = again.scan(where="id = 9").to_arrow().to_pylist()
    assert [row["v"] for row in found] == ["2"]
    assert requests.of("/bucket-") <= 2
    assert requests.of("/snapshot/") == 3
    assert requests.listed() == []


def test_a_commit_lists_nothing_but_at_first(table: Table, counted: Proxy) -> None:
    with counting(counted) as requests:
        table.write(pa.table({"id": [1], "v": ["x"]}))
    assert requests.listed() == []
    assert requests.counts["PUT"] == 6, "data, manifest, two lists, snapshot, hint"
    assert sum(requests.counts.values()) == 12


def test_a_commit_takes_five_round_trips(table: Table, counted: Proxy) -> None:
    """What does not depend on each other is sent at the same time."""
    first = {"HEAD snapshot-4", "GET snapshot-3", "HEAD schema-1"}
    last = {"HEAD snapshot-4", "HEAD snapshot-5"}
    begins, ends = threading.Barrier(7, timeout=30), threading.Barrier(2, timeout=30)
    one_by_one = list[str]()

    def wait(method: str, target: str) -> None:
        path = unquote(urlsplit(target).path)
        look = f"{method} {path.rpartition('/')[2]}"
        if "/bucket-0/" in path or "/manifest/" in path or (look in first and not one_by_one):
            begins.wait()  # fails if one of the seven is not sent before the others are answered
        elif look in last:
            ends.wait()
        else:
            one_by_one.append(look)

    counted.wait = wait
    table.write(pa.table({"id": [1], "v": ["x"]}))
    counted.wait = lambda *_: None
    assert table.snapshots.latest_id() == 4
    assert not (begins.broken)
    assert not (ends.broken)
    assert one_by_one == ["PUT snapshot-4", "GET snapshot-3", "PUT LATEST"]


def test_a_commit_whose_file_the_store_refuses_did_not_happen(
    table: Table, counted: Proxy, gcs_service: Service
) -> None:
    before = set(gcs_service.objects)
    counted.choose = lambda method, path, _: "403" if method == "PUT" and "bucket" in path else None
    with pytest.raises(CommitError, match=r"db\.t: the commit did not happen: .*403"):
        table.write(pa.table({"id": [1], "v": ["x"]}))
    counted.choose = lambda *_: None
    assert set(gcs_service.objects) == before
    table.write(pa.table({"id": [1], "v": ["x"]}))
    assert table.snapshots.latest_id() == 4


def test_a_commit_after_our_own_sees_what_others_did_to_the_table(
    table: Table, counted: Proxy
) -> None:
    catalog = pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": counted.url})
    catalog.alter_table("db.t", pl.SetOption("snapshot.num-retained.min", "2"))
    snapshot = table.write(pa.table({"id": [1], "v": ["x"]}))
    assert snapshot is not None
    assert (snapshot.id, snapshot.schema_id) == (4, 1)
    opened(counted).write(pa.table({"id": [1, 9], "v": ["theirs", "theirs"]}))
    table.write(pa.table({"id": [9], "v": ["ours"]}))  # its file is written twice
    found = table.scan(where="id = 1 OR id = 9").to_arrow().sort_by("id")
    assert found["v"].to_pylist() == ["theirs", "ours"]
    files = catalog.file_io.list_names(f"{table.path}/bucket-0")
    assert len(files) == 6 + 1, "of six commits and a compaction"
    assert not table.fsck(deep=True).findings

    catalog.drop_table("db.t")
    with pytest.raises(TableNotFoundError):
        table.write(pa.table({"id": [2], "v": ["x"]}))
    for folder in ("snapshot", "manifest", "schema", "bucket-0"):
        assert catalog.file_io.list_names(f"{table.path}/{folder}") == []


def test_a_commit_after_one_of_others_looks_for_it(table: Table, counted: Proxy) -> None:
    catalog = pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": counted.url})
    catalog.alter_table("db.t", pl.SetOption("num-sorted-run.compaction-trigger", "20"))
    one, two = opened(counted), opened(counted)
    for number in range(2):
        one.write(pa.table({"id": [number], "v": ["x"]}))
        two.write(pa.table({"id": [7], "v": ["y"]}))
    with counting(counted) as requests:
        one.write(pa.table({"id": [1], "v": ["x"]}))
    assert requests.listed() == []
    assert requests.counts["PUT"] == 6
    assert sum(requests.counts.values()) == 16
