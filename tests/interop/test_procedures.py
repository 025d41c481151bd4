"""Procedures do to a table what the calls of Java's core do that its procedures make."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import PaimonError
from paimonlab.metadata.partition_stats import partition_columns
from paimonlab.procedures import bind, find
from paimonlab.procedures.partitions import partitions
from paimonlab.procedures.texts import duration, key_values, local_time
from paimonlab.table.compacting.idle_partitions import idle_partitions
from paimonlab.table.inside import store_of
from paimonlab.table.reading.time_travel import to_millis
from tests.interop.oracle import JavaError, JavaPaimon, Oracle
from tests.interop.pair import Pair
from tests.support import cases

pytestmark = pytest.mark.interop

COLUMNS = {"k": "INT NOT NULL", "v": "STRING", "dt": "STRING NOT NULL"}
DAYS = ("2020-01-01", "2020-02-01", "9999-01-01")


def call(catalog: paimonlab.Catalog, name: str, **arguments: object) -> list[dict[str, Any]]:
    """Call a procedure on ``db.t``: its rows."""
    found = find(name)
    return found.call(catalog, bind(found, ["db.t"], arguments)).to_pylist()


class Twins:
    """The same table twice: one for our procedures, one for Java's calls."""

    def __init__(self, pair: Pair, oracle: Oracle, warehouse: Path, other: Path) -> None:
        self.pair, self.warehouse, self.other = pair, warehouse, other
        shutil.copytree(warehouse, other)
        self.javas = JavaPaimon(oracle, other)

    def both(self, name: str, **arguments: object) -> tuple[list[list[object]] | None, Any]:
        """Return the rows of our procedure, None if it refuses, and what Java's returns."""
        own: list[list[object]] | None = None
        try:
            rows = call(self.pair.catalog, name, **arguments)
            own = [list(row.values()) for row in rows]
        except PaimonError:
            pass
        given = {{"options": "with"}.get(key, key): value for key, value in arguments.items()}
        op = {"create_tag": "put_tag", "replace_tag": "put_tag"}.get(name, name)
        if name == "replace_tag":
            given["replaces"] = True
        if name == "delete_tag":
            given["tags"] = given.pop("tag")
        try:
            found = self.javas(f"call_{op}", table="db.t", **given)
        except JavaError as error:
            found = error
        return own, found

    def assert_same_files(self) -> None:
        """Check that both have the same snapshots, tags and files."""
        assert _files(self.warehouse) == _files(self.other)
        for name in _files(self.warehouse):
            if name.startswith("snapshot/snapshot-"):
                paths = [root / "db.db" / "t" / name for root in (self.warehouse, self.other)]
                assert paths[0].read_text() == paths[1].read_text()


def _files(warehouse: Path) -> set[str]:
    root = warehouse / "db.db" / "t"
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    return {path for path in found if not path.endswith(".crc")}


@pytest.fixture
def twins(pair: Pair, oracle: Oracle, warehouse: Path, tmp_path: Path) -> Twins:
    """Make a table of a dozen commits, some with watermarks, with tags here and there."""
    seed = int(os.environ.get("PAIMONLAB_SEED", random.randrange(2**32)))
    print(f"PAIMONLAB_SEED={seed}")  # noqa: T201
    chance = random.Random(seed)
    pair.create(
        "us",
        "db.t",
        COLUMNS,
        pk=["k", "dt"],
        partition=["dt"],
        options={"bucket": "1", "write-only": "true", "tag.default-time-retained": "1 h"},
    )
    table = pair.open("db.t")
    watermark = 0
    for number in range(12):
        rows = [[chance.randrange(9)], [f"v{number}"], [chance.choice(DAYS)]]
        writer = table.new_writer()
        writer.write(pa.record_batch(rows, schema=table.arrow_schema))
        watermark += chance.randrange(3)
        given = watermark if chance.random() < 0.7 else None
        table.commit(writer.prepare_commit(number), identifier=number, watermark=given)
        if chance.random() < 0.4:
            table.tags.create(f"t{number}")
    return Twins(pair, oracle, warehouse, tmp_path / "other")


