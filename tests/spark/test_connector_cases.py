"""What the tables of the connector's cases say is tested is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
INDEX = FOLDER / "connector_cases.md"
AREAS = sorted((FOLDER / "connector_cases").glob("*.md"))
NAMED = re.compile(r"`(?P<file>(?:\w+/)*test_\w+\.py)(?:::(?P<test>test_\w+))?`")
VERDICT = re.compile(r"(?P<verdict>matches|differs|later)(?:: .+)?$")
WAITING = re.compile(r"later: waits (?:for|until) \S+")


def rows_of(path: Path) -> list[list[str]]:
    """Return the cells of the rows of a file's tables, without headings."""
    lines = [line for line in path.read_text().splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0] not in ("case", "area")]


@pytest.mark.parametrize("path", [INDEX, *AREAS], ids=lambda path: path.stem)
def test_the_tests_that_are_named_exist(path: Path) -> None:
    found = list(NAMED.finditer(path.read_text()))

    for named in found:
        places = [folder / named["file"] for folder in (FOLDER, *FOLDER.parents[:2])]
        sources = [place.read_text() for place in places if place.is_file()]
        assert sources, named[0]
        if named["test"] is not None:
            assert any(f"def {named['test']}(" in source for source in sources), named[0]


@pytest.mark.parametrize("path", AREAS, ids=lambda path: path.stem)
def test_every_case_has_a_verdict_and_what_matches_a_test(path: Path) -> None:
    rows = rows_of(path)

    assert rows
    for case, _, here, test, ran in rows:
        verdict = VERDICT.match(here)
        assert verdict, case
        if verdict["verdict"] == "matches":
            assert NAMED.fullmatch(test), case
        else:
            assert here != verdict["verdict"], f"{case}: no reason"
            assert verdict["verdict"] != "later" or WAITING.match(here), case
        assert ran in ("", "yes"), case


def test_the_index_counts_the_cases() -> None:
    counted = {
        Path(row[0].partition("(")[2].rstrip(")")).name: [int(cell) for cell in row[1:]]
        for row in rows_of(INDEX)
        if row[0].startswith("[")
    }

    assert set(counted) == {path.name for path in AREAS}
    for path in AREAS:
        verdicts = [row[2].partition(":")[0] for row in rows_of(path)]
        each = [verdicts.count(verdict) for verdict in ("matches", "differs", "later")]
        of_release = sum(row[2].startswith("later") and row[1] != "master" for row in rows_of(path))
        assert counted[path.name] == [len(verdicts), *each, of_release], path.name
