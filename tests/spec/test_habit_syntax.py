"""Statements of other table formats as calls of Paimon's procedures."""

from __future__ import annotations

from typing import Any

import pytest

from paimonlab.spec.sql_text.habit_syntax import parse_habit
from paimonlab.spec.sql_text.reader import StatementSyntaxError
from paimonlab.spec.sql_text.tokens import tokenize

_VACUUM = [("expire_snapshots", {"retain_min": 1}), ("remove_orphan_files", {})]


@pytest.mark.parametrize(
    ("text", "table", "procedures"),
    [
        ("OPTIMIZE t", ("t",), [("compact", {})]),
        (
            "optimize c.d.`my t` full;",
            ("c", "d", "my t"),
            [("compact", {"compact_strategy": "full"})],
        ),
        (
            "OPTIMIZE t WHERE dt = 'ZORDER' AND (a > 1) ZORDER BY (a, `b`)",
            ("t",),
            [
                (
                    "compact",
                    {
                        "where": "dt = 'ZORDER' AND (a > 1)",
                        "order_strategy": "zorder",
                        "order_by": "a,b",
                    },
                )
            ],
        ),
        ("VACUUM t", ("t",), _VACUUM),
        (
            "VACUUM TABLE d.t LITE RETAIN 12 HOURS DRY RUN",
            ("d", "t"),
            _VACUUM,
        ),
        ("RESTORE TABLE t TO VERSION AS OF 7", ("t",), [("rollback", {"snapshot": 7})]),
        (
            "RESTORE t TO TIMESTAMP AS OF '2026-01-01'",
            ("t",),
            [("rollback_to_timestamp", {"timestamp": "2026-01-01"})],
        ),
        ("EXPIRE SNAPSHOTS FOR d.t;", ("d", "t"), [("expire_snapshots", {})]),
        ("expire snapshots t", ("t",), [("expire_snapshots", {})]),
        ("DESC HISTORY d.t LIMIT 3", ("d", "t"), []),
        ("DESCRIBE DETAIL d.t", ("d", "t"), []),
        (
            "REORG TABLE t WHERE dt = 'x' APPLY (PURGE)",
            ("t",),
            [("compact", {"compact_strategy": "full", "where": "dt = 'x'"})],
        ),
        (
            "ALTER TABLE t CREATE BRANCH IF NOT EXISTS b AS OF VERSION 3 RETAIN 7 DAYS",
            ("t",),
            [
                ("create_tag", {"tag": "b", "snapshot": 3}),
                ("create_branch", {"branch": "b", "tag": "b"}),
            ],
        ),
        ("ALTER TABLE t DROP BRANCH b", ("t",), [("delete_branch", {"branch": "b"})]),
        ("ALTER TABLE t DROP TAG IF EXISTS b", ("t",), [("delete_tag", {"tag": "b"})]),
        ("ALTER TABLE d.t ADD PARTITION FIELD days(ts)", ("d", "t"), []),
        ("CREATE OR REPLACE TABLE u SHALLOW CLONE d.t VERSION AS OF 1", ("d", "t"), [("copy", {})]),
    ],
)
def test_what_a_statement_means(text: str, table: tuple[str, ...], procedures: list[Any]) -> None:
    found = parse_habit(tokenize(text), text)

    assert found is not None
    assert found.table == table
    assert list(found.procedures) == procedures
    assert found.is_run == text.upper().startswith(("OPTIMIZE", "REORG"))
    assert found.hours == {"V": 12 if "12" in text else 168}.get(text[0])
    assert found.limit == (3 if "LIMIT" in text else None)


@pytest.mark.parametrize(
    "text",
    [
        *("OPTIMIZE '/data/t'", "VACUUM '/data/t'", "DESCRIBE t", "SELECT 1", "OPTIMIZE"),
        *("ALTER TABLE t ADD PARTITION (a = 1)", "ALTER TABLE t DROP PARTITION (a = 1)"),
        *("CREATE TABLE clone (id INT)", "CREATE VIEW v AS TABLE t", "DESC DETAIL"),
    ],
)
def test_other_statements_are_not_ours(text: str) -> None:
    assert parse_habit(tokenize(text), text) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("OPTIMIZE t SOMEHOW", "the end"),
        ("OPTIMIZE t WHERE", "a condition"),
        ("OPTIMIZE t ZORDER BY (a", ")"),
        ("VACUUM t RETAIN 7 DAYS", "HOURS"),
        ("RESTORE t", "TO"),
        ("RESTORE t TO VERSION AS OF now", "the id of a snapshot"),
        ("RESTORE t TO TIMESTAMP AS OF 3", "a time"),
        ("DESC HISTORY t LIMIT all", "a number"),
    ],
)
def test_what_is_wrong_says_what_would_follow(text: str, wanted: str) -> None:
    with pytest.raises(StatementSyntaxError, match=f"needs {wanted}".replace(")", r"\)")):
        parse_habit(tokenize(text), text)
