"""Tracebacks of errors that users are meant to read: their own lines, then the message.

``%tb`` shows all of the last one, and ``%debug`` goes into it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab.errors import PaimonError

_OURS = f"{Path(paimonlab.__file__).parent}/"
_SPARKS = re.compile(r"/(pyspark|py4j)/")
"""Where an error of the JVM is made one of paimonlab, in the modules of PySpark."""


def register(shell: InteractiveShell) -> None:
    """Let a shell show errors of paimonlab without paimonlab's own lines."""
    shell.set_custom_exc((PaimonError, ValueError, TypeError, AttributeError), show)


def users_lines(traceback: TracebackType | None, *, of_spark: bool) -> TracebackType | None:
    """Return a traceback up to where paimonlab was called.

    Parameters
    ----------
    traceback
        Its first frame is IPython's.
    of_spark
        Whether Spark's own lines end it as well: the error is paimonlab's, whoever raised it.
    """
    if traceback is None:
        return None
    file = traceback.tb_frame.f_code.co_filename
    if file.startswith(_OURS) or (of_spark and _SPARKS.search(file)):
        return None
    return TracebackType(
        users_lines(traceback.tb_next, of_spark=of_spark),
        traceback.tb_frame,
        traceback.tb_lasti,
        traceback.tb_lineno,
    )


def show(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    traceback: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    """Show an error, as IPython asks what was registered for its kind; ``%tb`` shows all of it."""
    shown = users_lines(traceback, of_spark=isinstance(error, PaimonError))
    if _length(shown) == _length(traceback):
        shell.showtraceback((kind, error, traceback), tb_offset=tb_offset)
        return
    chain = error.__cause__, error.__suppress_context__
    error.__cause__ = None
    error.__suppress_context__ = True
    try:
        shell.showtraceback((kind, error, shown), tb_offset=tb_offset)
    finally:
        error.__cause__, error.__suppress_context__ = chain
        sys.last_traceback = traceback


def _length(traceback: TracebackType | None) -> int:
    return sum(1 for _ in walk_tb(traceback))
