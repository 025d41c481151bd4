"""What the committed quickstart must be; nbval runs it and compares its outputs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00_quickstart.ipynb"


@pytest.fixture(scope="module")
def cells() -> list[Any]:
    notebook: Any = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    return list(notebook.cells)


def outputs(cells: list[Any]) -> list[Any]:
    return [output for cell in cells for output in cell.get("outputs", [])]


def test_it_is_short_and_begins_with_prose(cells: list[Any]) -> None:
    assert len(cells) <= 25
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")


def test_it_is_executed_in_order_without_a_failure(cells: list[Any]) -> None:
    code = [cell for cell in cells if cell.cell_type == "code"]

    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert all(cell.outputs for cell in code)
    assert not any(output.output_type == "error" for output in outputs(cells))
    assert not any(output.get("name") == "stderr" for output in outputs(cells))
    assert code[-1].outputs[0].text == "all checks passed\n"


def test_main_results_are_tagged(cells: list[Any]) -> None:
    assert sum("result" in cell.metadata.get("tags", []) for cell in cells) >= 3


def test_every_output_is_readable_without_javascript(cells: list[Any]) -> None:
    rich = [output.data for output in outputs(cells) if "data" in output]

    for data in rich:
        assert {"text/plain", "text/html"} <= set(data)
        assert len(data["text/html"]) < 200_000
        assert "<script" not in data["text/html"]
    assert any("application/vnd.plotly.v1+json" in data for data in rich)


def test_outputs_fetch_nothing_and_name_no_folder(cells: list[Any]) -> None:
    for output in outputs(cells):
        texts = [output.get("text", ""), *output.get("data", {}).values()]
        for text in texts:
            assert not re.search(r"""(?:src|href)=(?!["']?data:)""", str(text))
            assert not re.search(r"/(?:tmp|home|root|var|Users)/", str(text))
