"""Errors about what was asked for: arguments, definitions, rows, options."""

from __future__ import annotations

from paimonlab.errors.base import PaimonError
from paimonlab.secrets import without_secrets


class ArgumentError(PaimonError, ValueError):
    """A procedure cannot take these arguments, or a form or view these answers; nothing was done.

    ``procedure`` is the name of a procedure, or says in words what was asked for.
    """

    def __init__(self, procedure: str, problem: str) -> None:
        self.procedure = procedure
        self.problem = problem
        super().__init__(procedure, problem)

    def __str__(self) -> str:
        asked = self.procedure if " " in self.procedure else f"sys.{self.procedure}"
        return f"{asked}: {self.problem}"


class ReadOnlyError(PaimonError):
    """The catalog was opened to read only; nothing was changed."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(what)

    def __str__(self) -> str:
        return f"{self.what}: the catalog is read-only"


class AlreadyExistsError(PaimonError):
    """A name is already taken."""

    def __init__(self, what: str, name: str, hint: str = "") -> None:
        self.what = what
        self.name = name
        self.hint = hint
        super().__init__(what, name, hint)

    def __str__(self) -> str:
        said = f"{self.what} {self.name} already exists"
        return f"{said}; {self.hint}" if self.hint else said


class SchemaError(PaimonError):
    """A table definition or a schema change that the format does not allow."""


class DataError(PaimonError):
    """Rows that the table does not accept; none of them became visible."""


class PartialUpsertWarning(UserWarning):
    """Rows that lack columns take the place of rows that had values there."""


class UnsupportedError(PaimonError, NotImplementedError):
    """The format allows it, paimonlab does not (yet).

    Parameters
    ----------
    feature
        What is not supported; an option as ``key = 'value'``. Secrets in it are hidden.
    reason
        What that means and what can be done instead.
    """

    def __init__(self, feature: str, reason: str = "") -> None:
        self.feature = without_secrets(feature)
        self.reason = without_secrets(reason)
        super().__init__(self.feature, self.reason)

    def __str__(self) -> str:
        return f"{self.feature} is not supported" + (f": {self.reason}" if self.reason else "")
