"""docs/options.md says of every option what is done with it, docs/compatibility.md names tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paimonlab.spec.options.table_options import KNOWN_OPTIONS, OptionSpec

PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"
OPTIONS = PAGE.with_name("options.md")


def section_of(spec: OptionSpec) -> str:
    if spec.status == "implemented":
        return "Obeyed"
    if spec.status == "accepted":
        return "Accepted without effect"
    if "read" not in spec.refused_for:
        return "Refused for writing only"
    is_for_both = "write" in spec.refused_for
    return "Refused for reading and writing" if is_for_both else "Refused for reading only"


@pytest.mark.parametrize(
    "section",
    [
        "Obeyed",
        "Accepted without effect",
        "Refused for reading and writing",
        "Refused for reading only",
        "Refused for writing only",
    ],
)
def test_the_page_lists_the_options_of_each_kind(section: str) -> None:
    text = OPTIONS.read_text(encoding="utf-8").split(f"## {section}\n")[1].split("\n## ")[0]
    paragraph = text.strip().rsplit("\n\n", maxsplit=1)[-1]

    listed = re.findall(r"`([^`]+)`", paragraph)

    assert listed == sorted(
        key for key, spec in KNOWN_OPTIONS.items() if section_of(spec) == section
    )


def test_the_tests_that_the_page_names_are_there() -> None:
    folder = Path(__file__).parent
    names = set(re.findall(r"`(?:interop/)?(test_\w+\.py)`", PAGE.read_text(encoding="utf-8")))

    assert names
    assert not {name for name in names if not (folder / "interop" / name).exists()}


def test_the_golden_tables_that_the_page_names_are_there() -> None:
    tables = (Path(__file__).parent / "golden" / "tables.txt").read_text(encoding="utf-8")
    listed = re.findall(r"golden ((?:`[\w*]+`(?:, )?)+)", PAGE.read_text(encoding="utf-8"))
    patterns = [name for group in listed for name in re.findall(r"`([\w*]+)`", group)]

    assert patterns
    for pattern in patterns:
        name = pattern.replace("*", r"\w*")
        assert re.search(rf"(?m)^java-1.3.1/{name} ", tables), pattern
