"""Sorting and filtering of results, on Arrow and as SQL, against a model."""

from __future__ import annotations

import os
import random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from paimonlab.errors import UnsupportedError
from paimonlab.notebook.kernel.selection import RowQuery, selections
from paimonlab.notebook.results.row_query import Rows, literals
from paimonlab.notebook.results.spark_fetch import fetch
from paimonlab.notebook.results.table import drawing
from tests.notebook.results import random_rows
from tests.notebook.results.test_result import make

SEED = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
HOSTILE = (
    r"""it's '' \ \' \\' ${spark.app.name} $ ${ % \% \_ -- /* ; :x ? ` " \u0041 \101 r'x' {{x}}"""
)
WORDS = [
    *HOSTILE.split(),
    "a\nb",
    "\t",
    "\x00",
    "\x1a",
    "\u202e",
    "😀",
    "\ufeff",
    "\u2028",
    "' OR ",
    "x" * 9_999,
]


def choose(view: Any, asked: RowQuery) -> None:
    """Tell the kernel what a browser tells it."""
    rows: dict[str, Any] = {"filters": [list(one) for one in asked.filters], "search": asked.search}
    if asked.by is not None:
        rows |= {"by": asked.by, "descending": asked.descending}
    selections().hear({"id": view.id, "selected": {"rows": rows}})


def test_arrow_answers_as_the_model_does() -> None:
    print("PAIMONLAB_SEED", SEED)  # noqa: T201 - shown when the test fails
    random_ = random.Random(SEED)
    table = random_rows.rows(random_, 120)
    made = random_rows.result(pa.concat_tables([table.slice(0, 50), table.slice(50)]))
    found = Rows(made.to_arrow(), [column.value for column in made.view.value.columns])

    for _ in range(300):
        asked = random_rows.query(random_, table.num_columns)
        assert found.places(asked).to_pylist() == random_rows.places(table, asked), asked


def test_spark_answers_the_sql_as_the_model_does(spark: SparkSession) -> None:
    print("PAIMONLAB_SEED", SEED)  # noqa: T201 - shown when the test fails
    random_ = random.Random(SEED)
    table = random_rows.rows(random_, 60)
    numbered = table.add_column(0, "place", pa.array(range(60)))
    spark.createDataFrame(numbered).createOrReplaceTempView("awkward")
    names = ", ".join(table.column_names)
    made = random_rows.result(table, f"SELECT {names}, place FROM awkward -- a comment")
    refused = 0

    for _ in range(40):
        asked = random_rows.query(random_, table.num_columns)
        choose(made.view, asked)
        try:
            sql = made.view.sql
        except UnsupportedError:
            refused += 1
            continue
        got = spark.sql(sql).toArrow()["place"].to_pylist()
        wanted = random_rows.places(table, asked)
        assert sorted(got) == sorted(wanted), sql
        if asked.by is not None:
            values = table.column(asked.by).to_pylist()
            order = [
                [random_rows.key(values[place]) for place in places] for places in (got, wanted)
            ]
            assert order[0] == order[1], sql

    assert refused < 20


def test_hostile_texts_are_literals(spark: SparkSession) -> None:
    columns = ", ".join(literals.text(text) for text in WORDS)

    assert list(spark.sql(f"SELECT {columns}").collect()[0]) == WORDS

    view = make(pa.table({"it`s": ["x"]})).view
    for text in ("${spark.app.name}", "a'b\\", "`", "\\"):
        choose(view, RowQuery(filters=((0, f"= {text}"),)))
        where = view.sql.split("WHERE ")[1]
        frame = spark.createDataFrame([(text,), ("other",)], ["it`s"])
        assert frame.where(where).collect() == [(text,)]


@pytest.mark.parametrize("name", random_rows.VALUES)
def test_spark_reads_copied_values_as_they_were(spark: SparkSession, name: str) -> None:
    kind, values = random_rows.VALUES[name]
    texts = ", ".join(f"({random_rows.insert_literal(one, name)})" for one in [*values, None])

    found = fetch(spark.sql(f"SELECT * FROM VALUES {texts} AS t(v)"), limit=None)

    scale = kind.scale if pa.types.is_decimal(kind) else None
    assert found.types[0].split("(")[0] == random_rows.SQL_TYPES[name].split("(")[0]
    got = found.table.column(0)
    assert scale is None or got.type.scale == scale
    expected = pa.array([*values, None], kind)
    assert repr(got.to_pylist()) == repr(pa.chunked_array([expected]).to_pylist())


