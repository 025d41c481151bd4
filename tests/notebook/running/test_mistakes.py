"""Mistakes of newcomers in cells without Spark: three lines that say what to do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.errors import PaimonError
from paimonlab.notebook import commands
from paimonlab.notebook.cell.query_error import QueryError
from tests.support import cases

_INSIDE = (
    "duckdb",
    "py4j",
    "org.apache",
    "sqlglot",
    "c0",
    "r1.",
    "Binder",
    "Traceback",
    "Conversion",
)
"""What no answer shows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a warehouse with one table, which no statement changes."""
    folder = tmp_path_factory.mktemp("mistakes")
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "STRING", "day": "DATE", "m": "DECIMAL(5,2)"}
    catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"}).write(
        pa.table({"id": pa.array([1, 2], "i4"), "v": ["a", "b"]})
    )
    return folder


@pytest.fixture
def native(shell: InteractiveShell, folder: Path) -> InteractiveShell:
    """Return a shell connected to it without Spark."""
    commands.connect(folder, engine="native")
    return shell


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(("title", "sql", "expected"), cases("mistakes_in_sql"))
def test_an_answer_says_what_is_wrong(title: str, sql: str, expected: str) -> None:
    with pytest.raises((PaimonError, ValueError)) as caught:
        paimonlab.sql(sql.strip())

    message = str(getattr(caught.value, "message", caught.value))
    assert " ".join(message.split()) == expected, title
    lines = getattr(caught.value, "lines", message.splitlines)()
    assert len([line for line in lines if line.strip()]) <= 4, title  # the place takes two
    assert not [word for word in _INSIDE if word.lower() in message.lower()], title


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT * FORM db.t", "Did you mean FROM instead of FORM?"),
        ("SELECT id FROM t", "Did you mean 'db.t'?"),
        ("INSERT INTO t VALUES (1)", "Did you mean 'db.t'?"),
        (
            "SELECT sum(Unit Price) FROM db.t",
            "If Unit Price is one name, write it in backquotes: `Unit Price`",
        ),
    ],
)
def test_a_hint_says_what_is_probably_meant(sql: str, expected: str) -> None:
    with pytest.raises(QueryError) as caught:
        paimonlab.sql(sql)

    assert caught.value.hint == expected
