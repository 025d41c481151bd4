"""Paths of the protocol's resources, encoded as Java Paimon encodes them.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.ResourcePaths``, ``RESTUtil``.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote_plus, unquote_plus

CONFIG = "/v1/config"


def encoded(text: str) -> str:
    """Encode a part of a path or query as a form does: a blank becomes ``+``.

    Examples
    --------
    >>> encoded("a b$branch_é~*")
    'a+b%24branch_%C3%A9%7E*'
    """
    return quote_plus(text, safe="*-._").replace("~", "%7E")


def decoded(text: str) -> str:
    """Undo `encoded`.

    Raises
    ------
    ValueError
        If it is not text after that.
    """
    return unquote_plus(text, errors="strict")


class Paths:
    """Paths below the prefix that the server's configuration names.

    Examples
    --------
    >>> Paths("my lake").of("databases", "db", "tables", "t$branch_b", "commit")
    '/v1/my+lake/databases/db/tables/t%24branch_b/commit'
    """

    def __init__(self, prefix: str = "") -> None:
        self._base = f"/v1/{encoded(prefix)}" if prefix else "/v1"

    @classmethod
    def below(cls, prefix: str) -> Paths:
        """Return paths below a prefix that is sent as it is, slashes and all, as Iceberg's is.

        Examples
        --------
        >>> Paths.below("catalogs/123").of("namespaces", "db")
        '/v1/catalogs/123/namespaces/db'
        """
        paths = cls()
        paths._base = "/".join(("/v1", *filter(None, [prefix.strip("/")])))
        return paths

    def of(self, *parts: str) -> str:
        """Return the path of a resource."""
        return "/".join((self._base, *map(encoded, parts)))

    def parts(self, path: str) -> tuple[str, ...] | None:
        """Return the decoded parts of a path below the prefix; None: it is not below it.

        Raises
        ------
        ValueError
            If a part is not text.
        """
        begin = f"{self._base}/"
        if not path.startswith(begin):
            return None
        return tuple(map(decoded, path[len(begin) :].split("/")))


def query_text(parameters: Iterable[tuple[str, str]]) -> str:
    """Write the parameters of a query, with its ``?``; empty if there are none.

    Examples
    --------
    >>> query_text([("maxResults", "100"), ("pageToken", "a b")])
    '?maxResults=100&pageToken=a+b'
    """
    pairs = "&".join(f"{encoded(key)}={encoded(value)}" for key, value in parameters)
    return f"?{pairs}" if pairs else ""
