"""Branches: creating, writing, altering, forwarding, against dicts with a history."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    AlreadyExistsError,
    BranchNotFoundError,
    ConsumerNotFoundError,
    SchemaError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    TagNotFoundError,
    UnsupportedError,
)
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.fast_forward import Forward, plan_forward
from paimonlab.table.reading.scan_kinds import OfChanges, OfFallback, OfSnapshot, WithFallback


@pytest.fixture
def table(catalog: pl.Catalog) -> pl.Table:
    table = catalog.create_table(
        "db.t",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    write(table, {1: "a"})
    table.tags.create("one")
    write(table, {2: "b"})
    return table


def write(table: pl.Table, rows: Mapping[int, str]) -> None:
    table.write(pa.table({"id": pa.array(rows, pa.int32()), "v": [*rows.values()]}))


def rows(table: pl.Table | pl.Scan) -> dict[int, str]:
    found = (table.scan() if isinstance(table, pl.Table) else table).to_arrow()
    return dict(zip(found["id"].to_pylist(), found["v"].to_pylist(), strict=True))


def test_a_branch_begins_with_a_tag_a_snapshot_or_nothing(table: pl.Table) -> None:
    table.branches.create("of_tag", tag="one")
    table.branches.create("of_snapshot", snapshot=2)
    table.branches.create("empty")

    assert table.branches.list() == ["empty", "of_snapshot", "of_tag"]
    assert rows(table.on_branch("of_tag")) == {1: "a"}
    assert rows(table.on_branch("of_snapshot")) == {1: "a", 2: "b"}
    assert rows(table.on_branch("empty")) == {}
    assert list(table.on_branch("of_tag").tags.list()) == ["one"]


def test_branches_go_their_own_ways(catalog: pl.Catalog, table: pl.Table) -> None:
    table.branches.create("dev", tag="one")
    dev = catalog.table("db.t$branch_dev")
    assert isinstance(dev, pl.Table)

    write(dev, {9: "dev"})
    write(table, {3: "c"})
    dev.tags.create("here")

    assert dev.name == "db.t$branch_dev"
    assert rows(dev) == {1: "a", 9: "dev"} == rows(table.scan(options={"branch": "dev"}))
    assert rows(table) == {1: "a", 2: "b", 3: "c"}
    assert [one.id for one in dev.snapshots.list()] == [1, 2]
    assert list(table.tags.list()) == ["one"]
    assert rows(dev.scan(tag="here")) == {1: "a", 9: "dev"}
    assert catalog.system_table("db.t$branch_dev$snapshots").scan().count() == 2
    assert rows(dev.on_branch("main")) == rows(table)


def test_a_branch_has_schemas_of_its_own(catalog: pl.Catalog, table: pl.Table) -> None:
    table.branches.create("dev", tag="one")

    altered = catalog.alter_table("db.t$branch_dev", pl.AddColumn("extra", "INT"))

    assert altered.schema.field_names == ("id", "v", "extra")
    assert altered.name == "db.t$branch_dev"
    main = catalog.table("db.t")
    assert isinstance(main, pl.Table)
    assert main.schema.field_names == ("id", "v")
    assert altered.scan(["id", "extra"]).to_arrow().to_pylist() == [{"id": 1, "extra": None}]


def test_the_table_goes_on_with_a_branch(catalog: pl.Catalog, table: pl.Table) -> None:
    table.branches.create("dev", tag="one")
    dev = catalog.alter_table("db.t$branch_dev", pl.AddColumn("extra", "INT"))
    dev.write(pa.table({"id": pa.array([9], pa.int32()), "v": ["dev"], "extra": [7]}))
    dev.tags.create("nine")
    table.tags.create("lost")

    table.branches.fast_forward("dev")

    main = catalog.table("db.t")
    assert isinstance(main, pl.Table)
    assert main.schema.field_names == ("id", "v", "extra")
    assert rows(main) == {1: "a", 9: "dev"}
    assert list(main.tags.list()) == ["nine", "one"]
    assert [one.id for one in main.snapshots.list()] == [1, 2]
    main.write(pa.table({"id": pa.array([10], pa.int32()), "v": ["on"]}))
    assert rows(main) == {1: "a", 9: "dev", 10: "on"}
    main.branches.fast_forward("dev")
    assert rows(main) == {1: "a", 9: "dev"}


def test_what_is_not_there_is_said_where_there_is_none(table: pl.Table) -> None:
    with pytest.raises(BranchNotFoundError, match=r"no branch 'no'\. It has none but main\.$"):
        table.branches["no"]
    with pytest.raises(TagNotFoundError, match=r"no tag 'no'\. Its tags are one\.$"):
        table.tags["no"]
    with pytest.raises(ConsumerNotFoundError, match=r"no consumer 'no'\. It has none\.$"):
        table.consumers.get("no")


def test_what_cannot_be_done_is_an_error(catalog: pl.Catalog, table: pl.Table) -> None:
    table.branches.create("dev")

    with pytest.raises(AlreadyExistsError):
        table.branches.create("dev")
    for name in ("main", "12", " ", "a/b", "a$b"):
        with pytest.raises((ValueError, BranchNotFoundError)):
            table.branches.create(name)
    with pytest.raises(TagNotFoundError):
        table.branches.create("x", tag="none")
    with pytest.raises(SnapshotNotFoundError):
        table.branches.create("x", snapshot=99)
    with pytest.raises(SnapshotNotFoundError, match="nothing to go on"):
        table.branches.fast_forward("dev")
    with pytest.raises(BranchNotFoundError, match=r"no branch 'dex'\. Did you mean 'dev'\?$"):
        table.branches["dex"]
    with pytest.raises(BranchNotFoundError):
        table.branches.delete("dex")
    with pytest.raises(BranchNotFoundError, match=r"Its branches besides main are dev\.$"):
        table.branches["other"]
    with pytest.raises(SchemaError):
        catalog.drop_table("db.t$branch_dev")
    with pytest.raises(SchemaError):
        catalog.alter_table("db.t$snapshots", pl.AddColumn("x", "INT"))
    assert table.branches.list() == ["dev"]


def test_branches_are_renamed_and_deleted(table: pl.Table) -> None:
    table.branches.create("a", tag="one")
    table.branches.create("b")
    table.branches.rename("a", "c")

    assert rows(table.on_branch("c")) == {1: "a"}
    with pytest.raises(AlreadyExistsError):
        table.branches.rename("c", "b")
    table.branches.delete("c")
    assert table.branches.list() == ["b"]
    assert [path.name for path in (Path(table.path) / "branch").iterdir()] == ["branch-b"]


@pytest.fixture
def days(catalog: pl.Catalog) -> pl.Table:
    table = catalog.create_table(
        "db.d", {"dt": "STRING", "v": "STRING"}, partition_keys=["dt"], options={"bucket": "-1"}
    )
    write_days(table, d1="m")
    table.branches.create("old")
    write_days(table.on_branch("old"), d1="o", d2="o")
    return catalog.alter_table("db.d", pl.SetOption("scan.fallback-branch", "old"))


def write_days(table: pl.Table, **days: str) -> None:
    table.write(pa.table({"dt": [*days], "v": [*days.values()]}))


def test_a_fallback_fills_missing_partitions(days: pl.Table) -> None:
    def found(**arguments: object) -> list[tuple[str, ...]]:
        scan = days.scan(**arguments)  # type: ignore[arg-type]
        rows = sorted(tuple(row.values()) for row in scan.to_arrow().to_pylist())
        assert scan.count() == len(rows)
        return rows

    assert found() == [("d1", "m"), ("d2", "o")]
    assert found(where="v = 'o'") == [("d2", "o")]
    assert found(where="dt = 'd2'", columns=["v"]) == [("o",)]
    assert found(where="dt = 'd1' AND v = 'o'") == []
    assert len(found(limit=1)) == 1
    assert found(limit=5) == [("d1", "m"), ("d2", "o")]
    write_days(days, d2="m")
    assert found() == [("d1", "m"), ("d2", "m")]
    assert found(snapshot=1)[0] == ("d1", "m")


def test_a_version_is_the_snapshot_of_the_fallback_at_its_time(days: pl.Table) -> None:
    write_days(days, d3="m")
    write_days(days.on_branch("old"), d4="o")  # newer than the table's second snapshot

    def found(**arguments: object) -> list[tuple[str, ...]]:
        rows = days.scan(**arguments).to_arrow().to_pylist()  # type: ignore[arg-type]
        return sorted(tuple(row.values()) for row in rows)

    assert found(version=2) == found(snapshot=2) == [("d1", "m"), ("d2", "o"), ("d3", "m")]
    assert found(version="2") == found(snapshot=2)
    assert ("d4", "o") in found()


def test_the_fallback_is_not_deleted(days: pl.Table) -> None:
    with pytest.raises(ValueError, match="fallback"):
        days.branches.delete("old")


def test_a_fallback_has_no_common_plan_and_no_changes(days: pl.Table) -> None:
    with pytest.raises(UnsupportedError, match="two branches"):
        days.scan().plan()
    with pytest.raises(UnsupportedError, match=r"scan\.fallback-branch"):
        days.changes(0, 1)


def test_a_scan_says_what_kind_it_is(days: pl.Table) -> None:
    both, one = days.scan(), days.on_branch("old").scan()
    fallback = both.fallback

    assert isinstance(both.kind, WithFallback)
    assert fallback is not None
    assert isinstance(fallback.kind, OfFallback)
    assert fallback.hidden_by is not None
    assert fallback.hidden_by.kind == OfSnapshot()
    assert (one.kind, one.level, one.changes) == (OfSnapshot(), None, None)
    assert (one.is_one_snapshot, both.is_one_snapshot) == (True, False)
    assert isinstance(both.narrowed(["v"], None).kind, WithFallback)


def test_a_scan_of_changes_has_no_plan(table: pl.Table) -> None:
    scan = table.scan(options={"incremental-between": "0,1"})

    assert isinstance(scan.kind, OfChanges)
    assert scan.changes is scan.kind.changes
    assert (scan.level, scan.fallback, scan.is_one_snapshot) == (None, None, False)
    assert (scan.count(), scan.narrowed(["id"], None).count()) == (1, 1)
    with pytest.raises(UnsupportedError, match="a plan of changes"):
        scan.plan()


def test_a_fallback_with_other_columns_is_refused(catalog: pl.Catalog, days: pl.Table) -> None:
    catalog.alter_table("db.d$branch_old", pl.AddColumn("more", "INT"))

    with pytest.raises(SchemaError, match="other columns"):
        days.scan()


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([1, 2, 3], [1, 2], ([3, 2], [1, 2], [], 1)),
        ([1, 2, 3], [2, 3, 4], ([3], [2, 3, 4], [], None)),
        ([], [5], ([], [5], [], 5)),
        ([1, 2], [3], ([], [3], [], None)),
        ([1, 2], [4], ([], [4], [1, 2], 4)),
        ([1, 2, 3, 4], [3, 4, 5], ([4], [3, 4, 5], [], None)),
    ],
)
def test_what_is_given_up_and_taken_over(
    ours: list[int],
    theirs: list[int],
    expected: tuple[list[int], list[int], list[int], int | None],
) -> None:
    plan = forward(ours, theirs)

    gone, dropped = [*plan.snapshots_to_delete], [*plan.snapshots_to_drop]
    assert (gone, [*plan.snapshots_to_copy], dropped, plan.earliest) == expected


def test_what_a_branch_does_not_go_on_from_is_dropped() -> None:
    plan = forward([1, 2, 3], [3, 4], goes_on=False)

    assert (plan.snapshots_to_drop, plan.earliest) == ((1, 2), 3)


def forward(ours: list[int], theirs: list[int], *, goes_on: bool = True) -> Forward:
    return plan_forward(
        ours=ours,
        theirs=theirs,
        goes_on=goes_on,
        first_schema=0,
        our_schemas=[0],
        their_schemas=[0],
        our_tags={},
        their_tags=[],
    )


def expired_branch(table: pl.Table, *, upto: int) -> pl.Table:
    """Return a branch of snapshot 1 that begins with a later one."""
    table.branches.create("dev", tag="one")
    dev = table.on_branch("dev")
    for snapshot_id in range(2, upto + 1):
        write(dev, {snapshot_id: "dev"})
    dev.maintenance.expire_snapshots(1)
    assert dev.snapshots.ids() == [upto]
    return dev


def test_no_changes_of_two_histories_are_read_as_one(catalog: pl.Catalog, table: pl.Table) -> None:
    """Snapshot 2 of the table is not what the commit of the branch's snapshot 3 was made on."""
    write(table, {7: "lost"})
    while table.snapshots.ids()[-1] < 4:
        write(table, {8: "lost"})
    expired_branch(table, upto=3)

    table.branches.fast_forward("dev")

    table = catalog.table("db.t")
    assert rows(table) == {1: "a", 2: "dev", 3: "dev"}
    assert (table.snapshots.ids(), [*table.tags.list()]) == ([3], ["one"])
    assert table.fsck(deep=True).findings == ()
    with pytest.raises(SnapshotExpiredError):
        table.changes(1, 3).to_arrow()
    remove_orphans(table)
    assert rows(table.scan(tag="one")) == {1: "a"}
    write(table, {4: "on"})
    assert table.changes(3, 4).to_arrow()["id"].to_pylist() == [4]
    table.branches.fast_forward("dev")
    assert rows(catalog.table("db.t")) == {1: "a", 2: "dev", 3: "dev"}


