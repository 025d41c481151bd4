"""Statements of the files in ``tests/cases``."""

from __future__ import annotations

import re
from pathlib import Path

_CASES = Path(__file__).parents[1] / "cases"


def statements(name: str) -> list[tuple[str, str]]:
    """Return titles and texts of a file: ``-- title``, then a statement that ends in ``;``."""
    text = (_CASES / f"{name}.sql").read_text()
    found = re.findall(r"^-- ([^\n]+)\n([^-].*?);$", text, re.MULTILINE | re.DOTALL)
    return [(title, body.strip()) for title, body in found]
