"""Apache Paimon tables in Python, on Spark, in notebooks.

>>> import paimonlab as pm
>>> catalog = pm.connect("./warehouse")

Names are looked up when they are used: importing paimonlab imports neither Spark nor IPython, and
what only asks how a command is called not even Arrow.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from paimonlab import cards_by_name
from paimonlab.interrupts import import_whole_modules, interrupts_held_back
from paimonlab.on_use import attributes_on_use, give_from_above

import_whole_modules(__name__)
give_from_above(show=f"{__name__}.notebook")
with interrupts_held_back():
    from paimonlab import errors

_IS_READ_BY_MYPY: bool = False
"""Never true. What stands below ``TYPE_CHECKING`` mypy reads last, when it has to know catalogs."""
if _IS_READ_BY_MYPY:
    from paimonlab.catalog.catalog import Catalog
    from paimonlab.catalog.connecting import connect
if TYPE_CHECKING:
    from types import FrameType

    from IPython.core.interactiveshell import InteractiveShell

    from paimonlab.ingest.sources.files import files
    from paimonlab.ingest.sources.kafka import kafka
    from paimonlab.ingest.sources.mongodb.source import mongodb
    from paimonlab.ingest.sources.mysql.source import mysql
    from paimonlab.ingest.sources.postgresql.source import postgres
    from paimonlab.notebook import sql
    from paimonlab.scan.following import Position
    from paimonlab.spec.commit_message import CommitMessage
    from paimonlab.spec.predicates.predicate import Predicate, col
    from paimonlab.spec.row_kind import RowKind
    from paimonlab.spec.schema.change_kinds import (
        AddColumn,
        DropColumn,
        MoveColumn,
        RemoveOption,
        RenameColumn,
        SetOption,
        UpdateColumnComment,
        UpdateColumnDefault,
        UpdateColumnNullability,
        UpdateColumnType,
        UpdateComment,
    )
    from paimonlab.spec.schema.definition import Schema, TableSchema
    from paimonlab.spec.snapshot import CommitKind, Snapshot
    from paimonlab.spec.variant.decode import to_json
    from paimonlab.spec.variant.encode import parse_json
    from paimonlab.table.following.follower import ChangeBatch, Follower
    from paimonlab.table.reading.changes import Changes
    from paimonlab.table.reading.scan import Scan
    from paimonlab.table.table import Table

__version__ = "0.2.0"

__all__ = [
    "AddColumn",
    "Catalog",
    "ChangeBatch",
    "Changes",
    "CommitKind",
    "CommitMessage",
    "DropColumn",
    "Follower",
    "MoveColumn",
    "Position",
    "Predicate",
    "RemoveOption",
    "RenameColumn",
    "RowKind",
    "Scan",
    "Schema",
    "SetOption",
    "Snapshot",
    "Table",
    "TableSchema",
    "UpdateColumnComment",
    "UpdateColumnDefault",
    "UpdateColumnNullability",
    "UpdateColumnType",
    "UpdateComment",
    "__version__",
    "col",
    "connect",
    "errors",
    "files",
    "kafka",
    "load_ipython_extension",
    "mongodb",
    "mysql",
    "parse_json",
    "postgres",
    "sql",
    "to_json",
]

_attribute, __dir__ = attributes_on_use(
    __name__,
    AddColumn="spec.schema.change_kinds",
    Catalog="catalog.catalog",
    ChangeBatch="table.following.follower",
    Changes="table.reading.changes",
    CommitKind="spec.snapshot",
    CommitMessage="spec.commit_message",
    DropColumn="spec.schema.change_kinds",
    Follower="table.following.follower",
    MoveColumn="spec.schema.change_kinds",
    Position="scan.following",
    Predicate="spec.predicates.predicate",
    RemoveOption="spec.schema.change_kinds",
    RenameColumn="spec.schema.change_kinds",
    RowKind="spec.row_kind",
    Scan="table.reading.scan",
    Schema="spec.schema.definition",
    SetOption="spec.schema.change_kinds",
    Snapshot="spec.snapshot",
    Table="table.table",
    TableSchema="spec.schema.definition",
    UpdateColumnComment="spec.schema.change_kinds",
    UpdateColumnDefault="spec.schema.change_kinds",
    UpdateColumnNullability="spec.schema.change_kinds",
    UpdateColumnType="spec.schema.change_kinds",
    UpdateComment="spec.schema.change_kinds",
    col="spec.predicates.predicate",
    connect="catalog.connecting",
    files="ingest.sources.files",
    kafka="ingest.sources.kafka",
    mongodb="ingest.sources.mongodb.source",
    mysql="ingest.sources.mysql.source",
    parse_json="spec.variant.encode",
    postgres="ingest.sources.postgresql.source",
    sql="notebook",
    to_json="spec.variant.decode",
)


def __getattr__(name: str) -> Any:
    try:
        return _attribute(name)
    except AttributeError:
        said = errors.habits.no_attribute(__name__, name, errors.habits.PACKAGE, __all__)
        if _is_imported(sys._getframe(1)):  # noqa: SLF001
            raise ImportError(said, name=__name__) from None
        raise AttributeError(said, name=name) from None


def _is_imported(frame: FrameType) -> bool:
    """Tell whether it is ``from paimonlab import …``.

    That makes a bare "cannot import name" of an AttributeError.
    """
    opcodes: dict[str, int] = importlib.import_module("opcode").opmap
    return frame.f_code.co_code[frame.f_lasti] == opcodes["IMPORT_FROM"]


def _show_error(*given: Any, **named: Any) -> None:
    importlib.import_module("paimonlab.notebook.kernel.short_tracebacks").show(*given, **named)


def _prepare_notebook() -> None:
    """Let a notebook that imports paimonlab show its objects and errors as with its magics."""
    get_ipython = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if get_ipython is None else get_ipython()
    if shell is None:
        return
    cards_by_name.register(shell)
    if not shell.custom_exceptions:  # what others registered stays
        shown = (errors.PaimonError, ValueError, TypeError, AttributeError)
        shell.set_custom_exc(shown, _show_error)


_prepare_notebook()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Run by ``%load_ext paimonlab``."""
    cards_by_name.register(shell)
    importlib.import_module("paimonlab.notebook").load_ipython_extension(shell)
