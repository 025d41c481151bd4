"""What the errors of a server mean.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.DefaultErrorHandler``,
``responses.ErrorResponse``, ``interceptor.LoggingInterceptor``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec

from paimonlab.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    BranchNotFoundError,
    CatalogServerError,
    ColumnNotFoundError,
    DatabaseNotFoundError,
    FunctionNotFoundError,
    NotFoundError,
    PaimonError,
    SchemaError,
    SnapshotNotFoundError,
    TableNotFoundError,
    TagNotFoundError,
    UnsupportedError,
    ViewNotFoundError,
)
from paimonlab.secrets import without_secrets
from paimonlab.spec.decoding import ready

_LONGEST_MESSAGE = 2_000


class ErrorDocument(msgspec.Struct, rename="camel"):
    """The body of an answer that is an error."""

    message: str | None = None
    resource_type: str | None = None
    resource_name: str | None = None
    code: int | None = None


class RefusalError(PaimonError):
    """A server's answer that is an error; callers say what it means for what they asked.

    Parameters
    ----------
    address, request
        Whom and what was asked.
    status
        Of HTTP.
    document
        What the body says.
    request_id
        By which the server's logs know the request; None: it does not tell.
    """

    def __init__(
        self,
        address: str,
        request: str,
        status: int,
        document: ErrorDocument,
        request_id: str | None = None,
    ) -> None:
        self.address = address
        self.request = request
        self.status = status
        self.document = document
        self.request_id = request_id
        super().__init__(address, request, status, document, request_id)

    @property
    def code(self) -> int:
        """What the error is: the body's word counts more than the status."""
        return self.document.code or self.status

    @property
    def resource(self) -> str | None:
        """The kind of what is missing, or already exists; None: the server does not tell."""
        return (self.document.resource_type or "").upper() or None

    @property
    def problem(self) -> str:
        """What the server says, without secrets."""
        message = without_secrets((self.document.message or "").strip()[:_LONGEST_MESSAGE])
        asked = f" (request {self.request_id})" if self.request_id else ""
        return f"{message or 'no reason given'}{asked}"

    def __str__(self) -> str:
        return f"{self.address}: {self.request}: {self.code}: {self.problem}"

    def public(self) -> PaimonError:
        """Return the error that users see, when nobody knows better what was asked for."""
        told = f"{self.request}: {self.problem}"
        kind = (self.resource or "it").lower()
        makers: Mapping[int, Callable[[], PaimonError]] = {
            400: lambda: SchemaError(f"{self.address} does not accept it: {self.problem}"),
            401: lambda: AccessDeniedError(
                self.address, f"not authorised, look at the token or keys: {self.problem}"
            ),
            403: lambda: AccessDeniedError(self.address, f"forbidden: {told}"),
            404: lambda: NotFoundError(f"{self.address}: {told}"),
            409: lambda: AlreadyExistsError(kind, self.document.resource_name or self.problem),
            501: lambda: UnsupportedError(f"{self.request} by {self.address}", self.problem),
        }
        if self.code in makers:
            return makers[self.code]()
        return CatalogServerError.told(self.address, self.request, f"{self.code}: {self.problem}")


def refusal(
    address: str, request: str, status: int, headers: Mapping[str, str], body: bytes
) -> RefusalError:
    """Read an answer that is an error; a body of another form is its message."""
    try:
        document = msgspec.json.decode(body, type=ready(ErrorDocument))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        document = ErrorDocument()
    if not document.message:
        text = body.decode("utf-8", "replace")
        document.message = "" if text.lstrip().startswith(("<", "{")) else text
    return RefusalError(address, request, status, document, _request_id(headers))


def _request_id(headers: Mapping[str, str]) -> str | None:
    by_name = {name.lower(): value for name, value in headers.items()}
    if "x-request-id" in by_name:
        return by_name["x-request-id"]
    return next((value for name, value in by_name.items() if "request-id" in name), None)


@contextmanager
def meant_for(name: str, *, missing: str = "TABLE", taken: str | None = None) -> Iterator[None]:
    """Turn refusals into the errors that users know.

    Parameters
    ----------
    name
        ``database`` or ``database.object``, as it was asked for.
    missing
        What is not there after a 404 that does not tell.
    taken
        What is there already after a 409 that does not tell; None: the same.
    """
    try:
        yield
    except RefusalError as error:
        raise _told(error, name, missing, taken or missing) from None


def _told(error: RefusalError, name: str, missing: str, taken: str) -> PaimonError:
    what = error.document.resource_name or name
    if error.code == 409:
        return _taken(error.resource or taken, what, name, taken)
    kind = error.resource or missing
    if error.code == 404 and kind in _MISSING:
        return _MISSING[kind](name, what)
    return error.public()


def _taken(kind: str, what: str, name: str, taken: str) -> PaimonError:
    if kind == "COLUMN":
        return SchemaError(f"{name}: there is a column {what} already")
    if _OWNERS.get(kind) == taken:
        return AlreadyExistsError(f"{kind.lower()} {what} of {taken.lower()}", name)
    return AlreadyExistsError(taken.lower() if kind in _OWNERS else kind.lower(), name)


_OWNERS = {"DIALECT": "VIEW", "DEFINITION": "FUNCTION"}
_MISSING: Mapping[str, Callable[[str, str], PaimonError]] = {
    "DATABASE": lambda name, _: DatabaseNotFoundError(name.partition(".")[0]),
    "TABLE": lambda name, _: TableNotFoundError(name),
    "VIEW": lambda name, _: ViewNotFoundError(name),
    "FUNCTION": lambda name, _: FunctionNotFoundError(name),
    "COLUMN": lambda name, what: ColumnNotFoundError(what, name),
    "SNAPSHOT": SnapshotNotFoundError,
    "TAG": TagNotFoundError,
    "BRANCH": BranchNotFoundError,
    "DIALECT": lambda name, what: SchemaError(f"{name}: there is no dialect {what!r}"),
    "DEFINITION": lambda name, what: SchemaError(f"{name}: no definition for {what!r}"),
}
