"""Files of one branch in another, against sets of rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import (
    BranchNotFoundError,
    FilesConflictError,
    PaimonError,
    SchemaError,
    SnapshotNotFoundError,
    UnsupportedError,
)
from paimonlab.procedures import bind, find
from paimonlab.table.upkeep import branch_merging

COLUMNS = {"id": "INT", "day": "STRING"}


def create(catalog: pl.Catalog, **options: str) -> pl.Table:
    return catalog.create_table(
        "db.t", COLUMNS, partition_keys=["day"], options={"bucket": "-1", **options}
    )


def write(table: pl.Table, *ids: int) -> None:
    days = [f"d{one % 2}" for one in ids]
    table.write(pa.table({"id": pa.array(ids, pa.int32()), "day": days}))


def ids(table: pl.Table) -> list[int]:
    return sorted(table.scan(columns=["id"]).to_arrow()["id"].to_pylist())


def files(folder: str) -> list[Path]:
    return sorted(Path(folder).rglob("*"))


def merged(table: pl.Table, *arguments: str) -> None:
    procedure = find("merge_branch")
    catalog = pl.connect(Path(table.path).parents[1])
    rows = procedure.call(catalog, bind(procedure, ["db.t", *arguments]))
    assert rows.to_pylist() == [{"result": True}]


def test_rows_are_the_sum_of_both(catalog: pl.Catalog) -> None:
    table = create(catalog)
    write(table, 1, 2)
    table.tags.create("one")
    for name in ("a", "b"):
        table.branches.create(name, tag="one")
    table.branches.create("empty")
    write(table.on_branch("a"), 3, 4)
    write(table.on_branch("b"), 5)
    write(table, 6)

    merged(table, "a")
    assert ids(table) == [1, 2, 3, 4, 6]
    assert ids(table.on_branch("a")) == [1, 2, 3, 4]
    merged(table, "a")
    assert ids(table) == [1, 2, 3, 4, 6]
    merged(table, "a", "b")
    assert ids(table.on_branch("b")) == [1, 2, 3, 4, 5]
    merged(table, "main", "b")
    assert ids(table.on_branch("b")) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(SnapshotNotFoundError, match="'empty' has no snapshot"):
        table.branches.merge("empty")


@pytest.mark.parametrize("tracked", ["true", "false"])
def test_merges_in_any_order_are_unions_of_sets(
    catalog: pl.Catalog, tracked: str, seed: int
) -> None:
    chance = random.Random(seed)
    table = create(catalog, **{"row-tracking.enabled": tracked})
    write(table, 0)
    table.tags.create("one")
    model = {"main": {0}, "a": {0}, "b": {0}}
    for name in ("a", "b"):
        table.branches.create(name, tag="one")
    for number in range(1, 25):
        name = chance.choice([*model])
        branch = table.on_branch(name)
        if chance.random() < 0.6:
            write(branch, number)
            model[name].add(number)
        else:
            other = chance.choice(sorted(set(model) - {name}))
            merge = branch.branches.merge(other)
            assert merge.record_count == len(model[other] - model[name])
            model[name] |= model[other]
    for name, rows in model.items():
        assert ids(table.on_branch(name)) == sorted(rows), name
        if tracked == "true":
            found = table.on_branch(name).scan(columns=["_ROW_ID"]).to_arrow()
            assert len(set(found["_ROW_ID"].to_pylist())) == len(rows)


def test_a_dry_run_says_what_and_changes_nothing(catalog: pl.Catalog) -> None:
    table = create(catalog)
    write(table, 1)
    table.tags.create("one")
    table.branches.create("a", tag="one")
    write(table.on_branch("a"), 2, 3)
    before = files(table.path)
    procedure = find("merge_branch")

    (plan,) = procedure.plan(catalog, bind(procedure, ["db.t", "a"]))

    assert isinstance(plan, branch_merging.BranchMerge)
    assert (plan.files, plan.record_count, plan.target) == (2, 2, "main")
    assert (plan.is_dry_run, plan.snapshot) == (True, None)
    assert files(table.path) == before
    assert ids(table) == [1]


def test_expiry_keeps_files_that_the_other_branch_has(catalog: pl.Catalog) -> None:
    table = create(catalog)
    write(table, 1)
    table.tags.create("one")
    table.branches.create("a", tag="one")
    write(table.on_branch("a"), 3)
    table.branches.merge("a")
    write(table, 5)

    table.compact(full=True)
    table.tags.delete("one")
    table.maintenance.expire_snapshots(1, 1)
    assert ids(table) == [1, 3, 5]
    assert ids(table.on_branch("a")) == [1, 3]
    table.branches.delete("a")
    assert ids(table) == [1, 3, 5]


def _compact(table: pl.Table) -> None:
    write(table, 9)
    table.compact(full=True)


def _expire(table: pl.Table) -> None:
    write(table, 9)
    table.maintenance.expire_snapshots(1, 1)


REMOVALS: dict[str, Callable[[pl.Table], object]] = {
    "overwrite": lambda table: table.overwrite(pa.table({"id": [9], "day": ["d1"]})),
    "delete": lambda table: table.delete("id = 1"),
    "compact": _compact,
    "truncate": lambda table: table.truncate(),
    "expire": _expire,
}


@pytest.mark.parametrize("removal", REMOVALS)
@pytest.mark.parametrize("side", ["main", "a"])
def test_branches_that_removed_files_are_refused(
    catalog: pl.Catalog, removal: str, side: str
) -> None:
    table = create(catalog)
    write(table, 1)
    table.tags.create("one")
    table.branches.create("a", tag="one")
    write(table.on_branch("a"), 3)
    REMOVALS[removal](table.on_branch(side))
    before = ids(table)

    for target, source in (("main", "a"), ("a", "main")):
        with pytest.raises((UnsupportedError, SnapshotNotFoundError)):
            table.on_branch(target).branches.merge(source)
    assert ids(table) == before


def test_branches_that_do_not_fit_are_refused(catalog: pl.Catalog) -> None:
    table = create(catalog)
    write(table, 1)
    table.branches.create("a", snapshot=1)
    write(table.on_branch("a"), 3)
    keyed = catalog.create_table("db.k", {"id": "INT"}, primary_keys=["id"])
    keyed.branches.create("a")

    def refused(error: type[PaimonError | ValueError], name: str, of: pl.Table) -> None:
        with pytest.raises(error):
            of.branches.merge(name)

    refused(BranchNotFoundError, "none", table)
    refused(ValueError, "main", table)
    refused(UnsupportedError, "a", keyed)
    catalog.alter_table("db.t$branch_a", pl.AddColumn("v", "INT"))
    refused(SchemaError, "a", table)
    altered = catalog.alter_table("db.t", pl.AddColumn("v", "INT"))
    altered.branches.create("x")
    branch = catalog.alter_table("db.t$branch_x", pl.SetOption("num-levels", "4"))
    branch.write(pa.table({"id": pa.array([8], pa.int32()), "day": ["d0"], "v": [None]}))
    refused(SchemaError, "x", altered)
    assert ids(altered) == [1]


def test_of_two_merges_at_once_one_is_an_error(
    catalog: pl.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = create(catalog)
    write(table, 1)
    table.branches.create("a", snapshot=1)
    write(table.on_branch("a"), 3)
    plain = branch_merging._messages

    def overtaken(entries: Iterable[object]) -> object:
        monkeypatch.setattr(branch_merging, "_messages", plain)
        other = pl.connect(Path(table.path).parents[1]).table("db.t")
        assert isinstance(other, pl.Table)
        other.branches.merge("a")
        other.compact(full=True)
        return plain(entries)  # type: ignore[arg-type]

    monkeypatch.setattr(branch_merging, "_messages", overtaken)
    with pytest.raises(FilesConflictError):
        table.branches.merge("a")
    assert ids(table) == [1, 3]
