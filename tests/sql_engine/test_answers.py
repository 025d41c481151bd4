"""Queries without Spark: what they read, what they refuse, what they may not touch."""

from __future__ import annotations

import math
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.errors import ColumnNotFoundError, PaimonError, SchemaError, UnsupportedError
from paimonlab.spec.sql_text.habit_hints import habit_hint
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.sql_engine import changes, engine
from paimonlab.sql_engine.refusal import (
    NotReadError,
    NotTranslatedError,
    StatementFailedError,
)
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import parse


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Make an append table of two days and a table with keys that wait for compaction."""
    folder = str(tmp_path_factory.mktemp("warehouse"))
    # No columns are kept, so that plans say which files are read.
    catalog = paimonlab.connect({"warehouse": folder, "sql.columns-memory": "0 b"})
    catalog.create_database("db")
    days = catalog.create_table(
        "db.days", {"day": "STRING", "id": "INT", "v": "STRING"}, partition_keys=["day"]
    )
    for day in ("mon", "tue"):
        days.write(
            pa.table({"day": [day] * 3, "id": pa.array([1, 2, 3], "i4"), "v": ["a", "b", None]})
        )
    keyed = catalog.create_table(
        "db.keyed",
        {"id": "INT NOT NULL", "v": "STRING", "l": "ARRAY<INT>", "c": "CHAR(3)"},
        primary_keys=["id"],
        options={"bucket": "1", "write-only": "true"},
    )
    for version in range(3):
        keyed.write(
            pa.table(
                {
                    "id": pa.array(range(version, 6), "i4"),
                    "v": [f"v{version}"] * (6 - version),
                    "l": [[version]] * (6 - version),
                    "c": ["x"] * (6 - version),
                }
            )
        )
    return catalog


def planned(catalog: Catalog, sql: str, **options: Any) -> engine.Planned:
    values = options.pop("values", ())
    return engine.plan(sql, Sources(catalog, **options), values)


def rows(catalog: Catalog, sql: str, **options: Any) -> list[tuple[Any, ...]]:
    found = engine.run(planned(catalog, sql, **options))
    return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def test_rows_are_merged_before_they_are_joined(catalog: Catalog) -> None:
    sql = (
        "SELECT d.day, k.v, count(*) FROM db.days d JOIN db.keyed k ON d.id = k.id "
        "GROUP BY d.day, k.v ORDER BY 1, 2"
    )

    assert rows(catalog, sql) == [
        ("mon", "v1", 1),
        ("mon", "v2", 2),
        ("tue", "v1", 1),
        ("tue", "v2", 2),
    ]


def test_the_share_up_to_a_row_is_of_a_range_as_spark_calls_it(catalog: Catalog) -> None:
    """The others are of rows."""
    sql = "SELECT cume_dist() OVER (ORDER BY id), rank() OVER (ORDER BY id) FROM db.keyed"
    until = "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"

    assert [name for name, _ in rows_of_schema(planned(catalog, sql))] == [
        f"cume_dist() OVER (ORDER BY id ASC NULLS FIRST RANGE {until}",
        f"RANK() OVER (ORDER BY id ASC NULLS FIRST ROWS {until}",
    ]


@pytest.mark.parametrize(
    "key",
    [
        *("id % 2", "pmod(id, 2)", "id - 2 * (id div 2)", "id % length(v)"),
        *("lower(if(id % 2 = 0, 'B', 'A'))", "date_format(DATE '2026-01-31' + id % 2, 'yyyy-MM')"),
        *("CAST(CAST(id % 2 AS STRING) AS INT)", "round(id % 2 + 0.25D, 1)"),
        "CASE WHEN id % 2 = 0 THEN upper('error(\\'a\\')') END, id % length(v)",
    ],
)
def test_windows_are_of_what_may_fail(catalog: Catalog, key: str) -> None:
    """DuckDB takes nothing volatile for their keys, and errors are."""
    sql = f"SELECT id, row_number() OVER (PARTITION BY {key} ORDER BY id) FROM db.keyed"

    assert sorted(rows(catalog, sql)) == [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (5, 3)]


@pytest.mark.parametrize(
    ("key", "error", "message"),
    [
        ("id % (id - 3)", StatementFailedError, "DIVIDE_BY_ZERO: a number is divided by zero"),
        ("CAST(v AS INT)", NotTranslatedError, "CAST of such a text without Spark"),
    ],
)
def test_windows_of_what_fails_say_what_it_is(
    catalog: Catalog, key: str, error: type[PaimonError], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}"):
        rows(catalog, f"SELECT rank() OVER (ORDER BY {key}) FROM db.keyed WHERE id > 1")


def test_products_have_all_digits(catalog: Catalog) -> None:
    """DuckDB multiplies within 64 bits what fits in; Spark's rounding begins with 35 digits."""
    most, long = Decimal("99999999.99"), Decimal("98765432109876543210987.1234567891")
    sql = (
        f"SELECT x * x, x * -x, y * x, -z, abs(-z) FROM VALUES ({most}BD, 123456789.123456789BD, "
        f"CAST('{long}' AS DECIMAL(38, 10))) AS t(x, y, z)"
    )
    expected = (
        most * most,
        -most * most,
        Decimal("123456789.123456789") * most,
        long.copy_negate(),
        long,
    )

    assert rows(catalog, sql) == [expected]


