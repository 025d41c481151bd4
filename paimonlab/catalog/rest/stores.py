"""Where the files of a server's tables are, and with which credentials they are reached.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.RESTTokenFileIO``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from paimonlab import storage
from paimonlab.catalog.local_cache import LocalCache
from paimonlab.catalog.rest.answers import meant_for
from paimonlab.catalog.rest.client import RestClient
from paimonlab.catalog.rest.wire import DATA_TOKENS, TableAnswer, TokenAnswer, object_name
from paimonlab.clock import now_millis
from paimonlab.errors import CatalogServerError, UnsupportedError
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.grammar import parse_boolean
from paimonlab.storage import FileIO, ReadOnlyFileIO
from paimonlab.storage.forwarding import ForwardingFileIO
from paimonlab.storage.schemes import FOLDER_STORES, store_kind

logger = logging.getLogger(__name__)

_SAFE_MILLIS = 3_600_000
"""Tokens that have less time left are renewed; those of short life in the last quarter of it."""


@dataclass(frozen=True)
class TableStores:
    """Finds the store of a table by the path that the server names."""

    client: RestClient
    local: FileIO
    cache: LocalCache | None = None
    """What keeps files of stores on the local disk; None: nothing does."""

    def of(
        self, identifier: Identifier, answer: TableAnswer, *, read_only: bool
    ) -> tuple[str, FileIO]:
        """Return the folder of a table, and its store.

        Raises
        ------
        UnsupportedError
            If there is no such store here, or a token for one.
        """
        path, store = self._plain(identifier, answer)
        return path, ReadOnlyFileIO(store) if read_only else store

    def at(self, place: str) -> tuple[str, FileIO]:
        """Return the folder that a user names, and its store, opened with the catalog's options.

        Raises
        ------
        UnsupportedError
            If there is no such store here.
        """
        path = place.rstrip("/")
        if store_kind(path) is not None:
            store = opened_store(path, self.client.options)
            return path, store if self.cache is None else self.cache.before(store)
        scheme = scheme_of(path)
        if scheme not in ("", "file"):
            raise UnsupportedError(f"a table at {path}", "use a disk or an object store")
        return folder_of(path), self.local

    def _plain(self, identifier: Identifier, answer: TableAnswer) -> tuple[str, FileIO]:
        path = answer.path.rstrip("/")
        options = self.client.options
        scheme = urlsplit(path).scheme.lower() if ":" in path.partition("/")[0] else ""
        has_tokens = parse_boolean(options.get(DATA_TOKENS, "false")) and not answer.is_external
        kind = store_kind(path)
        if kind is not None and not (has_tokens and kind in FOLDER_STORES):
            store: FileIO
            if has_tokens:
                store = VendedFileIO(path, TokenSource(self.client, identifier))
            else:
                store = opened_store(path, options)
            return path, store if self.cache is None else self.cache.before(store)
        if has_tokens or scheme not in ("", "file"):
            tokens = f" with {DATA_TOKENS} = 'true'" if has_tokens else ""
            raise UnsupportedError(
                f"{identifier} at {path}{tokens}",
                "files are reached on disks, and in object stores also with tokens of the server",
            )
        return unquote(urlsplit(path).path) if scheme else path, self.local


def opened_store(
    path: str, options: Mapping[str, str], renewal: Callable[[], Any] | None = None
) -> FileIO:
    """Open a store with the options of a catalog.

    Parameters
    ----------
    path, options
        Of the table or warehouse, and of its catalog.
    renewal
        As of `paimonlab.storage.stores.open_warehouse`.

    Raises
    ------
    UnsupportedError
        If obstore is not installed, or an option is not implemented.
    ValueError
        If an option is missing, or its value is not allowed.
    """
    try:
        if store_kind(path) in FOLDER_STORES:
            return storage.hdfs.open_warehouse(path, options)
        return storage.stores.open_warehouse(path, options, renewal=renewal)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise UnsupportedError(f"{path} without obstore", "pip install 'paimonlab[stores]'") from (
            None
        )


@dataclass(frozen=True, slots=True)
class TokenSource:
    """Asks a server for the token of a table. Picklable: executors ask themselves."""

    client: RestClient
    identifier: Identifier

    def token(self) -> TokenAnswer:
        """Return a token, and until when it holds."""
        parts = ("databases", self.identifier.database, "tables", object_name(self.identifier))
        with meant_for(str(self.identifier)):
            return self.client.get(TokenAnswer, *parts, "token")


class _Held:
    """The token that one process has; a copy begins without one."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.token: _Token | None = None

    def __reduce__(self) -> tuple[type[_Held], tuple[()]]:
        return _Held, ()


@dataclass(frozen=True, slots=True)
class _Token:
    store: FileIO
    keys: Callable[[], Any] = field(repr=False)
    renew_at_millis: int
    ends_at_millis: int


@dataclass(frozen=True, slots=True)
class VendedFileIO(ForwardingFileIO):
    """Files of one table, reached with tokens that the server hands out.

    Requests are signed with the newest token, also those of files that are open. One thread asks
    for the next one before a token ends, and the others go on with the one that still holds.
    """

    path: str
    source: TokenSource = field(repr=False)
    _held: _Held = field(default_factory=_Held, init=False, compare=False, repr=False)

    def _store(self) -> FileIO:
        return self._token().store

    def _token(self) -> _Token:
        """Return a token that holds, a new one if the last one ends soon."""
        held = self._held
        if (token := held.token) and now_millis() < token.renew_at_millis:
            return token
        if not held.turn.acquire(blocking=token is None or now_millis() >= token.ends_at_millis):
            assert token is not None, "another thread asks for the next one"
            return token
        try:
            if held.token is token:
                held.token = self._next(token)
            assert held.token is not None
            return held.token
        finally:
            held.turn.release()

    def _next(self, last: _Token | None) -> _Token:
        """Ask for a token; while the last one holds, a server that fails is asked again later."""
        try:
            return self._asked()
        except CatalogServerError as error:
            left = 0 if last is None else last.ends_at_millis - now_millis()
            if last is None or left <= 0:
                raise
            logger.warning("%s: no new token, asked again later: %s", self.path, error)
            return replace(last, renew_at_millis=last.ends_at_millis - left + left // 4)

    def _asked(self) -> _Token:
        answer = self.source.token()
        left = answer.expires_at_millis - now_millis()
        options = {**self.source.client.options, **answer.token}
        return _Token(
            store=opened_store(self.path, options, self._keys),
            keys=partial(storage.stores.keys_in, self.path, options),
            renew_at_millis=answer.expires_at_millis - min(_SAFE_MILLIS, left // 4),
            ends_at_millis=answer.expires_at_millis,
        )

    def _keys(self) -> Any:
        """Return the keys of the newest token, for requests of files that are open."""
        return self._token().keys()

    def within(self, *roots: str) -> Self:
        """Return this store: there are no links that lead out of a folder."""
        del roots
        return self
