"""Which statements of a cell can be streams."""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from paimonlab.notebook.cell import magic_line
from paimonlab.notebook.cell.cell_request import Task, request_of
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import split
from paimonlab.notebook.cell.stream_statement import stream_statement


@pytest.mark.parametrize(
    ("text", "sink", "query", "replaces"),
    [
        ("SELECT * FROM STREAM db.t", None, "SELECT * FROM STREAM db.t", False),
        ("WITH a AS (SELECT 1) FROM STREAM t", None, "WITH a AS (SELECT 1) FROM STREAM t", False),
        ("INSERT INTO t SELECT * FROM STREAM s", "t", "SELECT * FROM STREAM s", False),
        ("insert into table `p`.db.`a b` FROM stream s", "`p`.db.`a b`", "FROM stream s", False),
        ("INSERT OVERWRITE db.t SELECT 1 FROM STREAM s", "db.t", "SELECT 1 FROM STREAM s", True),
    ],
)
def test_a_statement_is_a_query_and_a_table(
    text: str, sink: str | None, query: str, replaces: bool
) -> None:
    found = stream_statement(split(text)[0])

    assert (found.sink, found.query.text, found.replaces) == (sink, query, replaces)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT * FROM db.t", "Nothing in this statement is a stream"),
        ("INSERT INTO t (a) SELECT a FROM STREAM s", r"\( is not supported in a stream"),
        ("INSERT INTO t BY NAME SELECT a FROM STREAM s", "BY is not supported"),
        ("INSERT INTO t PARTITION (p = 1) SELECT a FROM STREAM s", "PARTITION is not supported"),
        ("INSERT INTO t VALUES (STREAM)", "VALUES is not supported"),
        ("DELETE FROM t WHERE id IN (SELECT id FROM STREAM s)", "DELETE is not supported"),
        ("MERGE INTO t USING STREAM s ON true", "MERGE is not supported"),
        ("CREATE TABLE t AS SELECT * FROM STREAM s", "CREATE is not supported"),
    ],
)
def test_other_statements_are_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        stream_statement(split(text)[0])


def test_options_of_streams() -> None:
    line = magic_line.parse("--stream update --checkpoint 'a b' --once x = << SELECT 1")

    request = request_of(line, "")

    assert request.task is Task.STREAM
    assert request.stream is not None
    assert (request.stream.mode, request.stream.checkpoint) == ("update", "a b")
    assert request.stream.ends
    assert (request.target, line.sql) == ("x", "SELECT 1")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("--stream=often", "--stream takes append, update, complete or nothing, got 'often'"),
        ("--stream --to a.csv", "--to cannot be combined with --stream"),
        ("--stream --as-of 3", "--as-of cannot be combined with --stream"),
        ("--once", "--once and --checkpoint are about a stream"),
    ],
)
def test_wrong_options_of_streams(line: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        request_of(magic_line.parse(line), "")
