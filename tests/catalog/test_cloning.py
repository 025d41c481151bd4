"""Tables cloned into other catalogs, compared with the source and with what Java reads of it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog import cloning
from paimonlab.catalog.cloning import STATE, TableClone
from paimonlab.errors import (
    CorruptDataError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.table.writing import overwriting
from paimonlab.workers import Workers, side_by_side
from tests.catalog.pickling_workers import PicklingWorkers
from tests.catalog.test_copying import KINDS, rows, some, table_of
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.golden.expected import Case, cases, expected
from tests.golden.test_rows import assert_rows

COLUMNS = {"k": "INT NOT NULL", "n": "BIGINT", "dt": "STRING NOT NULL"}
_SOME = (
    *("append_dv", "cross", "dataevo", "evo_nested_parquet", "pk_agg_nested", "postpone"),
    *("types_parquet", "types_pk_orc", "variant_parquet"),
)
JAVAS = [
    case
    for case in cases()
    if case.refusal is None and case.unreadable is None and case.recorded_at is None
    if "PAIMONLAB_GOLDEN_CLONES" in os.environ
    or str(case) in [f"java-1.4.2/{name}" for name in _SOME]
]
"""``PAIMONLAB_GOLDEN_CLONES=1`` clones all of Java's tables that are read."""


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    opened = pl.connect(tmp_path / "w")
    opened.create_database("db")
    return opened


