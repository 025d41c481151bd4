"""Conditions on times reach the files, and find the same rows as without that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pm
from paimonlab import dbapi

NOON = datetime(2026, 3, 29, 2, 30)
"""In Berlin the clock skips it."""
TEXTS = ("2026-03-29 02:30:00", "2026-03-29 02:30:00.000001", "2026-03-29 02:29:59.999999")


@pytest.fixture(params=["UTC", "Europe/Berlin"])
def _zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("_zone")
@pytest.mark.parametrize("digits", [0, 3, 6])
def test_a_time_of_the_statement_finds_the_same_rows_of_files(digits: int, tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    columns = {"id": "INT", "ts": f"TIMESTAMP({digits})", "at": f"TIMESTAMP_LTZ({digits})"}
    table = catalog.create_table("db.t", columns)
    hours = [timedelta(hours=n // 3 - 2, seconds=n % 3 - 1) for n in range(15)]
    clocks = [*(NOON + hour for hour in hours), None]
    instants = [clock and clock.replace(tzinfo=UTC) for clock in clocks]
    table.write({"id": range(16), "ts": clocks, "at": pa.array(instants)})

    with dbapi.connect(str(tmp_path)) as connection:
        asked = connection.cursor()

        def found(where: str) -> list[tuple[object, ...]]:
            return asked.execute(f"SELECT id FROM db.t WHERE {where} ORDER BY id").fetchall()

        for column in ("ts", "at"):
            for sign in ("<", "<=", "=", ">=", ">", "<>"):
                for text in TEXTS:
                    plain = found(f"coalesce({column}, NULL) {sign} '{text}'")
                    assert found(f"{column} {sign} '{text}'") == plain, (column, sign, text)
        left = len(found(f"NOT ts < '{TEXTS[0]}' OR ts IS NULL"))
        asked.execute(f"DELETE FROM db.t WHERE ts < '{TEXTS[0]}'")
        asked.execute("UPDATE db.t SET id = 99 WHERE at >= '2026-03-29 06:00:00'")

    assert table.scan().count() == left


def test_files_are_ruled_out_by_times(tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.write_table("db.t", {"ts": pa.array([NOON])})
    table.write({"ts": pa.array([NOON + timedelta(days=1)])})

    with dbapi.connect(str(tmp_path)) as connection:
        asked = connection.cursor()
        shown = asked.execute(
            "EXPLAIN SELECT count(*) FROM db.t WHERE ts > '2026-03-30'"
        ).fetchall()

    assert "db.t@2: 1 file opened" in str(shown)
