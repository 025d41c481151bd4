"""What all magics do with their line and with errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic_arguments import parse_argstring

from paimonlab.errors import PaimonError, close_matches
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.topics import Topic, topic_of
from paimonlab.notebook.cell.wrong_use import wrong_use


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


def unquoted(word: str) -> str:
    """Remove the quotes that IPython's argument splitting leaves."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


def variables_of(shell: InteractiveShell | None) -> dict[str, Any]:
    """Return the variables of the notebook that a magic runs in."""
    assert shell is not None, "magics run in a shell"
    return shell.user_ns