@pytest.fixture
def other(tmp_path: Path) -> pl.Catalog:
    pytest.importorskip("sqlalchemy")
    options = {"metastore": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/c.db"}
    return pl.connect({**options, "warehouse": str(tmp_path / "other")})


def ids(catalog: pl.Catalog, name: str) -> list[int]:
    return [snapshot.id for snapshot in table_of(catalog, name).snapshots]


MORE: dict[str, dict[str, Any]] = {
    **KINDS,
    "postponed": {"primary_keys": ["k"], "options": {"bucket": "-2"}},
    "moving": {"primary_keys": ["k"], "partition_keys": ["dt"]},
    "divided": {
        "primary_keys": ["k", "dt"],
        "partition_keys": ["dt"],
        "options": {"bucket": "2", "changelog-producer": "full-compaction"},
    },
}


@pytest.mark.parametrize(
    ("kind", "workers"),
    [
        *((kind, side_by_side) for kind in ("append", "vectors", "dynamic", "summed", "postponed")),
        *((kind, PicklingWorkers()) for kind in MORE),
    ],
)
def test_a_clone_has_the_rows_and_is_made_once(
    catalog: pl.Catalog, other: pl.Catalog, kind: str, workers: Workers
) -> None:
    request = cloning.CloneRequest(workers=workers)
    table = catalog.create_table("db.t", COLUMNS, **MORE[kind])
    table.write(some(range(10)))
    table.write(some(range(5, 15), n=2))
    if kind == "postponed":
        table.compact()
    wanted = rows(catalog, "db.t")
    assert wanted

    [done] = cloning.clone(catalog, other, request)
    assert rows(other, "db.t") == wanted
    assert (done.rows, done.creates_target, done.is_done) == (len(wanted), True, False)
    assert (done.is_compared, done.source_snapshot) == (True, ids(catalog, "db.t")[-1])
    after = ids(other, "db.t")
    [again] = cloning.clone(catalog, other, request)
    assert (again.is_done, again.is_compared, again.rows) == (True, True, len(wanted))
    assert ids(other, "db.t") == after

    table.write(some(range(20, 21)))
    if kind == "postponed":
        table.compact()
    [last] = cloning.clone(catalog, other, request)
    assert not last.is_done
    assert rows(other, "db.t") == rows(catalog, "db.t")
    assert len(rows(other, "db.t")) == len(wanted) + 1


@pytest.mark.parametrize("case", JAVAS, ids=str)
@pytest.mark.parametrize("workers", [side_by_side, PicklingWorkers()])
def test_javas_tables_are_cloned_as_java_reads_them(
    case: Case, workers: Workers, tmp_path: Path
) -> None:
    answers = expected(case)
    other = pl.connect(tmp_path / "w")
    source = pl.connect(answers.warehouse)

    database, table = answers.document["table"].split(".")
    request = cloning.CloneRequest(database=database, table=table, workers=workers)
    [done] = cloning.clone(source, other, request)

    assert done.is_compared
    assert_rows(table_of(other, done.target).scan(), answers.latest)


def test_names_are_chosen_as_javas_action_does(catalog: pl.Catalog, other: pl.Catalog) -> None:
    catalog.create_database("more")
    for name in ("db.a", "db.b", "db.c", "more.a"):
        catalog.create_table(name, COLUMNS).write(some(range(2)))

    def targets(*positional: str, **chosen: Any) -> list[str]:
        plan = catalog.clone_to(other, *positional, **chosen, dry_run=True)
        assert all((one.rows, one.is_dry_run, one.snapshot) == (2, True, None) for one in plan)
        return [one.target for one in plan]

    assert targets() == ["db.a", "db.b", "db.c", "more.a"]
    assert targets("db") == ["db.a", "db.b", "db.c"]
    assert targets("db", target_database="x") == ["x.a", "x.b", "x.c"]
    assert targets("db", "a") == ["db.a"]
    assert targets("db", "a", target_database="x", target_table="y") == ["x.y"]
    both = {"included_tables": ["db.a", "db.b"], "excluded_tables": ["db.a"]}
    assert targets(**both) == ["db.b"]
    assert targets("db", excluded_tables=["db.c"]) == ["db.a", "db.b"]
    assert other.databases() == []

    wrong: list[tuple[type[Exception], Callable[[], object]]] = [
        (TableNotFoundError, lambda: catalog.clone_to(other, included_tables=["db.d"])),
        (TableNotFoundError, lambda: catalog.clone_to(other, excluded_tables=["db.d"])),
        (TypeError, lambda: catalog.clone_to(other, included_tables="db.a")),
        (ValueError, lambda: catalog.clone_to(other, table="a")),
        (ValueError, lambda: catalog.clone_to(other, "db", target_table="a")),
        (ValueError, lambda: catalog.clone_to(other, "db", "a", included_tables=["db.a"])),
        (ValueError, lambda: catalog.clone_to(other, "db", snapshot=1)),
        (SchemaError, lambda: catalog.clone_to(other, where="dt = 'd1'")),
        (UnsupportedError, lambda: catalog.clone_to(catalog, "db", "a")),
        (UnsupportedError, lambda: catalog.clone_to(other, "db", "a$files")),
    ]
    for error, call in wrong:
        with pytest.raises(error):
            call()
    assert other.databases() == []


@pytest.mark.parametrize("workers", [side_by_side, PicklingWorkers()])
def test_partitions_of_a_condition_are_replaced(
    catalog: pl.Catalog, other: pl.Catalog, workers: Workers
) -> None:
    request = cloning.CloneRequest(database="db", where="dt <> 'd2'", workers=workers)
    table = catalog.create_table("db.t", COLUMNS, partition_keys=["dt"])
    table.write(some(range(9)))
    catalog.clone_to(other, "db")
    table.overwrite(some(range(30, 33), n=7), dynamic=False)
    table.drop_partitions([{"dt": "d1"}])

    [done] = cloning.clone(catalog, other, request)

    assert (done.rows, done.is_compared) == (1, True)
    # d0 is new, d1 has no rows any more, d2 is as it was
    assert rows(other, "db.t") == [(2, 1, "d2"), (5, 1, "d2"), (8, 1, "d2"), (30, 7, "d0")]
    assert catalog.clone_to(other, "db", where="dt <> 'd2'")[0].is_done


def test_earlier_states_are_cloned_with_their_columns(
    catalog: pl.Catalog, other: pl.Catalog
) -> None:
    table = catalog.create_table("db.t", COLUMNS)
    table.write(some(range(3)))
    table.tags.create("first")
    catalog.alter_table("db.t", pl.AddColumn("x", "INT"), pl.DropColumn("n"))
    catalog.table("db.t").write({"k": pa.array([9], pa.int32()), "dt": ["d"], "x": [None]})

    [done] = catalog.clone_to(other, "db", "t", tag="first")
    [second] = catalog.clone_to(other, "db", "t", snapshot=1, target_table="u")

    assert (done.rows, second.rows, done.source_snapshot) == (3, 3, 1)
    assert table_of(other, "db.t").arrow_schema.names == ["k", "n", "dt"]
    assert rows(other, "db.t") == rows(other, "db.u") == [(n, 1, f"d{n}") for n in range(3)]
    with pytest.raises(SchemaError, match=r"db\.t has no column 'x'"):
        catalog.clone_to(other, "db", "t")


def test_tables_are_made_otherwise_alone_or_left(catalog: pl.Catalog, other: pl.Catalog) -> None:
    catalog.create_table("db.t", COLUMNS, primary_keys=["k"], options={"bucket": 2}).write(
        some(range(3))
    )

    catalog.clone_to(
        other, "db", target_options={"bucket": 5}, prefer_file_format="orc", meta_only=True
    )
    made = table_of(other, "db.t")
    assert (made.options["bucket"], made.options["file.format"]) == ("5", "orc")
    assert made.snapshot is None
    [filled] = catalog.clone_to(other, "db", clone_if_exists=False)  # it has no rows
    assert (filled.is_left, filled.rows) == (False, 3)
    catalog.table("db.t").write(some(range(3, 5)))
    [left] = catalog.clone_to(other, "db", clone_if_exists=False)
    assert (left.is_left, left.rows) == (True, None)
    assert len(rows(other, "db.t")) == 3


def test_rows_that_others_wrote_meanwhile_are_found(catalog: pl.Catalog, other: pl.Catalog) -> None:
    catalog.create_table("db.t", COLUMNS).write(some(range(3)))
    [done] = catalog.clone_to(other)
    assert done.snapshot is not None
    state = (done.snapshot.properties or {})[STATE]
    written = table_of(other, "db.t")

    written.compact()
    assert catalog.clone_to(other)[0].is_done
    written.write(some(range(7, 8)))
    assert not catalog.clone_to(other)[0].is_done
    written.overwrite(some(range(3), n=8), properties={STATE: state})  # it says so, and lies
    [again] = catalog.clone_to(other)

    assert (again.is_done, again.is_compared) == (False, True)
    assert rows(other, "db.t") == rows(catalog, "db.t")


@pytest.mark.parametrize("lost", [0, 1])
def test_other_rows_at_the_end_are_an_error(
    catalog: pl.Catalog, other: pl.Catalog, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    catalog.create_table("db.t", COLUMNS).write(some(range(3)))
    right = overwriting.overwrite

    def wrong(definition: Any, store: Any, data: pa.RecordBatchReader, **others: Any) -> Any:
        whole = data.read_all()
        if lost:
            return right(definition, store, whole.slice(1), **others)
        changed = whole.set_column(0, whole.schema.field(0), pa.array([0, 1, 3], pa.int32()))
        return right(definition, store, changed, **others)

    monkeypatch.setattr(cloning, "overwrite", wrong)
    with pytest.raises(CorruptDataError, match=rf"db\.t has {3 - lost} rows that are not the 3"):
        catalog.clone_to(other)
    [unseen] = catalog.clone_to(other, verify=False, target_database="x", database="db")
    assert not unseen.is_compared


def test_a_shell_clones(run: Run, catalog: pl.Catalog, tmp_path: Path) -> None:
    catalog.create_table("db.t", COLUMNS).write(some(range(3)))
    there = str(tmp_path / "there")
    asked = ("clone", str(tmp_path / "w"), there)

    plan = run(*asked, "--dry-run")
    assert plan.output == "would be done:\n  db.t to db.t: 3 rows, a new table\n"
    assert run(*asked).exit_code == 2
    assert pl.connect(there).databases() == []
    done = json.loads(run(*asked, "--yes", "--json").output)
    assert [one["rows"] for one in done["tables"]] == [3]
    again = run(*asked, "--yes")
    assert again.output == "done:\n  db.t to db.t: 3 rows, there already, compared\n"
    run(*asked, "--database", "db", "--table", "t", "--target-table", "u", "--yes")
    assert rows(pl.connect(there), "db.u") == rows(catalog, "db.t")
    registered = run("register", there, "db.t", str(tmp_path))
    assert (registered.exit_code, "already" in registered.output) == (2, True)


def test_progress_names_the_table(catalog: pl.Catalog, other: pl.Catalog) -> None:
    told = list[str]()
    for name in ("a", "b"):
        catalog.create_table(f"db.{name}", COLUMNS).write(some(range(3)))

    done: list[TableClone] = catalog.clone_to(other, progress=lambda *all: told.append(all[2]))

    assert len(done) == 2
    assert set(told) == {"files of db.a, table 1 of 2", "files of db.b, table 2 of 2"}
