"""Errors as the protocol has them.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.responses.ErrorResponse``.
"""

from __future__ import annotations

import logging

import msgspec

from paimonlab.catalog.rest.answers import ErrorDocument
from paimonlab.catalog.rest_server.exchange import NoSuchPathError, NotUnderstoodError, Response
from paimonlab.errors import (
    AccessDeniedError,
    AlreadyExistsError,
    BranchNotFoundError,
    ColumnNotFoundError,
    CommitError,
    CorruptError,
    DatabaseNotFoundError,
    DataError,
    FunctionNotFoundError,
    NotFoundError,
    PaimonError,
    ReadOnlyError,
    SchemaError,
    SchemaNotFoundError,
    SnapshotNotFoundError,
    TableNotFoundError,
    TagNotFoundError,
    UnsupportedError,
    ViewNotFoundError,
)
from paimonlab.secrets import without_secrets

logger = logging.getLogger(__name__)

_NAMED: tuple[tuple[type[PaimonError], str, str], ...] = (
    (DatabaseNotFoundError, "DATABASE", "database"),
    (TableNotFoundError, "TABLE", "table"),
    (ViewNotFoundError, "VIEW", "view"),
    (FunctionNotFoundError, "FUNCTION", "function"),
    (ColumnNotFoundError, "COLUMN", "column"),
    (SnapshotNotFoundError, "SNAPSHOT", "asked"),
    (TagNotFoundError, "TAG", "tag"),
    (BranchNotFoundError, "BRANCH", "branch"),
)
"""What is missing, and the attribute with its name."""
_KINDS = ("DATABASE", "TABLE", "VIEW", "FUNCTION", "COLUMN", "TAG", "BRANCH", "DIALECT")
_STATUS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], int], ...] = (
    ((AccessDeniedError, ReadOnlyError), 403),
    ((UnsupportedError, NotImplementedError), 501),
    ((SchemaError, SchemaNotFoundError, DataError, NotUnderstoodError), 400),
    ((CommitError, CorruptError, OSError), 500),
    ((NotFoundError, NoSuchPathError), 404),
    ((ValueError, TypeError), 400),
)


def refused(error: Exception) -> Response:
    """Say an error to a client; secrets in its text are hidden."""
    for kind, resource, attribute in _NAMED:
        if isinstance(error, kind):
            name = str(getattr(error, attribute)).rpartition(".")[2]
            return answer(404, str(error), resource, name)
    if isinstance(error, AlreadyExistsError):
        return _taken(error)
    for kinds, status in _STATUS:
        if isinstance(error, kinds):
            return answer(status, str(error))
    logger.error("unexpected error", exc_info=error)
    return answer(500, f"{type(error).__name__}: {error}")


def answer(
    status: int, message: str, resource: str | None = None, name: str | None = None
) -> Response:
    """Make the answer that is an error."""
    document = ErrorDocument(
        message=without_secrets(message), resource_type=resource, resource_name=name, code=status
    )
    return Response(status, msgspec.json.encode(document))


def _taken(error: AlreadyExistsError) -> Response:
    words = error.what.split()
    kind = words[0].upper() if words else ""
    if kind == "DEFINITION":
        return answer(409, str(error), "DEFINITION", words[2] if len(words) > 2 else error.name)
    name = words[1] if kind == "DIALECT" else error.name.rpartition(".")[2]
    return answer(409, str(error), kind if kind in _KINDS else None, name)
