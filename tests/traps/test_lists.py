"""The lists of traps name tests that are there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
LISTS = ["test_format_traps.py", "test_peer_errors.py", "test_peer_bugs.py"]


@pytest.mark.parametrize("name", LISTS)
def test_every_test_of_a_list_exists(name: str) -> None:
    text = ast.get_docstring(ast.parse((FOLDER / name).read_text(encoding="utf-8"))) or ""
    named = re.findall(r"^ +([\w/]*(?:\.py)?)::(\w+)$", text, re.MULTILINE)

    missing = [
        f"{file}::{test}"
        for file, test in named
        if f"def test_{test}(" not in _source(FOLDER.parent / file if file else FOLDER / name)
    ]

    assert len(named) > 10
    assert not missing


@pytest.mark.parametrize("name", LISTS)
def test_every_test_beside_a_list_is_in_one(name: str) -> None:
    here = re.findall(r"^def test_(\w+)\(", _source(FOLDER / name), re.MULTILINE)
    lists = "".join(_source(FOLDER / one).split('"""')[1] for one in LISTS)

    assert [test for test in here if f"::{test}\n" not in lists] == []


def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")
