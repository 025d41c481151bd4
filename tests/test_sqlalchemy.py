"""SQLAlchemy reads a warehouse, and tells what there is."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import paimonlab

sqlalchemy = pytest.importorskip("sqlalchemy", reason="SQLAlchemy is not installed")


@pytest.fixture
def engine(tmp_path: Path) -> Any:
    """Open a warehouse with a table, by the name of the dialect."""
    # As the entry point of an installed package does.
    sqlalchemy.dialects.registry.register(
        "paimonlab", "paimonlab.sqlalchemy_dialect", "PaimonDialect"
    )
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table(
        "db.orders",
        {"id": "INT NOT NULL", "city": "STRING", "sum": "DECIMAL(10, 2)", "l": "ARRAY<INT>"},
        primary_keys=["id"],
        options={"bucket": "1"},
    ).write(
        pa.table(
            {
                "id": pa.array([1, 2, 3], "i4"),
                "city": ["Oslo", "Rome", "Oslo"],
                "sum": pa.array([Decimal("1.50"), None, Decimal(2)], pa.decimal128(10, 2)),
                "l": [[1], [], None],
            }
        )
    )
    return sqlalchemy.create_engine(f"paimonlab:///{tmp_path}")


def test_databases_tables_and_columns_are_inspected(engine: Any) -> None:
    found = sqlalchemy.inspect(engine)

    assert found.get_schema_names() == ["db"]
    assert found.get_table_names(schema="db") == ["orders"]
    assert found.has_table("orders", schema="db")
    assert not found.has_table("no", schema="db")
    columns = found.get_columns("orders", schema="db")
    assert [(one["name"], str(one["type"]), one["nullable"]) for one in columns] == [
        ("id", "INTEGER", False),
        ("city", "TEXT", True),
        ("sum", "DECIMAL(10, 2)", True),
        ("l", "NULL", True),
    ]
    assert found.get_pk_constraint("orders", schema="db")["constrained_columns"] == ["id"]


def test_a_reflected_table_is_queried(engine: Any) -> None:
    orders = sqlalchemy.Table("orders", sqlalchemy.MetaData(), schema="db", autoload_with=engine)
    query = (
        sqlalchemy.select(orders.c.city, sqlalchemy.func.count().label("n"))
        .where(orders.c.id > 0)
        .group_by(orders.c.city)
        .order_by(orders.c.city)
        .limit(1)
    )

    with engine.connect() as connection:
        assert connection.execute(query).fetchall() == [("Oslo", 2)]


def test_pandas_reads_by_it(engine: Any) -> None:
    text = sqlalchemy.text("SELECT id, city FROM db.orders WHERE id < :most ORDER BY id")

    frame = pd.read_sql(text, engine, params={"most": 3})

    assert frame.to_dict("list") == {"id": [1, 2], "city": ["Oslo", "Rome"]}


def test_what_is_missing_is_said(engine: Any) -> None:
    with pytest.raises(sqlalchemy.exc.NoSuchTableError, match="no"):
        sqlalchemy.Table("no", sqlalchemy.MetaData(), schema="db", autoload_with=engine)
    with (
        engine.connect() as connection,
        pytest.raises(sqlalchemy.exc.ProgrammingError, match="has no column 'idd'"),
    ):
        connection.execute(sqlalchemy.text("SELECT idd FROM db.orders"))
    with pytest.raises(sqlalchemy.exc.ArgumentError, match="no warehouse"):
        sqlalchemy.create_engine("paimonlab://").connect()