@pytest.mark.parametrize("key", ["'x'", "1", "NULL", "ALL"])
def test_no_rows_make_no_group_of_a_constant(catalog: Catalog, key: str) -> None:
    sql = f"SELECT 'x', count(*) FROM db.keyed WHERE id < {{}} GROUP BY {key}"

    assert rows(catalog, sql.format(0)) == []
    assert rows(catalog, sql.format(9)) == [("x", 6)]


def test_rows_keep_their_order_beside_a_constant(catalog: Catalog) -> None:
    sql = "SELECT id FROM db.keyed ORDER BY 'x', DATE '2026-01-31', id DESC LIMIT 2"

    assert rows(catalog, sql) == [(5,), (4,)]
    assert rows(catalog, "SELECT max(id) FROM db.keyed ORDER BY 'x'") == [(5,)]


def test_a_text_of_the_statement_is_collected(catalog: Catalog) -> None:
    sql = "SELECT collect_set('é'), collect_set(id % 1), collect_list('é') FROM db.keyed LIMIT 1"

    assert rows(catalog, sql) == [(["é"], [0], ["é"] * 6)]


def test_the_least_bigint_has_a_format(catalog: Catalog) -> None:
    sql = f"SELECT format_number(x, 1) FROM VALUES ({-(2**63)}), (-1), (2100000L) AS t(x)"

    assert rows(catalog, sql) == [(f"{-(2**63):,}.0",), ("-1.0",), ("2,100,000.0",)]


def test_a_query_named_by_with_is_read_as_often_as_it_is_mentioned(catalog: Catalog) -> None:
    sql = "WITH q AS (SELECT id FROM db.keyed) SELECT count(*) FROM q a, q b, q c"

    assert rows(catalog, sql) == [(6**3,)]


def test_a_condition_leaves_out_files_before_they_are_opened(catalog: Catalog) -> None:
    both = planned(catalog, "SELECT v FROM db.days")
    one = planned(
        catalog,
        "SELECT upper(v) FROM db.days d WHERE day = :day AND length(v) = 1",
        values={"day": "tue"},
    )
    outer = planned(
        catalog,
        "SELECT k.id FROM db.keyed k LEFT JOIN db.days d ON k.id = d.id AND d.day IN ('mon')",
    )
    null = planned(
        catalog,
        "SELECT k.id FROM db.keyed k LEFT JOIN db.days d USING (id) WHERE d.day IS NULL",
    )

    assert [len(part.paths) for part in both.parts] == [2]
    assert [len(part.paths) for part in one.parts] == [1]
    assert sorted(len(part.paths) for part in outer.parts) == [1, 3]
    assert sorted(len(part.paths) for part in null.parts) == [2, 3]
    assert [name for name, _ in rows_of_schema(one)] == ["upper(v)"]


