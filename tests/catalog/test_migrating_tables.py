"""Tables of Iceberg and Delta Lake become ours: compared with what their libraries read of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.catalog import migrating_tables
from paimonlab.errors import CorruptDataError, SchemaError, UnsupportedError
from paimonlab.table.table import Table
from tests.catalog.pickling_workers import PicklingWorkers

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "day": pa.array([date(2026, 1, n) for n in (1, 1, 2, 2)], pa.date32()),
        "price": pa.array(
            [Decimal("1.50"), None, Decimal("-2.25"), Decimal(0)], pa.decimal128(9, 2)
        ),
        "at": pa.array([datetime(2026, 1, 1, 12, n, tzinfo=UTC) for n in range(4)]).cast(
            pa.timestamp("us", "UTC")
        ),
        "text": ["a", None, "ü", ""],
        "flag": [True, False, None, True],
        "rate": pa.array([0.5, float("nan"), None, -0.0], pa.float64()),
        "tags": [["x"], [], None, ["y", None]],
        "more": [{"a": 1, "b": "x"}, None, {"a": None, "b": None}, {"a": 4, "b": "é"}],
        "raw": [b"\x00", b"", None, b"\xff"],
    }
)


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    return pl.connect(tmp_path / "w")


@pytest.fixture
def iceberg(tmp_path: Path) -> Iterator[Any]:
    """A table of pyiceberg in two partitions."""
    sql = pytest.importorskip("pyiceberg.catalog.sql")
    folder = tmp_path / "ice"
    folder.mkdir()
    opened = sql.SqlCatalog("c", uri=f"sqlite:///{folder}/c.db", warehouse=f"file://{folder}")
    opened.create_namespace("n")
    table = opened.create_table("n.t", ROWS.schema)
    with table.update_spec() as update:
        update.add_identity("day")
    table.append(ROWS)
    yield table
    opened.close()


@pytest.fixture
def delta(tmp_path: Path) -> Any:
    """A table of deltalake in two partitions."""
    deltalake = pytest.importorskip("deltalake")
    place = str(tmp_path / "delta")
    deltalake.write_deltalake(place, ROWS, partition_by=["day"])
    return deltalake.DeltaTable(place)


def theirs(source: Any) -> list[dict[str, Any]]:
    is_delta = hasattr(source, "to_pyarrow_table")
    return in_order(source.to_pyarrow_table() if is_delta else source.scan().to_arrow())


def in_order(rows: pa.Table) -> list[dict[str, Any]]:
    return sorted(rows.select(ROWS.schema.names).to_pylist(), key=repr)


def ours(catalog: pl.Catalog, name: str) -> list[dict[str, Any]]:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return in_order(table.scan().to_arrow())


@pytest.mark.parametrize("kind", ["iceberg", "delta"])
def test_rows_partitions_and_deletes_are_taken_over(
    catalog: pl.Catalog, kind: str, request: pytest.FixtureRequest
) -> None:
    source = request.getfixturevalue(kind)
    plan = catalog.migrate_table(source, "db.t", dry_run=True)
    assert (plan.rows, plan.partition_keys, plan.creates_target) == (4, ("day",), True)
    assert catalog.databases() == []
    told = list[tuple[int, int, str]]()

    done = catalog.migrate_table(source, "db.t", progress=lambda *step: told.append(step))

    assert (done.rows, done.is_compared, done.is_done) == (4, True, False)
    assert told[-1] == (4, 4, "rows")
    assert repr(ours(catalog, "db.t")) == repr(theirs(source))
    made = catalog.table("db.t")
    assert made.partition_keys == ("day",)
    assert done.columns["at"] == "TIMESTAMP(6) WITH LOCAL TIME ZONE"
    assert done.columns["price"] == "DECIMAL(9, 2)"
    again = catalog.migrate_table(source, "db.t")
    assert (again.is_done, again.is_compared) == (True, True)
    assert [one.id for one in made.snapshots] == [1]

    if kind == "iceberg":
        source.delete("id = 2")
        source.append(ROWS.slice(0, 1))
    else:
        source.delete("id = 2")
        pytest.importorskip("deltalake").write_deltalake(source, ROWS.slice(0, 1), mode="append")
        source.update_incremental()
    last = catalog.migrate_table(source, "db.t")
    assert (last.rows, last.is_done) == (4, False)
    for is_done in (False, True):
        sent = migrating_tables.migrate_table(
            catalog,
            source,
            "db.sent",
            primary_keys=(),
            partition_keys=None,
            options={"bucket": 2, "bucket-key": "id"} if kind == "delta" else {},
            comment=None,
            verify=True,
            dry_run=False,
            progress=lambda *step: told.append(step),
            workers=PicklingWorkers(),
        )
        assert (sent.rows, sent.is_compared, sent.is_done) == (4, True, is_done)
    assert told[-1][2] == "files"
    assert repr(ours(catalog, "db.sent")) == repr(theirs(source))
    assert repr(ours(catalog, "db.t")) == repr(theirs(source))
    assert [row["id"] for row in ours(catalog, "db.t")].count(1) == 2


def test_the_folder_of_a_table_is_enough(
    catalog: pl.Catalog, delta: Any, iceberg: Any, tmp_path: Path
) -> None:
    catalog.migrate_table(tmp_path / "delta", "db.d")
    catalog.migrate_table(iceberg.metadata_location, "db.i")

    assert repr(ours(catalog, "db.d")) == repr(theirs(delta))
    assert repr(ours(catalog, "db.i")) == repr(theirs(iceberg))
    with pytest.raises(UnsupportedError, match=r"only its catalog knows: give the table"):
        catalog.migrate_table(iceberg.location(), "db.x")
    with pytest.raises(UnsupportedError, match=r"catalog\.migrate_folder makes a table"):
        catalog.migrate_table(next(tmp_path.glob("delta/day*")), "db.x")


def test_rows_that_wait_for_their_buckets_get_them(catalog: pl.Catalog, delta: Any) -> None:
    """Until then they are not seen, so the rows would differ at the end."""
    postponed = {"bucket": "-2"}

    catalog.migrate_table(delta, "db.t", primary_keys=["id", "day"], options=postponed)
    migrating_tables.migrate_table(
        catalog,
        delta,
        "db.w",
        primary_keys=["id", "day"],
        partition_keys=None,
        options=postponed,
        comment=None,
        verify=True,
        dry_run=False,
        progress=None,
        workers=PicklingWorkers(),
    )

    assert repr(ours(catalog, "db.t")) == repr(ours(catalog, "db.w")) == repr(theirs(delta))


def test_a_key_makes_rows_unique_or_is_an_error(catalog: pl.Catalog, iceberg: Any) -> None:
    done = catalog.migrate_table(
        iceberg, "db.t", primary_keys=["id"], partition_keys=[], options={"bucket": 2}, comment="c"
    )
    made = catalog.table("db.t")
    assert (made.primary_keys, made.partition_keys, made.comment) == (("id",), (), "c")
    assert done.columns["id"] == "BIGINT NOT NULL"
    assert repr(ours(catalog, "db.t")) == repr(theirs(iceberg))
    iceberg.append(ROWS.slice(0, 1))
    with pytest.raises(CorruptDataError, match=r"4 rows that are not the 5 .*keys \(id\)"):
        catalog.migrate_table(iceberg, "db.t", primary_keys=["id"], partition_keys=[])


def test_what_is_there_is_not_overwritten(
    catalog: pl.Catalog, iceberg: Any, tmp_path: Path
) -> None:
    catalog.migrate_table(iceberg, "db.t")
    with pytest.raises(SchemaError, match="other columns or keys"):
        catalog.migrate_table(iceberg, "db.t", partition_keys=[])
    catalog.table("db.t").delete("id = 1")
    with pytest.raises(SchemaError, match=r"has rows that are not of Iceberg's n\.t"):
        catalog.migrate_table(iceberg, "db.t")
    with pytest.raises(TypeError, match="migrate_folder"):
        catalog.migrate_table(object(), "db.u")
    with pytest.raises(UnsupportedError, match="in no Hive metastore"):
        catalog.migrate_hive_table("db.h", "db.u")


def test_a_table_without_rows_is_made(catalog: pl.Catalog, iceberg: Any) -> None:
    iceberg.delete("id > 0")
    done = catalog.migrate_table(iceberg, "db.t")
    assert (done.rows, done.snapshot) == (0, None)
    assert ours(catalog, "db.t") == []


def test_other_rows_at_the_end_are_an_error(
    catalog: pl.Catalog, iceberg: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Table.overwrite

    def wrong(table: Table, data: pa.RecordBatchReader, **others: Any) -> Any:
        whole = data.read_all()
        return right(table, whole.set_column(0, "id", pa.array([1, 2, 3, 5])), **others)

    monkeypatch.setattr(Table, "overwrite", wrong)
    with pytest.raises(CorruptDataError, match="4 rows that are not the 4"):
        catalog.migrate_table(iceberg, "db.t")
