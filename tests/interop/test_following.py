"""Tables followed by both: the same rows with the same kinds, snapshot by snapshot."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import SnapshotExpiredError, SnapshotReplacedError
from tests.interop.oracle import JavaError
from tests.interop.pair import KIND, Pair, random_rows
from tests.java_values import java_rows, normal_rows, unordered

pytestmark = pytest.mark.interop

SEED = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
COLUMNS = {"p": "INT", "k": "INT", "v": "STRING", "n": "DECIMAL(9, 2)"}
NEW, GONE = {"+I": "+I", "+U": "+I"}, {"-U": "-D", "-D": "-D"}
Plans = dict[int, list[str]]


def ours(pair: Pair, name: str, start: Any = "latest-full", **asked: Any) -> Plans:
    """Return what our follower reads, by snapshot."""
    table = pair.open(name)
    found: dict[int, list[Any]] = {}
    for batch in table.follow(start, until="latest", **asked):
        kinds = batch.data["rowkind"].to_pylist()
        rows = java_rows(batch.data.drop_columns("rowkind"), table.schema.fields)
        new = [[kind, *row] for kind, row in zip(kinds, rows, strict=True)]
        found.setdefault(batch.snapshot_id, []).extend(new)
    return {snapshot_id: unordered(rows) for snapshot_id, rows in found.items()}


def javas(pair: Pair, name: str, *, states: bool = False, **asked: Any) -> Plans:
    """Return what Java's stream reads, by snapshot.

    Rows of a state have the kind they were written with wherever Java has to merge.
    """
    fields = pair.open(name).schema.fields
    plans = pair.java("follow", table=name, **asked)["plans"]
    overwrites = {
        one["id"] for one in pair.java("snapshots", table=name) if one["commitKind"] == "OVERWRITE"
    }
    found = {}
    for number, plan in enumerate(plans):
        is_state = (states and number == 0) or plan["snapshot"] in overwrites
        kinds = NEW | GONE if is_state else {}
        rows = normal_rows([values for _, values in plan["rows"]], fields)
        shown = [[kinds.get(k, k), *row] for (k, _), row in zip(plan["rows"], rows, strict=True)]
        found[plan["snapshot"]] = unordered(shown)
    return {snapshot_id: rows for snapshot_id, rows in found.items() if rows}


def assert_same_streams(pair: Pair, name: str, options: Mapping[str, str], note: str) -> None:
    """Both read the same from the first snapshot on, and from every state on."""
    ids = [one["id"] for one in pair.java("snapshots", table=name)]
    first = {**options, "scan.snapshot-id": str(ids[0])}
    assert ours(pair, name, ids[0], options=options) == javas(pair, name, options=first), note
    for snapshot_id in random.Random(note).sample(ids, min(3, len(ids))):
        full = {**options, "scan.mode": "from-snapshot-full", "scan.snapshot-id": str(snapshot_id)}
        found = ours(pair, name, options=full)
        assert found == javas(pair, name, states=True, options=full), f"{note} from {snapshot_id}"


KINDS: dict[str, dict[str, str]] = {
    "append": {},
    "append-overwrites": {"streaming-read-append-overwrite": "true"},
    "none": {"write-only": "true"},
    "none-overwrites": {"streaming-read-overwrite": "true"},
    "input": {"changelog-producer": "input", "streaming-read-overwrite": "true"},
    "lookup": {"changelog-producer": "lookup"},
    "full-compaction": {"changelog-producer": "full-compaction", "write-only": "true"},
    "deletion-vectors": {"changelog-producer": "lookup", "deletion-vectors.enabled": "true"},
    "partial-update": {"changelog-producer": "lookup", "merge-engine": "partial-update"},
}
ONLY_JAVA = {"deletion-vectors"}
"""Kinds of tables that only Java compacts."""


@pytest.mark.parametrize("kind", KINDS)
def test_streams_of_random_tables(pair: Pair, kind: str) -> None:
    seed = SEED + sorted(KINDS).index(kind)
    note = f"PAIMONLAB_SEED={SEED} {kind}"
    random_, rng = random.Random(seed), np.random.default_rng(seed)
    options = {**KINDS[kind], "bucket": random_.choice(["1", "3"])}
    is_append = kind.startswith("append")
    if is_append:
        options["bucket-key"] = "k"
    pk = [] if is_append else ["p", "k"]
    pair.create("java", "db.t", COLUMNS, pk=pk, partition=["p"], options=options)
    for _ in range(8):
        step(pair, kind, random_, rng)
    switched = {key: value for key, value in options.items() if key.startswith("streaming")}

    assert_same_streams(pair, "db.t", switched, note)


def step(pair: Pair, kind: str, random_: random.Random, rng: np.random.Generator) -> None:
    """Write, overwrite or compact."""
    what = random_.choice(["write"] * 5 + ["overwrite", "compact"])
    if what == "compact":
        if kind in ONLY_JAVA or random_.random() < 0.5:
            pair.java("compact", table="db.t")
        else:
            pair.open("db.t").compact(full=True)
        return
    count = random_.randint(1, 12)
    rows = random_rows({"v": "STRING", "n": "DECIMAL(9, 2)"}, count, rng)
    keys = random_.sample(range(20), count)
    rows = rows.add_column(0, "k", pa.array(keys, pa.int32()))
    is_partial = kind.startswith("append") or what == "overwrite" or kind == "partial-update"
    kinds = ["+I"] * count if is_partial else random_.choices(["+I", "+U", "-D"], k=count)
    part = pa.array([random_.randrange(2)] * count, pa.int32())
    rows = rows.add_column(0, "p", part).append_column(KIND, [kinds])
    if what == "write":
        side = "java" if kind in ONLY_JAVA else random_.choice(["us", "java"])
        pair.write(side, "db.t", rows)  # type: ignore[arg-type]
        return
    partition = {"p": str(part[0])}
    fields = pair.open("db.t").schema.fields
    values = java_rows(rows.drop_columns([KIND]), fields)
    pair.java("write", table="db.t", rows=[["+I", row] for row in values], overwrite=partition)


SIMPLE = {"k": "INT NOT NULL", "v": "STRING"}


def simple(*keys: int, v: str = "x", kind: str = "+I") -> pa.Table:
    count = len(keys)
    return pa.table({"k": pa.array(keys, pa.int32()), "v": [v] * count, KIND: [kind] * count})


@pytest.fixture
def table(pair: Pair) -> str:
    options = {"bucket": "2", "write-only": "true"}
    pair.create("java", "db.t", SIMPLE, pk=["k"], options=options)
    pair.write("us", "db.t", simple(1, 2))
    pair.write("java", "db.t", simple(2, 3, v="y", kind="+U"))
    pair.java("compact", table="db.t")
    pair.write("us", "db.t", simple(1, kind="-D"))
    return "db.t"


def test_every_start_of_a_stream(pair: Pair, table: str) -> None:
    times = {one["id"]: one["timeMillis"] for one in pair.java("snapshots", table=table)}
    later = str(times[4] + 3_600_000)
    states: list[dict[str, str]] = [
        {},
        {"scan.mode": "full"},
        {"scan.mode": "compacted-full"},
        {"scan.mode": "compacted-full", "full-compaction.delta-commits": "2"},
        {"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"},
        {"scan.file-creation-time-millis": "0"},
        {"scan.file-creation-time-millis": later},
        {"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": "0"},
        {"scan.creation-time-millis": later},
    ]
    changes = [
        {"scan.mode": "latest"},
        {"scan.mode": "from-snapshot", "scan.snapshot-id": "2"},
        {"scan.snapshot-id": "5"},
        {"scan.timestamp-millis": str(times[1])},
        {"scan.timestamp-millis": str(times[2])},
        {"scan.timestamp-millis": str(times[4])},
        {"scan.timestamp-millis": str(times[4] + 1)},
        {"scan.timestamp": "2000-01-01 00:00:00"},
        {"scan.creation-time-millis": str(times[2])},
    ]
    for options in (*states, *changes):
        found = javas(pair, table, states=options in states, options=options)
        assert ours(pair, table, options=options) == found, options


@pytest.mark.parametrize(
    "options",
    [
        {"scan.tag-name": "one"},
        {"scan.watermark": "1"},
        {"incremental-between": "1,2"},
        {"scan.mode": "latest", "scan.snapshot-id": "1"},
        {"scan.mode": "from-timestamp"},
    ],
    ids=str,
)
def test_starts_that_both_refuse(pair: Pair, table: str, options: dict[str, str]) -> None:
    pair.open(table).tags.create("one", snapshot=1)

    with pytest.raises(JavaError):
        pair.java("follow", table=table, options=options)
    with pytest.raises(Exception, match=r"follower|ends|one point"):
        pair.open(table).follow(options=options)


def test_watermarks_and_bounds(pair: Pair, table: str) -> None:
    ours_ = pair.open(table)
    for number, watermark in enumerate((10, 20, 30)):
        writer = ours_.new_writer()
        writer.write(simple(number).drop_columns([KIND]))
        ours_.commit(writer.prepare_commit(number), identifier=number, watermark=watermark)
    bound = {"scan.bounded.watermark": "20"}
    since = {**bound, "scan.snapshot-id": "4"}

    found = pair.java("follow", table=table, options=since)
    batches = list(ours_.follow(4, options=bound))

    assert found["ended"]
    assert [(one.snapshot_id, one.watermark) for one in batches] == [
        (plan["snapshot"], plan["watermark"]) for plan in found["plans"]
    ]
    assert pair.java("follow", table=table, options=bound)["ended"]
    assert [one.is_full for one in ours_.follow(options=bound)] == [True]


def test_each_goes_on_where_the_other_stopped(pair: Pair, table: str) -> None:
    options = {"consumer-id": "c", "scan.snapshot-id": "1"}
    done = pair.java("follow", table=table, options=options, plans=1)
    assert [plan["snapshot"] for plan in done["plans"]] == [1]
    assert pair.open(table).consumers.list() == {"c": 2}

    with pair.open(table).follow(consumer_id="c") as follower:
        assert next(follower).snapshot_id == 2

    assert pair.java("consumers", table=table) == {"c": 3}
    rest = pair.java("follow", table=table, options={"consumer-id": "c"})
    assert [plan["snapshot"] for plan in rest["plans"]] == [4]
    pair.write("java", table, simple(9))
    assert [*ours(pair, table, consumer_id="c")] == [5]
    assert pair.java("consumers", table=table) == {"c": 6}
    assert pair.java("follow", table=table, options={"consumer-id": "c"})["plans"] == []


def test_a_consumer_keeps_snapshots_from_javas_expiry(pair: Pair, table: str) -> None:
    with pair.open(table).follow(1, consumer_id="c") as follower:
        next(follower)
        follower.commit()
        pair.java("expire", table=table, kept=1)
        assert [one["id"] for one in pair.java("snapshots", table=table)] == [2, 3, 4]
        assert next(follower).snapshot_id == 2
    pair.java("expire", table=table, kept=1)
    assert [one["id"] for one in pair.java("snapshots", table=table)] == [3, 4]


def test_what_javas_expiry_took_is_an_error(pair: Pair, table: str) -> None:
    follower = pair.open(table).follow(1)
    next(follower)
    pair.java("expire", table=table, kept=1)

    with pytest.raises(SnapshotExpiredError):
        next(follower)
    with pytest.raises(SnapshotExpiredError):
        pair.open(table).follow(1)


def test_javas_rollback_is_an_error(pair: Pair, table: str) -> None:
    follower = pair.open(table).follow(until="latest")
    assert next(follower).snapshot_id == 4
    pair.java("rollback", table=table, snapshot=2)
    for number in range(3):
        pair.write("java", table, simple(number))

    with pytest.raises(SnapshotReplacedError):
        next(follower)


@pytest.mark.parametrize("producer", ["none", "input", "lookup", "full-compaction"])
@pytest.mark.parametrize("side", ["us", "java"])
def test_long_lived_changelogs_are_followed(pair: Pair, producer: str, side: str) -> None:
    options = {
        "bucket": "1",
        "changelog-producer": producer,
        "changelog.num-retained.min": "2",
        "changelog.num-retained.max": "100",
        "changelog.time-retained": "1 d",
    }
    few = {
        "snapshot.num-retained.min": "1",
        "snapshot.num-retained.max": "1",
        "snapshot.time-retained": "1 ms",
    }
    pair.create("java", "db.t", SIMPLE, pk=["k"], options=options)
    for number in range(5):
        pair.write("java", "db.t", simple(number, number + 1, v=str(number)))
        if producer == "full-compaction":
            pair.java("compact", table="db.t")
    before = ours(pair, "db.t", 1)

    if side == "us":
        pair.open("db.t").maintenance.expire_snapshots(1, 1, older_than=timedelta(0))
    else:
        pair.java("expire_by_options", table="db.t", options={**options, **few})

    table = pair.open("db.t")
    assert len(table.snapshots.ids()) == 1
    assert table.changelogs.ids() == list(range(1, table.snapshots.ids()[0]))
    assert javas(pair, "db.t", options={"scan.snapshot-id": "1"}) == before
    assert ours(pair, "db.t", 1) == before
    assert ours(pair, "db.t", "2000-01-01") == before
