"""What the documentation tells a reader to type is there: magics, commands, methods."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import paimonlab as pm
from paimonlab.cli.main import main
from paimonlab.notebook.magics import ALL

ROOT = Path(__file__).parents[1]
PAGES = (*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md")
OF_OTHERS = {
    "format-tables.md": ("catalog", "table"),  # there they are of catalogs that keep such tables
    "coming-from.md": ("table.append",),  # what pyiceberg calls it
}


def _named(pattern: str) -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for found in set(re.findall(pattern, page.read_text(encoding="utf-8"))):
            if not found.startswith(OF_OTHERS.get(page.name, ())):
                yield page.name, found


def test_magics() -> None:
    names = {name for kind in ALL for magics in kind.magics.values() for name in magics}

    assert [found for found in _named(r"%(paimon_[a-z]+)") if found[1] not in names] == []


def test_commands() -> None:
    pattern = r"`paimonlab (?:\./\S+ )?([a-z][a-z-]+)"

    assert [found for found in _named(pattern) if found[1] not in main.commands] == []


def test_methods(tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    of = {"catalog": catalog, "table": catalog.create_table("db.t", {"id": "INT"})}

    def is_there(name: str) -> bool:
        first, *rest = name.split(".")
        try:
            reduce(getattr, rest, of[first])
        except AttributeError:
            return False
        return True

    pattern = r"\b((?:catalog|table)(?:\.[a-z_]+)+)\("
    assert [found for found in _named(pattern) if not is_there(found[1])] == []