def test_a_view_tells_its_sql_and_its_rows() -> None:
    made = make(pa.table({"n": [3, 1, None], "s": ["a", "B", "b"]}))
    made.sql = "SELECT n, s FROM t"
    view = made.view

    assert view.sql == "SELECT n, s FROM t"
    assert view.to_arrow() is made.to_arrow()

    choose(view, RowQuery(by=0, descending=True, search="B", filters=((0, "> 0.5"), (1, ""))))

    assert view.sql == (
        "SELECT * FROM (\nSELECT n, s FROM t\n)\n"
        "WHERE `n` > 0L\n"
        "  AND (contains(CAST(`n` AS STRING), 'b') OR contains(lower(`s`), 'b'))\n"
        "ORDER BY `n` DESC NULLS LAST"
    )
    assert view.to_arrow().to_pydict() == {"n": [1], "s": ["B"]}
    assert made.to_arrow().num_rows == 3


def test_spark_is_asked_for_rows_that_were_not_fetched(spark: SparkSession) -> None:
    frame = spark.range(1_000).selectExpr("id", "CAST(id AS STRING) AS s")
    found = fetch(frame, limit=5)
    made = make(found.table, has_more_rows=True)
    made._spark = frame
    choose(made.view, RowQuery(by=0, descending=True, filters=((1, "99"),)))

    assert made.view.to_arrow().num_rows == 0
    assert made.view.to_arrow(all_rows=True)["id"].to_pylist()[:3] == [999, 998, 997]
    made = make(found.table, has_more_rows=True)
    with pytest.raises(UnsupportedError, match="read without Spark"):
        made.view.to_arrow(all_rows=True)


@pytest.mark.parametrize(
    ("columns", "asked", "reason"),
    [
        ({"x": [1.0]}, RowQuery(search="1"), "a search for '1' in column x"),
        ({"v": [[1]]}, RowQuery(filters=((0, "1"),)), "a filter for '1' in column v"),
        ({"v": [[1]]}, RowQuery(by=0), "an order by v"),
        ({"a": [1], "A": [1]}, RowQuery(by=0), "two columns named a"),
    ],
)
def test_what_sql_would_answer_otherwise_is_refused(
    columns: dict[str, Any], asked: RowQuery, reason: str
) -> None:
    view = make(pa.table(columns)).view
    choose(view, asked)

    with pytest.raises(UnsupportedError, match=reason):
        _ = view.sql
    assert view.to_arrow().num_rows == 1


def test_a_piece_that_no_number_has_is_not_looked_for_in_floats() -> None:
    view = make(pa.table({"x": [1.0], "s": ["apple"]})).view
    choose(view, RowQuery(search="apple"))

    assert view.sql.endswith("WHERE (contains(lower(`s`), 'apple'))")


def test_a_statement_that_is_no_query_is_not_asked_again() -> None:
    made = make(pa.table({"n": [1]}))
    made.sql = "SHOW TABLES"
    choose(made.view, RowQuery(by=0))

    with pytest.raises(UnsupportedError, match="not a query"):
        _ = made.view.sql


def test_rows_that_are_not_carried_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "DATA_BYTES", 2_000)
    monkeypatch.setattr(drawing, "LEAST_ROW_BYTES", 1_000)
    view = make(pa.table({"n": range(1_000), "s": ["x" * 5_000] * 1_000})).view
    ask = {"rows": {"by": 0, "descending": True, "filters": [[0, "< 900"]]}, "start": 1, "count": 2}

    reply = selections().hear({"id": view.id, "number": 1, "request": ask})

    assert reply is not None
    assert reply["reply"]["count"] == 900
    assert reply["reply"]["places"] == [898, 897]
    assert reply["reply"]["rows"][0][0] == "898"
    assert reply["reply"]["columns"][1]["cut"] == (0, 1)
    whole = selections().hear({"id": view.id, "number": 2, "request": ask | {"whole": True}})
    assert whole is not None
    assert whole["reply"]["rows"][0][1] == "x" * 5_000
    assert make(pa.table({"n": [1]})).view.answer is None