def test_snapshots_expire_as_javas_do_and_are_counted_alike(twins: Twins) -> None:
    tomorrow = f"{datetime.now().astimezone() + timedelta(days=1):%Y-%m-%d %H:%M:%S}"
    calls: list[dict[str, object]] = [
        {"retain_max": 5},
        {"retain_max": 2, "retain_min": 3},
        {"retain_max": 9, "retain_min": 9, "max_deletes": 1},
        {"older_than": tomorrow, "retain_min": 9, "retain_max": 20},
        {"older_than": "2020-01-01", "retain_min": 1},
        {"options": "snapshot.num-retained.min=2, snapshot.num-retained.max=8"},
        {"options": "snapshot.num-retained.min=1,snapshot.expire.limit=2", "retain_max": 3},
        {"older_than": tomorrow, "options": "snapshot.num-retained.min=3"},
    ]
    counts = []
    for arguments in calls:
        own, found = twins.both("expire_snapshots", **arguments)
        counts.append(None if isinstance(found, JavaError) else found)
        assert own == (None if isinstance(found, JavaError) else [[found]]), arguments
        twins.assert_same_files()

    assert counts[:2] == [None, None]
    assert sum(count or 0 for count in counts) == 9


def test_tags_are_made_replaced_expired_and_deleted_as_javas_are(twins: Twins) -> None:
    calls: list[tuple[str, dict[str, object]]] = [
        ("create_tag", {"tag": "a"}),
        ("create_tag", {"tag": "a"}),
        ("create_tag", {"tag": "b", "snapshot": 3, "time_retained": "2 d"}),
        ("create_tag", {"tag": "c", "snapshot": 99}),
        ("create_tag", {"tag": "d", "time_retained": "soon"}),
        ("replace_tag", {"tag": "b", "time_retained": "36 h"}),
        ("replace_tag", {"tag": "a", "snapshot": 2}),
        ("replace_tag", {"tag": "no"}),
        ("delete_tag", {"tag": "no, a"}),
        ("expire_tags", {}),
        ("expire_tags", {"older_than": "2020-01-01"}),
        ("expire_tags", {"older_than": "9000-01-01 00:00:00"}),
    ]
    for name, arguments in calls:
        own, found = twins.both(name, **arguments)
        assert (own is None) == isinstance(found, JavaError), (name, arguments, found)
        if name == "expire_tags":
            assert own == [[one] for one in sorted(found) or ["No expired tags."]]
        for op in ("tags", "tag_lifetimes"):
            assert twins.pair.java(op, table="db.t") == twins.javas(op, table="db.t"), name
    twins.assert_same_files()


def test_snapshots_are_found_by_time_and_watermark_as_java_finds_them(twins: Twins) -> None:
    table = twins.pair.open("db.t")
    call(twins.pair.catalog, "expire_snapshots", retain_max=6, retain_min=1)
    snapshots = table.snapshots.list()
    java = twins.pair.java
    times = {one.time_millis + shift for one in snapshots for shift in (-1, 0, 1)}
    for number, millis in enumerate(sorted(times)):
        expected = java("snapshot_from_time", table="db.t", timestamp=millis)
        try:
            made = call(
                twins.pair.catalog,
                "create_tag_from_timestamp",
                tag=f"from{number}",
                timestamp=millis,
            )
        except PaimonError:
            assert expected is None
            continue
        (row,) = made
        kept = {**{one.id: one for one in snapshots}, **_tagged(table)}
        # Of several at one time Java takes any.
        assert kept[row["snapshot"]].time_millis == kept[expected].time_millis
        call(twins.pair.catalog, "delete_tag", tag=f"from{number}")

    known = [one.watermark for one in snapshots if one.watermark is not None]
    if snapshots[-1].watermark is None or not known:
        return
    for watermark in range(min(known) + 1, max(known) + 3):
        expected = java("snapshot_at_watermark", table="db.t", watermark=watermark)
        shutil.rmtree(twins.other)
        shutil.copytree(twins.warehouse, twins.other)
        copy = paimonlab.connect(twins.other)
        (row,) = call(copy, "rollback_to_watermark", watermark=watermark)
        found = table.snapshots.get(row["current_snapshot_id"]).watermark
        assert found is None or found <= watermark
        by_java = table.snapshots.get(expected).watermark
        if found is not None and by_java is not None:
            assert found == by_java


def _tagged(table: paimonlab.Table) -> dict[int, Any]:
    return {tag.id: tag for tag in table.tags.list().values()}


def test_partitions_expire_as_javas_do_and_are_told_alike(twins: Twins) -> None:
    calls: list[dict[str, object]] = [
        {},
        {"expiration_time": "99999999 d"},
        {"expiration_time": "1 d", "max_expires": 1},
        {"options": "partition.expiration-time=1 d"},
        {"expiration_time": "1 d", "expire_strategy": "update-time"},
        {"expiration_time": "0 ms", "expire_strategy": "update-time"},
    ]
    for arguments in calls:
        own, found = twins.both("expire_partitions", **arguments)
        if isinstance(found, JavaError):
            assert own is None, arguments
            continue
        assert own == [[one] for one in sorted(found) or ["No expired partitions."]], arguments
        assert _rows(twins.pair.java) == _rows(twins.javas)


