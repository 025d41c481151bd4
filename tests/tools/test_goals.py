"""The table of goals says what was measured last, and what does not hold first."""

from __future__ import annotations

from pathlib import Path

from benchmarks import outcomes
from benchmarks.goals import document, of_growth, of_works
from benchmarks.growth.row import GrowthRow
from benchmarks.report import Outcome


def _took(*seconds: float) -> Outcome:
    return Outcome(list(seconds), 0)


def test_a_goal_is_held_against_the_fastest_of_the_others(tmp_path: Path) -> None:
    outcomes.keep_works(
        {
            "append_scan": {
                "paimonlab": _took(5, 0.9, 0.1),
                "deltalake": _took(2),
                "pyiceberg": _took(1),
                "pyarrow": _took(0.6),
            },
            "limit": {"paimonlab": _took(1)},
        },
        tmp_path,
    )
    outcomes.keep_works({"plan": {"paimonlab": _took(1)}}, tmp_path)

    lines = list(of_works(outcomes.works(tmp_path)))

    assert [line[1:4] for line in lines] == [
        ["at most 0.9 times the best table format", "0.9 s, 0.90 times pyiceberg (1 s)", "yes"],
        ["at most 1.2 times pyarrow", "0.9 s, 1.50 times pyarrow (0.6 s)", "**no**"],
    ]
    assert [bool(line[4]) for line in lines] == [False, True]


def test_a_later_run_replaces_a_row_and_keeps_the_others(tmp_path: Path) -> None:
    row = GrowthRow("b", ("1 row", "2 rows"), (1.0, 2.0), "1.5 times", holds=False, limit="fsync")
    outcomes.keep_growth([GrowthRow("a", ("1",), (3.0,), "5 s", holds=False), row], tmp_path)
    outcomes.keep_growth([GrowthRow("a", ("1",), (4.0,), "5 s", holds=True)], tmp_path)

    lines = list(of_growth(outcomes.growth(tmp_path)))
    text = document(lines, outcomes.days(tmp_path))

    assert lines == [
        ["a", "5 s", "4 (1) CPU s", "yes", ""],
        ["b", "1.5 times", "1 (1 row), 2 (2 rows) CPU s", "**no**", "fsync"],
    ]
    assert "1 of 2 hold" in text
    assert text.index("| b |") < text.index("| a |")
