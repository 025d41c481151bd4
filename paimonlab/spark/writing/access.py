"""Which statements and options are refused: those that would fail obscurely or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from py4j.java_collections import JavaMap

from paimonlab.errors import UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.reading.time_travel import READ_OPTIONS
from paimonlab.spark.session_options import EXPLICIT_CAST, MERGE_SCHEMA, PREFIX, TYPE_WIDENING
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.options.table_options import KNOWN_OPTIONS, find_option
from paimonlab.table.inside import definition_of
from paimonlab.table.table import Table

_CONSTRAINT = re.compile(
    r"\s*ALTER\s+TABLE\s+\S+\s+(?P<verb>ADD|DROP)\s+CONSTRAINT\b", re.IGNORECASE
)
REFUSED_OPTIONS = tuple(sorted(KNOWN_OPTIONS.keys() - {*READ_OPTIONS, MERGE_SCHEMA}))
"""Table options that a read cannot set for itself."""
_OF_ACCESS = frozenset({*READ_OPTIONS, MERGE_SCHEMA})


def check_access(bridge: Bridge, table: str, arguments: tuple[Any, ...]) -> None:
    """Refuse read options that would have no effect.

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
        Names the option.
    """
    for argument in arguments:
        if isinstance(argument, JavaMap):
            check_options(table, bridge.texts_of_map(argument))


def check_options(table: str, options: Mapping[str, str]) -> None:
    """Refuse options of one read or write that would have no effect.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    for key in options:
        if find_option(key) is not None and key not in _OF_ACCESS:
            what = f"{key} = {options[key]!r} for one read or write of {table}"
            if key in (EXPLICIT_CAST, TYPE_WIDENING):
                raise UnsupportedError(what, f"set it in the session: {PREFIX}{key}")
            raise UnsupportedError(
                what,
                "set it on the table: ALTER TABLE … SET TBLPROPERTIES, or writeTo(…).tableProperty "
                "where it is created",
            )


def check_options_of_write(table: str, options: Mapping[str, str]) -> None:
    """Refuse options of one write that would have no effect.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    check_options(table, options)
    for key in READ_OPTIONS:
        if key in options:
            raise UnsupportedError(
                f"{key} = {options[key]!r} for a write to {table}", "it chooses what is read"
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
