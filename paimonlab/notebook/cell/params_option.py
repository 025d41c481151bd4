"""``--params``: the values of ``?``, as a list of the notebook or written out."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from paimonlab.errors import close_matches
from paimonlab.notebook.cell.wrong_use import wrong_use


def values_of(text: str, variables: Mapping[str, Any]) -> Sequence[Any]:
    """Read the value of the option.

    Parameters
    ----------
    text
        A name, or a list or tuple of literals as Python writes them.
    variables
        Of the notebook.

    Raises
    ------
    UsageError
        If there is no such variable, or it is not a list.

    Examples
    --------
    >>> values_of("[1, 'a']", {}), values_of("day", {"day": (2,)})
    ([1, 'a'], (2,))
    """
    if text.isidentifier():
        if text not in variables:
            known = [name for name in variables if not name.startswith("_")]
            close = close_matches(text, known)
            raise wrong_use(f"there is no variable {text!r} for --params.{close}", "parameters")
        values = variables[text]
    else:
        values = _literal(text)
    if not isinstance(values, list | tuple):
        kind = type(values).__name__
        raise wrong_use(f"--params needs a list of values, and {text} is a {kind}", "parameters")
    return values


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise wrong_use(
            f"--params needs a name, or a list in quotes such as \"[1, 'a']\", got {text}",
            "parameters",
        ) from error
