from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from paimonlab.notebook.cell.parameters import bind, markers, parameters, share
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import split


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT :a, :b_2 FROM t WHERE x=:c LIMIT :d", ["a", "b_2", "c", "d"]),
        ("SELECT ':a', \":b\", `:c` -- :d\n/* :e */", []),
        ("SELECT a::int, b ::date, (c)::string", []),
        ("SELECT v:field, v[0]:x, f(x):y", []),
        ("SELECT a[1:2], '12:30'", []),
        ("SELECT CAST(NULL AS STRUCT<a :INT, b: ARRAY<STRUCT<c:INT>>>), :d", ["d"]),
        ("SELECT 1 WHERE a < :x AND b > :y OR map < :z", ["x", "y", "z"]),
        ("SELECT : a", []),
        ("SELECT :1", []),
    ],
)
def test_parameters_are_found_where_a_value_can_stand(sql: str, names: list[str]) -> None:
    assert [name for name, _ in parameters(split(sql)[0].tokens)] == names


def test_only_names_that_occur_are_bound() -> None:
    assert bind(split("SELECT :a")[0], {"a": 1, "b": object()}) == {"a": 1}


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        (None, None),
        ("x' OR 1=1 --", "x' OR 1=1 --"),
        (Decimal("1.50"), Decimal("1.50")),
        (dt.date(2013, 1, 1), dt.date(2013, 1, 1)),
        (np.int64(7), 7),
        (np.array([1, 2]), [1, 2]),
        (np.datetime64("2013-01-01T05:00:00.000000000"), dt.datetime(2013, 1, 1, 5)),
        (np.timedelta64(90, "s"), dt.timedelta(seconds=90)),
        (pd.Timedelta(1, "min"), dt.timedelta(minutes=1)),
        ((1, "b"), [1, "b"]),
        (pd.Timestamp("2013-01-01 05:00"), dt.datetime(2013, 1, 1, 5)),
    ],
)
def test_values_keep_their_type(value: Any, bound: Any) -> None:
    assert bind(split("SELECT :a")[0], {"a": value}) == {"a": bound}


def test_a_missing_name_is_pointed_at() -> None:
    statement = split("SELECT 1;\nSELECT *\nFROM t WHERE d = :dai")[1]

    with pytest.raises(QueryError) as caught:
        bind(statement, {"day": 1, "_dai": 2})

    assert str(caught.value).splitlines() == [
        "There is no variable 'dai' for the parameter :dai.",
        "statement 2 of 2, lines 2-3",
        "   3 | FROM t WHERE d = :dai",
        "     |                  ^^^^",
        "Did you mean 'day'?",
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (object(), "it is a builtins.object"),
        (print, "it is a builtins.builtin_function_or_method"),
        (pd.DataFrame(), "it is a pandas"),
        ([1, {2}], "it is a builtins.set"),
        (2**63, "it is beyond BIGINT"),
        (Decimal("NaN"), "DECIMAL has no NaN"),
        (dt.date(999, 1, 1), "no dates before the year 1000"),
    ],
)
def test_what_spark_cannot_get_is_refused(value: Any, problem: str) -> None:
    with pytest.raises(QueryError, match=f"variable 'a' cannot be a parameter: .*{problem}"):
        bind(split("SELECT :a")[0], {"a": value})


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("SELECT ?, a FROM t WHERE b = ? AND c IN (?, ?)", 4),
        ("SELECT '?', \"?\", `?` -- ?\n/* ? */", 0),
        ("SELECT ?::int, (?)", 2),
    ],
)
def test_markers_are_found_where_a_value_can_stand(sql: str, count: int) -> None:
    assert len(list(markers(split(sql)[0].tokens))) == count


def test_each_marker_of_a_cell_takes_the_next_value() -> None:
    statements = split("SELECT ?; SELECT :a; SELECT ?, ?")

    shares = share(statements, {"a": 0}, [1, "b", None])

    assert [bind(*one) for one in zip(statements, shares, strict=True)] == [
        [1],
        {"a": 0},
        ["b", None],
    ]


@pytest.mark.parametrize(
    ("sql", "values", "lines"),
    [
        (
            "SELECT ?, ?,\n  ?",
            [1, 2],
            [
                "There are only 2 values for ?; this is the first without one.",
                "   3 |   ?",
                "     |   ^",
                "Each ? of the cell takes one value, in order.",
            ],
        ),
        (
            "SELECT 0 + ?",
            None,
            [
                "There are no values for ?; this is the first without one.",
                "   2 | SELECT 0 + ?",
                "     |            ^",
                "--params NAME gives those of a list, and paimonlab.sql(text, args=[…]).",
            ],
        ),
        (
            "SELECT ?",
            [1, 2],
            ["There are 2 values for 1 ?.", "Each ? of the cell takes one value, in order."],
        ),
        (
            "SELECT ?, :day",
            [1],
            [
                "A statement has values for ? or for names; this one has ? and :day.",
                "   2 | SELECT ?, :day",
                "     |           ^^^^",
                "Write ? instead of :day, or names instead of every ?.",
            ],
        ),
        (
            "SELECT ?",
            [Decimal("NaN")],
            [
                "The value of ? number 1 cannot be a parameter: DECIMAL has no NaN.",
                "   2 | SELECT ?",
                "     |        ^",
            ],
        ),
    ],
)
def test_wrong_values_by_place_are_pointed_at(
    sql: str, values: list[Any] | None, lines: list[str]
) -> None:
    statements = split(f"SELECT 1;\n{sql}")

    def bound() -> None:
        for one in zip(statements, share(statements, {}, values), strict=True):
            bind(*one)

    with pytest.raises(QueryError) as caught:
        bound()

    told = [line for line in caught.value.lines() if not line.startswith("statement 2 of 2")]
    assert told == lines
