"""Python's database API, as tools use it: pandas, and whatever reads PEP 249."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from paimonlab import dbapi


@pytest.fixture
def connection(tmp_path: Path) -> dbapi.Connection:
    opened = dbapi.connect(tmp_path)
    cursor = opened.cursor()
    cursor.execute("CREATE DATABASE db")
    cursor.execute("CREATE TABLE db.t (id INT, v STRING, PRIMARY KEY (id))")
    cursor.executemany(
        "INSERT INTO db.t SELECT :id, :v", [{"id": 1, "v": "a"}, {"id": 2, "v": "it's"}]
    )
    cursor.execute("INSERT INTO db.t VALUES (3, NULL)")
    assert cursor.rowcount == 1
    return opened


def test_rows_are_fetched_as_tools_fetch_them(connection: dbapi.Connection) -> None:
    cursor = connection.cursor().execute("SELECT id, v FROM db.t ORDER BY id")

    assert [column[:2] for column in cursor.description or ()] == [("id", "int"), ("v", "string")]
    assert cursor.rowcount == 3
    assert cursor.fetchone() == (1, "a")
    assert cursor.fetchmany() == [(2, "it's")]
    assert cursor.fetchall() == [(3, None)]
    assert (cursor.fetchone(), cursor.fetchall()) == (None, [])
    assert list(cursor.execute("SELECT v FROM db.t WHERE id = ?", [2])) == [("it's",)]
    table = cursor.execute("SELECT id FROM db.t WHERE id > :id", {"id": 1}).fetch_arrow_table()
    assert table.equals(pa.table({"id": pa.array(sorted(table["id"].to_pylist()), pa.int32())}))
    assert cursor.execute("CALL sys.create_tag('db.t', 'v1')").fetchall() == [(True,)]
    assert list(connection.catalog.table("db.t").tags) == ["v1"]


def test_files_are_loaded_once_and_answered_for(
    connection: dbapi.Connection, tmp_path: Path
) -> None:
    (tmp_path / "in.csv").write_text("7,seven\n")
    load = f"COPY INTO db.t FROM '{tmp_path / 'in.csv'}' FILE_FORMAT = (TYPE = CSV)"
    cursor = connection.cursor().execute(load)

    assert [name for name, *_ in cursor.description or ()][:2] == ["file_name", "status"]
    assert cursor.fetchall() == [("in.csv", "LOADED", 1, 1, 0, None)]
    assert cursor.execute(load).fetchall() == [("in.csv", "SKIPPED", 0, 0, 0, None)]
    assert cursor.execute("SELECT v FROM db.t WHERE id = 7").fetchall() == [("seven",)]
    out = (
        f"COPY INTO '{tmp_path.parent / tmp_path.name}-out' FROM (SELECT id FROM db.t WHERE id > ?)"
    )
    form = "FILE_FORMAT = (TYPE = JSON)"
    assert cursor.execute(f"{out} {form}", [2]).fetchall()[0][1:] == (1, 2)


@pytest.mark.filterwarnings("ignore:pandas only supports SQLAlchemy")
def test_pandas_reads_by_it(connection: Any) -> None:  # what pandas takes it does not say
    found = pd.read_sql("SELECT count(*) AS n, max(v) AS v FROM db.t", connection)

    assert found.to_dict("records") == [{"n": 3, "v": "it's"}]


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT * FROM db.nope", dbapi.ProgrammingError),
        ("SELECT nope FROM db.t", dbapi.ProgrammingError),
        ("CREATE DATABASE db", dbapi.ProgrammingError),
        ("SELECT approx_count_distinct(id) FROM db.t", dbapi.NotSupportedError),
        ("VACUUM db.t", dbapi.NotSupportedError),
        ("SELECT 1 / 0", dbapi.DatabaseError),
        ("", dbapi.DatabaseError),
    ],
)
def test_errors_are_those_of_the_api(
    connection: dbapi.Connection, sql: str, error: type[dbapi.Error]
) -> None:
    cursor = connection.cursor()

    with pytest.raises(error):
        cursor.execute(sql)
    with pytest.raises(dbapi.InterfaceError, match="no rows"):
        cursor.fetchall()


def test_what_was_written_cannot_be_rolled_back(connection: dbapi.Connection) -> None:
    connection.commit()
    with pytest.raises(dbapi.NotSupportedError, match="a commit of its own"):
        connection.rollback()
    with connection:
        pass
    with pytest.raises(dbapi.InterfaceError, match="closed"):
        connection.cursor()


def test_the_module_says_what_the_api_asks_of_it() -> None:
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "named")
    names = ("Data", "Operational", "Integrity", "Internal", "Programming", "NotSupported")
    assert all(issubclass(getattr(dbapi, f"{name}Error"), dbapi.DatabaseError) for name in names)
    assert issubclass(dbapi.DatabaseError, dbapi.Error)
    assert not issubclass(dbapi.Warning, dbapi.Error)
