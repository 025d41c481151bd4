"""Completion in cells of SQL and lines of magics, through IPython's own completer.

Only what is known without Spark and without waiting: a completer must answer at once, also
while a job runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.interactiveshell import InteractiveShell

from paimonlab.catalog import settings
from paimonlab.notebook.cell.magic_line import OPTIONS
from paimonlab.notebook.completion.candidates import Candidate
from paimonlab.notebook.completion.known_names import known_names
from paimonlab.notebook.completion.sql_completion import Names, sql_candidates
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.connections.environment_offers import offers
from paimonlab.notebook.views.help.pages import TOPICS

_IDENTIFIER = "paimonlab"
_MAGIC = re.compile(r"\s*(?:\w+\s*=\s*)?(%%?(?:paimon\w*|sql\b))")
_FRAGMENT = re.compile(r"[\w.$:-]*$")
_WITHOUT_TABLE = frozenset(
    {"%paimon_demo", "%paimon_doctor", "%paimon_history", "%paimon_rerun", "%paimon_trace"}
)
_PATIENCE_SECONDS = 0.25
"""How long a front end waits that asks in a subshell, where nothing else waits for it."""
_OF_SQL = frozenset({"%paimon", "%%paimon", "%sql", "%%sql"})
"""The other name is ours where nothing else has it."""

OptionsOf = Callable[[str], Sequence[str]]
"""Lists the options of a magic."""


def candidates(
    before: str,
    after: str,
    names: Callable[[], Names],
    variables: Mapping[str, Any],
    options_of: OptionsOf,
) -> tuple[str, list[Candidate]]:
    """Return the word at the cursor and what it could become.

    Parameters
    ----------
    before, after
        The cell up to the cursor, and after it.
    names
        The catalog; only called where it matters.
    variables
        What a parameter can be.
    options_of
        Options of the other magics.
    """
    current = _magic(before)
    match = _FRAGMENT.search(before)
    word = match[0] if match else ""
    if current is None:
        return word, []
    magic, rest = current
    if word.startswith("-") and "\n" not in rest:
        options = OPTIONS if magic in _OF_SQL else options_of(magic.lstrip("%"))
        return word, _starting(word, options, "option")
    if magic in {"%paimon", "%sql"}:
        line = after.partition("\n")[0]
        return sql_candidates(rest + line, len(rest), names(), variables)
    if magic in {"%%paimon", "%%sql"}:
        _, newline, sql = rest.partition("\n")
        return sql_candidates(sql + after, len(sql), names(), variables) if newline else (word, [])
    return word, _of_line(magic, rest, word, names, variables)


def _could_be_made(variables: Mapping[str, Any]) -> set[str]:
    """Name the connections that are configured or on offer."""
    offered = {offer.name for offer in offers(variables)}
    try:
        return offered | settings.read().keys()
    except settings.SettingsError:  # a completer has nowhere to show it
        return offered


def _of_line(
    magic: str, rest: str, word: str, names: Callable[[], Names], variables: Mapping[str, Any]
) -> list[Candidate]:
    """Offer what a magic without SQL takes."""
    if magic == "%paimon_help":
        return _starting(word, TOPICS, "topic")
    if magic == "%paimon_connect":
        named = re.search(r"--(use|close)[ =]\S*$", rest)
        aliases = {connection.alias for connection in connections.connections()}
        if named is not None and named[1] == "use":
            aliases |= _could_be_made(variables)
        return _starting(word, aliases, "connection") if named else []
    if magic in _WITHOUT_TABLE:
        return []
    tables = names().tables()
    databases = sorted({name.partition(".")[0] for name in tables})
    if magic == "%paimon_tables":
        return _starting(word, databases, "database")
    if magic == "%paimon_health" and "." not in word:
        return _starting(word, databases, "database")
    return _starting(word, tables, "table")


def _magic(before: str) -> tuple[str, str] | None:
    """Name the magic that the cursor is in and what follows it: of the cell, else of its line."""
    cell = _MAGIC.match(before)
    if cell and cell[1].startswith("%%"):
        return (cell[1], before[cell.end() :]) if before != cell[0] else None
    line = before.rpartition("\n")[2]
    match = _MAGIC.match(line)
    return (match[1], line[match.end() :]) if match and line != match[0] else None


def _starting(word: str, names: Iterable[str], about: str) -> list[Candidate]:
    return [Candidate(name, about) for name in sorted(names) if name.startswith(word)]


def register(shell: InteractiveShell) -> None:
    """Add the names to the completions of a shell; a second call changes nothing."""
    identifiers = {
        getattr(matcher, "matcher_identifier", "") for matcher in shell.Completer.custom_matchers
    }
    if _IDENTIFIER in identifiers:
        return

    @context_matcher(identifier=_IDENTIFIER)
    def paimon_names(context: CompletionContext) -> SimpleMatcherResult:
        before, after = _around_cursor(context)
        word, offered = _offered(shell, before, after, known_names)
        completions = [
            SimpleCompletion(text=candidate.text, type=candidate.about) for candidate in offered
        ]
        return _result(word, completions)

    shell.Completer.custom_matchers.append(paimon_names)


def offered_at(shell: InteractiveShell, code: str, offset: int) -> dict[str, Any]:
    """Return what can be typed at a place of a cell, for a front end that asks by itself.

    Parameters
    ----------
    shell
        Whose variables and magics are offered.
    code
        The cell.
    offset
        Characters before the cursor.

    Returns
    -------
    dict
        ``start`` and ``end`` of the word, in characters; ``items`` with ``text`` and ``type``.
    """
    names = partial(known_names, _PATIENCE_SECONDS)
    word, offered = _offered(shell, code[:offset], code[offset:], names)
    items = [{"text": candidate.text, "type": candidate.about} for candidate in offered]
    return {"start": offset - len(word), "end": offset, "items": items}


def _offered(
    shell: InteractiveShell, before: str, after: str, names: Callable[[], Names]
) -> tuple[str, list[Candidate]]:
    def options_of(magic: str) -> Sequence[str]:
        text = getattr(shell.find_line_magic(magic), "__doc__", None) or ""
        return sorted(set(re.findall(r"--[a-z][a-z-]*", text)))

    if not _is_ours(shell, before):
        return "", []
    variables = dict(shell.user_ns)  # a cell that runs may change them meanwhile
    return candidates(before, after, names, variables, options_of)


def _is_ours(shell: InteractiveShell, before: str) -> bool:
    """Whether the magic that the cursor is in, if any, is not another extension's ``%sql``."""
    current = _magic(before)
    if current is None or current[0].lstrip("%") != "sql":
        return True
    magic = shell.find_cell_magic("sql") or shell.find_line_magic("sql")
    return getattr(magic, "__module__", "").startswith("paimonlab.")


def _around_cursor(context: CompletionContext) -> tuple[str, str]:
    lines = context.full_text.split("\n")
    line = lines[context.cursor_line]
    before = [*lines[: context.cursor_line], line[: context.cursor_position]]
    after = [line[context.cursor_position :], *lines[context.cursor_line + 1 :]]
    return "\n".join(before), "\n".join(after)


def _result(word: str, completions: list[SimpleCompletion]) -> SimpleMatcherResult:
    result: dict[str, Any] = {
        "completions": completions,
        "matched_fragment": word,
        "suppress": bool(completions),
    }
    return result  # type: ignore[return-value]