def test_of_zeros_in_a_frame_the_first_is_the_least_and_the_largest(tmp_path: Path) -> None:
    """Spark takes a later value only if it is smaller or larger: a model of that."""
    zeros = random.Random(7).choices([0.0, -0.0, None, -1.5, 2.5], k=60)
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    catalog.write_table("db.z", {"id": list(range(60)), "x": zeros})

    found = rows(
        catalog,
        "SELECT id, max(x) OVER w, min(-x) OVER w FROM db.z "
        "WINDOW w AS (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) ORDER BY id",
    )

    expected = []
    for place in range(60):
        framed = [x for x in zeros[max(place - 2, 0) : place + 2] if x is not None]
        most = max(framed, default=None)  # Python's takes the first of equal ones as well
        expected.append((place, most, None if most is None else -most))
    assert list(map(str, found)) == list(map(str, expected))


def rows_of_schema(plan: engine.Planned) -> list[tuple[str, str]]:
    return list(zip(plan.schema.names, plan.types, strict=True))


def test_null_divided_by_zero_is_null(catalog: Catalog) -> None:
    nothing = "CAST(NULL AS INT)"
    zero = "(id - id)"
    sql = (
        f"SELECT {nothing} / {zero}, {nothing} div {zero}, {nothing} % {zero} FROM db.days LIMIT 1"
    )

    assert rows(catalog, sql) == [(None, None, None)]


def test_only_the_columns_that_are_used_are_read(catalog: Catalog) -> None:
    (part,) = planned(catalog, "SELECT count(*) FROM db.keyed WHERE id > 3").parts

    assert '"id"' in part.text
    assert not any(f'"{name}"' in part.text for name in "vlc")


def test_types_and_names_are_those_of_spark(catalog: Catalog) -> None:
    sql = (
        "SELECT id + 1, id / 2, avg(CAST(id AS DECIMAL(5, 1))) OVER (), 1.50 * 2, "
        "count(*) OVER () n, l FROM db.keyed LIMIT 1"
    )
    average = "avg(CAST(id AS DECIMAL(5,1)))"

    assert rows_of_schema(planned(catalog, sql)) == [
        ("(id + 1)", "int"),
        ("(id / 2)", "double"),
        (
            f"{average} OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)",
            "decimal(9,5)",
        ),
        ("(1.50 * 2)", "decimal(5,2)"),
        ("n", "bigint"),
        ("l", "array<int>"),
    ]
    assert rows(catalog, "SELECT avg(m) FROM VALUES (1.00), (1.01), (1.01) t(m)") == [
        (Decimal("1.006667"),)
    ]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("(named_struct('a', 1)), (NULL)", [{"a": 1}, None]),
        ("(array(1, 2)), (array(3))", [[1, 2], [3]]),
        ("(map('a', 1)), (map('b', 2))", [[("a", 1)], [("b", 2)]]),
    ],
)
def test_rows_that_are_written_have_nested_values(
    catalog: Catalog, values: str, expected: list[Any]
) -> None:
    assert [row[0] for row in rows(catalog, f"SELECT * FROM VALUES {values}")] == expected


