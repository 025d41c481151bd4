"""What a catalog does that keeps functions.

A catalog of files keeps none, as in Java Paimon. Those that do inherit from `FunctionCatalog`
beside `Catalog`; `tests/catalog/contracts.py` has the tests for them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.Catalog``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from paimonlab.errors import FunctionNotFoundError
from paimonlab.spec.function import Function, FunctionChange, changed_function


class FunctionCatalog(ABC):
    """A catalog with functions; names are ``database.function``, whatever tables are called."""

    @abstractmethod
    def functions(self, database: str) -> list[str]:
        """Names of the functions of a database, sorted.

        Raises
        ------
        DatabaseNotFoundError
            If there is no such database.
        """

    @abstractmethod
    def function(self, name: str) -> Function:
        """Return a function.

        Raises
        ------
        FunctionNotFoundError
            If there is no such function or database.
        """

    @abstractmethod
    def create_function(self, name: str, function: Function, *, exist_ok: bool = False) -> None:
        """Create a function.

        Parameters
        ----------
        name
            ``database.function``; the database must exist.
        function
            Nothing in it is validated.
        exist_ok
            Leave a function of this name as it is.

        Raises
        ------
        AlreadyExistsError
            If there is a function of this name, unless ``exist_ok``.
        DatabaseNotFoundError
            If there is no such database.
        """

    @abstractmethod
    def replace_function(self, name: str, function: Function) -> None:
        """Give a function another definition.

        Raises
        ------
        FunctionNotFoundError
            If there is no such function.
        """

    @abstractmethod
    def drop_function(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a function.

        Raises
        ------
        FunctionNotFoundError
            If there is no such function, unless ``missing_ok``.
        """

    def has_function(self, name: str) -> bool:
        """Whether a function exists."""
        try:
            self.function(name)
        except FunctionNotFoundError:
            return False
        return True

    def alter_function(self, name: str, *changes: FunctionChange) -> None:
        """Change a function: options, its comment, definitions; all or nothing.

        Raises
        ------
        AlreadyExistsError
            If a definition is added for an engine that has one.
        FunctionNotFoundError
            If there is no such function.
        SchemaError
            If a definition is changed or dropped that does not exist.
        """
        self.replace_function(name, changed_function(self.function(name), changes, name=name))
