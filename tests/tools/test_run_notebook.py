from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.run_notebook import first_heading, main, results, steps, title


def notebook_file(path: Path, *cells: nbformat.NotebookNode) -> Path:
    notebook = new_notebook(cells=list(cells))  # type: ignore[no-untyped-call]
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
    return path


def code(source: str, *tags: str) -> nbformat.NotebookNode:
    cell: nbformat.NotebookNode = new_code_cell(  # type: ignore[no-untyped-call]
        source, metadata={"tags": list(tags)}
    )
    return cell


def prose(source: str) -> nbformat.NotebookNode:
    cell: nbformat.NotebookNode = new_markdown_cell(source)  # type: ignore[no-untyped-call]
    return cell


def test_a_cell_is_called_by_its_comment_then_by_the_heading_before_it_then_by_its_first_line() -> (
    None
):
    assert title("# Load a month\nload()", "Writing") == "Load a month"
    assert title("load()", "Writing") == "Writing"
    assert title("load()", None) == "load()"
    assert title("%%paimon\nSELECT 1", None) == "%%paimon"


def test_a_heading_names_only_the_cell_right_after_it() -> None:
    notebook = new_notebook(  # type: ignore[no-untyped-call]
        cells=[prose("text\n\n## Two ##\n\nmore"), code("a()"), code(""), code("b()")]
    )

    assert [step.title for step in steps(notebook)] == ["Two", "b()"]


def test_prose_without_a_heading_has_none() -> None:
    assert first_heading("no heading, only #1") is None


def test_a_run_prints_a_line_per_cell_and_the_results_and_leaves_two_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook_file(
        tmp_path / "n.ipynb",
        prose("# Sums"),
        code("import sys; print('to the log', file=sys.stderr)"),
        code("print('shown'); 6 * 7", "result"),
    )

    exit_code = main([str(path), "--to", str(tmp_path / "out")])

    lines = capsys.readouterr().out.splitlines()
    assert exit_code == 0
    assert lines[1].startswith(" 1/2  Sums")
    assert lines[2].startswith(" 2/2  print('shown'); 6 * 7")
    assert lines[3:8] == ["", "print('shown'); 6 * 7", "-" * 21, "shown", "42"]
    assert (tmp_path / "out" / "n.ipynb").exists()
    assert "42" in (tmp_path / "out" / "n.html").read_text()


def test_a_failing_cell_ends_the_run_and_is_named_with_its_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook_file(
        tmp_path / "n.ipynb", code("# divide\n1 / 0"), code("print('not reached')")
    )

    exit_code = main([str(path), "--to", str(tmp_path / "out")])

    captured = capsys.readouterr()
    assert exit_code == 1
    assert "FAILED in cell  1/2  divide" in captured.err
    assert "ZeroDivisionError: division by zero" in captured.err
    assert "not reached" not in captured.out
    assert len(captured.err.splitlines()) <= 10


def test_a_dead_kernel_is_a_failure_and_not_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = notebook_file(tmp_path / "n.ipynb", code("import os; os._exit(3)"))

    exit_code = main([str(path), "--to", str(tmp_path / "out")])

    assert exit_code == 1
    assert "Kernel died" in capsys.readouterr().err


def test_results_are_the_texts_of_tagged_cells_only() -> None:
    shown, silent = code("a", "result"), code("b")
    for cell in (shown, silent):
        cell.outputs = [
            nbformat.from_dict(  # type: ignore[no-untyped-call]
                {
                    "output_type": "display_data",
                    "metadata": {},
                    "data": {"text/plain": "\x1b[1mtext\x1b[0m"},
                }
            )
        ]
    notebook = new_notebook(cells=[shown, silent])  # type: ignore[no-untyped-call]

    assert list(results(notebook)) == [("a", "text")]