def test_rows_that_are_written_do_not_mix_nested_types(catalog: Catalog) -> None:
    with pytest.raises(NotTranslatedError, match="VALUES of different types"):
        planned(catalog, "SELECT * FROM VALUES (named_struct('a', 1)), (named_struct('a', 'x'))")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT id / 0 FROM db.days", "DIVIDE_BY_ZERO"),
        ("SELECT id % (id - id) FROM db.days", "DIVIDE_BY_ZERO"),
        ("SELECT 2147483647 + id FROM db.days", "Overflow"),
        ("SELECT CAST(300 AS TINYINT)", "TINYINT|INT8|range"),
        ("SELECT (SELECT id FROM db.days)", "More than one row"),
    ],
)
def test_what_fails_in_spark_fails(catalog: Catalog, sql: str, message: str) -> None:
    with pytest.raises(StatementFailedError, match=message):
        rows(catalog, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT upper('stra\u00dfe')",
        "SELECT CAST(v AS INT) FROM db.days",
        "SELECT round(1e300 / 7e284, 2)",
        "SELECT abs(CAST('1234567890123456789012345678.1234567891' AS DECIMAL(38, 10)))",
        "SELECT -CAST(concat('-', '1234567890123456789012345678.1') AS DECIMAL(38, 10))",
    ],
)
def test_values_that_are_not_proven_are_refused_when_they_turn_up(
    catalog: Catalog, sql: str
) -> None:
    with pytest.raises(NotTranslatedError):
        rows(catalog, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT v RLIKE '(?i)[^a]' FROM db.days",
        "SELECT v RLIKE day FROM db.days",
        "SELECT regexp_replace(v, 'a*', 'b') FROM db.days",
        "SELECT split(v, 'a*') FROM db.days",
        "SELECT id IN (SELECT id FROM db.keyed) FROM db.days",
        "SELECT v FROM db.days WHERE NOT (id IN (SELECT id FROM db.keyed) AND v = 'a')",
        "SELECT c FROM db.keyed",
        "SELECT collect_list(DISTINCT v) FROM db.days",
        "SELECT first(v, true) FROM db.days",
        "SELECT date_format(day, 'w') FROM (SELECT DATE '2026-01-31' AS day)",
        "SELECT day FROM db.days GROUP BY ROLLUP((day, v))",
        "SELECT upper(v) || count(*) FROM db.days GROUP BY ALL",
        "SELECT id + v FROM db.days",
        "SELECT v LIKE 'a!%' ESCAPE '!' FROM db.days",
        "SELECT sum(id / id) FILTER (WHERE id > 0) FROM db.days",
        "SELECT sentences(v) FROM db.days",
        "SELECT v FROM db.days SORT BY v",
        "SELECT v FROM db.days GROUP BY v QUALIFY row_number() OVER (ORDER BY v) = 1",
        "SELECT explode(l) FROM db.keyed ORDER BY id",
        "SELECT posexplode(l) FROM db.keyed",
        "SELECT row_number() OVER (PARTITION BY v) FROM db.days",
        "SELECT v FROM db.days WHERE NULL",
        "SELECT d.v FROM db.days d LEFT JOIN db.keyed ON NULL",
        "SELECT 'a' 'b'",
        "SELECT 3F",
        "SELECT 128Y",
        "SELECT 1.5L",
        "SELECT 1e400",
        "SELECT 1e400D",
        "SELECT listagg(DISTINCT v, ',') WITHIN GROUP (ORDER BY id) FROM db.days",
        "SELECT listagg(v, v) FROM db.days",
        "SELECT listagg(id, ',') FROM db.days",
        "WITH RECURSIVE q AS (SELECT 1) SELECT * FROM q",
        "SELECT v FROM db.days FOR UPDATE",
        "DROP TABLE db.days",
    ],
)
def test_what_is_not_proven_is_refused(catalog: Catalog, sql: str) -> None:
    with pytest.raises(NotTranslatedError):
        planned(catalog, sql)


@pytest.mark.parametrize(
    ("sql", "hint"),
    [
        ("SELECT v FROM db.days@v1", "Write db.days VERSION AS OF 1"),
        ("SELECT 1 FROM db.keyed JOIN db.days@first", "Write db.days VERSION AS OF 'first'"),
        (
            "SELECT v FROM db.days@20260131123000000",
            "Write db.days TIMESTAMP AS OF '2026-01-31 12:30:00'",
        ),
        ("UPDATE db.days@v1 SET v = 'a'", "Write db.days VERSION AS OF 1"),
    ],
)
def test_versions_of_another_format_are_not_read_over(sql: str, hint: str) -> None:
    with pytest.raises(NotReadError) as caught:
        parse(sql)

    assert caught.value.hint == hint


