"""Statements of another table format as calls of procedures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from paimonlab.clock import now_millis
from paimonlab.errors import UnsupportedError
from paimonlab.spec.sql_text.call_text import call_text
from paimonlab.spec.sql_text.habit_syntax import Habit
from paimonlab.spec.sql_text.reader import StatementSyntaxError
from paimonlab.spec.sql_text.tokens import Span


class CalledOtherwiseError(UnsupportedError):
    """A statement of another table format that calls of procedures do.

    Parameters
    ----------
    statement
        The statement and its table.
    calls
        What does it, in SQL.
    remark
        How that differs.
    """

    def __init__(self, statement: str, calls: Sequence[str], remark: str) -> None:
        self.calls = tuple(calls)
        self.remark = remark
        super().__init__(statement, f"run {' and '.join(calls)}; {remark}")

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.feature, self.calls, self.remark)


Call = tuple[str, Mapping[str, str | int]]
"""The name of a procedure, and its arguments but for the table."""


def calls_of(habit: Habit, zone: tzinfo | None) -> Sequence[Call]:
    """Return the calls that do what a statement asks.

    Parameters
    ----------
    habit
        The statement.
    zone
        Of its times; None: the process's.

    Raises
    ------
    StatementSyntaxError
        If a time cannot be read.
    """
    return [(name, _exact(name, given, habit, zone)) for name, given in habit.procedures]


def refusal(habit: Habit, table: str, calls: Sequence[str]) -> UnsupportedError:
    """Make the error of a statement that deletes: what to run instead.

    Parameters
    ----------
    habit
        The statement.
    table
        Its table.
    calls
        In SQL; none if nothing does it.
    """
    if not calls:
        return UnsupportedError(f"{habit.statement} of {table}", habit.remark)
    return CalledOtherwiseError(f"{habit.statement} {table}", calls, habit.remark)


def texts_of(table: str, calls: Sequence[Call]) -> list[str]:
    """Write calls in SQL."""
    return [call_text(name, table, **arguments) for name, arguments in calls]


def _exact(
    procedure: str, arguments: Mapping[str, str | int], habit: Habit, zone: tzinfo | None
) -> Mapping[str, str | int]:
    """Write times as a procedure takes them."""
    if procedure == "expire_snapshots" and habit.hours is not None:
        then = datetime.fromtimestamp(now_millis() / 1000 - habit.hours * 3600).astimezone()
        return {**arguments, "older_than": then.strftime("%Y-%m-%d %H:%M:%S")}
    if procedure != "rollback_to_timestamp":
        return arguments
    text = str(arguments["timestamp"])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise StatementSyntaxError(f"RESTORE: {text!r} is not a time.", Span(0, 0)) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
    return {"timestamp": int(moment.timestamp() * 1000)}
