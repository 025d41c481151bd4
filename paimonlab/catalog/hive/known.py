"""What a Hive metastore knows of a catalog, and where that is."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from paimonlab.catalog.hive import format_objects, objects
from paimonlab.catalog.hive.checks import is_foreign, is_lower
from paimonlab.catalog.hive.client import (
    Metastore,
    MissingObjectError,
    Struct,
)
from paimonlab.catalog.hive.lock import HiveLock
from paimonlab.catalog.hive.objects import ObjectOptions
from paimonlab.catalog.kinds import StoreOpener
from paimonlab.catalog.placed_tables import EXTERNAL, PATH, given_place
from paimonlab.catalog.schema_files import SchemaFileCatalog
from paimonlab.errors import (
    DatabaseNotFoundError,
    ReadOnlyError,
    UnsupportedError,
)
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.spec.identifier import Identifier
from paimonlab.storage import FileIO, join
from paimonlab.storage.guards import lock_held


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveOptions:
    """How a catalog uses its metastore."""

    objects: ObjectOptions
    batch_size: int
    """How many objects are asked for at once."""
    makes_external: bool
    """``table.type = external``: files of tables are never deleted."""
    cascades: bool
    """``alter-table-cascade``: whether partitions get the columns of their table."""
    skips_statistics: bool
    """``hive.skip-update-stats``"""
    has_format_tables: bool
    """``format-table.enabled``"""


class HiveObjects(SchemaFileCatalog):
    """The part of a Hive catalog that finds objects, their folders and their locks."""

    def __init__(
        self,
        path: str,
        file_io: FileIO,
        metastore: Metastore,
        *,
        lock: HiveLock | None,
        hive: HiveOptions,
        open_store: StoreOpener,
        **settings: Any,
    ) -> None:
        super().__init__(path, file_io, **settings)
        self._metastore = metastore
        self._lock = lock
        self._hive = hive
        self._open_store = open_store

    def _database(self, name: str) -> Struct | None:
        if name != name.lower():
            return None
        try:
            return self._metastore.ask("get_database", name)
        except MissingObjectError:
            return None

    def _known_database(self, name: str) -> Struct:
        found = self._database(name)
        if found is None:
            raise DatabaseNotFoundError(name, self.databases())
        return found

    def _objects(self, database: str) -> list[Struct]:
        """Return all tables and views of a database."""
        names = self._metastore.ask("get_all_tables", database)
        size = self._hive.batch_size
        found: list[Struct] = []
        for first in range(0, len(names), size):
            found += self._metastore.tables(database, names[first : first + size])
        return found

    def _object(self, identifier: Identifier) -> Struct | None:
        """Return a table or a view as the metastore has it; None if it has none of that name."""
        if not is_lower(identifier):
            return None
        return self._metastore.table(identifier.database, identifier.table)

    def _table_object(self, identifier: Identifier) -> Struct | None:
        """Return a table of Paimon's; None if there is none, or a view.

        Raises
        ------
        UnsupportedError
            If it is a table of something else.
        """
        return self._as_table(identifier, self._object(identifier))

    def _as_table(self, identifier: Identifier, found: Struct | None) -> Struct | None:
        """Return what the metastore has of a name if it is a table of Paimon's."""
        if found is None or objects.is_view(found):
            return None
        if is_foreign(found):
            if format_objects.is_paimons(found):
                raise UnsupportedError(
                    f"this for {identifier.full_name}, a format table,",
                    "only tables with snapshots have that",
                )
            raise UnsupportedError(
                f"{identifier.full_name}, a table of {objects.kind_of(found)},",
                "the metastore has it, and it is no table of Paimon's",
            )
        return found

    def _store_of(self, of: Struct, name: str) -> tuple[str, FileIO]:
        """Return the folder of a table or a database, and its store."""
        location = objects.location_of(of)
        if location is None:
            raise UnsupportedError(f"{name} without a location", "the metastore names no folder")
        return self._store_at(location)

    def _new_place(
        self, identifier: Identifier, database: Struct, options: Mapping[str, str]
    ) -> tuple[str, FileIO, bool]:
        """Return the folder of a table that is created, its store, and whether it is external."""
        is_external = self._hive.makes_external or PATH in options
        is_external |= any(options.get(key, "").lower() == "true" for key in EXTERNAL)
        if PATH in options:
            return *self._store_at(given_place(PATH, options[PATH])), is_external
        folder, store = self._store_of(database, identifier.database)
        return join(folder, identifier.table), store, is_external

    def _store_at(self, location: str) -> tuple[str, FileIO]:
        """Return a folder as a store has it, and the store.

        Raises
        ------
        UnsupportedError
            If there is no such store here.
        """
        location = location.rstrip("/")
        if location == self.path or location.startswith(f"{self.path}/"):
            return location, self.file_io
        if scheme_of(location) not in ("", "file"):
            return self._open_store(location, has_lock=self._lock is not None)
        path = folder_of(location)
        if "://" in self.path:
            return path, self._open_store(path)[1]
        return path, self.file_io

    def _path_of(self, of: Struct) -> str | None:
        location = objects.location_of(of)
        return None if location is None else self._store_at(location)[0]

    def _locks_of(self, *identifiers: Identifier) -> list[Identifier]:
        return sorted(set(identifiers), key=lambda one: one.full_name)

    @contextlib.contextmanager
    def _locks(self, *identifiers: Identifier) -> Iterator[None]:
        """Hold the locks of tables, if the catalog has locks; in order of their names."""
        with contextlib.ExitStack() as stack:
            if self._lock is not None:
                for identifier in self._locks_of(*identifiers):
                    stack.enter_context(self._lock.held(identifier))
                stack.enter_context(lock_held())
            yield

    def _check_writable(self, what: str) -> None:
        if self.is_read_only:
            raise ReadOnlyError(what)
