"""The table of goals says what was measured last, and what does not hold first."""

from __future__ import annotations

from pathlib import Path

from benchmarks import outcomes
from benchmarks.goals import HEAD, document, of_growth, of_works
from benchmarks.growth.row import GrowthRow
from benchmarks.kept_tables import days, with_kept
from benchmarks.report import Outcome, replace_part


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
            "java_scan": {"paimonlab": _took(1)},
        },
        tmp_path,
    )
    outcomes.keep_works({"plan": {"paimonlab": _took(1)}}, tmp_path)

    lines = list(of_works(outcomes.works(tmp_path), {"append_scan": "2026-11-24"}))

    assert [[*line[1:3], line[4]] for line in lines] == [
        ["at most 0.9 times the best table format", "0.9 s, 0.90 times pyiceberg (1 s)", "yes"],
        ["at most 1.2 times pyarrow", "0.9 s, 1.50 times pyarrow (0.6 s)", "**no**"],
    ]
    assert [line[3] for line in lines] == ["2026-11-24"] * 2
    assert [bool(line[5]) for line in lines] == [False, True]


def test_a_goal_may_be_about_seconds_of_processors(tmp_path: Path) -> None:
    ours, theirs = Outcome([9.0], 0, [1.0, 3.0, 2.0]), Outcome([1.0], 0, [4.0])
    outcomes.keep_works(
        {
            "limit": {"paimonlab": ours, "polars": theirs},
            "partition_write_many": {"paimonlab": ours, "deltalake": _took(1.0)},
        },
        tmp_path,
    )

    (line,) = of_works(outcomes.works(tmp_path), {})

    assert line[2] == "2 CPU s, 0.50 times polars (4 s)"


def test_a_later_run_replaces_a_row_and_keeps_the_others(tmp_path: Path) -> None:
    row = GrowthRow("b", ("1 row", "2 rows"), (1.0, 2.0), "1.5 times", holds=False, limit="fsync")
    outcomes.keep_growth([GrowthRow("a", ("1",), (3.0,), "5 s", holds=False), row], tmp_path)
    outcomes.keep_growth([GrowthRow("a", ("1",), (4.0,), "5 s", holds=True)], tmp_path)

    lines = list(of_growth(outcomes.growth(tmp_path), {"a": "2026-11-24", "b": "2026-11-22"}))
    text = document(lines)

    assert lines == [
        ["a", "5 s", "4 (1) CPU s", "2026-11-24", "yes", ""],
        ["b", "1.5 times", "1 (1 row), 2 (2 rows) CPU s", "2026-11-22", "**no**", "fsync"],
    ]
    assert outcomes.days(tmp_path).keys() == {"a", "b"}
    assert "Measured 2026-11-22 to 2026-11-24: 1 of 2 hold" in text
    assert text.index("| b |") < text.index("| a |")


def test_rows_that_were_not_measured_again_stay_on_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Above.\n<!-- goals -->\n<!-- end of goals -->\nBelow.\n")
    first = [
        ["a", "5 s", "6 s", "2026-11-21", "**no**", "fsync"],
        ["b", "5 s", "4 s", "2026-11-21", "yes", ""],
    ]
    assert with_kept(page, "goals", HEAD, first, key=("work", "goal")) == first
    replace_part(page, "goals", document(first))
    again = [
        ["a", "5 s", "4 s", "2026-11-24", "yes", ""],
        ["a", "1 times pyarrow", "2 times", "2026-11-24", "**no**", ""],
    ]

    rows = with_kept(page, "goals", HEAD, again, key=("work", "goal"))

    assert rows == [again[0], first[1], again[1]]
    assert days(rows, HEAD) == ["2026-11-21", "2026-11-24"]
    replace_part(page, "goals", document(rows))
    assert page.read_text().endswith("<!-- end of goals -->\nBelow.\n")
    assert sorted(with_kept(page, "goals", HEAD, [], key=("work", "goal"))) == sorted(rows)


def test_a_table_without_days_is_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- goals -->\n| work | goal | measured | holds | what limits it |\n"
        "| --- | --- | --- | --- | --- |\n| a | 5 s | 4 s | yes |  |\n<!-- end of goals -->\n"
    )

    assert with_kept(page, "goals", HEAD, [], key=("work", "goal")) == [
        ["a", "5 s", "4 s", "", "yes", ""]
    ]
