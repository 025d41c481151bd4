"""Databases of a Hive metastore."""

from __future__ import annotations

import contextlib
import copy
from dataclasses import replace
from typing import TYPE_CHECKING

from paimonlab.catalog.hive import format_objects, objects
from paimonlab.catalog.hive.checks import COMMENT, check_lower, is_foreign
from paimonlab.catalog.hive.client import (
    MissingObjectError,
    Struct,
    TakenNameError,
)
from paimonlab.catalog.hive.known import HiveObjects
from paimonlab.catalog.names import check_name
from paimonlab.catalog.placed_tables import given_place, uri_of
from paimonlab.errors import (
    SchemaError,
    UnsupportedError,
)
from paimonlab.spec.identifier import Identifier

_LOCATION = "location"


class HiveDatabases(HiveObjects):
    """The part of a Hive catalog that keeps databases."""

    if TYPE_CHECKING:

        def drop_view(self, name: str, *, missing_ok: bool = False) -> None:
            """Drop a view; another part of the catalog does."""

    def databases(self) -> list[str]:
        """Names of the databases, sorted."""
        return sorted(self._metastore.ask("get_all_databases"))

    def has_database(self, database: str) -> bool:
        """Whether a database exists."""
        return self._database(check_name("database", database)) is not None

    def _check_database(self, database: str) -> None:
        self._known_database(database)

    def _database_options(self, database: str) -> dict[str, str]:
        return objects.options_of(self._known_database(database))

    def _create_database(self, database: str, options: dict[str, str]) -> bool:
        self._check_writable(f"creating database {database}")
        check_lower("database", database)
        if self._database(database) is not None:
            return False
        place = options.get(_LOCATION)
        path, store = self._store_at(
            given_place(_LOCATION, place) if place else self._database_path(database)
        )
        made = objects.database_of(self._metastore, database, {**options, _LOCATION: uri_of(path)})
        if self._hive.objects.hides_locations:
            store.make_directory(path)
            made.locationUri = None
            objects.place(made, uri_of(path), replace(self._hive.objects, hides_locations=True))
        try:
            self._metastore.change(
                "create_database", made, is_done=lambda: self._database(database) is not None
            )
        except TakenNameError:  # others were faster
            return False
        return True

    def _alter_database(
        self, database: str, set_to: dict[str, str], removed: frozenset[str]
    ) -> None:
        self._check_writable(f"altering database {database}")
        for key in {_LOCATION, objects.LOCATION} & {*set_to, *removed}:
            raise UnsupportedError(
                f"altering {key} of database {database}",
                "the tables in it would stay where they are",
            )
        before = self._known_database(database)
        if COMMENT in set_to or (COMMENT in removed and before.description is not None):
            self._alter_comment(before, set_to.get(COMMENT))
        changed = copy.deepcopy(self._known_database(database))
        options = {**objects.options_of(changed), **set_to}
        for key in removed:
            options.pop(key, None)
        after = objects.database_of(self._metastore, database, options)
        changed.parameters, changed.ownerName = after.parameters, after.ownerName
        changed.description = after.description
        self._write_database(changed)

    def _alter_comment(self, before: Struct, comment: str | None) -> None:
        """Change the comment first, and alone: not every metastore does it, and none says so."""
        changed = copy.deepcopy(before)
        changed.description = comment
        self._write_database(changed)
        if self._known_database(before.name).description != comment:
            raise UnsupportedError(
                f"altering {COMMENT} of database {before.name}",
                "this metastore keeps it as it was when the database was created, as those of "
                "Hive 2 do",
            )

    def _write_database(self, changed: Struct) -> None:
        # Writing the same twice changes nothing, so it may be asked again.
        self._metastore.ask("alter_database", changed.name, changed)

    def _drop_database(self, database: str) -> None:
        self._check_writable(f"dropping database {database}")
        path, store = self._store_of(self._known_database(database), database)
        inside = self._objects(database)
        foreign = [
            one.tableName
            for one in inside
            if is_foreign(one) and not format_objects.is_paimons(one)
        ]
        if foreign:
            raise SchemaError(
                f"database {database} has tables that are not Paimon's ({', '.join(foreign[:5])}); "
                "drop them with what made them"
            )
        for one in inside:
            identifier = Identifier(database, one.tableName)
            if objects.is_view(one):
                self.drop_view(identifier.full_name, missing_ok=True)
            else:
                self._drop(identifier)
        with contextlib.suppress(MissingObjectError):
            # Neither with its files nor with tables that others have made meanwhile.
            deletes_data, cascades = False, False
            self._metastore.change(
                "drop_database",
                *(database, deletes_data, cascades),
                is_done=lambda: self._database(database) is None,
            )
        store.delete_empty_directory(path)

    def _contents(self, database: str) -> list[str]:
        return sorted(self._metastore.ask("get_all_tables", database))
