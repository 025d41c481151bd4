"""What all magics do with their line and with errors."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics
from IPython.core.magic_arguments import parse_argstring

from paimonlab.errors import NotFoundError, PaimonError, close_matches
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.topics import Topic, topic_of
from paimonlab.notebook.cell.wrong_use import wrong_use
from paimonlab.notebook.views.opening import opened


@contextmanager
def errors_on_one_line(otherwise: Topic = "magics") -> Iterator[None]:
    """Show a `PaimonError` without traceback; let a bug keep its own."""
    try:
        yield
    except QueryError:
        raise
    except PaimonError as error:
        raise wrong_use(str(error), topic_of(error, otherwise)) from error


def arguments(magic: Callable[..., Any], line: str) -> Any:
    """Parse a line, and suggest what a misspelt option could have been."""
    try:
        return parse_argstring(magic, line)
    except UsageError as error:
        names = [word for word in magic.__doc__.split() if word.startswith("-")]  # type: ignore[union-attr]
        unknown = str(error).partition("unrecognized arguments:")[2].split()
        hints = {close_matches(word, names) for word in unknown if word.startswith("-")}
        raise wrong_use(f"{error}.{''.join(sorted(hints))}", "magics") from None


def without_comment(line: str) -> str:
    """Return a line without the comment at its end, which IPython hands to magics as well.

    Examples
    --------
    >>> without_comment("./warehouse   # a folder that's new")
    './warehouse'
    >>> without_comment("db.t note = 'a # b'")
    "db.t note = 'a # b'"
    """
    quote = ""
    for at, mark in enumerate(line):
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"`":
            quote = mark
        elif mark == "#" and f" {line} "[at] == f" {line} "[at + 2] == " ":
            return line[:at].rstrip()
    return line


def answer_help(shell: InteractiveShell, classes: Collection[type[Magics]]) -> None:
    """Let line magics pass comments by, and say what they take where ``--help`` is in the line."""
    known = shell.magics_manager.magics["line"]
    for name in itertools.chain(*(one.magics["line"] for one in classes)):
        if name not in shell.magics_manager.magics["cell"]:  # those have a topic of help
            known[name] = _answering_help(known[name])


def _answering_help(magic: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(magic)
    def run(line: str, *more: Any) -> Any:
        line = without_comment(line)
        if {"--help", "-h"}.isdisjoint(line.split()):
            return magic(line, *more)
        print((magic.__doc__ or "").removeprefix("::").strip())  # noqa: T201 - as IPython does
        return None

    return run


def unquoted(word: str) -> str:
    """Remove the quotes that IPython's argument splitting leaves."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def two_points(table: str, start: str | None, end: str | None) -> tuple[str, str]:
    """Return two points of a table: those that are given, else the last but one and the newest.

    0 is before the first snapshot, and the newest one of a table that nothing was written to.

    Raises
    ------
    NotFoundError
        If the one before the newest is missing, as it has expired.
    """
    if start is not None and end is not None:
        return unquoted(start), unquoted(end)
    ids = [0, *opened(table).snapshots.ids()]
    newest = ids[-1]
    if start is not None:
        return unquoted(start), str(newest)
    if len(ids) == 2 and newest > 1:
        raise NotFoundError(
            f"{table} has snapshot {newest} only, those before it have expired: {table} 0 {newest} "
            "compares it with the empty table"
        )
    return str(ids[-2] if newest else 0), str(newest)


def variables_of(shell: InteractiveShell | None) -> dict[str, Any]:
    """Return the variables of the notebook that a magic runs in."""
    assert shell is not None, "magics run in a shell"
    return shell.user_ns
