"""Views of a Hive metastore: a query and columns, without the dialects of engines.

Source: apache/paimon@1.4.2 ``HiveCatalog.createView``, ``getView``, ``renameView``.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.hive import objects
from paimonlab.catalog.hive.client import Metastore, MissingObjectError, Struct, TakenNameError
from paimonlab.catalog.names import check_name
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import AlreadyExistsError, SchemaError, UnsupportedError, ViewNotFoundError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.view import View


class HiveViews(ViewCatalog, Catalog):
    """The part of a Hive catalog that keeps views."""

    _metastore: Metastore

    if TYPE_CHECKING:

        def _object(self, identifier: Identifier) -> Struct | None: ...
        def _objects(self, database: str) -> list[Struct]: ...
        def _known_database(self, name: str) -> Struct: ...
        def _check_writable(self, what: str) -> None: ...
        def _rename_object(self, old: Identifier, new: Identifier, table: Struct) -> None: ...
        def _drop_object(self, identifier: Identifier, table: Struct) -> None: ...
        def _alter_object(self, identifier: Identifier, altered: Struct) -> None: ...

    def views(self, database: str) -> list[str]:
        """Names of the views of a database, sorted."""
        self._known_database(check_name("database", database))
        return sorted(one.tableName for one in self._objects(database) if objects.is_view(one))

    def view(self, name: str) -> View:
        """Return a view."""
        identifier = self._plain(name)
        return objects.view_of(self._view_object(identifier))

    def create_view(self, name: str, view: View, *, exist_ok: bool = False) -> None:
        """Create a view; a dialect with another query is refused, as there is room for one."""
        identifier = self._plain(name)
        self._check_writable(f"creating view {name}")
        self._known_database(identifier.database)
        _check(identifier, view)
        if identifier.table != identifier.table.lower():
            raise SchemaError(
                f"{identifier.table!r} cannot be the name of a view: a Hive metastore has names "
                "in lower case"
            )
        if self._is_free(identifier, exist_ok=exist_ok):
            made = objects.new_view(self._metastore, identifier, view, int(time.time()))
            try:
                self._metastore.change(
                    "create_table", made, is_done=lambda: self._is_like(identifier, made)
                )
            except TakenNameError:
                if self._is_free(identifier, exist_ok=exist_ok):  # it was dropped again
                    raise

    def _is_like(self, identifier: Identifier, made: Struct) -> bool:
        found = self._object(identifier)
        return (
            found is not None
            and objects.is_view(found)
            and objects.is_made_as(found, made)
            and found.viewExpandedText == made.viewExpandedText
        )

    def _is_free(self, identifier: Identifier, *, exist_ok: bool) -> bool:
        found = self._object(identifier)
        if found is None:
            return True
        if not objects.is_view(found):
            raise AlreadyExistsError("table", identifier.full_name)
        if not exist_ok:
            raise AlreadyExistsError("view", identifier.full_name)
        return False

    def replace_view(self, name: str, view: View) -> None:
        """Give a view another definition; a dialect with another query is refused."""
        identifier = self._plain(name)
        self._check_writable(f"altering view {name}")
        found = self._view_object(identifier)
        _check(identifier, view)
        altered = objects.altered_view(self._metastore, found, view)
        self._alter_object(identifier, altered)

    def rename_view(self, source: str, target: str) -> None:
        """Give a view another name, in the same or another database."""
        old, new = self._plain(source), self._plain(target)
        self._check_writable(f"renaming view {source}")
        found = self._view_object(old)
        self._known_database(new.database)
        self._is_free(new, exist_ok=False)
        self._rename_object(old, new, found)

    def drop_view(self, name: str, *, missing_ok: bool = False) -> None:
        """Delete a view."""
        identifier = self._plain(name)
        self._check_writable(f"dropping view {name}")
        try:
            self._drop_object(identifier, self._view_object(identifier))
        except (ViewNotFoundError, MissingObjectError):
            if not missing_ok:
                raise self._no_view(identifier) from None

    def _view_object(self, identifier: Identifier) -> Struct:
        found = self._object(identifier)
        if found is None or not objects.is_view(found):
            raise self._no_view(identifier)
        return found

    def _no_view(self, identifier: Identifier) -> ViewNotFoundError:
        known = [
            f"{identifier.database}.{one.tableName}"
            for one in self._objects(identifier.database)
            if objects.is_view(one)
        ]
        return ViewNotFoundError(identifier.full_name, known)


def _check(identifier: Identifier, view: View) -> None:
    """Refuse what the object of a view has no room for."""
    for dialect, query in view.dialects.items():
        if query == view.query:
            continue
        raise UnsupportedError(
            f"the dialect {dialect!r} of view {identifier.full_name}",
            "a Hive metastore keeps one query of a view",
        )
