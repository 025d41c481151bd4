"""Statements that call procedures: CALL, and OPTIMIZE and its like of another format."""

from __future__ import annotations

import pyarrow as pa
from msgspec.structs import replace

from paimonlab import procedures
from paimonlab.errors import SchemaError, habits
from paimonlab.procedures.described import DESCRIBED, described_text
from paimonlab.procedures.habits import calls_of, refusal, texts_of
from paimonlab.progress import Progress
from paimonlab.spec.sql_text import call_syntax
from paimonlab.spec.sql_text.call_text import table_text
from paimonlab.spec.sql_text.habit_syntax import Habit, parse_habit
from paimonlab.spec.sql_text.tokens import Token, tokenize
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources

CALLING = frozenset({"CALL", "OPTIMIZE", "REORG", "VACUUM", "RESTORE", "EXPIRE"})
"""First words of statements that call procedures."""
_NAMESPACE = "sys"


def run(
    text: str, sources: Sources, progress: Progress, noted: list[object] | None = None
) -> pa.Table:
    """Run a statement that calls a procedure.

    Parameters
    ----------
    text
        The statement, with literals alone.
    sources
        Where its table is.
    progress
        Called with what is done.
    noted
        What was deleted or rewritten is added to it.

    Raises
    ------
    NotTranslatedError
        If the table is in another catalog.
    UnsupportedError
        If it is VACUUM or RESTORE, which delete other things here; says which calls do it.
    SchemaError
        If it is not such a statement.
    """
    name, positional, named = _call(text, sources)
    procedure = procedures.find(name)
    arguments = procedures.bind(procedure, positional, named)
    return procedure.call(
        sources.catalog,
        arguments,
        catalog_name=sources.catalog_name,
        progress=progress,
        noted=noted,
    )


def described_query(text: str, sources: Sources) -> str | None:
    """Return the query in the place of DESCRIBE HISTORY and DETAIL; None: another statement.

    Raises
    ------
    UnsupportedError
        If the table has no such facts.
    """
    verb, *what = (word.lower() for word in text.split(maxsplit=2)[:2])
    if verb not in ("describe", "desc") or not DESCRIBED.keys() & {*what}:
        return None
    habit = _habit(text)
    if habit is None:
        return None
    name = sources.name_of(habit.table)
    path = (sources.catalog_name, *name.split(".", 1))
    return described_text(habit, sources.catalog.opened(name), path)


def refuse_habit(text: str, sources: Sources) -> None:
    """Refuse what CREATE and ALTER of other formats ask for: clones, branches, fields.

    Raises
    ------
    UnsupportedError
        Says which calls do it, or what is like it.
    """
    habit = _habit(text)
    if habit is None:
        return
    if habit.target:
        target = sources.name_of(habit.target)
        habit = replace(habit, procedures=(("copy", {"target_table": table_text(target)}),))
    table = sources.name_of(habit.table)
    raise refusal(habit, table, texts_of(table, calls_of(habit, None)))


def _call(
    text: str, sources: Sources
) -> tuple[str, tuple[object, ...], tuple[tuple[str, object], ...]]:
    habit = _habit(text)
    if habit is not None:
        table = sources.name_of(habit.table)
        calls = calls_of(habit, None)
        if not habit.is_run:
            raise refusal(habit, table, texts_of(table, calls))
        ((name, arguments),) = calls
        return name, (), (("table", table), *arguments.items())
    call = call_syntax.parse_call(_tokens(text))
    *namespace, name = call.name
    if [part.lower() for part in namespace] != [_NAMESPACE]:
        procedures.find(habits.procedure(name))  # where it is does not matter if it is nowhere
    if len(namespace) == 2 and namespace[0] != sources.catalog_name:
        instead = f"Procedures of Paimon are in sys: CALL sys.{habits.procedure(name)}(…)"
        raise NotTranslatedError(f"the catalog {namespace[0]}", namespace[0], instead)
    if [part.lower() for part in namespace[-1:]] != [_NAMESPACE]:
        raise SchemaError(
            f"{'.'.join(call.name)} is not a procedure; those of Paimon are in sys. "
            f"Write sys.{habits.procedure(name)}"
        )
    return name, call.positional, call.named


def _habit(text: str) -> Habit | None:
    return parse_habit(_tokens(text), text)


def _tokens(text: str) -> list[Token]:
    tokens = tokenize(text)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    return tokens
