"""From the text or plan of a statement to what Spark is to run."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from paimonlab.spark.copying.loading import load_command
from paimonlab.spark.copying.unloading import unload_command
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.statements.analyze import analyze_command
from paimonlab.spark.statements.changes_of_names import command_of_with, refuse_joined_change
from paimonlab.spark.statements.functions import FUNCTION_STATEMENTS, function_command
from paimonlab.spark.statements.habits import habit_text
from paimonlab.spark.statements.kept import (
    ALTER_VIEW,
    CREATE_VIEW,
    alter_view_command,
    create_view_command,
)
from paimonlab.spark.statements.of_hive import STATEMENTS_OF_HIVE, refuse_statement_of_hive
from paimonlab.spark.statements.partitions import drop_command
from paimonlab.spark.statements.replace_using import replacing_insert
from paimonlab.spark.statements.session_tables import (
    NEW_TABLES,
    TABLES_LIKE,
    new_table_command,
    renamed_table_command,
    shown_tables_command,
    table_like_command,
)
from paimonlab.spark.statements.tags import tag_command
from paimonlab.spec.sql_text.call_text import quoted
from paimonlab.spec.sql_text.copy_syntax import CopyIntoTable, parse_copy_statement
from paimonlab.spec.sql_text.habit_syntax import parse_habit
from paimonlab.spec.sql_text.joined_changes import joined_change
from paimonlab.spec.sql_text.reader import TokenReader
from paimonlab.spec.sql_text.tag_syntax import parse_tag_statement
from paimonlab.spec.sql_text.tokens import Token, tokenize

_SETTING = re.compile(
    r"(SET|RESET)\s+(spark\.paimon[\w.*$-]*-[\w.*$-]*)\s*(?:(=)\s*(.*?))?[\s;]*",
    re.IGNORECASE | re.DOTALL,
)
"""SET and RESET of a key with a hyphen, as most options of Paimon have; Spark wants it quoted."""
_SHOWN = {
    "TAGS": "SELECT tag_name AS tag FROM {} ORDER BY tag",
    "SNAPSHOTS": "SELECT * FROM {} ORDER BY snapshot_id",
}
"""Queries of system tables by what SHOW shows; the tables are called so, too."""


def plan_of(bridge: Bridge, text: str) -> Any:
    """Return another text or a plan for a statement that Spark's grammar lacks.

    Parameters
    ----------
    bridge
        The session.
    text
        The statement, without EXPLAIN in front.

    Returns
    -------
    str, Java object or None
        None if it is not a statement of ours.

    Raises
    ------
    StatementSyntaxError
        If it begins like one and goes on otherwise.
    UnsupportedError
        If it asks for something that is not implemented.
    """
    if (setting := _SETTING.fullmatch(text)) is not None:
        verb, key, equals, value = setting.groups()
        return f"{verb} {quoted(key)}" + (f" = {quoted(value)}" if equals and value else "")
    tokens = tokenize(text)
    shown = _shown(tokens)
    if shown is not None:
        return shown
    copied = parse_copy_statement(tokens, text)
    if isinstance(copied, CopyIntoTable):
        return load_command(bridge, copied)
    if copied is not None:
        return unload_command(bridge, copied)
    habit = parse_habit(tokens, text)
    if habit is not None:
        return habit_text(bridge, habit)
    changed = joined_change(tokens, text)
    if changed is not None:
        refuse_joined_change(bridge, changed)
    tags = parse_tag_statement(tokens)
    return None if tags is None else tag_command(bridge, tags)


def replaced(bridge: Bridge, plan: Any) -> Any:
    """Return a plan in the place of one that Spark refuses; None: Spark's own is right.

    Raises
    ------
    UnsupportedError
        For what the commands of such statements refuse.
    """
    kind = str(plan.getClass().getSimpleName())
    return _REPLACED.get(kind, analyze_command)(bridge, plan)


_REPLACED: Mapping[str, Callable[[Bridge, Any], Any]] = MappingProxyType(
    {
        "DropPartitions": drop_command,
        CREATE_VIEW: create_view_command,
        ALTER_VIEW: alter_view_command,
        "InsertIntoStatement": replacing_insert,
        "UnresolvedWith": command_of_with,
        "RenameTable": renamed_table_command,
        "ShowTablesExtended": shown_tables_command,
        **dict.fromkeys(FUNCTION_STATEMENTS, function_command),
        **dict.fromkeys(NEW_TABLES, new_table_command),
        **dict.fromkeys(TABLES_LIKE, table_like_command),
        **dict.fromkeys(STATEMENTS_OF_HIVE, refuse_statement_of_hive),
    }
)
"""By the simple name of Spark's plan."""


def _shown(tokens: list[Token]) -> str | None:
    for what, query in _SHOWN.items():
        reader = TokenReader(tokens, f"SHOW {what}")
        if reader.take("SHOW", what):
            _ = reader.take("IN") or reader.take("FROM")
            *before, table = reader.names("a table")
            reader.end()
            return query.format(".".join(map(quoted, [*before, f"{table}${what.lower()}"])))
    return None
