"""Following a table: what comes, in which order, until when, and what cannot be followed."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    SchemaError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    SnapshotReplacedError,
    UnsupportedError,
)
from paimonlab.spec.snapshot import Snapshot
from tests.table.following.followers import (
    FakeClock,
    apply,
    by_snapshot,
    everything,
    followed,
    restored,
    rows_of,
    write,
)


def make(catalog: pl.Catalog, name: str = "db.t", **options: str) -> pl.Table:
    given = {"bucket": "2", "write-only": "true"} | {
        key.replace("_", "-"): value for key, value in options.items()
    }
    return catalog.create_table(
        name, {"id": "INT", "v": "STRING"}, primary_keys=["id"], options=given
    )


@pytest.fixture
def keyed(catalog: pl.Catalog) -> pl.Table:
    table = make(catalog)
    write(table, ("+I", 1, "a"), ("+I", 2, "b"))
    write(table, ("+U", 1, "a2"), ("-D", 2, "b"), ("+I", 3, "c"))
    write(table, ("+U", 3, "c"))
    return table


def overwrite(table: pl.Table, *rows: tuple[int, str]) -> Snapshot:
    ids, values = zip(*rows, strict=True)
    return table.overwrite(pa.table({"id": pa.array(ids, pa.int32()), "v": list(values)}))


def forget(table: pl.Table, *snapshot_ids: int) -> None:
    """Let snapshots expire, as far as readers see it."""
    for snapshot_id in snapshot_ids:
        Path(table.path, "snapshot", f"snapshot-{snapshot_id}").unlink()
    Path(table.path, "snapshot", "EARLIEST").unlink(missing_ok=True)


# What comes.


def test_all_rows_come_first_and_then_the_changes(keyed: pl.Table) -> None:
    follower = followed(
        keyed, FakeClock(lambda: write(keyed, ("-D", 1, "a2"), ("+I", 4, None))), until=4
    )

    first = next(follower)
    second = next(follower)

    assert (first.snapshot_id, first.is_full, first.is_last) == (3, True, True)
    assert sorted(rows_of(first)) == [("+I", 1, "a2"), ("+I", 3, "c")]
    assert (second.snapshot_id, second.is_full, second.is_last) == (4, False, True)
    assert sorted(rows_of(second)) == [("+I", 4, None), ("-D", 1, "a2")]
    assert second.data.schema == follower.arrow_schema
    assert list(follower) == []
    assert follower.is_ended


def test_a_snapshot_id_starts_with_its_changes(keyed: pl.Table) -> None:
    assert everything(keyed, 2) == {
        2: [("+I", 3, "c"), ("+U", 1, "a2"), ("-D", 2, "b")],
        3: [("+U", 3, "c")],
    }
    assert everything(keyed, 4) == {}
    assert everything(keyed, "from-snapshot", options={"scan.snapshot-id": "3"}) == {
        3: [("+U", 3, "c")]
    }
    assert everything(keyed, options={"scan.version": "3"}) == {3: [("+U", 3, "c")]}


def test_every_scan_mode_of_a_stream(keyed: pl.Table) -> None:
    keyed.compact_manifests()
    write(keyed, ("+I", 5, "e"))
    times = {one.id: one.time_millis for one in keyed.snapshots.list()}
    now = {one: ("+I", *row) for one, row in {1: (1, "a2"), 3: (3, "c"), 5: (5, "e")}.items()}
    at_3 = [("+I", 1, "a2"), ("+I", 3, "c")]
    compacted = max(one.id for one in keyed.snapshots.list() if one.commit_kind.value == "COMPACT")

    assert everything(keyed, "default") == everything(keyed, "full") == {5: [*now.values()]}
    assert everything(keyed, options={"scan.mode": "latest"}) == everything(keyed, "latest") == {}
    assert everything(keyed, "compacted-full") == {compacted: at_3, 5: [("+I", 5, "e")]}
    full = everything(keyed, "from-snapshot-full", options={"scan.snapshot-id": "3"})
    assert full == {3: at_3, 5: [("+I", 5, "e")]}
    for since in (
        {"scan.mode": "from-timestamp", "scan.timestamp-millis": str(times[1])},
        {"scan.timestamp-millis": str(times[1] - 1)},
    ):
        assert everything(keyed, options=since) == everything(keyed, 1)
    created = {"scan.file-creation-time-millis": str(times[5] + 86_400_000)}
    assert everything(keyed, options=created) == {}
    created = {"scan.file-creation-time-millis": "0"}
    assert everything(keyed, "from-file-creation-time", options=created) == {5: [*now.values()]}
    created = {"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": "0"}
    assert everything(keyed, options=created) == {5: [*now.values()]}


def test_times_start_with_the_first_snapshot_since(keyed: pl.Table) -> None:
    later = datetime(2999, 1, 1, tzinfo=UTC)

    assert everything(keyed, datetime(2000, 1, 1, tzinfo=UTC)) == everything(keyed, 1)
    assert everything(keyed, "2000-01-01 00:00:00") == everything(keyed, 1)
    assert everything(keyed, later) == everything(keyed, "2999-01-01") == {}
    follower = followed(keyed, start=later)
    write(keyed, ("+I", 9, "z"))
    assert next(follower).snapshot_id == 4


def test_columns_and_conditions_of_a_follower(keyed: pl.Table) -> None:
    follower = keyed.follow(1, until="latest", columns=["v"], where="id <> 2 AND v = 'c'")

    assert follower.arrow_schema.names == ["rowkind", "v"]
    assert by_snapshot(follower) == {2: [("+I", "c")], 3: [("+U", "c")]}
    assert everything(keyed, where="v = 'a2'") == {3: [("+I", 1, "a2")]}
    assert everything(keyed, where="id = 1 AND id = 2") == {}


def test_a_branch_is_followed_by_name_or_option(keyed: pl.Table, catalog: pl.Catalog) -> None:
    keyed.tags.create("two", snapshot=2)
    keyed.branches.create("dev", tag="two")
    branch = catalog.table("db.t$branch_dev")
    assert isinstance(branch, pl.Table)
    write(branch, ("+I", 7, "dev"))

    assert everything(branch, 3) == {3: [("+I", 7, "dev")]}
    assert everything(keyed, 3, options={"branch": "dev"}) == {3: [("+I", 7, "dev")]}
    assert everything(keyed, 3) == {3: [("+U", 3, "c")]}


def test_an_append_table_gains_rows(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.a", {"id": "INT", "v": "STRING"})
    write(table, ("+I", 1, "a"), ("+I", 2, "b"))
    write(table, ("+I", 3, "c"))
    table.delete("id = 1")
    write(table, ("+I", 4, "d"))

    assert everything(table, 1) == {
        1: [("+I", 1, "a"), ("+I", 2, "b")],
        2: [("+I", 3, "c")],
        4: [("+I", 4, "d")],
    }
    assert everything(table, 3, options={"streaming-read-append-overwrite": "true"}) == {
        3: [("+I", 2, "b")],  # was rewritten
        4: [("+I", 4, "d")],
    }
    with pytest.raises(SchemaError, match="append-overwrite"):
        table.follow(options={"streaming-read-overwrite": "true"})


def test_overwrites_are_read_if_asked_for(keyed: pl.Table) -> None:
    overwrite(keyed, (1, "new"), (9, "z"))
    options = {"streaming-read-overwrite": "true"}
    replaced = [("+I", 1, "new"), ("+I", 9, "z"), ("-D", 1, "a2"), ("-D", 3, "c")]

    assert everything(keyed, 4) == {}
    assert everything(keyed, 4, options=options) == {4: replaced}
    batch = next(keyed.follow(4, where="id = 1", options=options))
    assert rows_of(batch) == [("-D", 1, "a2"), ("+I", 1, "new")]


def test_a_changelog_of_input_comes_as_it_was_written(catalog: pl.Catalog) -> None:
    table = make(catalog, bucket="1", changelog_producer="input")
    given = [("+I", 1, "a"), ("-U", 1, "a"), ("+U", 1, "b"), ("+I", 2, "c"), ("-D", 2, "c")]
    write(table, *given)
    overwrite(table, (5, "x"))

    (batch,) = table.follow(1, until="latest")

    assert rows_of(batch) == given
    assert everything(table) == {2: [("+I", 5, "x")]}
    with_overwrites = everything(table, 2, options={"streaming-read-overwrite": "true"})
    assert with_overwrites == {2: [("+I", 5, "x"), ("-D", 1, "b")]}


def test_rows_keep_the_schema_the_table_was_opened_with(
    keyed: pl.Table, catalog: pl.Catalog
) -> None:
    changed = catalog.alter_table(
        "db.t", pl.AddColumn("extra", "INT"), pl.RenameColumn("v", "value")
    )
    changed.write(pa.table({"id": pa.array([8], pa.int32()), "value": ["n"], "extra": [1]}))

    assert everything(keyed, 3) == {3: [("+U", 3, "c")], 4: [("+I", 8, "n")]}
    assert everything(changed, 3) == {3: [("+U", 3, "c", None)], 4: [("+I", 8, "n", 1)]}


def test_a_table_without_snapshots_is_waited_for(catalog: pl.Catalog) -> None:
    table = make(catalog)
    rows = pa.table({"id": pa.array([1], pa.int32()), "v": ["a"]})

    assert everything(table) == everything(table, 1) == everything(table, "latest") == {}
    clock = FakeClock(lambda: table.overwrite(rows), lambda: write(table, ("+I", 2, "b")))
    found = list(followed(table, clock, until=2))

    assert [(one.snapshot_id, one.is_full) for one in found] == [(1, True), (2, False)]
    found = list(followed(table, FakeClock(), start="latest", until=0))
    assert found == []


# Until when.


def test_a_follower_ends_where_it_was_told(keyed: pl.Table) -> None:
    times = {one.id: one.time_millis for one in keyed.snapshots.list()}
    keyed.tags.create("second", snapshot=2)

    assert [*by_snapshot(keyed.follow(1, until=2))] == [1, 2]
    assert [*by_snapshot(keyed.follow(1, until="second"))] == [1, 2]
    until = datetime.fromtimestamp((times[3] + 1) / 1000, UTC)
    assert [*by_snapshot(keyed.follow(1, until=until))] == [1, 2, 3]
    with pytest.raises(ValueError, match="after until"):
        keyed.follow(until=2)


def test_a_watermark_ends_it(catalog: pl.Catalog) -> None:
    table = make(catalog)
    for number, watermark in enumerate([10, 20, 30]):
        writer = table.new_writer()
        writer.write(pa.table({"id": pa.array([number], pa.int32()), "v": ["a"]}))
        table.commit(writer.prepare_commit(number), identifier=number, watermark=watermark)
    bound = {"scan.bounded.watermark": "20"}

    found = list(table.follow(1, options=bound))

    assert [(one.snapshot_id, one.watermark) for one in found] == [(1, 10), (2, 20)]
    assert [one.is_full for one in table.follow(options=bound)] == [True]


def test_waiting_takes_the_interval_and_young_snapshots_less(keyed: pl.Table) -> None:
    newest = keyed.snapshot
    assert newest is not None
    options = {"continuous.discovery-interval": "3 s", "streaming.read.snapshot.delay": "5 s"}
    clock = FakeClock(lambda: None, lambda: None, now=newest.time_millis + 1000)

    first = next(followed(keyed, clock, start=3, options=options))

    assert first.snapshot_id == 3
    assert clock.waits == [3000, 1000]


def test_polling_never_waits(keyed: pl.Table) -> None:
    follower = followed(keyed, start=3)

    first = follower.poll()

    assert first is not None
    assert follower.poll() is None
    assert not follower.is_ended
    write(keyed, ("+I", 4, "d"))
    second = follower.poll()
    assert second is not None
    assert second.snapshot_id == 4


@pytest.mark.parametrize("how", ["close", "wake"])
def test_a_follower_that_waits_can_be_called(keyed: pl.Table, how: str) -> None:
    follower = keyed.follow("latest", options={"continuous.discovery-interval": "1 h"})
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(iter(lambda: next(follower, None), None)))
    thread.start()

    if how == "wake":
        write(keyed, ("+I", 4, "d"))
        while not found:
            follower.wake()
            thread.join(0.01)
    follower.close()
    thread.join()

    assert [one.snapshot_id for one in found] == ([4] if how == "wake" else [])
    assert follower.is_ended


# What went wrong.


def test_a_start_that_is_not_there_is_an_error(keyed: pl.Table) -> None:
    with pytest.raises(SnapshotNotFoundError, match="1 to 3"):
        keyed.follow(5)
    with pytest.raises(ValueError, match="from 1"):
        keyed.follow(0)
    with pytest.raises(ValueError, match="neither a time nor one of"):
        keyed.follow("lastest")
    with pytest.raises(ValueError, match="said twice"):
        keyed.follow(2, options={"scan.snapshot-id": "1"})
    with pytest.raises(SchemaError, match="takes one point"):
        keyed.follow("latest", options={"scan.snapshot-id": "1"})
    keyed.tags.create("one", snapshot=1)
    for options in ({"scan.tag-name": "one"}, {"scan.watermark": "1"}, {"scan.version": "one"}):
        with pytest.raises(SchemaError, match="not at a tag"):
            keyed.follow(options=options)
    for options in ({"incremental-between": "1,2"}, {"scan.mode": "incremental"}):
        with pytest.raises(SchemaError, match=r"table\.changes"):
            keyed.follow(options=options)


def test_an_expired_start_is_an_error(keyed: pl.Table) -> None:
    forget(keyed, 1)

    with pytest.raises(SnapshotExpiredError, match="Its snapshots are 2 to 3"):
        keyed.follow(1)
    with pytest.raises(SnapshotExpiredError, match="start=2"):
        keyed.follow("2000-01-01")
    with pytest.raises(SnapshotExpiredError):
        keyed.follow("from-snapshot-full", options={"scan.snapshot-id": "1"})
    assert [*everything(keyed, 2)] == [2, 3]


def test_changes_that_expire_before_they_are_read_are_an_error(keyed: pl.Table) -> None:
    follower = followed(keyed, start=1)
    next(follower)
    forget(keyed, 1, 2)

    with pytest.raises(SnapshotExpiredError, match="2"):
        next(follower)
    write(keyed, ("+I", 9, "x"))
    assert [*everything(keyed, follower.position.after("x"))] == [3, 4]


def test_a_rollback_behind_what_was_read_is_an_error(keyed: pl.Table) -> None:
    follower = followed(keyed, start=2)
    at = {}
    for _ in range(2):
        batch = next(follower)
        at[batch.snapshot_id] = restored(follower.position)

    keyed.maintenance.rollback_to(snapshot=2)

    with pytest.raises(SnapshotReplacedError, match="latest snapshot is 2"):
        next(follower)
    write(keyed, ("+I", 9, "x"))
    for position in (at[3], follower.position):
        with pytest.raises(SnapshotReplacedError, match="rolled back"):
            next(followed(keyed, start=position))
    write(keyed, ("+I", 9, "y"))
    with pytest.raises(SnapshotReplacedError, match="rolled back"):
        next(followed(keyed, start=at[3]))
    assert everything(keyed, at[2]) == {3: [("+I", 9, "x")], 4: [("+I", 9, "y")]}


@pytest.mark.parametrize("engine", ["partial-update", "aggregation", "first-row"])
def test_what_is_written_must_be_what_readers_see(catalog: pl.Catalog, engine: str) -> None:
    table = make(catalog, merge_engine=engine)

    with pytest.raises(UnsupportedError, match=f"{engine}' without a changelog-producer"):
        table.follow()


def test_tables_that_cannot_be_followed(catalog: pl.Catalog) -> None:
    with pytest.raises(UnsupportedError, match="bucket = '-2'"):
        make(catalog, bucket="-2").follow()
    table = make(catalog, "db.u")
    table.branches.create("b")
    with pytest.raises(UnsupportedError, match="fallback"):
        table.follow(options={"scan.fallback-branch": "b"})
    for producer in ("lookup", "full-compaction"):
        with pytest.raises(SchemaError, match="twice"):
            table.follow(
                options={"changelog-producer": producer, "streaming-read-overwrite": "true"}
            )


def test_options_about_overwrites_must_fit_the_table(catalog: pl.Catalog) -> None:
    with pytest.raises(SchemaError, match="twice"):
        make(catalog, changelog_producer="lookup", streaming_read_overwrite="true")
    with pytest.raises(SchemaError, match="append-overwrite"):
        catalog.create_table("db.a", {"id": "INT"}, options={"streaming-read-overwrite": "true"})


def test_new_columns_of_older_rows_are_refused(catalog: pl.Catalog) -> None:
    table = catalog.create_table(
        "db.e",
        {"id": "INT", "v": "STRING"},
        options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
    )
    write(table, ("+I", 1, "a"))
    write(table, ("+I", 2, "b"))
    assert [*everything(table, 1)] == [1, 2]
    table.update({"v": "'c'"}, where="id = 1")

    with pytest.raises(UnsupportedError, match="new values"):
        everything(table, 1)
    assert everything(table) == {3: [("+I", 1, "c"), ("+I", 2, "b")]}


def test_a_rescale_that_is_read_deletes_first(catalog: pl.Catalog) -> None:
    table = make(catalog, bucket="4")
    write(table, *[("+I", number, "x") for number in range(20)])
    changed = catalog.alter_table("db.t", pl.SetOption("bucket", "1"))
    overwrite(changed, *[(number, "y") for number in range(20)])
    state: dict[Any, Any] = {}

    for batch in changed.follow(1, until="latest", options={"streaming-read-overwrite": "true"}):
        apply(state, rows_of(batch))

    assert sorted(state.values()) == [(number, "y") for number in range(20)]
