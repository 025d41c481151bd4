from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError, TableNotFoundError, UnsupportedError
from paimonlab.table.table import Table


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    opened = pl.connect(tmp_path / "w")
    opened.create_database("db")
    return opened


KINDS: Mapping[str, dict[str, Any]] = {
    "append": {},
    "buckets": {"options": {"bucket": "2", "bucket-key": "k"}},
    "partitions": {"partition_keys": ["dt"]},
    "vectors": {"options": {"deletion-vectors.enabled": "true"}},
    "tracked": {"options": {"row-tracking.enabled": "true"}},
    "keys": {"primary_keys": ["k"], "options": {"bucket": "2"}},
    "dynamic": {"primary_keys": ["k", "dt"], "partition_keys": ["dt"]},
    "summed": {
        "primary_keys": ["k"],
        "options": {
            "bucket": "1",
            "merge-engine": "aggregation",
            "fields.n.aggregate-function": "sum",
        },
    },
    "first": {"primary_keys": ["k"], "options": {"bucket": "1", "merge-engine": "first-row"}},
}


def table_of(catalog: pl.Catalog, name: str) -> Table:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return table


def rows(catalog: pl.Catalog, name: str) -> list[tuple[Any, ...]]:
    found = table_of(catalog, name).scan().to_arrow().to_pylist()
    return sorted(tuple(row.values()) for row in found)


