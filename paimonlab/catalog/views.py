"""What a catalog does that keeps views.

A catalog of files keeps none, as in Java Paimon. Those that do inherit from `ViewCatalog` beside
`Catalog`; `tests/catalog/contracts.py` has the tests for them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.catalog.Catalog``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from paimonlab.errors import ViewNotFoundError
from paimonlab.spec.view import View, ViewChange, changed_view


class ViewCatalog(ABC):
    """A catalog with views; names are ``database.view``, and are not those of tables."""

    @abstractmethod
    def views(self, database: str) -> list[str]:
        """Names of the views of a database, sorted.

        Raises
        ------
        DatabaseNotFoundError
            If there is no such database.
        """

    @abstractmethod
    def view(self, name: str) -> View:
        """Return a view.

        Raises
        ------
        ViewNotFoundError
            If there is no such view or database.
        """

    @abstractmethod
    def create_view(self, name: str, view: View, *, exist_ok: bool = False) -> None:
        """Create a view.

        Parameters
        ----------
        name
            ``database.view``; the database must exist.
        view
            Nothing in it is validated.
        exist_ok
            Leave a view of this name as it is.

        Raises
        ------
        AlreadyExistsError
            If there is a table of this name, or a view unless ``exist_ok``.
        DatabaseNotFoundError
            If there is no such database.
        """

    @abstractmethod
    def replace_view(self, name: str, view: View) -> None:
        """Give a view another definition.

        Raises
        ------
        ViewNotFoundError
            If there is no such view.
        """

    @abstractmethod
    def rename_view(self, source: str, target: str) -> None:
        """Give a view another name, in the same or another database.

        Raises
        ------
        AlreadyExistsError
            If the name is one of a view or a table.
        DatabaseNotFoundError
            If there is no database for the new name.
        ViewNotFoundError
            If there is no such view.
        """

    @abstractmethod
    def drop_view(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a view.

        Raises
        ------
        ViewNotFoundError
            If there is no such view, unless ``missing_ok``.
        """

    def has_view(self, name: str) -> bool:
        """Whether a view exists."""
        try:
            self.view(name)
        except ViewNotFoundError:
            return False
        return True

    def alter_view(self, name: str, *changes: ViewChange) -> None:
        """Change a view: options, its comment, dialects; all or nothing.

        Raises
        ------
        AlreadyExistsError
            If a dialect is added that the view has.
        SchemaError
            If a dialect is changed or dropped that it does not have.
        ViewNotFoundError
            If there is no such view.
        """
        self.replace_view(name, changed_view(self.view(name), changes, name=name))
