"""Mistakes of newcomers in cells without Spark: at most four lines that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
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


CASES = cases("mistakes_in_sql")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a warehouse with two tables, which no statement changes."""
    folder = tmp_path_factory.mktemp("mistakes")
    catalog = paimonlab.connect(folder)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "STRING", "day": "DATE", "m": "DECIMAL(5,2)"}
    catalog.create_table("db.t", columns, primary_keys=["id"], options={"bucket": "1"}).write(
        pa.table({"id": pa.array([1, 2], "i4"), "v": ["a", "b"]})
    )
    sales = {"Unit Price": "DOUBLE", "Order ID": "INT", "city": "STRING", "ts": "TIMESTAMP(6)"}
    catalog.create_table("db.sales", sales)
    return folder


@pytest.fixture
def native(shell: InteractiveShell, folder: Path) -> InteractiveShell:
    """Return a shell connected to it without Spark."""
    commands.connect(folder, engine="native")
    return shell


@pytest.mark.usefixtures("native")
def test_an_answer_says_what_is_wrong() -> None:
    wrong = [fault for title, sql, expected in CASES for fault in _faults(title, sql, expected)]

    assert wrong == []


def _faults(title: str, sql: str, expected: str) -> Iterator[str]:
    """Yield what is wrong with the answer to a mistake."""
    try:
        paimonlab.sql(sql.strip())
    except (PaimonError, ValueError) as error:
        message, hint = str(getattr(error, "message", error)), getattr(error, "hint", "")
        lines = getattr(error, "lines", message.splitlines)()
    else:
        yield f"{title}: no error"
        return
    shown = " ".join((f"{message} hint: {hint}" if hint else message).split())
    if shown != expected:
        yield f"{title}: {shown}"
    if len([line for line in lines if line.strip()]) > 4:  # the place takes two
        yield f"{title}: {lines}"
    yield from (f"{title}: {word}" for word in _INSIDE if word.lower() in message.lower())


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