def some(keys: range, *, n: int = 1) -> dict[str, Any]:
    return {
        "k": pa.array(keys, pa.int32()),
        "n": pa.array([n] * len(keys), pa.int64()),
        "dt": [f"d{key % 3}" for key in keys],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_has_the_rows_of_any_kind_of_table(catalog: pl.Catalog, kind: str) -> None:
    columns = {"k": "INT NOT NULL", "n": "BIGINT", "dt": "STRING NOT NULL"}
    table = catalog.create_table("db.t", columns, **KINDS[kind])
    table.write(some(range(10)))
    table.write(some(range(5, 15), n=2))
    if kind in {"append", "vectors", "keys", "dynamic", "partitions"}:
        table.delete("k = 7")
    expected = rows(catalog, "db.t")

    done = catalog.copy_table("db.t", "new.u")

    copied = table_of(catalog, "new.u")
    assert rows(catalog, "new.u") == expected
    assert (done.rows, done.creates_target) == (len(expected), True)
    assert copied.options == table.options
    assert (copied.primary_keys, copied.partition_keys) == (
        table.primary_keys,
        table.partition_keys,
    )
    table.write(some(range(20, 21)))
    again = catalog.copy_table("db.t", "new.u")
    assert rows(catalog, "new.u") == rows(catalog, "db.t")
    assert (again.rows, again.creates_target) == (len(expected) + 1, False)


def test_partitions_that_get_rows_are_replaced_and_others_stay(catalog: pl.Catalog) -> None:
    source = catalog.create_table(
        "db.t", {"k": "INT", "n": "BIGINT", "dt": "STRING"}, partition_keys=["dt"]
    )
    source.write(some(range(3)))
    target = catalog.create_table(
        "db.u",
        {"k": "INT", "n": "BIGINT", "dt": "STRING", "more": "STRING"},
        partition_keys=["dt"],
    )
    target.write({**some(range(10, 13)), "more": ["b", "c", "a"]})

    catalog.copy_table("db.t", "db.u", where="dt IN ('d0', 'd9')")

    assert rows(catalog, "db.u") == [(0, 1, "d0", None), (10, 1, "d1", "b"), (11, 1, "d2", "c")]
    catalog.copy_table("db.t", "db.u", where="dt = 'd9'")
    assert {row[0] for row in rows(catalog, "db.u")} == {0, 10, 11}


def test_columns_that_were_changed_are_copied_as_they_are_read(catalog: pl.Catalog) -> None:
    table = catalog.create_table("db.t", {"a": "INT", "b": "INT", "c": "INT"})
    table.write({"a": pa.array([1], pa.int32()), "b": pa.array([2], pa.int32()), "c": [None]})
    catalog.alter_table("db.t", pl.DropColumn("a"))
    catalog.alter_table("db.t", pl.RenameColumn("b", "a"))

    catalog.copy_table("db.t", "db.u")

    assert rows(catalog, "db.u") == rows(catalog, "db.t") == [(2, None)]


def test_a_dry_run_makes_nothing(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", {"k": "INT"}).write({"k": pa.array([1, 2], pa.int32())})

    plan = catalog.copy_table("db.t", "new.u", dry_run=True)

    assert (plan.rows, plan.creates_target, plan.snapshot) == (2, True, None)
    assert catalog.databases() == ["db"]


@pytest.mark.parametrize(
    ("columns", "keys", "said"),
    [
        ({"k": "INT"}, {}, "no column 'n'"),
        ({"k": "BIGINT", "n": "BIGINT", "dt": "STRING"}, {}, "'k' of another type"),
        (
            {"k": "INT", "n": "BIGINT", "dt": "STRING"},
            {"partition_keys": ["dt"]},
            "has the partition columns",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused_and_stays(
    catalog: pl.Catalog, columns: dict[str, str], keys: dict[str, Any], said: str
) -> None:
    catalog.create_table("db.t", {"k": "INT", "n": "BIGINT", "dt": "STRING"}).write(some(range(2)))
    target = catalog.create_table("db.u", columns, **keys)

    with pytest.raises(SchemaError, match=said):
        catalog.copy_table("db.t", "db.u")

    assert target.snapshot is None


def test_what_is_no_table_is_refused(catalog: pl.Catalog) -> None:
    catalog.create_table("db.t", {"k": "INT"}).write({"k": pa.array([1], pa.int32())})

    for source, target in (
        ("db.t", "db.t"),
        ("db.t$files", "db.u"),
        ("db.t", "db.u$branch_b"),
        ("db.t", "db.t$files"),
    ):
        with pytest.raises(UnsupportedError):
            catalog.copy_table(source, target)
    with pytest.raises(SchemaError, match="partition columns"):
        catalog.copy_table("db.t", "db.u", where="k = 1")
    assert catalog.tables("db") == ["t"]


def test_all_tables_are_copied_to_another_catalog(catalog: pl.Catalog, tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    options = {"metastore": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/c.db"}
    other = pl.connect({**options, "warehouse": str(tmp_path / "other")})
    columns = {"k": "INT NOT NULL", "n": "BIGINT", "dt": "STRING NOT NULL"}
    for kind in ("append", "keys", "partitions", "vectors"):
        table = catalog.create_table(f"db.{kind}", columns, **KINDS[kind], comment=kind)
        table.write(some(range(10)))
        table.delete("k = 7")
    catalog.create_table("db.empty", columns)

    plans = catalog.copy_to(other, dry_run=True)
    assert other.databases() == []
    done = catalog.copy_to(other)

    assert [(one.target, one.rows, one.creates_target) for one in done] == [
        *((f"db.{kind}", 9, True) for kind in ("append",)),
        ("db.empty", 0, True),
        *((f"db.{kind}", 9, True) for kind in ("keys", "partitions", "vectors")),
    ]
    assert [one.rows for one in plans] == [one.rows for one in done]
    for name in ("append", "empty", "keys", "partitions", "vectors"):
        assert rows(other, f"db.{name}") == rows(catalog, f"db.{name}")
        copied = other.table(f"db.{name}")
        assert copied.schema.fields == catalog.table(f"db.{name}").schema.fields
        assert copied.comment == (None if name == "empty" else name)

    catalog.table("db.partitions").delete("dt = 'd0'")
    [again] = catalog.copy_to(other, ["db.partitions"])
    assert rows(other, "db.partitions") == rows(catalog, "db.partitions")
    assert not again.creates_target
    catalog.table("db.keys").truncate()
    catalog.copy_to(other, ["db.keys"])
    assert rows(other, "db.keys") == []


def test_nothing_is_copied_if_one_table_does_not_fit(catalog: pl.Catalog, tmp_path: Path) -> None:
    other = pl.connect(tmp_path / "other")
    other.create_database("db")
    other.create_table("db.b", {"x": "INT"})
    for name in ("a", "b"):
        catalog.create_table(f"db.{name}", {"k": "INT"}).write({"k": pa.array([1], pa.int32())})

    with pytest.raises(SchemaError, match=r"db\.b has no column 'k'"):
        catalog.copy_to(other)
    with pytest.raises(TableNotFoundError, match=r"db\.c"):
        catalog.copy_to(other, ["db.a", "db.c"])
    with pytest.raises(UnsupportedError, match="the same table"):
        catalog.copy_to(pl.connect(tmp_path / "w"), ["db.a"])
    with pytest.raises(TypeError, match="a list of names"):
        catalog.copy_to(other, "db.a")
    assert other.tables("db") == ["b"]