def test_a_second_call_ends_what_was_killed_before_older_snapshots_went(
    catalog: pl.Catalog, table: pl.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(table, {7: "lost"})
    expired_branch(table, upto=3)
    with monkeypatch.context() as patched:
        patched.setattr(ChangelogManager, "delete_after", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            table.branches.fast_forward("dev")
    left = catalog.table("db.t")
    assert (left.snapshots.ids(), rows(left)) == ([1, 2, 3], {1: "a", 2: "dev", 3: "dev"})

    left.branches.fast_forward("dev")

    table = catalog.table("db.t")
    assert (table.snapshots.ids(), rows(table)) == ([3], {1: "a", 2: "dev", 3: "dev"})
    assert table.fsck(deep=True).findings == ()


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_branch_is_taken_over_whose_beginning_expired(
    catalog: pl.Catalog, table: pl.Table
) -> None:
    table.maintenance.rollback_to(snapshot=1)
    expired_branch(catalog.table("db.t"), upto=4)

    catalog.table("db.t").branches.fast_forward("dev")

    table = catalog.table("db.t")
    assert (table.snapshots.ids(), rows(table)) == ([4], {1: "a", 2: "dev", 3: "dev", 4: "dev"})
    assert table.fsck(deep=True).findings == ()


@pytest.mark.parametrize("is_merged", [False, True])
def test_history_of_a_branch_whose_beginning_expired_stays(
    catalog: pl.Catalog, table: pl.Table, *, is_merged: bool
) -> None:
    """Its first snapshot goes on from the one that it came from, however manifests are."""
    table.maintenance.rollback_to(snapshot=1)
    table = catalog.table("db.t")
    if is_merged:
        write(table, {5: "e"})
        table.tags.create("two")
    tag = "two" if is_merged else "one"
    last = table.snapshots.ids()[-1]
    table.branches.create("dev", tag=tag)
    if is_merged:
        merging = {"manifest.merge-min-count": "2"}
        catalog.alter_table("db.t$branch_dev", *(pl.SetOption(*one) for one in merging.items()))
    write(catalog.table("db.t$branch_dev"), {9: "dev"})
    dev = catalog.table("db.t$branch_dev")
    dev.maintenance.expire_snapshots(1)
    assert dev.snapshots.ids() == [last + 1]
    if is_merged:
        base = set(dev._store.manifests.read_list(dev.snapshots.get(last + 1).base_manifest_list))
        assert not base & set(
            table._store.manifests.read_list(table.snapshots.get(last).delta_manifest_list)
        )

    table.branches.fast_forward("dev")

    table = catalog.table("db.t")
    assert table.snapshots.ids() == [*range(1, last + 2)]
    assert table.changes(last, last + 1).to_arrow()["id"].to_pylist() == [9]
    assert table.fsck(deep=True).findings == ()


@pytest.mark.parametrize("seed", range(4))
def test_random_branches_agree_with_dicts(catalog: pl.Catalog, seed: int) -> None:
    """Each branch is a list of states; a tag is one of them."""
    random_ = random.Random(seed)
    table = catalog.create_table(
        "db.r",
        {"id": "INT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    history: dict[str, list[dict[int, str]]] = {"main": [{}]}
    tags: dict[str, tuple[dict[int, str], int]] = {}
    for step in range(30):
        branch = random_.choice(list(history))
        open_table = table if branch == "main" else table.on_branch(branch)
        match random_.choice(["write", "write", "tag", "branch", "delete", "forward"]):
            case "write":
                row = {random_.randrange(5): f"{step}"}
                write(open_table, row)
                history[branch].append(history[branch][-1] | row)
            case "tag" if branch == "main" and len(history["main"]) > 1:
                table.tags.create(f"t{step}")
                tags[f"t{step}"] = (history["main"][-1], len(history["main"]) - 1)
            case "branch" if tags:
                tag = random_.choice(list(tags))
                table.branches.create(f"b{step}", tag=tag)
                state, snapshot_id = tags[tag]
                history[f"b{step}"] = [{}] * snapshot_id + [state]
            case "delete" if branch != "main":
                table.branches.delete(branch)
                del history[branch]
            case "forward" if branch != "main":
                table.branches.fast_forward(branch)
                first = open_table.snapshots.ids()[0]
                history["main"] = history["main"][:first] + history[branch][first:]
                kept = {name: one for name, one in tags.items() if one[1] < first}
                own = {name: tags[name] for name in open_table.tags.list()}
                tags = kept | own
            case _:
                continue
        for name, states in history.items():
            found = table if name == "main" else table.on_branch(name)
            assert rows(found) == states[-1], f"seed {seed}, step {step}, {name}"
            for snapshot_id in found.snapshots.ids():
                assert rows(found.scan(snapshot=snapshot_id)) == states[snapshot_id]
        assert {name: rows(table.scan(tag=name)) for name in tags} == {
            name: state for name, (state, _) in tags.items()
        }
        assert sorted(table.tags.list()) == sorted(tags)


CHANGING = {"bucket": "1", "changelog-producer": "input", "write-only": "true"}


def table_of_an_expired_tag(catalog: pl.Catalog, **options: str) -> pl.Table:
    """Return a table whose tag ``one`` is of a snapshot that expired, and its changelog with it."""
    columns = {"id": "INT", "v": "STRING"}
    table = catalog.create_table(
        "db.c", columns, primary_keys=["id"], options=CHANGING | dict(options)
    )
    write(table, {1: "a"})
    table.tags.create("one")
    write(table, {1: "b"})
    table.maintenance.expire_snapshots(1)
    return table


def check_cleaned(catalog: pl.Catalog, lines: Mapping[str, Mapping[int, str]]) -> None:
    """Nothing is wrong with the table, before and after all is deleted that nothing needs."""
    for _ in range(2):
        table = catalog["db.c"]
        assert isinstance(table, pl.Table)
        assert table.fsck(deep=True).findings == ()
        assert {
            line: rows(table.on_branch(line) if line in table.branches.list() else table)
            for line in lines
        } == lines
        if "one" in table.tags.list():
            assert rows(table.scan(tag="one")) == {1: "a"}
        remove_orphans(table)


def remove_orphans(table: pl.Table) -> None:
    """Delete orphan files as if all files were old."""
    for path in Path(table.path).rglob("*"):
        os.utime(path, (0, 10**9))
    table.maintenance.remove_orphan_files(dry_run=False)


def test_a_branch_of_a_snapshot_that_expired_goes_without_its_changelog(
    catalog: pl.Catalog,
) -> None:
    table = table_of_an_expired_tag(catalog)
    table.branches.create("b", tag="one")
    branch = table.on_branch("b")

    write(branch, {2: "c"})

    check_cleaned(catalog, {"main": {1: "b"}, "b": {1: "a", 2: "c"}})
    assert branch.changes(1, 2).to_arrow()["id"].to_pylist() == [2]
    write(table, {1: "d"})
    table.maintenance.expire_snapshots(1)
    check_cleaned(catalog, {"main": {1: "d"}, "b": {1: "a", 2: "c"}})


def test_a_table_forwarded_to_a_snapshot_that_expired_is_cleaned(catalog: pl.Catalog) -> None:
    table = table_of_an_expired_tag(catalog)
    table.branches.create("b", tag="one")
    write(table.on_branch("b"), {2: "c"})

    table.branches.fast_forward("b")

    both = {1: "a", 2: "c"}
    check_cleaned(catalog, {"main": both, "b": both})
    table = catalog.table("db.c")
    assert table.changes(1, 2).to_arrow()["id"].to_pylist() == [2]
    table.branches.delete("b")
    write(table, {3: "d"})
    check_cleaned(catalog, {"main": both | {3: "d"}})
    table.maintenance.expire_snapshots(1)
    assert table.snapshots.ids() == [3]
    check_cleaned(catalog, {"main": both | {3: "d"}})


def test_without_the_tag_a_lost_changelog_is_a_warning(catalog: pl.Catalog) -> None:
    table = table_of_an_expired_tag(catalog)
    table.branches.create("b", tag="one")
    table.branches.fast_forward("b")
    table.branches.delete("b")

    table.tags.delete("one")

    (finding,) = catalog.table("db.c").fsck(deep=True).findings
    assert (finding.severity, finding.referrer) == ("warning", "snapshot-1")
    assert "what the oldest snapshot changed" in finding.problem
    remove_orphans(table)
    assert rows(catalog.table("db.c")) == {1: "a"}


def test_a_rollback_to_a_snapshot_that_expired_is_finished(catalog: pl.Catalog) -> None:
    table = table_of_an_expired_tag(catalog)

    table.maintenance.rollback_to(tag="one")

    check_cleaned(catalog, {"main": {1: "a"}})
    write(catalog.table("db.c"), {2: "c"})
    check_cleaned(catalog, {"main": {1: "a", 2: "c"}})


def test_a_rollback_deletes_what_came_from_a_tag(catalog: pl.Catalog) -> None:
    table = table_of_an_expired_tag(catalog)
    table.tags.create("two")
    write(table, {1: "c"})
    table.maintenance.expire_snapshots(1)
    table.branches.create("b", tag="two")
    table.branches.fast_forward("b")

    catalog.table("db.c").maintenance.rollback_to(tag="one")

    table.branches.delete("b")
    check_cleaned(catalog, {"main": {1: "a"}})


def test_a_changelog_that_is_gone_does_not_outlive_its_snapshot(catalog: pl.Catalog) -> None:
    lasting = {
        "changelog.num-retained.min": "1",
        "changelog.num-retained.max": "1",
        "snapshot.num-retained.min": "1",
        "snapshot.num-retained.max": "1",
    }
    table = table_of_an_expired_tag(catalog)
    table.branches.create("b", tag="one")
    table.branches.fast_forward("b")
    table.branches.delete("b")
    lasting |= {"changelog.num-retained.max": "9"}
    catalog.alter_table("db.c", *(pl.SetOption(key, value) for key, value in lasting.items()))
    table = catalog.table("db.c")
    write(table, {2: "c"})
    write(table, {3: "d"})

    table.maintenance.expire_snapshots(1)

    assert (table.snapshots.ids(), table.changelogs.ids()) == ([3], [2])
    check_cleaned(catalog, {"main": {1: "a", 2: "c", 3: "d"}})
