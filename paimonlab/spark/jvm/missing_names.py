"""Names that Spark did not find in catalogs of ours: which ones are near them.

Spark's errors say only what was asked for. A catalog tells here whom to ask for near names, which
are looked for if the error comes to Python: most of what is not found is no error.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

_KEPT = 16
_SENTENCE = "cannot be found."
_asked: OrderedDict[tuple[str, ...], Callable[[], str]] = OrderedDict()
"""Whom to ask, by catalog, database and table."""


def remember_missing(name: Sequence[str], near: Callable[[], str]) -> None:
    """Note that there is no such table.

    Parameters
    ----------
    name
        Catalog, database and table.
    near
        Says which names are near, as a sentence with a blank before it; empty: none.
    """
    _asked.pop(tuple(name), None)
    _asked[tuple(name)] = near
    while len(_asked) > _KEPT:
        _asked.popitem(last=False)


def with_near_names(message: str, relation: str) -> str:
    """Add to Spark's message that a table is missing which tables have a name near its own.

    Parameters
    ----------
    message
        Spark's.
    relation
        The name in it, as ```paimon`.`db`.`t```.
    """
    parts = tuple(part.replace("``", "`") for part in relation.strip("`").split("`.`"))
    name = next((one for one in reversed(_asked) if one[-len(parts) :] == parts), None)
    before, found, after = message.partition(_SENTENCE)
    if name is None or not found:
        return message
    return f"{before}{found}{_asked.pop(name)()}{after}"
