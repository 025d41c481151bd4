"""Damaged and missing data files in Spark's own scan, reported by our errors.

Spark says which file it could not read; whether it is a file of a table here is known by the
folder of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from paimonlab.errors import CorruptDataError

_CONDITION = "FAILED_READ_FILE"
_MAX_CAUSES = 20

_tables: dict[str, str] = {}
"""URI of a table's folder -> name of the table, of all tables that were read."""


def remember_folder(uri: str, table: str) -> None:
    """Remember which table has its files in a folder."""
    _tables[uri.rstrip("/") + "/"] = table


def damaged_file(java_exception: Any) -> CorruptDataError | None:
    """Make our error if Spark failed to read a file of one of our tables."""
    if not _tables:
        return None
    causes = list(causes_of(java_exception))
    for cause in causes:
        path = _unreadable(cause)
        for folder, table in _tables.items():
            if path is not None and (path.startswith(folder) or unquote(path).startswith(folder)):
                return CorruptDataError(path, _problem(causes), table)
    return None


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
