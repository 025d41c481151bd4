"""The command line: parses arguments, calls one function, prints what it returns.

Answers: how a shell asks. Must not know: the layout of files, notebooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.cli import call_text as call_text
    from paimonlab.cli import listed_tables as listed_tables
    from paimonlab.cli import opening as opening
    from paimonlab.cli import output as output

__getattr__, __dir__ = attributes_on_use(
    __name__, "call_text", "listed_tables", "opening", "output"
)
