"""What is said of statements that cannot be read."""

from __future__ import annotations

import pytest

from paimonlab.spec.sql_text.guesses import guess
from paimonlab.spec.sql_text.mistakes import certain_mistake
from paimonlab.spec.sql_text.tokens import tokenize

_BACKQUOTES = "If {0} is a name, write it in backquotes: `{0}`"


@pytest.mark.parametrize(
    ("text", "wrong", "answer"),
    [
        ("SELECT a FROM t LIMIT 3 WHERE a = 1", "WHERE", "WHERE is written before LIMIT."),
        ("SELECT a FROM t ORDER BY a WHERE a = 1", "WHERE", "WHERE is written before ORDER BY."),
        ("SELECT a FROM t ORDER BY a GROUP BY a", "GROUP", "GROUP BY is written before ORDER BY."),
        (
            "SELECT * FROM (SELECT a FROM t LIMIT 3) WHERE a = 1 HAVING b WHERE c",
            "WHERE c",
            "WHERE is written before HAVING.",
        ),
        ("SELECT count(* FROM t", "FROM", "The bracket ( after count is never closed."),
        ("SELECT a) FROM t", ")", "There is a ) too many after a."),
        ("SELECT a,, b FROM t", ", b", "There is a comma too many after a."),
        ("SELECT a, FROM t", "FROM", "There is a comma too many before FROM."),
        ("UPDATE t SET a = 1, WHERE b", "WHERE", "There is a comma too many before WHERE."),
        ("SELECT TOP 5 a FROM t", "5", "Write LIMIT 5 at the end instead of TOP 5."),
        ("SELECT a FROM t LIMIT 5, 10", ",", "Write LIMIT 10 OFFSET 5."),
        ("SELECT a FROM t FETCH FIRST 5 ROWS ONLY", "5", "Write LIMIT 5 instead of FETCH."),
        ("SELECT group FROM t", "group", _BACKQUOTES.format("group")),
        ("SELECT a, order FROM t", "order", _BACKQUOTES.format("order")),
        ("SELECT a FROM t WHERE table = 1", "table", _BACKQUOTES.format("table")),
        (
            "SELECT a FROM t VERSION AS OF {x}",
            "{",
            "Write :x for the value of the variable x.",
        ),
        ("SELECT [a] FROM t", "[", "Names are written in backquotes: `a`"),
        (
            "WITH a AS SELECT 1 SELECT * FROM a",
            "SELECT",
            "The query after WITH name AS is in brackets: WITH a AS (SELECT …)",
        ),
        (
            "SELECT CASE WHEN a THEN b FROM t",
            "FROM",
            "CASE WHEN … THEN … ELSE … END: an END is missing.",
        ),
        ("DELETE * FROM t", "*", "Write DELETE FROM table WHERE …, without *."),
        ("DELETE t WHERE a = 1", "t", "Write DELETE FROM table WHERE …"),
        ("INSERT t VALUES (1)", "t", "Write INSERT INTO table VALUES (…)"),
        ("UPDATE t a = 1", "a", "Write UPDATE table SET column = value WHERE …"),
        (
            "INSERT INTO t VALUES 1, 'a'",
            "1",
            "Each row of VALUES is in brackets: VALUES (1, 'a'), (2, 'b')",
        ),
        ("SELECT a FROM t WHERE a IN 1, 2", "1", "What follows IN is in brackets: IN (1, 2)"),
        ("SELECT a FROM t WHERE a BETWEEN 1, 2", ",", "Write BETWEEN a AND b."),
        ("SELECT a FROM t WHERE a LIKE b%", "%", "The pattern of LIKE is a text: LIKE 'b%'"),
        ("SELECT a FROM t WHERE a = 1 AND", "AND", "Something is missing after AND."),
        ("SELECT * FROM", "FROM", "Something is missing after FROM."),
        (
            "SELECT “a” FROM t",
            "“",
            "“ is a quote for printing: texts are written 'so', names in backquotes",
        ),
        ("SELECT a FROM t WHERE b = 'x", "'x", "The quote ' that begins here is never closed."),
        ("SELECT a FORM t", "t", "Did you mean FROM instead of FORM?"),
        (
            "SELECT * FROM t WHERE Unit Price > 3",
            "Price",
            "If Unit Price is one name, write it in backquotes: `Unit Price`",
        ),
        ("SELECT a count(*) FROM t", "(", "A comma is missing before count."),
        ("CREATE TABLE t (a INT b STRING)", "b", "A comma is missing before b."),
        (
            "SELECT a FROM t GROUP BY Order ID",
            "ID",
            "If Order ID is one name, write it in backquotes: `Order ID`",
        ),
        (
            "SELECT Unit Price AS p FROM t",
            "AS",
            "If Unit Price is one name, write it in backquotes: `Unit Price`",
        ),
        (
            'SELECT * FROM t WHERE "Unit Price" > 3',
            ">",
            '"Unit Price" is a text; a name is written in backquotes: `Unit Price`',
        ),
        # No mistake that is known, so that nothing wrong is said.
        ("SELECT a FROM t WHERE a IS DISTINCT FROM b ?", "?", ""),
        ("SELECT listagg(a) WITHIN GROUP (ORDER BY a) FROM t ?", "?", ""),
        ("SELECT extract(YEAR FROM a) FROM t UNION SELECT b FROM u WHERE ?", "?", ""),
        ("SELECT sum(a) OVER (ORDER BY b) FROM t WHERE c ORDER BY d LIMIT 1 ?", "?", ""),
    ],
)
def test_the_mistake_is_named(text: str, wrong: str, answer: str) -> None:
    assert guess(tokenize(text), text.rindex(wrong)) == answer


@pytest.mark.parametrize(
    "text",
    [
        "SELECT offset, limit FROM t WHERE limit > 1 LIMIT 3 OFFSET 4",
        "SELECT a FROM t WHERE a IS DISTINCT FROM b ORDER BY a LIMIT :n",
        "SELECT listagg(a, ',') WITHIN GROUP (ORDER BY a) FROM t WHERE b GROUP BY c HAVING d",
        "SELECT sum(a) FILTER (WHERE b) OVER (ORDER BY c) FROM t WINDOW w AS (ORDER BY d)",
        "FROM t SELECT a WHERE b",
        "SELECT a FROM t LIMIT 3 UNION SELECT b FROM u WHERE c",
        "WITH q AS (SELECT a FROM t ORDER BY a LIMIT 1) SELECT * FROM q WHERE a GROUP BY b",
        "INSERT INTO t SELECT a FROM u WHERE b",
        "INSERT OVERWRITE TABLE t SELECT a FROM u",
        "DELETE FROM t WHERE a IN (SELECT b FROM u LIMIT 1)",
        "MERGE INTO t USING u ON a = b WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1, 2)",
        "SELECT trim(BOTH 'a' FROM b), extract(YEAR FROM c) FROM t",
        "SELECT '“', a -- ,, “\nFROM t",
    ],
)
def test_what_spark_reads_has_no_certain_mistake(text: str) -> None:
    assert certain_mistake(tokenize(text)) == ""
