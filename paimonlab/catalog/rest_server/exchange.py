"""A request and its answer, whatever server carries them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import msgspec

from paimonlab.catalog.rest.wire import Document
from paimonlab.spec.decoding import ready

T = TypeVar("T", bound=Document)


class NotUnderstoodError(Exception):
    """A request that does not follow the protocol; never leaves the server."""


class NoSuchPathError(Exception):
    """There is nothing at a path; never leaves the server."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked."""

    method: str
    path: str
    """Encoded, without query."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Decoded."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """By names in lower case."""
    body: bytes = field(default=b"", repr=False)
    sees: Callable[[str], bool] = field(default=lambda _: True, repr=False)
    """Whether who asks may know of a database."""
    may_change: Callable[[str], bool] = field(default=lambda _: True, repr=False)
    """Whether who asks may write to a database."""

    def document(self, kind: type[T]) -> T:
        """Read the body.

        Raises
        ------
        NotUnderstoodError
            If it does not follow the protocol.
        """
        try:
            return msgspec.json.decode(self.text or "{}", type=ready(kind))
        except msgspec.MsgspecError as error:
            raise NotUnderstoodError(f"the body of the request: {error}") from None

    @property
    def text(self) -> str:
        """The body as text: in UTF-8, or as ``Content-Type`` says.

        Java Paimon says ``text/plain; charset=ISO-8859-1`` where it does not sign.
        """
        told = self.headers.get("content-type", "")
        _, _, charset = told.partition("charset=")
        try:
            return self.body.decode(charset.strip(' "') or "utf-8")
        except (LookupError, UnicodeDecodeError):
            raise NotUnderstoodError("the body of the request is not text") from None


@dataclass(frozen=True, slots=True)
class Response:
    """What is answered."""

    status: int
    body: bytes = field(default=b"", repr=False)