def _rows(java: JavaPaimon) -> list[object]:
    return sorted(java("read", table="db.t"), key=str)


def test_a_table_after_our_procedures_is_read_by_java(twins: Twins) -> None:
    pair, catalog = twins.pair, twins.pair.catalog
    call(catalog, "create_tag", tag="ten", snapshot=10)
    call(catalog, "rollback", version="ten")
    twins.javas("rollback", table="db.t", snapshot=10)
    assert _rows(pair.java) == _rows(twins.javas)

    call(catalog, "compact", partitions=f"dt={DAYS[0]}")
    call(catalog, "compact", compact_strategy="full")
    call(catalog, "compact_manifest")
    pair.assert_same("db.t")
    assert _rows(pair.java) == _rows(twins.javas)
    call(catalog, "create_branch", branch="b", tag="ten")
    assert pair.java("branches", table="db.t") == ["b"]
    call(catalog, "reset_consumer", consumerId="c", nextSnapshotId=10)
    call(catalog, "reset_consumer", consumerId="other", nextSnapshotId=9)
    assert pair.java("consumers", table="db.t") == {"c": 10, "other": 9}
    call(catalog, "clear_consumers", includingConsumers="o.*")
    assert pair.java("consumers", table="db.t") == {"c": 10}
    call(catalog, "fast_forward", branch="b")
    assert _rows(pair.java) == _rows(twins.javas)
    call(catalog, "purge_files")
    assert _rows(pair.java) == []


def test_partitions_are_idle_as_for_java(twins: Twins) -> None:
    table = twins.pair.open("db.t")
    for _ in range(2):
        newest = twins.pair.java("newest_files", table="db.t")
        for limit in {time + shift for time in newest.values() for shift in (-1, 0, 1)}:
            rows = pa.array(idle_partitions(store_of(table), limit), pa.large_binary())
            fields = [table.schema.field("dt")]
            idle = partition_columns(rows, fields).column("dt").to_pylist()
            assert sorted(idle) == sorted(day for day, time in newest.items() if time <= limit)
        call(twins.pair.catalog, "compact", partitions=f"dt={DAYS[1]}")


def test_manifests_are_compacted_as_javas_are(twins: Twins) -> None:
    call(twins.pair.catalog, "compact_manifest")
    twins.javas("call_compact_manifest", table="db.t")

    for java in (twins.pair.java, twins.javas):
        latest = java("snapshots", table="db.t")[-1]
        assert latest["commitKind"] == "COMPACT"
    assert _rows(twins.pair.java) == _rows(twins.javas)


def test_consumers_are_cleared_as_javas_are(twins: Twins) -> None:
    for java in (twins.pair.java, twins.javas):
        for name in ("a", "a1", "b", "ab"):
            java("reset_consumer", table="db.t", name=name, next=3)

    call(twins.pair.catalog, "clear_consumers", includingConsumers="a.?", excludingConsumers="ab")
    twins.javas("call_clear_consumers", table="db.t", including="a.?", excluding="ab")

    left = twins.pair.java("consumers", table="db.t")
    assert left == twins.javas("consumers", table="db.t") == {"ab": 3, "b": 3}


def test_texts_mean_what_they_mean_to_java(oracle: Oracle) -> None:
    given: dict[str, list[str]] = {"time": [], "duration": [], "pairs": [], "partitions": []}
    for _, text, _ in cases("procedure_texts"):
        kind, _, argument = text.strip().partition(" ")
        if kind in given:
            given[kind].append(argument)
    # Java takes the last of two values, passes over what is empty, has conditions unquoted, and
    # makes times of these days and hours.
    other = ("a=1,a=2", "dt=1;;dt=2", ";", "dt='2026-01-01', hh=\"x\"")
    louder = (*other, "2026-02-30", "2026-01-31 24:00:00")

    for kind, texts in given.items():
        asked = [text for text in texts if text not in louder]
        assert [_own(kind, text) for text in asked] == oracle.ask(
            "procedure_texts", kind=kind, texts=asked
        )


def _own(kind: str, text: str) -> object:
    try:
        if kind == "time":
            return to_millis(local_time(text, procedure="p", argument="a"))
        if kind == "duration":
            return duration(text, procedure="p", argument="a") // timedelta(milliseconds=1)
        if kind == "pairs":
            return key_values(text, procedure="p", argument="a")
        found: Sequence[object] = partitions(text, procedure="p")
    except PaimonError:
        return None
    return found
