"""The stations and folders that ``docs/architecture.md`` lists are there, and no others."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import paimonlab as pl

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
MOST = 15
_SECTION = re.compile(r"^## One batch and one query.*?(?=^## )", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (\d+) \| (.*?) \|", re.MULTILINE)
_FOLDERS = re.compile(r"^Folders inside the layers.*?(?=^Six decisions)", re.MULTILINE | re.DOTALL)
_FOLDER_ROW = re.compile(r"^\| (?:`(\w+)`|) ?\| ((?:`[\w]+`(?:, )?)+) \|", re.MULTILINE)
_NAME = re.compile(r"`([\w.]+)`")


def test_a_batch_and_a_query_take_few_stations_that_exist() -> None:
    section = _SECTION.search(PAGE.read_text(encoding="utf-8"))
    assert section
    rows = _ROW.findall(section[0])
    numbers = [int(number) for number, _ in rows]

    assert numbers == [*range(1, max(numbers) + 1)] * 2
    assert max(numbers) <= MOST
    for _, names in rows:
        assert is_there(_NAME.findall(names)[0]), names


def test_every_folder_of_a_layer_is_listed() -> None:
    section = _FOLDERS.search(PAGE.read_text(encoding="utf-8"))
    assert section
    listed, layer = [], ""
    for row in _FOLDER_ROW.finditer(section[0]):
        layer = row[1] or layer
        listed += [f"{layer}/{name}" for name in _NAME.findall(row[2])]
    package = ROOT / "paimonlab"
    folders = [path.parent.relative_to(package).as_posix() for path in package.glob("*/*/*.py")]

    assert sorted(listed) == sorted(set(folders))


def is_there(dotted: str) -> bool:
    """Whether a name is a public one, or one below ``paimonlab``."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found: object = import_module(".".join(["paimonlab", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        return all((found := getattr(found, part, None)) is not None for part in parts[count:])
    found = pl
    return all((found := getattr(found, part, None)) is not None for part in parts)
