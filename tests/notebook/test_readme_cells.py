"""The cells of the README run as they stand there, after its tour and without Spark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def test_the_cells_of_the_readme_run(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = re.findall(r"```\n(%.*?)```", README, re.DOTALL)
    tour = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)

    assert len(cells) == 2
    for cell in (tour, *cells):
        shell.run_cell(cell).raise_error()

    assert "bar: amount by day, by note" in shell.user_ns["_"].to_text()
