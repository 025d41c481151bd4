"""Which page of ``%paimon_help`` says more about an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from paimonlab.catalog.settings import SettingsError
from paimonlab.errors import (
    ArgumentError,
    BranchNotFoundError,
    ColumnNotFoundError,
    CorruptError,
    DatabaseNotFoundError,
    PaimonError,
    ProcedureNotFoundError,
    ReadOnlyError,
    SnapshotNotFoundError,
    TableNotFoundError,
    TagNotFoundError,
    UnsupportedError,
)
from paimonlab.notebook.connections.warehouse_connection import NotConnectedError
from paimonlab.spark.sessions.remote import RemoteError

Topic = Literal[
    "magics",
    "connections",
    "sql",
    "call",
    "streams",
    "ingest",
    "parameters",
    "plots",
    "results",
    "limits",
    "time travel",
    "tables",
    "system tables",
    "without spark",
    "errors",
    "environment",
]
"""The pages of ``%paimon_help``."""

_TOPICS: Sequence[tuple[type[PaimonError], Topic]] = (
    (NotConnectedError, "connections"),
    (SettingsError, "connections"),
    (RemoteError, "connections"),
    (DatabaseNotFoundError, "tables"),
    (TableNotFoundError, "tables"),
    (ColumnNotFoundError, "tables"),
    (SnapshotNotFoundError, "time travel"),
    (TagNotFoundError, "time travel"),
    (BranchNotFoundError, "time travel"),
    (CorruptError, "errors"),
    (ProcedureNotFoundError, "call"),
    (ArgumentError, "call"),
    (ReadOnlyError, "connections"),
)


def topic_of(error: PaimonError, otherwise: Topic) -> Topic:
    """Choose the page that helps with an error.

    Parameters
    ----------
    error
        Raised by any layer.
    otherwise
        The page about what was asked for, where the error alone does not say.
    """
    if isinstance(error, UnsupportedError) and "without Spark" in str(error):
        return "without spark"
    return next((topic for kind, topic in _TOPICS if isinstance(error, kind)), otherwise)


def help_line(topic: Topic) -> str:
    """Say how to see a page."""
    return f"help: %paimon_help {topic}"
