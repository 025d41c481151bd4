"""Run a notebook without a browser: a line per cell, the main results as text.

Leaves the executed notebook and an HTML page beside each other. Cells tagged ``result``
are the main results. Exit code 1 when a cell fails, after naming the cell and its error.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter
from nbformat import NotebookNode

_TITLE_LENGTH = 72
_TRACEBACK_LINES = 6
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#* *$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A code cell and what it is called on the terminal."""

    cell: NotebookNode
    title: str


def steps(notebook: NotebookNode) -> list[Step]:
    """List the code cells that are not empty, in order.

    A cell is called by its own first comment, else by the heading right before it, else
    by its first line.
    """
    found: list[Step] = []
    heading: str | None = None
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = first_heading(cell.source) or heading
        elif cell.cell_type == "code" and cell.source.strip():
            found.append(Step(cell, title(cell.source, heading)))
            heading = None
    return found


def first_heading(markdown: str) -> str | None:
    """Return the text of the first heading, None if there is none."""
    match = _HEADING.search(markdown)
    return match.group(1) if match else None


def title(source: str, heading: str | None) -> str:
    """Name a cell in at most 72 characters."""
    first_line = source.strip().splitlines()[0]
    text = first_line.lstrip("# ") if first_line.startswith("# ") else heading or first_line
    return text if len(text) <= _TITLE_LENGTH else text[: _TITLE_LENGTH - 1] + "…"


class Progress:
    """Print a line per cell while the notebook runs."""

    def __init__(self, notebook: NotebookNode, out: TextIO) -> None:
        self._titles = {id(step.cell): step.title for step in steps(notebook)}
        self._number = 0
        self._current = "0  (starting the kernel)"
        self._out = out
        self._started = time.monotonic()

    @property
    def current(self) -> str:
        """Number and title of the cell that runs or ran last."""
        return self._current

    def start(self, *, cell: NotebookNode, cell_index: int) -> None:  # noqa: ARG002 - nbclient's names
        """Note that a cell starts; called by nbclient."""
        if id(cell) not in self._titles:
            return
        self._number += 1
        self._started = time.monotonic()
        self._current = f"{self._number:2d}/{len(self._titles)}  {self._titles[id(cell)]}"
        if self._out.isatty():
            self._out.write(f"\r{self._current} …")
            self._out.flush()

    def finish(self, *, cell: NotebookNode, cell_index: int, execute_reply: object) -> None:  # noqa: ARG002
        """Print a finished cell with its seconds; called by nbclient, for failed cells too."""
        if id(cell) not in self._titles:
            return
        seconds = time.monotonic() - self._started
        start_of_line = "\r" if self._out.isatty() else ""
        self._out.write(f"{start_of_line}{self._current:<{_TITLE_LENGTH + 8}} {seconds:6.1f} s\n")
        self._out.flush()


def execute(path: Path, kernel_log: TextIO, out: TextIO, *, timeout_seconds: int) -> NotebookNode:
    """Run all cells in a fresh kernel whose folder is the notebook's, and return the notebook.

    Raises
    ------
    NotebookFailedError
        If a cell raises, takes too long or kills the kernel; carries the notebook so far.
    """
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    progress = Progress(notebook, out)
    client = NotebookClient(
        notebook,
        timeout=timeout_seconds,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=progress.start,
        on_cell_executed=progress.finish,
    )
    try:
        client.execute(stderr=kernel_log)
    except CellExecutionError as error:
        problem = f"{error.ename}: {error.evalue}"
        raise NotebookFailedError(notebook, progress.current, problem, error.traceback) from error
    except (CellTimeoutError, DeadKernelError) as error:
        raise NotebookFailedError(notebook, progress.current, str(error), "") from error
    return notebook


class NotebookFailedError(Exception):
    """A cell did not run to its end."""

    def __init__(
        self, notebook: NotebookNode, cell: str, problem: str, traceback_text: str
    ) -> None:
        self.notebook = notebook
        self.cell = cell
        self.problem = _plain(problem).splitlines()[0]
        self.traceback_tail = _plain(traceback_text).splitlines()[-_TRACEBACK_LINES:]
        super().__init__(notebook, cell, problem, traceback_text)


def results(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Yield title and text of every output of the cells tagged ``result``."""
    for step in steps(notebook):
        if "result" in step.cell.metadata.get("tags", []):
            text = "\n".join(_texts(step.cell.outputs))
            if text:
                yield step.title, text


def _texts(outputs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for output in outputs:
        if output["output_type"] == "stream" and output["name"] == "stdout":
            yield _plain(output["text"]).rstrip("\n")
        elif "data" in output and "text/plain" in output["data"]:
            yield _plain(output["data"]["text/plain"]).rstrip("\n")


def _plain(text: str) -> str:
    return _ANSI.sub("", text)


def write(notebook: NotebookNode, folder: Path, name: str) -> tuple[Path, Path]:
    """Write the notebook and an HTML page of it that needs no network."""
    executed, page = folder / f"{name}.ipynb", folder / f"{name}.html"
    nbformat.write(notebook, executed)  # type: ignore[no-untyped-call]
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        embed_images=True, mathjax_url="", mermaid_js_url="", require_js_url=""
    )
    body, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": name}})
    page.write_text(body, encoding="utf-8")
    return executed, page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--to", type=Path, default=Path("build"), help="folder for what it leaves")
    parser.add_argument("--timeout", type=int, default=300, metavar="SECONDS", help="for one cell")
    options = parser.parse_args(arguments)
    options.to.mkdir(parents=True, exist_ok=True)
    name = options.notebook.stem
    log = options.to / f"{name}.kernel.log"
    started = time.monotonic()
    print(f"Running {options.notebook}")
    try:
        with log.open("w", encoding="utf-8") as kernel_log:
            notebook = execute(
                options.notebook, kernel_log, sys.stdout, timeout_seconds=options.timeout
            )
    except NotebookFailedError as error:
        executed, _ = write(error.notebook, options.to, name)
        _report_failure(error, executed, log)
        return 1
    executed, page = write(notebook, options.to, name)
    for heading, text in results(notebook):
        print(f"\n{heading}\n{'-' * len(heading)}\n{text}")
    print(f"\nDone in {time.monotonic() - started:.0f} s.")
    print(f"Executed notebook: {executed}\nHTML page:         {page}")
    return 0


def _report_failure(error: NotebookFailedError, executed: Path, log: Path) -> None:
    print(f"\nFAILED in cell {error.cell}", file=sys.stderr)
    for line in error.traceback_tail:
        print(f"  {line}", file=sys.stderr)
    if not any(error.problem in line for line in error.traceback_tail):
        print(f"  {error.problem}", file=sys.stderr)
    print(f"All outputs so far: {executed}; the kernel's own log: {log}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
