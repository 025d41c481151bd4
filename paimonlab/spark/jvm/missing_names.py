"""Names that Spark did not find in catalogs of ours: which ones are near them.

Spark's errors say only what was asked for. A catalog tells here whom to ask for near names, which
are looked for if the error comes to Python: most of what is not found is no error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError

_KEPT = 16
_SENTENCE = "cannot be found."


@dataclass(frozen=True, slots=True)
class _Missing:
    """A table that was not found."""

    identifier: Any
    """Spark's: to read it takes three calls, of which most are for nothing."""
    name_of: Callable[[Any], tuple[str, ...]]
    near: Callable[[Sequence[str]], str]

    def name(self) -> tuple[str, ...]:
        """Return catalog, database and table; nothing if its session has ended."""
        try:
            return self.name_of(self.identifier)
        except (Py4JError, OSError):
            return ()


_missing: deque[_Missing] = deque(maxlen=_KEPT)
"""The latest at the end."""


def remember_missing(
    identifier: Any,
    name_of: Callable[[Any], tuple[str, ...]],
    near: Callable[[Sequence[str]], str],
) -> None:
    """Note that there is no such table.

    Parameters
    ----------
    identifier
        Spark's, within its catalog.
    name_of
        Reads catalog, database and table out of it.
    near
        Says which names are near that name, as a sentence with a blank before it; empty: none.
    """
    _missing.append(_Missing(identifier, name_of, near))


def with_near_names(message: str, relation: str) -> str:
    """Add to Spark's message that a table is missing which tables have a name near its own.

    Parameters
    ----------
    message
        Spark's.
    relation
        The name in it, as ```paimon`.`db`.`t```.
    """
    before, found, after = message.partition(_SENTENCE)
    if not found:
        return message
    parts = tuple(part.replace("``", "`") for part in relation.strip("`").split("`.`"))
    for one in reversed(_missing):
        name = one.name()
        if name and name[-len(parts) :] == parts:
            return f"{before}{found}{one.near(name)}{after}"
    return message
