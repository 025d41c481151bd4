"""Names that fit where the cursor is: tables, system tables, ``:name`` parameters, topics of help.

Only what can be listed without Spark: a completer must answer at once, also while a job runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.interactiveshell import InteractiveShell

from paimonlab.errors import PaimonError
from paimonlab.notebook import connection as connections
from paimonlab.notebook.help_pages import TOPICS
from paimonlab.notebook.sql_line import OPTIONS
from paimonlab.table.system import SYSTEM_TABLES

_IDENTIFIER = "paimonlab"
_MAGIC = re.compile(r"\s*(?:\w+\s*=\s*)?(%%?paimon\w*)")
_OF_TABLES = frozenset(
    {
        *("%paimon", "%%paimon", "%paimon_timeline", "%paimon_fsck", "%paimon_manifests"),
        *("%paimon_heatmap", "%paimon_files", "%paimon_file", "%paimon_lsm"),
        *("%paimon_log", "%paimon_schemas", "%paimon_diff"),
    }
)
"""Magics whose line names a table."""
_FRAGMENT = re.compile(r"[\w.$:-]*$")


def candidates(
    before: str, variables: Iterable[str], tables: Callable[[], Sequence[str]]
) -> tuple[str, list[str]]:
    """Return the word at the cursor and what it could become.

    Parameters
    ----------
    before
        The cell up to the cursor.
    variables
        Names that a parameter can have.
    tables
        Lists ``database.table`` names; only called where a table can stand.
    """
    magic = _magic(before)
    match = _FRAGMENT.search(before)
    word = match[0] if match else ""
    if magic is None:
        return word, []
    if magic == "%paimon_help":
        return word, _starting(word, TOPICS)
    if word.startswith("-"):
        return word, _starting(word, OPTIONS) if magic.endswith("paimon") else []
    if word.startswith(":"):
        return word, _starting(word, (f":{name}" for name in variables if name[0] != "_"))
    if magic in _OF_TABLES:
        return word, _tables(word, tables())
    return word, []


def _magic(before: str) -> str | None:
    """Name the magic that the cursor is in: that of the cell, else that of its line."""
    cell = _MAGIC.match(before)
    if cell and cell[1].startswith("%%"):
        return cell[1] if "\n" in before or before != cell[0] else None
    line = before.rpartition("\n")[2]
    match = _MAGIC.match(line)
    return match[1] if match and line != match[0] else None


def _tables(word: str, tables: Sequence[str]) -> list[str]:
    base, dollar, _ = word.partition("$")
    if dollar:
        return _starting(word, (f"{base}${name}" for name in SYSTEM_TABLES))
    return _starting(word, tables)


def _starting(word: str, names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if name.startswith(word))


def _known_tables() -> Sequence[str]:
    if not connections.is_connected():
        return ()  # to connect as configured could take long
    try:
        return connections.current().known_tables()
    except (PaimonError, OSError):
        return ()  # a completer has nowhere to show an error


def register(shell: InteractiveShell) -> None:
    """Add the names to the completions of a shell; a second call changes nothing."""
    known = {getattr(one, "matcher_identifier", "") for one in shell.Completer.custom_matchers}
    if _IDENTIFIER in known:
        return

    @context_matcher(identifier=_IDENTIFIER)
    def paimon_names(context: CompletionContext) -> SimpleMatcherResult:
        before = _before_cursor(context)
        word, found = candidates(before, list(shell.user_ns), _known_tables)
        completions = [SimpleCompletion(text=name, type="paimon") for name in found]
        return _result(word, completions)

    shell.Completer.custom_matchers.append(paimon_names)


def _before_cursor(context: CompletionContext) -> str:
    lines = context.full_text.split("\n")[: context.cursor_line + 1]
    lines[-1] = lines[-1][: context.cursor_position]
    return "\n".join(lines)


def _result(word: str, completions: list[SimpleCompletion]) -> SimpleMatcherResult:
    result: dict[str, Any] = {
        "completions": completions,
        "matched_fragment": word,
        "suppress": bool(completions),
    }
    return result  # type: ignore[return-value]
