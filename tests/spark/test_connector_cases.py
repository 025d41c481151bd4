"""What `connector_cases.md` says is tested is there."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent
NAMED = re.compile(r"`(?P<file>(?:\w+/)*test_\w+\.py)(?:::(?P<test>test_\w+))?`")


def test_the_tests_that_are_named_exist() -> None:
    text = (FOLDER / "connector_cases.md").read_text()
    found = list(NAMED.finditer(text))

    assert found
    for named in found:
        is_elsewhere = named["file"].startswith("tests/")
        source = (ROOT if is_elsewhere else FOLDER) / named["file"]
        assert source.is_file(), named[0]
        if named["test"] is not None:
            assert f"def {named['test']}(" in source.read_text(), named[0]


def test_every_case_that_matches_names_a_test_or_says_why() -> None:
    text = (FOLDER / "connector_cases.md").read_text()
    cells = [line.strip("|\n ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    matching = [row for row in cells if len(row) > 1 and row[1].strip() == "matches"]

    assert matching
    assert [row for row in matching if len(row) < 3 or not NAMED.search(row[2])] == []
