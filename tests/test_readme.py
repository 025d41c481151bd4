"""The README's tour, and the pages for scripts, run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab

README = Path(__file__).parents[1] / "README.md"
ANALYSIS = README.parent / "docs" / "analysis.md"
FOLLOWING = README.parent / "docs" / "following.md"


def test_the_tour_runs_and_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert blocks, "the README has no tour"
    monkeypatch.chdir(tmp_path)

    said = "\n".join(re.findall(r"# prints (.*)", blocks[0]))
    paimonlab.connect("./warehouse").create_database("shop")  # as `paimonlab load` did before it
    exec(compile(blocks[0], str(README), "exec"), {})

    assert capsys.readouterr().out.strip() == said


def test_the_page_about_following_prints_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", FOLLOWING.read_text(), re.DOTALL)
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("shop")
    orders = catalog.create_table("shop.orders", {"id": "INT"}, primary_keys=["id"])
    for number in (1, 2):
        orders.write(pa.table({"id": pa.array([number], pa.int32())}))

    names = {"orders": orders}
    for block in blocks:
        exec(compile(block, str(FOLLOWING), "exec"), names)

    said = re.findall(r"# prints (.*)", "".join(blocks))
    assert capsys.readouterr().out.strip().splitlines() == said


def test_the_page_about_analysis_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", ANALYSIS.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)

    exec(compile(block, str(ANALYSIS), "exec"), {})

    said = re.findall(r"# prints (.*)", block)
    assert capsys.readouterr().out.strip().splitlines() == said