def test_what_is_refused_is_named_as_it_is_written(catalog: Catalog) -> None:
    with pytest.raises(NotTranslatedError, match=r"^stack\(\) AS \(a, b\) without Spark"):
        planned(catalog, "SELECT stack(2, 'a', 1, 'b', 2) AS (k, n)")


@pytest.mark.parametrize(
    ("sql", "window"),
    [
        (
            "SELECT DISTINCT ON (id, day) v FROM db.days ORDER BY id, day, v DESC LIMIT 1",
            "SELECT … FROM … QUALIFY row_number() OVER (PARTITION BY id, day ORDER BY v DESC) = 1",
        ),
        ("SELECT DISTINCT ON (v) * FROM db.days", "(PARTITION BY v ORDER BY v) = 1"),
        ("SELECT DISTINCT ON (1) v, id FROM db.days ORDER BY 1", "(PARTITION BY … ORDER BY …) = 1"),
        (
            "SELECT DISTINCT ON (v) v, sum(id) FROM db.days GROUP BY v, day",
            "FROM (SELECT … GROUP BY …) QUALIFY",
        ),
        ("INSERT INTO db.days SELECT DISTINCT ON (v) * FROM db.days", "PARTITION BY v"),
    ],
)
def test_distinct_on_which_spark_has_not_is_answered_with_qualify(
    catalog: Catalog, sql: str, window: str
) -> None:
    run: Callable[..., object] = changes.run if sql.startswith("INSERT") else engine.plan

    with pytest.raises(UnsupportedError, match=r"^DISTINCT ON is not supported: Spark's") as caught:
        run(sql, Sources(catalog), ())

    assert not isinstance(caught.value, NotTranslatedError), "Spark does not run it either"
    assert window in str(caught.value)
    assert habit_hint(tokenize(sql)).startswith("Spark's SQL has no DISTINCT ON.")


def test_what_qualify_keeps_is_what_duckdb_has_distinct_on_for(catalog: Catalog) -> None:
    by = "ORDER BY v, id DESC, day"
    with pytest.raises(UnsupportedError) as caught:
        planned(catalog, f"SELECT DISTINCT ON (v) v, id, day FROM db.days {by}")
    clause = caught.value.reason[caught.value.reason.index("QUALIFY") :].partition(" keeps")[0]
    days = catalog.table("db.days").scan().to_arrow()
    duck = duckdb.connect().register("days", days)
    wanted = duck.execute(f"SELECT DISTINCT ON (v) v, id, day FROM days {by}").fetchall()

    found = rows(catalog, f"SELECT v, id, day FROM db.days {clause} ORDER BY v")

    assert sorted(found, key=str) == sorted(wanted, key=str)


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        ("SELECT nope FROM db.days", ColumnNotFoundError),
        ("SELECT v FROM db.days, db.keyed", SchemaError),
        ("SELECT v, FROM db.days", NotReadError),
        ("SELECT FROM db.days", SchemaError),
        ("SELECT v FROM db.days UNION SELECT 1, 2", SchemaError),
        ("SELECT v FROM db.days LIMIT 1 WHERE id = 1", NotReadError),
        ("SELECT v FROM db.days LIMIT 1, 2", NotReadError),
        ("SELECT v FROM db.days FETCH FIRST 3 ROWS ONLY", NotReadError),
        ("SELECT v,, id FROM db.days", NotReadError),
        ("SELECT round(1.5, 1, 2)", NotTranslatedError),
        ("SELECT from_unixtime(1, 'yyyy', 'z')", NotTranslatedError),
        ("SELECT lpad('a', 3, 'b', 'c')", NotTranslatedError),
        ("SELECT md5(1.5)", NotTranslatedError),
        (
            "SELECT session_window.end FROM (SELECT now() at) GROUP BY session_window(at, '1 d')",
            NotTranslatedError,
        ),
        ("SELECT __paimon_file_path FROM db.days", NotTranslatedError),
        ("SELECT d._ROW_ID FROM db.days d", NotTranslatedError),
        ("SELECT * FROM db.days a NATURAL JOIN db.days b NATURAL JOIN db.days", NotTranslatedError),
        ("SELECT * FROM db.days NATURAL JOIN (SELECT 1 x) q", NotTranslatedError),
    ],
)
def test_what_is_wrong_is_said(catalog: Catalog, sql: str, error: type[PaimonError]) -> None:
    with pytest.raises(error):
        planned(catalog, sql)


