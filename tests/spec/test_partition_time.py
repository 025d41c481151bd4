"""Which time the values of a partition stand for; Java's answers are in interop."""

from __future__ import annotations

from datetime import datetime

import pytest

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.partitions.times import parse_time, timestamp_text

TIMES: list[tuple[str, str | None, str | None]] = [
    ("2026-01-02", None, "2026-01-02T00:00:00"),
    ("2026-1-2", None, "2026-01-02T00:00:00"),
    ("2026-01-02 03:04:05", None, "2026-01-02T03:04:05"),
    ("2026-01-02 3:4:5.25", None, "2026-01-02T03:04:05.250000"),
    ("2026-13-40", None, "2027-02-09T00:00:00"),
    ("2026-01-02 25:61:61", None, "2026-01-03T02:02:01"),
    ("2026-01-02 03:04", None, None),
    ("2026-01-02T03:04:05", None, None),
    ("20260102", None, None),
    ("99999-01-01", None, None),
    ("", None, None),
    ("20260102", "yyyyMMdd", "2026-01-02T00:00:00"),
    ("20260231", "yyyyMMdd", "2026-02-28T00:00:00"),
    ("20260132", "yyyyMMdd", None),
    ("20261301", "yyyyMMdd", None),
    ("202601021", "yyyyMMdd", None),
    ("202601", "yyyyMM", None),
    ("260102", "yyMMdd", "2026-01-02T00:00:00"),
    ("2026032", "yyyyDDD", "2026-02-01T00:00:00"),
    ("2025366", "yyyyDDD", None),
    ("2026/1/2 3", "yyyy/M/d H", "2026-01-02T03:00:00"),
    ("2026-01-02 03", "yyyy-MM-dd HH", "2026-01-02T03:00:00"),
    ("20260102T030405", "yyyyMMdd'T'HHmmss", "2026-01-02T03:04:05"),
    ("2026-01-02", "yyyy-MM-dd[ HH:mm]", "2026-01-02T00:00:00"),
    ("2026-01-02 07:30", "yyyy-MM-dd[ HH:mm]", "2026-01-02T07:30:00"),
    ("2026-01-02 24:00", "yyyy-MM-dd HH:mm", "2026-01-03T00:00:00"),
    ("2026-01-02 25:00", "yyyy-MM-dd HH:mm", None),
]


@pytest.mark.parametrize(("text", "formatter", "expected"), TIMES)
def test_a_time_is_read(text: str, formatter: str | None, expected: str | None) -> None:
    found = parse_time(text, formatter)

    assert found == (None if expected is None else datetime.fromisoformat(expected))


def test_columns_make_a_time() -> None:
    values = {"dt": "2026-01-02", "h": "7", "x": "y"}

    assert timestamp_text(values, None) == "2026-01-02"
    assert timestamp_text(values, "$dt $h:00:00") == "2026-01-02 7:00:00"
    assert timestamp_text({**values, "x": None}, "$dt") is None
    assert timestamp_text({"dt": None, "h": "7"}, None) is None


@pytest.mark.parametrize("formatter", ["MMM d yyyy", "yyyy-MM-dd hh a", "yyyyMMdd yyyy", "EEE"])
def test_a_letter_that_is_not_built_is_refused(formatter: str) -> None:
    with pytest.raises(UnsupportedError, match=r"partition\.timestamp-formatter"):
        parse_time("x", formatter)


@pytest.mark.parametrize("formatter", ["yyyy#", "yyyy[MM"])
def test_a_formatter_that_cannot_be_is_an_error(formatter: str) -> None:
    with pytest.raises(SchemaError, match=r"partition\.timestamp-formatter"):
        parse_time("x", formatter)
