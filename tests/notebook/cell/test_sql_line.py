from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from paimonlab.notebook.cell.magic_line import SqlLine, parse, parse_first

QUIET = frozenset({"--no-progress"})


@pytest.mark.parametrize(
    ("line", "parsed"),
    [
        ("", SqlLine()),
        ("SELECT 1", SqlLine(sql="SELECT 1")),
        ("SELECT a->b, -1 --limit 3 -o x", SqlLine(sql="SELECT a->b, -1 --limit 3 -o x")),
        ("--limit 5 SELECT 'it''s  \"x'", SqlLine(limit=5, sql="SELECT 'it''s  \"x'")),
        ("--limit=5 -o res SELECT 1", SqlLine(limit=5, target="res", sql="SELECT 1")),
        ("-- --limit 5", SqlLine(sql="--limit 5")),
        ("res <<", SqlLine(target="res", is_silent=True)),
        ("res<< ", SqlLine(target="res", is_silent=True)),
        ("res = <<", SqlLine(target="res")),
        (
            "--limit 0 res << --no-progress",
            SqlLine("res", is_silent=True, limit=0, flags=QUIET),
        ),
        ("res << SELECT 1 << 2", SqlLine("res", is_silent=True, sql="SELECT 1 << 2")),
        ("--help", SqlLine(flags=frozenset({"--help"}))),
        ("--limit '7' SELECT 1", SqlLine(limit=7, sql="SELECT 1")),
        ("--as-of 12 SELECT 1", SqlLine(as_of=12, sql="SELECT 1")),
        ("--as-of '2026-01-01 00:00'", SqlLine(as_of="2026-01-01 00:00")),
        (
            "--explain SELECT 1",
            SqlLine(flags=frozenset({"--explain"}), sql="SELECT 1"),
        ),
        (
            "--explain cost SELECT 1",
            SqlLine(flags=frozenset({"--explain"}), explained="cost", sql="SELECT 1"),
        ),
        (
            "--explain=extended -- cost",
            SqlLine(flags=frozenset({"--explain"}), explained="extended", sql="cost"),
        ),
        ("--as-of=daily --view v", SqlLine(as_of="daily", view="v")),
        ("--max-bytes 1.5MB --lazy", SqlLine(max_bytes=1_500_000, flags=frozenset({"--lazy"}))),
    ],
)
def test_options_come_first_and_the_rest_is_untouched(line: str, parsed: SqlLine) -> None:
    assert parse(line) == parsed


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--limt 5 SELECT 1", r"unknown option --limt. Did you mean '--limit'"),
        ("--limit", "--limit needs a value: --limit ROWS"),
        ("--limit ten", "--limit needs a number of rows, 0 for all, got 'ten'"),
        ("--limit -1", "--limit needs a number of rows, 0 for all, got '-1'"),
        ("-o 1x SELECT 1", "-o needs the name of a variable, got '1x'"),
        ("--view a.b", "--view needs the name of a view, got 'a.b'"),
        ("--max-bytes much", "--max-bytes needs a size such as 500kB or 20MB, got 'much'"),
        ("--no-progress=1", "--no-progress takes no value"),
        ("--as-of 'x", "the quote is never closed: --as-of 'x"),
        ("--lazy --to x.csv SELECT 1", "--to cannot be combined with --lazy"),
        ("--to x.csv --all", "--to cannot be combined with --all"),
        ("--explain=all SELECT 1", "--explain takes formatted, cost, extended or nothing"),
        ("--explain --view v", "--view cannot be combined with --explain"),
    ],
)
def test_wrong_options_are_refused(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse(line)


def test_the_first_line_of_a_cell_holds_no_sql() -> None:
    with pytest.raises(UsageError, match=r"'SELECT' is not an option .* on the second line"):
        parse_first("--limit 5 SELECT 1")
    with pytest.raises(UsageError, match="`big <<` keeps the result"):
        parse_first("big")
