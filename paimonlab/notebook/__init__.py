"""Show it: magics, results of SQL, views of metadata.

Answers what a table looks like. Knows IPython, Spark sessions and the user's objects
(`Table`, `Catalog`); must not know file layouts or Arrow internals. Each folder imports only
those after it: `magics` and `completion`, `views` (a folder each), `running` (SQL), `results`,
`cell` (text to statements), `display` (HTML and text), `connections`, `kernel`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from paimonlab.notebook import accessor
from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from paimonlab.notebook.commands import (
        connect,
        demo,
        doctor,
        health,
        show_help,
        simulate,
        sql,
        tables,
        timeline,
    )
    from paimonlab.notebook.results.plotting.bar_chart import bar_chart

__all__ = [
    "bar_chart",
    "connect",
    "demo",
    "doctor",
    "health",
    "load_ipython_extension",
    "show_help",
    "simulate",
    "sql",
    "tables",
    "timeline",
]

_COMMANDS = ("connect", "demo", "doctor", "health", "show_help", "simulate", "sql", "tables")

__getattr__, __dir__ = attributes_on_use(
    __name__,
    bar_chart="results.plotting.bar_chart",
    timeline="commands",
    **dict.fromkeys(_COMMANDS, "commands"),
)

accessor.register()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics; run by ``%load_ext paimonlab``."""
    from paimonlab.notebook.kernel.loading_ahead import load_for_cells  # noqa: PLC0415

    load_for_cells()
    from paimonlab.notebook import magics  # noqa: PLC0415 - IPython is optional
    from paimonlab.notebook.completion import completion  # noqa: PLC0415
    from paimonlab.notebook.kernel import (  # noqa: PLC0415
        front_ends,
        selection,
        short_tracebacks,
    )
    from paimonlab.notebook.magics.lines import answer_help  # noqa: PLC0415
    from paimonlab.notebook.magics.sql import offer_usual_name  # noqa: PLC0415

    completion.register(shell)
    short_tracebacks.register(shell)
    kernel = getattr(shell, "kernel", None)
    if kernel is not None:
        selection.register(kernel.comm_manager)
        front_ends.register(kernel, partial(completion.offered_at, shell))
    shell.register_magics(*magics.ALL)
    answer_help(shell, magics.ALL)
    offer_usual_name(shell)
