"""Which columns a query of a notebook needs."""

from __future__ import annotations

import pytest

from paimonlab.notebook.views.travel.named_columns import named_columns

COLUMNS = ["id", "amount", "Status", "a b", "current_date"]
ALWAYS = ["a b"]
"""What is no plain name is read anyway."""


@pytest.mark.parametrize(
    ("sql", "needed"),
    [
        ("SELECT count(*) FROM rows", []),
        ("SELECT sum(amount) FROM rows", ["amount"]),
        ("SELECT status, count(*) FROM rows GROUP BY status", ["Status"]),
        ('SELECT "Status" FROM rows WHERE id > 3', ["id", "Status"]),
        ("SELECT current_date FROM rows", ["current_date"]),
        ("WITH x AS (SELECT amount FROM rows) SELECT amount FROM x", ["amount"]),
        ("SELECT count(*) OVER (PARTITION BY amount) FROM rows", ["amount"]),
        ("SELECT 'amount' FROM rows", ["amount"]),
        ("SELECT * FROM rows", COLUMNS),
        ("SELECT rows.* FROM rows", COLUMNS),
        ("SELECT count(*) FROM (SELECT * FROM rows)", COLUMNS),
        ("SELECT * EXCLUDE (id) FROM rows", COLUMNS),
        ("SELECT COLUMNS('^a') FROM rows", COLUMNS),
        ("SELECT id FROM rows NATURAL JOIN rows r", COLUMNS),
        ("SELECT FROM WHERE", COLUMNS),
        ("", COLUMNS),
    ],
)
def test_a_column_counts_where_it_is_named_or_meant(sql: str, needed: list[str]) -> None:
    found = named_columns(sql, COLUMNS)

    assert [name for name in found if name not in ALWAYS or needed == COLUMNS] == needed
    assert set(ALWAYS) <= set(found)
