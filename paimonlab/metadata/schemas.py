"""The schemas of a table.

Source: https://paimon.apache.org/docs/master/concepts/spec/schema/
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from paimonlab.errors import CorruptMetadataError, SchemaNotFoundError, TableNotFoundError
from paimonlab.metadata.hints import numbered
from paimonlab.metadata.last_seen import schema_ids
from paimonlab.metadata.layout import SCHEMA_PREFIX, TableLayout
from paimonlab.metadata.table_files import NumberedFiles
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.storage import FileIO
from paimonlab.storage.schemes import store_kind
from paimonlab.storage.together import asked_together

_PUBLISH_ATTEMPTS = 3


def gone_hint(table: str) -> str:
    """Say what became of a table that was opened and is not there any more."""
    return f"It was dropped or renamed after it was opened: catalog.table({table!r}) opens it again"


def replaced_hint(table: str) -> str:
    """Say what became of a table in whose folder another one is."""
    return (
        "It was dropped or renamed after it was opened, and another table has its name: "
        f"table.refresh() or catalog.table({table!r}) opens that one"
    )


class SchemaManager(NumberedFiles[TableSchema], written="table.schemas"):
    """Finds, reads and publishes schemas. Schemas never change, so they are read once."""

    def __init__(
        self, file_io: FileIO, layout: TableLayout, *, table_name: str | None = None
    ) -> None:
        super().__init__(file_io, layout, table_name=table_name)
        self._known: dict[int, TableSchema] = {}
        self._latest_id: int | None = None
        self._listed: list[int] = []
        self._opened: TableSchema | None = None
        """The one that the table was opened with, as its file has it; None: unknown."""
        self._opened_data: bytes | None = None

    def latest(self) -> TableSchema | None:
        """Return the schema with the highest id; None when the table does not exist.

        The folder is listed only if a newer schema follows the one found last.

        Raises
        ------
        TableNotFoundError
            If another table has its folder since it was opened.
        """
        self.check_same()
        folder, known = self._layout.schema_folder, self._latest_id
        if known is None and store_kind(folder) is not None:
            known = self._latest_id = self._newest_seen(schema_ids.get(folder))
        elif known is not None and not self._is_newest(known):
            known = None
        if known is None:
            ids = self.ids()
            known = self._latest_id = ids[-1] if ids else None
        if known is None:
            return None
        schema_ids.put(folder, known)
        return self.get(known)

    def _newest_seen(self, seen: int | None) -> int | None:
        """Read the schema that was the latest before; None if it is not any more."""
        if seen is None:
            return None

        def read() -> TableSchema | None:
            try:
                return self._read(seen)
            except SchemaNotFoundError:
                return None

        is_followed, found = asked_together(
            self._layout.table_path, (lambda: self._is_there(seen + 1), read)
        )
        if is_followed or not isinstance(found, TableSchema):
            return None
        self._known[seen] = found
        return seen

    def found_last(self) -> TableSchema | None:
        """Return the schema that `latest` found last, without a look; None: it was never asked."""
        return None if self._latest_id is None else self.get(self._latest_id)

    def has(self, schema_id: int) -> bool:
        """Whether there is a schema with an id."""
        return self._is_there(schema_id)

    def begin_at(self, schema: TableSchema, *, is_from_file: bool) -> None:
        """Take a schema that others found just now for the one found last.

        Parameters
        ----------
        schema
            The one that the table is opened with.
        is_from_file
            Whether it is what the file of its id has.
        """
        if self._latest_id is None:
            self._latest_id = schema.id
        if self._opened is None and is_from_file:
            self._opened = schema
        if is_from_file and store_kind(self._layout.schema_folder) is not None:
            self._known.setdefault(schema.id, schema)  # it is not asked for once more

    def check_same(self) -> None:
        """Check that the table is still the one that was opened.

        Raises
        ------
        TableNotFoundError
            If it was dropped or renamed, and another table has its folder.
        """
        if self.is_replaced():
            raise TableNotFoundError(self._table, hint=replaced_hint(self._table))

    def is_replaced(self) -> bool:
        """Whether another table has the folder of the one that was opened.

        Files of schemas never change. Always False in a store, where each look is a request.
        """
        opened = self._opened
        if opened is None or store_kind(self._layout.schema_folder) is not None:
            return False
        try:
            data = self._file_io.read(self._layout.schema(opened.id))
        except FileNotFoundError:
            # A rollback may have deleted it; those before it are older.
            ids = self.ids()
            return bool(ids) and self._read(ids[-1]).time_millis > opened.time_millis
        if data == self._opened_data:
            return False
        if self._parsed(opened.id, data).time_millis != opened.time_millis:
            return True
        self._opened_data = data
        return False

    def ids(self) -> list[int]:
        """Return the ids of all schemas, ascending."""
        return numbered(self._file_io.list_names(self._layout.schema_folder), SCHEMA_PREFIX)

    def get(self, schema_id: int) -> TableSchema:
        """Read a schema.

        Raises
        ------
        SchemaNotFoundError
            If there is no schema with that id.
        CorruptMetadataError
            If the file does not follow the format.
        """
        known = self._known.get(schema_id)
        if known is None:
            known = self._known[schema_id] = self._read(schema_id)
        return known

    def upto(self, newest: int, known: Sequence[TableSchema] = ()) -> list[TableSchema]:
        """Read the schemas up to one that is there, oldest first.

        Ids only rise, so the folder is listed once for all of them.

        Parameters
        ----------
        newest
            Id of the last one.
        known
            Schemas that need not be read.
        """
        by_id = {schema.id: schema for schema in known}
        if newest and (not self._listed or self._listed[-1] < newest):
            self._listed = self.ids()
        ids = [one for one in self._listed if one <= newest] if newest else [0]
        missing = [one for one in ids if one not in by_id]
        reads = [partial(self.get, one) for one in missing]
        read = asked_together(self._layout.table_path, reads)
        by_id.update((schema.id, schema) for schema in read)
        return [by_id[one] for one in ids]

    def list(self) -> list[TableSchema]:
        """Read all schemas, oldest first.

        Raises
        ------
        TableNotFoundError
            If there is none: the table was dropped or renamed after it was opened.
        """
        ids = self.ids()
        if not ids:
            raise TableNotFoundError(self._table, hint=gone_hint(self._table))
        reads = [partial(self.get, schema_id) for schema_id in ids]
        return asked_together(self._layout.table_path, reads)

    def publish(self, schema: TableSchema) -> bool:
        """Make a schema the current one if its id is still free.

        Returns
        -------
        bool
            False when another writer was first: derive the change again from `latest`.

        Raises
        ------
        OSError
            If the store fails and it stays unknown whether the schema was published.
        """
        path, data = self._layout.schema(schema.id), schema.to_json()
        for attempt in range(_PUBLISH_ATTEMPTS):
            try:
                is_published = self._file_io.publish(path, data)
            except OSError:
                if self._is_ours(path, data):
                    return True
                if attempt == _PUBLISH_ATTEMPTS - 1:
                    raise
            else:
                # A failed attempt of ours may have landed after all.
                return is_published or (attempt > 0 and self._is_ours(path, data))
        raise AssertionError("the last attempt returns or raises")

    def _is_newest(self, schema_id: int) -> bool:
        is_followed, is_there = asked_together(
            self._layout.table_path,
            (lambda: self._is_there(schema_id + 1), lambda: self._is_there(schema_id)),
        )
        return is_there and not is_followed

    def _is_there(self, schema_id: int) -> bool:
        return self._file_io.has_file(self._layout.schema(schema_id))

    def _is_ours(self, path: str, data: bytes) -> bool:
        try:
            return self._file_io.read(path) == data
        except FileNotFoundError:
            return False

    def _read(self, schema_id: int) -> TableSchema:
        path = self._layout.schema(schema_id)
        try:
            data = self._file_io.read(path)
        except FileNotFoundError:
            raise SchemaNotFoundError(self._table, schema_id) from None
        return self._parsed(schema_id, data)

    def _parsed(self, schema_id: int, data: bytes) -> TableSchema:
        path = self._layout.schema(schema_id)
        schema = TableSchema.from_json(data, path=path)
        if schema.id != schema_id:
            raise CorruptMetadataError(path, f"it says that it is schema {schema.id}")
        return schema
