"""Names that Spark did not find: tables near them in catalogs of ours, metadata columns like them.

Spark's errors say only what was asked for. A catalog tells here whom to ask for near names, which
are looked for if the error comes to Python: most of what is not found is no error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from py4j.protocol import Py4JError

from paimonlab.errors import habits

_KEPT = 16
_NOT_FOUND = "TABLE_OR_VIEW_NOT_FOUND"
_UNRESOLVED = "UNRESOLVED_COLUMN"
"""Begins the conditions of columns that are not there."""
_SENTENCE = "cannot be found."
_STATE = " SQLSTATE:"
_OF_COLUMNS = "cannot be resolved."
_PATH, _INDEX = "__paimon_file_path", "__paimon_row_index"
_PARTITION = "__paimon_partition"
_STRUCT = "_metadata"
"""Spark's column of where the rows of its own files are."""
_IN_STRUCT: Mapping[str, str] = MappingProxyType({"file_path": _PATH, "row_index": _INDEX})
_OF_ICEBERG: Mapping[str, str] = MappingProxyType(
    {"_file": _PATH, "_pos": _INDEX, "_partition": _PARTITION}
)


@dataclass(frozen=True, slots=True)
class _Missing:
    """A table that was not found."""

    identifier: Any
    """Spark's: to read it takes three calls, of which most are for nothing."""
    name_of: Callable[[Any], tuple[str, ...]]
    near: Callable[[Sequence[str]], str]

    def name(self) -> tuple[str, ...]:
        """Return catalog, database and table; nothing if its session has ended."""
        try:
            return self.name_of(self.identifier)
        except (Py4JError, OSError):
            return ()


_missing: deque[_Missing] = deque(maxlen=_KEPT)
"""The latest at the end."""


def remember_missing(
    identifier: Any,
    name_of: Callable[[Any], tuple[str, ...]],
    near: Callable[[Sequence[str]], str],
) -> None:
    """Note that there is no such table.

    Parameters
    ----------
    identifier
        Spark's, within its catalog.
    name_of
        Reads catalog, database and table out of it.
    near
        Says which names are near that name, as a sentence with a blank before it; empty: none.
    """
    _missing.append(_Missing(identifier, name_of, near))


def with_hint(message: str, condition: str, name: str) -> str:
    """Add to Spark's message that a name is missing what we know of it, unless it says so.

    Parameters
    ----------
    message
        Spark's.
    condition
        Spark's name of the error.
    name
        The name in it, each part in back-quotes.
    """
    if condition == _NOT_FOUND:
        return with_near_names(message, name)
    return with_place_column(message, name) if condition.startswith(_UNRESOLVED) else message


def with_parameter(message: str, name: str, known: str) -> str:
    """Add to Spark's message that a procedure lacks a parameter which one is meant.

    Parameters
    ----------
    message
        Spark's.
    name
        The parameter in it.
    known
        Those it proposes, each in back-quotes.

    Examples
    --------
    >>> with_parameter("No `retain_last`. SQLSTATE: 4274K", "`retain_last`", "`table` `retain_min`")
    'No `retain_last`. It is retain_min. SQLSTATE: 4274K'
    """
    said = habits.parameter(name.strip("`"), [one.strip("`") for one in known.split()])
    before, found, after = message.rpartition(_STATE)
    if not said or said in message:
        return message
    return f"{before}{said}{found}{after}" if found else f"{message}{said}"


def with_near_names(message: str, relation: str) -> str:
    """Add to Spark's message that a table is missing which tables have a name near its own.

    Parameters
    ----------
    message
        Spark's.
    relation
        The name in it, as ```paimon`.`db`.`t```.
    """
    before, found, after = message.partition(_SENTENCE)
    if not found:
        return message
    parts = _parts(relation)
    for one in reversed(_missing):
        name = one.name()
        if name and name[-len(parts) :] == parts:
            near = one.near(name)
            return message if near and near in after else f"{before}{found}{near}{after}"
    return message


def with_place_column(message: str, column: str) -> str:
    """Add to Spark's message that a column is missing which one says here where a row is.

    Parameters
    ----------
    message
        Spark's.
    column
        The name in it, as ```_metadata`.`file_path```.

    Examples
    --------
    >>> with_place_column("`_file` cannot be resolved. SQLSTATE: 42703", "`_file`")
    '`_file` cannot be resolved. Tables of Paimon call it __paimon_file_path. SQLSTATE: 42703'
    """
    before, found, after = message.partition(_OF_COLUMNS)
    said = _place_column([part.lower() for part in _parts(column)]) if found else ""
    return f"{before}{found} {said}{after}" if said and said not in after else message


def _place_column(parts: Sequence[str]) -> str:
    """Say which column of ours is meant by parts of a name in lower case; empty: none."""
    if _STRUCT not in parts:
        called = _OF_ICEBERG.get(parts[-1])
    else:
        called = _IN_STRUCT.get(parts[-1])
        if called is None:
            return f"Tables of Paimon have {_PATH}, {_INDEX}, __paimon_bucket and {_PARTITION}."
    return "" if called is None else f"Tables of Paimon call it {called}."


def _parts(name: str) -> tuple[str, ...]:
    """Split a name as Spark writes it, with each part in back-quotes."""
    return tuple(part.replace("``", "`") for part in name.strip("`").split("`.`"))
