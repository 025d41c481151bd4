"""Lists, page by page, of names that match a pattern."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from paimonlab.catalog.rest.wire import IdentifierDocument
from paimonlab.catalog.rest_server.exchange import NotUnderstoodError

T = TypeVar("T")
DEFAULT_PAGE = 100
LONGEST_PAGE = 1_000


def matching(names: Sequence[str], pattern: str | None) -> list[str]:
    r"""Return the names that match a pattern of SQL's LIKE; None or an empty one: all.

    Examples
    --------
    >>> matching(["orders", "orders_2", "o%"], "orders%"), matching(["orders", "o%"], "o\\%")
    (['orders', 'orders_2'], ['o%'])

    Raises
    ------
    NotUnderstoodError
        If something follows a ``%``, as in Java Paimon.
    """
    if not pattern:
        return list(names)
    expression = _expression(pattern)
    return [name for name in names if expression.fullmatch(name)]


def _expression(pattern: str) -> re.Pattern[str]:
    parts: list[str] = []
    is_escaped = is_over = False
    for character in pattern:
        if is_escaped:
            parts.append(re.escape(character))
            is_escaped = False
        elif character == "\\":
            is_escaped = True
        elif character == "%":
            parts.append(".*")
            is_over = True
        elif is_over:
            raise NotUnderstoodError(f"the pattern {pattern!r} may have % at its end only")
        else:
            parts.append("." if character == "_" else re.escape(character))
    return re.compile("".join(parts), re.DOTALL)


def page_of_names(
    names: Sequence[str], query: Mapping[str, str], pattern: str
) -> tuple[list[str], str | None]:
    """Return a page of the names that match the pattern of a request, as `page_of` does.

    Parameters
    ----------
    names
        All of the list.
    query
        Of the request.
    pattern
        The parameter that has the pattern.
    """
    return page_of(matching(names, query.get(pattern)), query, str)


def page_of_all(
    databases: Iterable[str],
    names: Callable[[str], Sequence[str]],
    query: Mapping[str, str],
    pattern: str,
) -> tuple[list[IdentifierDocument], str | None]:
    """Return a page of the names in all databases, as `page_of` does.

    Parameters
    ----------
    databases
        That are listed.
    names
        Of a database.
    query, pattern
        As in `page_of_names`.
    """
    found = [
        IdentifierDocument(database=database, object=name)
        for database in databases
        for name in matching(names(database), query.get(pattern))
    ]
    return page_of(found, query, lambda one: one.name)


def page_of(
    items: Sequence[T], query: Mapping[str, str], key: Callable[[T], str]
) -> tuple[list[T], str | None]:
    """Return a page of a list, and the token of the next one; None: it is the last.

    Parameters
    ----------
    items
        All of the list; sorted here.
    query
        ``maxResults`` and ``pageToken`` of the request.
    key
        The name of an item, which is different for each.

    Examples
    --------
    >>> page_of(["b", "c", "a"], {"maxResults": "2"}, str)
    (['a', 'b'], 'b')
    >>> page_of(["b", "c", "a"], {"pageToken": "b"}, str)
    (['c'], None)
    """
    size = _size(query.get("maxResults"))
    token = query.get("pageToken")
    left = sorted((item for item in items if not token or key(item) > token), key=key)
    page = left[:size]
    return page, key(page[-1]) if len(left) > size else None


def _size(text: str | None) -> int:
    if not text:
        return DEFAULT_PAGE
    try:
        size = int(text)
    except ValueError:
        raise NotUnderstoodError(f"maxResults = {text!r} is not a number") from None
    return min(size, LONGEST_PAGE) if size > 0 else DEFAULT_PAGE
