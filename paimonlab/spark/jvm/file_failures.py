"""Damaged and missing data files in Spark's own scan, reported by our errors.

Spark says which file it could not read; whether it is a file of a table here is known by the
folder of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from paimonlab.errors import CorruptDataError, StorageError

_CONDITION = "FAILED_READ_FILE"
_MAX_CAUSES = 20
_MISSING = "java.io.FileNotFoundException"
_OF_STORES = ("software.amazon.", "java.net.", "java.nio.file.AccessDenied")
"""How the names of errors begin that Hadoop has of stores."""

_tables: dict[str, tuple[str, str]] = {}
"""What Spark opens a table's folder by -> name and folder, of all tables that were read."""


def remember_folder(uri: str, table: str, folder: str) -> None:
    """Remember which table has its files in a folder, which Spark may open by another URI."""
    _tables[uri.rstrip("/") + "/"] = table, folder.rstrip("/") + "/"


def damaged_file(java_exception: Any) -> CorruptDataError | StorageError | None:
    """Make our error if Spark failed to read a file of one of our tables."""
    if not _tables:
        return None
    causes = list(causes_of(java_exception))
    for cause in causes:
        path = _unreadable(cause)
        for opened, (table, folder) in _tables.items():
            if path is not None and (path.startswith(opened) or unquote(path).startswith(opened)):
                inside, problem = path, _problem(causes)
                if opened != folder:
                    scheme, own = (one.partition("://")[0] + "://" for one in (opened, folder))
                    inside, problem = (one.replace(scheme, own) for one in (path, problem))
                if _is_of_a_store(causes):
                    return StorageError(None, f"{problem}, of the table {table}", inside)
                return CorruptDataError(inside, problem, table)
    return None


def _is_of_a_store(causes: list[Any]) -> bool:
    """Whether a store did not answer, or not as it should: nothing is known of the file then."""
    names = [str(cause.getClass().getName()) for cause in causes]
    return _MISSING not in names and any(name.startswith(_OF_STORES) for name in names)


def _unreadable(cause: Any) -> str | None:
    if cause.getClass().getName() != "org.apache.spark.SparkException":
        return None
    if not str(cause.getCondition() or "").startswith(_CONDITION):
        return None
    path = cause.getMessageParameters().get("path")
    return None if path is None else str(path)


def _problem(causes: list[Any]) -> str:
    innermost = causes[-1]
    name = str(innermost.getClass().getSimpleName())
    said = str(innermost.getMessage() or "").splitlines()
    return f"{said[0]} ({name})" if said else name


def causes_of(java_exception: Any) -> Iterator[Any]:
    """Yield an exception of Java, then what caused it, at most `_MAX_CAUSES` of them."""
    cause = java_exception
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.getCause()
