"""The README's tour runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_the_tour_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert blocks, "the README has no tour"
    monkeypatch.chdir(tmp_path)

    said = "\n".join(re.findall(r"# prints (.*)", blocks[0]))
    exec(compile(blocks[0], str(README), "exec"), {})

    assert capsys.readouterr().out.strip() == said