FRAMES: dict[str, Callable[[dict[str, Any]], object]] = {
    "arrow": pa.table,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
}


def test_between_equal_values_no_share_of_them_is_taken(catalog: Catalog) -> None:
    """Spark's ``PercentileBase`` returns the value where the two around the place are equal."""
    frame = pa.table({"x": [0.1, 0.1], "tiny": [5e-324, 5e-324], "far": [-1e300, 1e300]})
    sql = (
        "SELECT percentile(x, 0.3), median(tiny), percentile(x, array(0.3, 0.5))[0], "
        "percentile(far, 0.25) FROM f"
    )

    assert rows(catalog, sql, frames={"f": frame}.get) == [(0.1, 5e-324, 0.1, -5e299)]


def test_percentiles_are_added_in_the_order_of_spark(catalog: Catalog, seed: int) -> None:
    """To the last digit: the share of the lower value, and that of the higher one."""
    random_ = random.Random(seed)
    groups = [[random_.uniform(-9, 9) for _ in range(random_.randint(1, 9))] for _ in range(99)]
    share = random_.random()
    listed = [(number, value) for number, group in enumerate(groups) for value in [*group, None]]
    frame = pa.table({"g": [one for one, _ in listed], "x": [one for _, one in listed]})

    found = rows(
        catalog,
        f"SELECT g, percentile(x, {share!r}D) FROM f GROUP BY g",
        frames={"f": frame}.get,
    )

    def between(group: list[float]) -> float:
        place, known = (len(group) - 1) * share, sorted(group)
        low, high = math.floor(place), math.ceil(place)
        if low == high:
            return known[low]
        return (high - place) * known[low] + (place - low) * known[high]

    assert dict(found) == {number: between(group) for number, group in enumerate(groups)}


@pytest.mark.parametrize("kind", FRAMES)
def test_data_frames_are_tables(catalog: Catalog, kind: str) -> None:
    frame = FRAMES[kind]({"id": [1, 5], "w": ["p", "q"]})
    sql = "SELECT f.w, k.v FROM frame f JOIN db.keyed k ON k.id = f.id ORDER BY w"

    assert rows(catalog, sql, frames={"frame": frame}.get) == [("p", "v1"), ("q", "v2")]


def test_files_are_tables_if_the_statement_names_them(catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "weather.csv").write_text("day,temp\nmon,3\ntue,-4\n")
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "x.parquet")

    sql = f"SELECT d.id, w.temp FROM db.days d JOIN '{tmp_path}/weather.csv' w USING (day)"
    assert sorted(rows(catalog, f"{sql} WHERE id = 1")) == [(1, -4), (1, 3)]
    assert rows(catalog, f"SELECT sum(x) FROM parquet.`{tmp_path}/x.parquet`") == [(3,)]
    with pytest.raises(NotTranslatedError):
        rows(catalog, f"SELECT * FROM '{tmp_path}/weather.csv'", files=False)


