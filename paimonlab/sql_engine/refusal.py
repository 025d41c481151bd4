"""What this engine refuses: each names the part of the statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from paimonlab.errors import (
    ColumnNotFoundError,
    PaimonError,
    TableNotFoundError,
    UnsupportedError,
    close_matches,
)
from paimonlab.spec.sql_text.habit_hints import habit_hint
from paimonlab.spec.sql_text.tokens import tokenize

ADVICE = "use --engine spark, or auto"


class NotTranslatedError(UnsupportedError):
    """A part of a statement that is not proven to give Spark's rows.

    Parameters
    ----------
    feature
        The part, as ``ILIKE`` or ``round of FLOAT``.
    word
        Text in the statement that shows where it is; empty: the first word of ``feature``.
    hint
        What to write instead; empty: nothing is known.
    """

    def __init__(self, feature: str, word: str = "", hint: str = "") -> None:
        super().__init__(f"{feature} without Spark", ADVICE)
        self.word = word or feature.partition(" ")[0]
        self.hint = hint


@contextmanager
def told_of_habits(text: str) -> Iterator[None]:
    """Add to what refuses a statement of another format what is written here instead."""
    try:
        yield
    except NotTranslatedError as error:
        error.hint = habit_hint(tokenize(text), reads_files=True) or error.hint
        raise


class NoDatabaseError(NotTranslatedError):
    """A name alone that no data frame has: a table whose database Spark may know.

    Parameters
    ----------
    table
        The name.
    """

    def __init__(self, table: str) -> None:
        super().__init__(f"{table}, neither db.table nor a data frame,", table)
        self.table = table

    def __str__(self) -> str:
        return (
            f"{self.table} is no data frame; a table is written with its database, as "
            f"database.{self.table}"
        )

    def __reduce__(self) -> tuple[type[NoDatabaseError], tuple[str]]:
        return type(self), (self.table,)


class DatabaseNotNamedError(NotTranslatedError):
    """A statement about the current database, which only Spark has.

    Parameters
    ----------
    feature, word, hint
        As of the base class.
    """

    def __str__(self) -> str:
        return f"{self.feature} needs the name of a database"


class QualifierNotFoundError(ColumnNotFoundError):
    """A column is asked of a table that is not in ``FROM``.

    Parameters
    ----------
    column
        Its name.
    qualifier
        What it is asked of.
    known
        What the tables in ``FROM`` are called.
    owners
        Those of them that have such a column.
    """

    def __init__(
        self, column: str, qualifier: str, known: Sequence[str], owners: Sequence[str]
    ) -> None:
        super().__init__(column, qualifier, known)
        self.owners = tuple(owners)
        self.args = (column, qualifier, self.known, self.owners)

    def __str__(self) -> str:
        named = ", ".join(self.known) or "no table"
        meant = " or ".join(f"{owner}.{self.column}" for owner in self.owners[:3])
        end = f" Did you mean {meant}?" if meant else ""
        return f"FROM has no {self.table}; it has {named}.{end}"


class DataFileNotFoundError(TableNotFoundError):
    """A file that a statement names in place of a table is not there.

    Parameters
    ----------
    table
        Its path, as it is written.
    known
        Names of files in its folder.
    """

    def __str__(self) -> str:
        return f"file {self.table} not found.{close_matches(self.table, self.known)}"


class NotReadError(NotTranslatedError):
    """A text that is no SQL as far as it is known here: Spark's own grammar may know more.

    Parameters
    ----------
    problem
        What is wrong, and where.
    guess
        What is probably meant.
    """

    def __init__(self, problem: str, guess: str = "") -> None:
        super().__init__(problem, hint=guess)
        self.word = ""
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.problem}: correct it, or use --engine spark if Spark reads it"


class StatementFailedError(PaimonError):
    """A statement that is understood, and failed on the rows.

    Parameters
    ----------
    problem
        What is wrong.
    advice
        What to do.
    """

    def __init__(self, problem: str, advice: str = "") -> None:
        self.problem = problem
        self.advice = advice
        super().__init__(problem, advice)

    def __str__(self) -> str:
        return f"{self.problem}: {self.advice}" if self.advice else self.problem
