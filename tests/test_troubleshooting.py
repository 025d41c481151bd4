"""What docs/troubleshooting.md says one sees is what one sees."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab import errors

PAGE = (Path(__file__).parents[1] / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
DAY = dt.date(2026, 1, 1)


@pytest.fixture
def orders(tmp_path: Path) -> pl.Table:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    return catalog.create_table(
        "db.t",
        {"day": "DATE", "id": "BIGINT", "note": "STRING"},
        primary_keys=["day", "id"],
        options={"bucket": "1"},
    )


def test_errors_that_are_named_are_there() -> None:
    named = set(re.findall(r"`(\w+(?:Error|Warning))\b", PAGE))

    assert named
    assert [name for name in named if not hasattr(errors, name)] == []


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("does not take string; cast it", lambda t: t.write([{"day": "x", "id": 1, "note": ""}])),
        ("has no column 'nota'", lambda t: t.write([{"day": DAY, "id": 1, "nota": ""}])),
        ("has 1 null values", lambda t: t.write([{"day": None, "id": 1, "note": ""}])),
        ("A text is quoted: 'sun'", lambda t: t.scan(where="note=sun").to_arrow()),
        (
            "several rows of the source match one row of the table",
            lambda t: (
                t.merge([{"id": 1, "note": "a"}, {"id": 1, "note": "b"}], on="t.id = s.id")
                .when_matched_update({"note": "s.note"})
                .execute()
            ),
        ),
    ],
)
def test_messages_are_as_the_page_has_them(
    said: str, wrong: Callable[[pl.Table], object], orders: pl.Table
) -> None:
    orders.write([{"day": DAY, "id": 1, "note": "first"}])
    with pytest.raises(errors.PaimonError) as found:
        wrong(orders)

    assert said in str(found.value)
    assert said in PAGE
