"""Each advice of the guide to tuning has a measure, in the same words, and its row."""

from __future__ import annotations

import re

import pytest

from benchmarks.tuning.page import PAGE, SECTIONS, rows_of, tables, title


def _advices(section: str) -> list[str]:
    """Return what the paragraphs after the table of a section advise, in order."""
    text = PAGE.read_text().split(f"<!-- end of measured: {section} -->\n")[1].split("\n## ")[0]
    paragraphs = [part.strip() for part in text.split("\n\n") if part.strip()]
    advised = [part for part in paragraphs if not part.startswith(("|", "More in "))]
    heads = [re.match(r"\*\*(.+?)\.?\*\*", part) for part in advised]
    assert None not in heads, "a paragraph that begins with no advice in bold"
    return [head[1] for head in heads if head is not None]


@pytest.mark.parametrize("section", SECTIONS)
def test_each_advice_is_measured(section: str) -> None:
    measured = [title(work)[0] for work in SECTIONS[section]]

    assert _advices(section) == list(dict.fromkeys(measured))


@pytest.mark.parametrize("section", SECTIONS)
def test_each_measure_has_its_row(section: str) -> None:
    rows = rows_of(section)

    assert [(row[0], row[1]) for row in rows] == [title(work) for work in SECTIONS[section]]
    assert all(row[2] and row[3] for row in rows)


def test_a_row_that_is_measured_anew_replaces_that_of_its_work() -> None:
    first, second = (title(work) for work in SECTIONS["Reads"][:2])

    lines = tables([[*second, "8 s", "1 s", "8.0"]], kept=True)["Reads"].splitlines()

    assert lines[2].startswith(f"| {first[0]} | {first[1]} |")
    assert lines[3] == f"| {second[0]} | {second[1]} | 8 s | 1 s | 8.0 |"
