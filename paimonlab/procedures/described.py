"""``DESCRIBE HISTORY`` and ``DESCRIBE DETAIL`` of other formats as queries of system tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from paimonlab.errors import UnsupportedError
from paimonlab.spec.sql_text.call_text import literal, quoted
from paimonlab.spec.sql_text.habit_syntax import Habit
from paimonlab.table.system.history import SNAPSHOTS
from paimonlab.table.table import Table

_OF_FILES = "_manifest_list"
"""Ends of the names of columns with names of files, which `t$snapshots` has."""
_FIRST = (
    "snapshot_id",
    "commit_time",
    "commit_kind",
    "delta_record_count",
    "total_record_count",
    "changelog_record_count",
)
"""Columns of DESCRIBE HISTORY that say what happened; ids of who wrote it are after them."""


def described_text(habit: Habit, relation: object, path: Sequence[str]) -> str:
    """Return the query that answers a statement, in Spark's SQL.

    Parameters
    ----------
    habit
        DESCRIBE HISTORY or DESCRIBE DETAIL.
    relation
        What the table's name means in its catalog.
    path
        Catalog, database and table.

    Raises
    ------
    UnsupportedError
        If it is DESCRIBE DETAIL of a system table.
    """
    return DESCRIBED[habit.statement.removeprefix("DESCRIBE ").lower()](habit, relation, path)


def _history(habit: Habit, _relation: object, path: Sequence[str]) -> str:
    others = (name for name in SNAPSHOTS.names if not name.endswith(_OF_FILES))
    columns = ", ".join(dict.fromkeys((*_FIRST, *others)))
    source = _system_table(path, "snapshots")
    text = f"SELECT {columns} FROM {source} ORDER BY snapshot_id DESC"  # noqa: S608
    return text if habit.limit is None else f"{text} LIMIT {habit.limit}"


def _detail(_habit: Habit, relation: object, path: Sequence[str]) -> str:
    """Return a query for what Delta's statement says of a table, but for its features."""
    if not isinstance(relation, Table):
        raise UnsupportedError(
            f"DESCRIBE DETAIL {'.'.join(path[1:])}", "only tables with snapshots have such files"
        )
    comment = relation.schema.comment
    columns = {
        "format": "'paimon'",
        "name": literal(".".join(path)),
        "description": literal(comment) if comment else "CAST(NULL AS STRING)",
        "location": literal(relation.path),
        "lastModified": f"(SELECT max(commit_time) FROM {_system_table(path, 'snapshots')})",  # noqa: S608
        "partitionColumns": _texts(relation.partition_keys),
        "primaryKey": _texts(relation.primary_keys),
        "numFiles": "count(*)",
        "sizeInBytes": "coalesce(sum(file_size_in_bytes), 0)",
    }
    selected = ", ".join(f"{value} AS {name}" for name, value in columns.items())
    return f"SELECT {selected} FROM {_system_table(path, 'files')}"  # noqa: S608


_Make: TypeAlias = Callable[[Habit, object, Sequence[str]], str]
DESCRIBED: Mapping[str, _Make] = MappingProxyType({"history": _history, "detail": _detail})
"""Queries by what DESCRIBE describes; a table may be called so, too."""


def _texts(values: Sequence[str]) -> str:
    # array() alone would be one of VOID.
    return f"array({', '.join(map(literal, values))})" if values else "slice(array(''), 1, 0)"


def _system_table(path: Sequence[str], name: str) -> str:
    *folders, table = path
    return ".".join(map(quoted, (*folders, f"{table}${name}")))
