"""What this engine refuses: each names the part of the statement."""

from __future__ import annotations

from paimonlab.errors import PaimonError, UnsupportedError

ADVICE = "use --engine spark, or auto"


class NotTranslatedError(UnsupportedError):
    """A part of a statement that is not proven to give Spark's rows.

    Parameters
    ----------
    feature
        The part, as ``ILIKE`` or ``round of FLOAT``.
    word
        Text in the statement that shows where it is; empty: the first word of ``feature``.
    """

    def __init__(self, feature: str, word: str = "") -> None:
        super().__init__(f"{feature} without Spark", ADVICE)
        self.word = word or feature.partition(" ")[0]


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

    def __reduce__(self) -> tuple[type[NoDatabaseError], tuple[str]]:
        return type(self), (self.table,)


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
        super().__init__(problem)
        self.word = ""
        self.problem = problem
        self.guess = guess

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
