"""Which statements and options are refused: those that would fail obscurely or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from py4j.java_collections import JavaMap

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.time_travel import READ_OPTIONS
from paimonlab.spark.session_options import (
    EXPLICIT_CAST,
    MERGE_SCHEMA,
    OF_WRITES,
    PREFIX,
    READS,
    TYPE_WIDENING,
    own_value,
)
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.options.table_options import KNOWN_OPTIONS, find_option
from paimonlab.table.inside import definition_of
from paimonlab.table.table import Table

_CONSTRAINT = re.compile(
    r"\s*ALTER\s+TABLE\s+\S+\s+(?P<verb>ADD|DROP)\s+CONSTRAINT\b", re.IGNORECASE
)
_OF_ACCESS = frozenset({*READ_OPTIONS, *OF_WRITES})
REFUSED_OPTIONS = tuple(sorted(KNOWN_OPTIONS.keys() - _OF_ACCESS))
"""Table options that a read cannot set for itself."""


def check_access(bridge: Bridge, table: Any, arguments: tuple[Any, ...]) -> None:
    """Refuse read options that would have no effect.

    Parameters
    ----------
    bridge
        The session.
    table
        What is opened. An option that says what a table has already holds.
    arguments
        What Spark passes to ``loadTable`` beside the name.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    for argument in arguments:
        if isinstance(argument, JavaMap):
            given = bridge.texts_of_map(argument)
            if isinstance(table, Table):
                given = {key: one for key, one in given.items() if not _is_own(table, key, one)}
            check_options(table.name, given)


def check_options(table: str, options: Mapping[str, str]) -> None:
    """Refuse options of one read or write that would have no effect.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    for key in options:
        if find_option(key) is not None and key not in _OF_ACCESS:
            raise UnsupportedError(
                f"{key} = {options[key]!r} for one read or write of {table}",
                (f"SET {PREFIX}{key}, or " if key.startswith(READS) else "")
                + "set it on the table: ALTER TABLE … SET TBLPROPERTIES, or "
                "writeTo(…).tableProperty where it is created",
            )


def check_options_of_write(
    table: Table, options: Mapping[str, str], *, is_new: bool = False, merges: bool = False
) -> None:
    """Refuse options of one write that would have no effect.

    Parameters
    ----------
    table
        What is written to. An option that says what the table has already holds: writers of data
        frames name the same options for a new table and for its rows.
    options
        Those of the write.
    is_new
        Whether the statement makes the table, so that its columns are those of the rows.
    merges
        Whether the rows bring their columns: ``write.merge-schema``.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    given = {
        key: value
        for key, value in options.items()
        if not _is_own(table, key, value) and not (is_new and key in OF_WRITES)
    }
    check_options(table.name, given)
    for key in () if merges else (EXPLICIT_CAST, TYPE_WIDENING):
        if key in given:
            raise UnsupportedError(
                f"{key} = {given[key]!r} for a write to {table.name} without {MERGE_SCHEMA}",
                f"it is about how columns change; set {MERGE_SCHEMA} = 'true' as well",
            )
    for key in READ_OPTIONS:
        if key in given:
            raise UnsupportedError(
                f"{key} = {given[key]!r} for a write to {table.name}", "it is about what is read"
            )


def _is_own(table: Table, key: str, value: str) -> bool:
    own = own_value(key, table.schema)
    return own is not None and own.replace(" ", "") == value.replace(" ", "")


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


def check_partition_overwrite(table: Table) -> None:
    """Refuse to replace some partitions where keys move between partitions.

    Raises
    ------
    UnsupportedError
        Names the statement.
    """
    if definition_of(table).bucket_mode is BucketMode.KEY_DYNAMIC:
        raise UnsupportedError(
            f"INSERT OVERWRITE of some partitions of {table.name}, whose primary key lacks a "
            "partition column",
            "keys may be in other partitions; overwrite the whole table, or INSERT INTO",
        )
