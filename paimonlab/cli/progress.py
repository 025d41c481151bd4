"""How far a long job is, as a bar on standard error; nothing where nobody looks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from paimonlab.table.changing.statement import Progress


@contextmanager
def bar(label: str) -> Iterator[Progress | None]:
    """Show a bar while the body runs; None: standard error is no terminal.

    Yields
    ------
    function or None
        To be called with what is done, of how much, and the unit.
    """
    if not sys.stderr.isatty():
        yield None
        return
    with click.progressbar(length=1, label=label, file=sys.stderr) as shown:

        def progress(done: int, total: int, _unit: str) -> None:
            shown.length = max(total, 1)
            shown.update(done - shown.pos)

        yield progress
