"""`CREATE TABLE … AS TABLE` and `CREATE DATABASE … AS DATABASE`, as text."""

from __future__ import annotations

import re

import pytest

from paimonlab.spec.sql_text.ingest_syntax import (
    CreateDatabaseAs,
    CreateTableAs,
    begins_ingest,
    parse_ingest_statement,
)
from paimonlab.spec.sql_text.reader import StatementSyntaxError
from paimonlab.spec.sql_text.tokens import tokenize


def parsed(text: str, *sources: str) -> CreateTableAs | CreateDatabaseAs | None:
    return parse_ingest_statement(tokenize(text), text, lambda name: name in sources)


def test_all_parts_of_a_table() -> None:
    text = """
    create table if not exists ods.`my orders` (PRIMARY KEY (id, `dt`) NOT ENFORCED)
    PARTITIONED BY (dt) WITH ('bucket' = '2', 'ingest.interval' = '1 s')
    AS TABLE shop.`db\\d+`.orders /*+ OPTIONS('start' = 'latest', 'a' = 'it''s') */
    ADD COLUMN (dt AS date_format(created, 'yyyy-MM-dd'), u AS upper(substring(v, 0, 2)));
    """

    made = parsed(text)

    assert isinstance(made, CreateTableAs)
    assert (made.target, made.source) == (("ods", "my orders"), ("shop", r"db\d+", "orders"))
    assert text[made.source_span.start : made.source_span.end] == r"shop.`db\d+`.orders"
    assert (made.if_not_exists, made.primary_keys, made.partition_keys) == (
        True,
        ("id", "dt"),
        ("dt",),
    )
    assert made.options == {"bucket": "2", "ingest.interval": "1 s"}
    assert made.source_options == {"start": "latest", "a": "it's"}
    assert made.computed == {
        "dt": "date_format(created, 'yyyy-MM-dd')",
        "u": "upper(substring(v, 0, 2))",
    }


def test_all_parts_of_a_database() -> None:
    made = parsed(
        "CREATE DATABASE IF NOT EXISTS ods WITH ('bucket' = '1') AS DATABASE shop.db "
        "INCLUDING TABLE 'o.*' EXCLUDING TABLE '.*_old' /*+ OPTIONS('start' = 'latest') */"
    )

    assert isinstance(made, CreateDatabaseAs)
    assert (made.target, made.source) == (("ods",), ("shop", "db"))
    assert (made.including, made.excluding, made.if_not_exists) == ("o.*", ".*_old", True)
    assert (made.options, made.source_options) == ({"bucket": "1"}, {"start": "latest"})
    every = parsed("CREATE DATABASE ods AS DATABASE shop INCLUDING ALL TABLES")
    assert isinstance(every, CreateDatabaseAs)
    assert every.including is None


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "CREATE DATABASE ods",
        "CREATE TABLE a.b (id INT)",
        "CREATE TABLE a.b AS SELECT * FROM c.d",
        "CREATE TABLE a.b AS TABLE c.d",
        "CREATE TABLE a.b USING paimon AS TABLE shop.d",
        "CREATE TABLE a.b TBLPROPERTIES ('k' = 'v') AS TABLE shop.d",
        "CREATE OR REPLACE TABLE a.b AS TABLE shop.d",
        "INSERT INTO a.b TABLE shop.d",
    ],
)
def test_other_statements_are_left_to_others(text: str) -> None:
    assert parsed(text, "shop") is None
    assert not begins_ingest(tokenize(text))


def test_what_spark_also_reads_is_ours_if_a_source_has_the_name() -> None:
    text = "CREATE TABLE a.b AS TABLE shop.c.d"

    assert parsed(text) is None
    assert isinstance(parsed(text, "shop"), CreateTableAs)
    assert isinstance(parsed("CREATE TABLE a.b AS TABLE `shop`.c.d", "shop"), CreateTableAs)


@pytest.mark.parametrize(
    ("text", "problem", "at"),
    [
        ("CREATE TABLE a.b WITH () AS TABLE s.c", "needs an option in quotes here, not )", ")"),
        ("CREATE TABLE a.b WITH ('k') AS TABLE s.c", "needs = here, not )", ")"),
        ("CREATE TABLE a.b WITH ('k'='1','k'='2') AS TABLE s.c", "'k' is given twice", "'k'"),
        ("CREATE TABLE a.b (id INT) WITH ('k'='1') AS TABLE s.c", "needs PRIMARY KEY", "id"),
        ("CREATE TABLE a.b COMMENT 'x' WITH ('k'='1') AS TABLE s.c", "no COMMENT", "COMMENT"),
        ("CREATE TABLE a.b WITH ('k'='1') AS TABLE s.c WHERE id = 1", "the end", "WHERE"),
        ("CREATE TABLE a.b AS TABLE s.c ADD COLUMN (x AS y)", "a function of columns", "y"),
        ("CREATE TABLE a.b AS TABLE s.c ADD COLUMN (x AS f(y) FIRST)", "added at the end", "FIRST"),
        ("CREATE TABLE a.b AS TABLE s.c ADD COLUMN (x AS f(y), x AS f(z))", "twice", "f(z)"),
        ("CREATE TABLE a.b AS TABLE s.c ADD COLUMN ()", "columns to add", ")"),
        ("CREATE DATABASE a AS DATABASE s", "needs INCLUDING here, not the end", "s"),
        ("CREATE DATABASE a AS DATABASE s INCLUDING TABLE o", "a regular expression", "o"),
    ],
)
def test_errors_point_at_what_is_wrong(text: str, problem: str, at: str) -> None:
    with pytest.raises(StatementSyntaxError, match=re.escape(problem)) as caught:
        parsed(text)

    span = caught.value.span
    assert text[span.start :].startswith(at)
