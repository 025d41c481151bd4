"""Hive tables of Parquet and ORC files become append tables.

Source: apache/paimon@1.4.2 ``org.apache.paimon.hive.migrate.HiveMigrator``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from paimonlab.catalog import migrating
from paimonlab.catalog.folder_files import Folder, joined, read_folder
from paimonlab.catalog.hive import format_objects, objects
from paimonlab.catalog.hive.checks import is_foreign
from paimonlab.catalog.hive.client import Struct
from paimonlab.catalog.hive.hive_types import fields_of
from paimonlab.catalog.hive.known import HiveObjects
from paimonlab.catalog.migrating import FolderMigration
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.given import OptionValue
from paimonlab.spec.types.text import format_type
from paimonlab.storage import FileIO
from paimonlab.workers import Workers, side_by_side

if TYPE_CHECKING:
    from paimonlab.progress import Progress

_FORMATS = {"parquet": "parquet", "orc": "orc"}
_BETWEEN = "_paimon_"
"""What is put behind the name of a Hive table until it is one of Paimon, as in Java."""
_NULL = "__HIVE_DEFAULT_PARTITION__"


class HiveMigrations(HiveObjects):
    """The part of a Hive catalog that takes over tables of Hive itself."""

    if TYPE_CHECKING:

        def _drop_object(self, identifier: Identifier, table: Struct) -> None: ...

    def migrate_hive_table(
        self,
        source: str,
        target: str,
        *,
        moves: bool = False,
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
        workers: Workers | None = None,
    ) -> FolderMigration:
        """Make an append table of a Hive table; see `Catalog.migrate_hive_table`."""
        workers = side_by_side if workers is None else workers
        if target == source:
            return self._migrated_in_place(
                source,
                moves=moves,
                options=options,
                comment=comment,
                dry_run=dry_run,
                progress=progress,
                workers=workers,
            )
        identifier = self._plain(source)
        self._check_writable(f"migrating {source}")
        table = self._object(identifier)
        if table is None:
            begun = migrating.unfinished_source(self, target) if moves and not dry_run else None
            if begun is None:
                raise self._not_found(identifier)
            # The object was dropped, and the process died before it deleted its plan.
            return migrating.migrate_folder(
                self, begun, target, moves=True, progress=progress, workers=workers
            )
        if objects.is_view(table) or not is_foreign(table):
            raise UnsupportedError(f"migrating {source}", "it is a view, or Paimon's already")
        file_format = _format(table, source)
        transactional = (table.parameters or {}).get("transactional", "")
        if transactional.lower() == "true":
            raise UnsupportedError(
                f"migrating {source} with transactional = 'true'",
                "its folders have changes that only Hive merges; write it into a plain table first",
            )
        location, store = self._store_of(table, source)
        if store is not self.file_io and "://" in location:
            raise UnsupportedError(
                f"migrating {source} in {location}", "it is not in the store of the warehouse"
            )
        keys = fields_of([(one.name, one.type, one.comment) for one in table.partitionKeys or ()])
        partitions = self._metastore.ask("get_partitions", *_named(identifier), -1) if keys else ()
        for one in partitions:
            if _format(one, source) != file_format:
                raise UnsupportedError(
                    f"migrating {source}", f"partition {'/'.join(one.values)} has another format"
                )
        return migrating.migrate_folder(
            self,
            location,
            target,
            moves=moves,
            file_format=file_format,
            partition_types={key.name: format_type(key.type) for key in keys},
            options=options,
            comment=comment if comment is not None else (table.parameters or {}).get("comment"),
            dry_run=dry_run,
            progress=progress,
            read=partial(self._read, [key.name for key in keys], partitions),
            finish=partial(self._drop_object, identifier, table) if moves else None,
            columns_if_empty={
                field.name: field.type
                for field in fields_of([(one.name, one.type, None) for one in table.sd.cols])
            },
            workers=workers,
        )

    def hive_tables(self, database: str) -> list[str]:
        """Names of the tables of Hive itself in a database, sorted."""
        self._check_database(database)
        found = self._objects(database)
        return sorted(
            one.tableName for one in found if is_foreign(one) and not format_objects.is_paimons(one)
        )

    def _migrated_in_place(
        self,
        source: str,
        *,
        moves: bool,
        options: Mapping[str, OptionValue] | None,
        comment: str | None,
        dry_run: bool,
        progress: Progress | None,
        workers: Workers,
    ) -> FolderMigration:
        """Make a table of another name, which then takes that of the Hive table.

        One that was killed is gone on with by starting it again: the table of the other name is
        there until the last step.
        """
        if not moves:
            raise SchemaError(
                f"{source} stays a Hive table if its files are not moved; choose another name for "
                "the new one, or move them"
            )
        between = source + _BETWEEN
        identifier = self._plain(source)
        table = self._object(identifier)
        folder = None if table is None else self._path_of(table)
        is_left = table is None and self.has_table(between)
        if is_left and migrating.unfinished_source(self, between) is None:
            schema = self.table(between).schema
            done = FolderMigration(
                source=source,
                target=source,
                moves=True,
                creates_target=False,
                columns={field.name: format_type(field.type) for field in schema.fields},
                partition_keys=schema.partition_keys,
                files=(),
                is_resumed=True,
                is_dry_run=dry_run,
            )
        else:
            done = self.migrate_hive_table(
                source,
                between,
                moves=True,
                options=options,
                comment=comment,
                dry_run=dry_run,
                progress=progress,
                workers=workers,
            )
        if dry_run:
            return replace(done, target=source)
        if folder is not None:
            self._remove_marks(source, folder)
        self.rename_table(between, source)
        return replace(done, target=source)

    def _remove_marks(self, source: str, folder: str) -> None:
        """Delete what is left in the folder of a Hive table that no longer is one.

        Raises
        ------
        SchemaError
            If there are files that may be somebody's rows.
        """
        store = self._store_at(folder)[1]
        left = list(store.list(folder))
        for status in left:
            name = status.path.rstrip("/").rpartition("/")[2]
            if not name.startswith(("_", ".")):
                raise SchemaError(
                    f"{source + _BETWEEN} has the rows of {source}, and {status.path} is still "
                    "there, which the metastore did not know; move it away, then rename the table"
                )
        for status in left:
            if status.is_directory:
                store.delete_directory(status.path)
            else:
                store.delete(status.path)
        store.delete_empty_directory(folder)

    def _read(
        self,
        keys: Sequence[str],
        partitions: Sequence[Struct],
        io: FileIO,
        folder: str,
        progress: Progress | None,
    ) -> Folder:
        """Find the files of a table, or of its partitions, which may be elsewhere."""
        if not keys:
            return read_folder(io, folder, progress)
        parts = []
        for number, one in enumerate(sorted(partitions, key=lambda one: list(one.values))):
            path, _ = self._store_of(one, "/".join(one.values))
            values = tuple(None if value == _NULL else value for value in one.values)
            parts.append((read_folder(io.within(path), path), values))
            if progress is not None:
                progress(number + 1, len(partitions), "partitions")
        return joined(parts, tuple(keys))


def _named(identifier: Identifier) -> tuple[str, str]:
    return identifier.database, identifier.table


def _format(of: Struct, name: str) -> str:
    """Return the format of the files of a table or a partition.

    Raises
    ------
    UnsupportedError
        If it is neither Parquet nor ORC.
    """
    serde = (of.sd.serdeInfo.serializationLib or "").lower() if of.sd is not None else ""
    for part, file_format in _FORMATS.items():
        if part in serde:
            return file_format
    raise UnsupportedError(
        f"migrating {name}, a table of {serde or 'an unknown format'},",
        "files of Parquet and ORC are taken; in Spark: CREATE TABLE … AS SELECT",
    )
