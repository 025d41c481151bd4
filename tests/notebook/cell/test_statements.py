from __future__ import annotations

import pytest

from paimonlab.notebook.cell.statements import quote_system_tables, split


def test_statements_are_split_outside_strings_and_comments() -> None:
    cell = "SELECT 'a;b'; -- c; d\nSELECT `q;z` /* ; */ FROM t\n;;\n SELECT 3;\n"

    statements = split(cell)

    assert [statement.text for statement in statements] == [
        "SELECT 'a;b'",
        "SELECT `q;z` /* ; */ FROM t",
        "SELECT 3",
    ]


def test_a_statement_says_where_it_stands() -> None:
    statements = split("SELECT 1;\n\nSELECT\n  2;\nSELECT 3")

    assert [statement.place for statement in statements] == [
        "statement 1 of 3, line 1",
        "statement 2 of 3, lines 3-4",
        "statement 3 of 3, line 5",
    ]


@pytest.mark.parametrize("cell", ["", "  \n", "-- nothing", ";;", "/* a */ ;"])
def test_a_cell_without_sql_has_no_statements(cell: str) -> None:
    assert split(cell) == []


def test_a_script_is_one_statement() -> None:
    script = "BEGIN\n  DECLARE x INT DEFAULT 1;\n  SELECT x;\nEND;"

    assert [statement.text for statement in split(f"SELECT 1; {script}")] == ["SELECT 1", script]


@pytest.mark.parametrize(
    ("sql", "is_query"),
    [
        ("select 1", True),
        ("/* a */ WITH x AS (SELECT 1) SELECT * FROM x", True),
        ("(SELECT 1) UNION ALL (SELECT 2)", True),
        ("VALUES (1)", True),
        ("FROM t SELECT *", True),
        ("CALL sys.compact(table => 't')", False),
        ("INSERT INTO t VALUES (1)", False),
        ("SHOW TABLES", False),
    ],
)
def test_only_queries_may_be_limited(sql: str, is_query: bool) -> None:
    assert split(sql)[0].is_query is is_query


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("SELECT * FROM t$snapshots", "SELECT * FROM `t$snapshots`"),
        ("SELECT * FROM paimon.db.t$files f", "SELECT * FROM paimon.db.`t$files` f"),
        ("SELECT * FROM `t`$files", "SELECT * FROM `t$files`"),
        ("SELECT * FROM t$branch_b$files", "SELECT * FROM `t$branch_b$files`"),
        ("SELECT * FROM a$b, c$d", "SELECT * FROM `a$b`, `c$d`"),
        ("SELECT * FROM `t$files`", "SELECT * FROM `t$files`"),
        ("SELECT 't$files', \"t$f\" -- t$f", "SELECT 't$files', \"t$f\""),
        ("SELECT /* t$f */ 1, ${x}, a $ b", "SELECT /* t$f */ 1, ${x}, a $ b"),
        ("SHOW TBLPROPERTIES db.t$files", "SHOW TBLPROPERTIES db.`t$files`"),
    ],
)
def test_system_tables_need_no_back_quotes(written: str, sent: str) -> None:
    assert quote_system_tables(split(written)[0]).text == sent


def test_offsets_of_the_sent_text_lead_back_to_the_cell() -> None:
    cell = "SELECT 1;\nSELECT xx FROM a$b, `c`$d WHERE yy"
    sent = quote_system_tables(split(cell)[1])

    for word in ("SELECT", "xx", "a$b", "WHERE", "yy"):
        assert sent.cell_offset(sent.text.index(word)) == cell.rindex(word)
