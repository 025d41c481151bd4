"""Which statements may write to a table: refuses those that would fail obscurely or not at all.

Spark says with which privileges it opens a table for writing. INSERT INTO asks for INSERT, INSERT
OVERWRITE for INSERT and DELETE; UPDATE, DELETE and MERGE ask for others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from py4j.java_collections import JavaMap, JavaSet
from py4j.java_gateway import JavaObject

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.time_travel import TRAVEL_OPTIONS
from paimonlab.spec.options.table_options import KNOWN_OPTIONS

_CONSTRAINT = re.compile(
    r"\s*ALTER\s+TABLE\s+\S+\s+(?P<verb>ADD|DROP)\s+CONSTRAINT\b", re.IGNORECASE
)
REFUSED_OPTIONS = tuple(sorted(KNOWN_OPTIONS.keys() - set(TRAVEL_OPTIONS)))
"""Table options that a read cannot set for itself."""


def check_access(bridge: Bridge, table: str, arguments: tuple[Any, ...]) -> None:
    """Refuse row-level statements, and read options that would have no effect.

    Parameters
    ----------
    bridge
        The session.
    table
        Its name, for messages.
    arguments
        What Spark passes to ``loadTable`` beside the name.

    Raises
    ------
    UnsupportedError
        Names the statement or the option.
    """
    for argument in arguments:
        if isinstance(argument, JavaSet):
            _check_privileges(table, bridge.names_of_set(argument))
        elif isinstance(argument, JavaMap):
            check_options(table, bridge.texts_of_map(argument))
        elif isinstance(argument, JavaObject):
            _check_privileges(table, bridge.names_of_set(argument.writePrivileges()))


def read_options(bridge: Bridge, arguments: tuple[Any, ...]) -> dict[str, str]:
    """Return the options of one read out of what Spark passes to ``loadTable`` beside the name."""
    for argument in arguments:
        if isinstance(argument, JavaMap):
            return bridge.texts_of_map(argument)
    return {}


def check_options(table: str, options: Mapping[str, str]) -> None:
    """Refuse options of one read or write that would have no effect.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    for key in REFUSED_OPTIONS:
        if key in options:
            raise UnsupportedError(
                f"{key} = {options[key]!r} for one read or write of {table}",
                "set it on the table: ALTER TABLE … SET TBLPROPERTIES",
            )


def check_statement(sql: str) -> None:
    """Refuse a statement that Spark passes on although no table of ours can do it.

    Raises
    ------
    UnsupportedError
        For table constraints: Spark fails with an internal error when it plans them.
    """
    if constraint := _CONSTRAINT.match(sql):
        raise UnsupportedError(
            f"ALTER TABLE … {constraint['verb'].upper()} CONSTRAINT",
            "a Paimon table has its primary key and NOT NULL, no other constraints",
        )


def _check_privileges(table: str, privileges: frozenset[str]) -> None:
    if "UPDATE" in privileges:
        statement = "MERGE INTO" if privileges - {"UPDATE"} else "UPDATE"
    elif privileges == {"DELETE"}:
        statement = "DELETE FROM"
    else:
        return
    raise UnsupportedError(
        f"{statement} {table}",
        "in Python there are table.delete and table.update; in SQL insert rows with the same "
        "primary key to replace them, or ALTER TABLE … DROP PARTITION",
    )