def test_duckdb_reads_nothing_but_what_the_statement_names(
    catalog: Catalog, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    plan = planned(catalog, "SELECT v FROM db.days")

    with engine.connected(plan.parts, engine.EngineOptions()) as database:
        for text in (
            f"SELECT * FROM read_csv('{secret}')",
            f"COPY (SELECT 1) TO '{tmp_path}/out.csv'",
            "SET enable_external_access = true",
            "SET allowed_paths = ['/']",
            "INSTALL httpfs",
            f"ATTACH '{tmp_path}/x.db'",
            "SELECT * FROM plan",
        ):
            with pytest.raises(Exception, match=r"(?s)disabled|locked|not exist|Cannot"):
                database.execute(text)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv"]


HOSTILE = [
    "'; DROP TABLE x; --",
    "' || 'a",
    "\\'",
    "\\\\' OR 1=1 --",
    "{v}",
    "%s",
    "\u2028",
    '"',
    "`",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_values(catalog: Catalog, text: str) -> None:
    frame = pa.table({text: [text]})
    quoted = text.replace("`", "``")

    assert rows(
        catalog,
        f"SELECT `{quoted}`, :x FROM f WHERE `{quoted}` = :x",
        frames={"f": frame}.get,
        values={"x": text},
    ) == [(text, text)]
    assert rows(
        catalog, f"SELECT x AS `{quoted}` FROM (SELECT :x AS x) `{quoted}`", values={"x": text}
    ) == [(text,)]


def test_a_query_ends_when_it_is_interrupted(catalog: Catalog) -> None:
    sql = "WITH q AS (SELECT id FROM db.keyed) SELECT count(*) FROM " + ", ".join(
        f"q q{n}" for n in range(14)
    )
    plan = planned(catalog, sql)
    asked: list[int] = []

    def progress(*_report: Any) -> None:
        asked.append(1)
        if len(asked) > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.run(plan, None, progress)

    # Threads of DuckDB are dummies to Python; ours are done before the error is raised.
    assert not [one for one in threading.enumerate() if "work" in one.name]


def test_memory_is_bounded_and_nothing_is_spilled(catalog: Catalog, tmp_path: Path) -> None:
    frame = pa.table({"x": pa.array(range(400_000)), "t": [f"{n:>60}" for n in range(400_000)]})
    plan = planned(catalog, "SELECT t, count(*) FROM f GROUP BY t", frames={"f": frame}.get)

    with pytest.raises(StatementFailedError, match=r"sql\.memory"):
        engine.run(plan, engine.EngineOptions(memory="20MB", threads=1))
    small = paimonlab.connect({"warehouse": str(tmp_path), "sql.memory": "20MB"})
    assert engine.EngineOptions.of(small.options).memory == "20MB"
    with pytest.raises(ValueError, match=r"sql\.memory"):
        paimonlab.connect({"warehouse": str(tmp_path), "sql.memory": "much"})


def test_duckdb_is_loaded_by_the_first_query_that_needs_it() -> None:
    script = (
        "import sys, paimonlab.notebook.running.execution as e; "
        "assert 'duckdb' not in sys.modules and 'sqlglot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_files_that_expire_under_a_query_are_named_by_their_table(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"})
    table.write({"id": [1]})
    asked = planned(catalog, "SELECT max(id) FROM db.t")
    for path in asked.parts[0].paths:
        Path(path).unlink()

    with pytest.raises(StatementFailedError, match=r"^db\.t@1: a data file is missing: if"):
        engine.run(asked)


@pytest.mark.parametrize("sql", ["date_trunc('week', \"v\")", 'CAST("v" AS INT)'])
def test_a_column_between_quotes_for_texts_is_named_where_texts_fail(
    sql: str, catalog: Catalog
) -> None:
    with pytest.raises(NotTranslatedError) as caught:
        rows(catalog, f"SELECT {sql} FROM db.days")

    assert caught.value.hint == '"v" is a text in Spark\'s SQL; a column is written `v`'
