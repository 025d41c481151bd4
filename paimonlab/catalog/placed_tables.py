"""Tables whose maker says where they are: the option ``path``, ``LOCATION`` in SQL.

Their files stay when they are dropped, and a table that is in the folder already is taken as it is.

Source: apache/paimon@1.4.2 ``org.apache.paimon.hive.HiveCatalog``,
``org.apache.paimon.rest.RESTCatalog.inferSchemaIfExternalPaimonTable``,
``org.apache.paimon.schema.SchemaManager.checkSchemaForExternalTable``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.new_schemas import check_width, checked_schema, schema_from
from paimonlab.errors import AlreadyExistsError, SchemaError
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.external_paths import scheme_of
from paimonlab.spec.format_table import is_format_table
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.given import option_text
from paimonlab.spec.schema.definition import Schema, TableSchema
from paimonlab.spec.types.text import format_type
from paimonlab.storage import FileIO
from paimonlab.table.table import Table

PATH = "path"
EXTERNAL = ("external", "EXTERNAL")
OF_PLACE = (PATH, *EXTERNAL)
"""Options of tables that say where they are, and whose their files are; they are set once."""


class PlacedTableCatalog(Catalog):
    """A catalog that takes tables at places that their makers name."""

    takes_places = True

    @abstractmethod
    def _store_at(self, place: str) -> tuple[str, FileIO]:
        """Return a folder as its store has it, and the store."""

    def create_table(
        self,
        name: str,
        schema: Any,
        *,
        primary_keys: Sequence[str] = (),
        partition_keys: Sequence[str] = (),
        options: Any = None,
        comment: str | None = None,
        exist_ok: bool = False,
    ) -> Table:
        """Create a table; see `Catalog.create_table`.

        Parameters
        ----------
        options
            Besides those of all catalogs ``path``: where the table is to be, also if it is there,
            and without columns only then; ``external`` = ``true``: its files stay when it is
            dropped, which they do with ``path``, too.
        """
        identifier = self._plain(name)
        definition = schema_from(name, schema, primary_keys, partition_keys, options, comment)
        if is_format_table(definition.options):
            made_format = self._made_format_table(identifier, definition, exist_ok=exist_ok)
            return cast("Table", made_format)
        of_place = {
            key: option_text(key, definition.options[key])
            for key in OF_PLACE
            if key in definition.options
        }
        others = {key: value for key, value in definition.options.items() if key not in of_place}
        if PATH in of_place and not definition.fields:
            definition = self._definition_at(identifier, of_place[PATH])
        made_of = checked_schema(replace(definition, options=others))
        if of_place:
            made_of = replace(made_of, options={**made_of.options, **of_place})
        check_width(identifier.full_name, made_of, self.max_columns)
        made = self._create(identifier, made_of)
        if made is not None:
            return self._open(made)
        if not exist_ok:
            raise AlreadyExistsError("table", identifier.full_name)
        return self.table(name)

    def _definition_at(self, identifier: Identifier, place: str) -> Schema:
        """Return the columns and keys of the table that is in a folder."""
        path, store = self._store_at(given_place(PATH, place))
        there = schema_files(path, store, identifier).latest()
        if there is None:
            raise SchemaError(
                f"{identifier.full_name}: there is no table in {path}; say which columns it has"
            )
        return Schema(
            there.fields, there.partition_keys, there.primary_keys, {}, comment=there.comment
        )


def check_same(identifier: Identifier, path: str, there: TableSchema, wanted: TableSchema) -> None:
    """Check that the table that is in a folder is the one that is to be made there.

    Raises
    ------
    SchemaError
        Says what differs.
    """
    # As texts: ids of nested fields are those of the table that is there.
    names = [(one.name, format_type(one.type)) for one in there.fields]
    differs = ""
    if [(one.name, format_type(one.type)) for one in wanted.fields] != names:
        differs = "other columns"
    elif wanted.primary_keys and wanted.primary_keys != there.primary_keys:
        differs = "another primary key"
    elif wanted.partition_keys and wanted.partition_keys != there.partition_keys:
        differs = "other partition columns"
    else:
        for key, value in wanted.options.items():
            if key not in (PATH, "owner") and there.options.get(key) != value:
                differs = f"{key} = {there.options.get(key)!r}"
    if differs:
        raise SchemaError(
            f"{identifier.full_name}: the table in {path} has {differs}; create it as it is there"
        )


def schema_files(path: str, store: FileIO, identifier: Identifier) -> SchemaManager:
    """Return the schemas of the table in a folder, or of a branch of it."""
    layout = TableLayout(path, branch=identifier.branch)
    return SchemaManager(store.within(path), layout, table_name=identifier.full_name)


def unmake(path: str, store: FileIO) -> None:
    """Delete the first schema of a table that came to nothing, and folders that it left empty."""
    layout = TableLayout(path)
    store.delete(layout.schema(0))
    for folder in (layout.schema(0).rpartition("/")[0], path):
        store.delete_empty_directory(folder)


def uri_of(path: str) -> str:
    """Return a folder as a metastore is told it: what has no scheme would be in its own store."""
    return path if "://" in path else f"file:{path}"


def given_place(key: str, text: str) -> str:
    """Return a folder that was given, if it says where it is.

    Raises
    ------
    SchemaError
        If it is relative.
    """
    if not text.startswith("/") and not scheme_of(text):
        raise SchemaError(f"{key} = {text!r} must be an absolute path, or have a scheme")
    return text
