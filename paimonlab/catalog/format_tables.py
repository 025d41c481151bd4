"""What a catalog does that keeps format tables: names of folders of CSV, JSON, text, Parquet, ORC.

Catalogs of files and of databases keep none, as in Java Paimon. Those that do inherit from
`FormatTableCatalog`; `tests/catalog/format_contract.py` has the tests for them. Format tables are
listed by `format_tables`, as views are by `views`, so that what walks over ``tables`` meets tables
with snapshots only.

Source: apache/paimon@1.4.2 ``org.apache.paimon.catalog.CatalogUtils.toFormatTable``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from paimonlab.catalog.catalog import Catalog, FoundTable
from paimonlab.catalog.new_schemas import check_width, schema_from
from paimonlab.clock import now_millis
from paimonlab.errors import AlreadyExistsError, SchemaError, TableNotFoundError
from paimonlab.spec.format_table import FILE_FORMAT, FORMAT_TABLE, TYPE, is_format_table
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.given import OptionValue, text_options
from paimonlab.spec.schema.definition import Schema, TableSchema, new_table_schema
from paimonlab.table import format_tables

if TYPE_CHECKING:
    from paimonlab.table.format_tables.format_table import FormatTable


class FormatTableCatalog(Catalog):
    """A catalog with format tables; their names are not those of tables or views."""

    @abstractmethod
    def format_tables(self, database: str) -> list[str]:
        """Names of the format tables of a database, sorted.

        Raises
        ------
        DatabaseNotFoundError
            If there is no such database.
        """

    def has_format_table(self, name: str) -> bool:
        """Whether a format table exists."""
        found = self._found(self._plain(name))
        return found is not None and is_format_table(found.schema.options)

    def format_table(self, name: str) -> FormatTable:
        """Open a format table.

        Raises
        ------
        TableNotFoundError
            If it does not exist.
        SchemaError
            If it is the name of a table, which `table` opens.
        UnsupportedError
            If an option has a value that is not implemented.
        """
        identifier = self._plain(name)
        found = self._found(identifier)
        if found is None:
            raise self._not_found_format(identifier)
        if not is_format_table(found.schema.options):
            raise SchemaError(f"{name} is a table; catalog.table({name!r}) opens it")
        return self._open_format(found)

    def create_format_table(
        self,
        name: str,
        schema: Any,
        *,
        file_format: str | None = None,
        partition_keys: Sequence[str] = (),
        options: Mapping[str, OptionValue] | None = None,
        comment: str | None = None,
        exist_ok: bool = False,
    ) -> FormatTable:
        """Create a format table; so does `create_table` with ``type`` = ``format-table``.

        Parameters
        ----------
        name
            ``database.table``; the database must be there.
        schema
            As of `create_table`.
        file_format
            csv, json, text, parquet or orc; None: what the option ``file.format`` says, else
            parquet.
        partition_keys, options, comment
            What a `Schema` would say. ``path``: the folder, which then stays when the table is
            dropped.
        exist_ok
            Return the existing table, whatever its definition.

        Raises
        ------
        AlreadyExistsError
            If the name is taken, unless ``exist_ok``.
        SchemaError
            If the definition is not allowed, or an option is unknown.
        UnsupportedError
            If an option means nothing to a format table, or its files cannot hold a column.
        """
        said: dict[str, OptionValue] = {TYPE: FORMAT_TABLE}
        if file_format is not None:
            said[FILE_FORMAT] = file_format
        if isinstance(schema, Schema):
            given = {**schema.options, **(options or {}), **said}
            definition = Schema(
                *(schema.fields, schema.partition_keys or tuple(partition_keys)),
                *(schema.primary_keys, given),
                comment or schema.comment,
            )
        else:
            given = {**(options or {}), **said}
            definition = schema_from(name, schema, (), partition_keys, given, comment)
        return self._made_format_table(self._plain(name), definition, exist_ok=exist_ok)

    def _made_format_table(
        self, identifier: Identifier, definition: Schema, *, exist_ok: bool
    ) -> FormatTable:
        given = text_options(definition.options)
        keys = {
            key: value for key, value in given.items() if key not in ("primary-key", "partition")
        }
        format_tables.options.check_options(identifier.full_name, keys)
        schema = new_table_schema(definition, time_millis=now_millis())
        format_tables.options.check_new(identifier.full_name, schema)
        check_width(identifier.full_name, schema, self.max_columns)
        made = self._create_format(identifier, schema)
        if made is not None:
            return self._open_format(made)
        if not exist_ok:
            raise AlreadyExistsError("table", identifier.full_name)
        return self.format_table(identifier.full_name)

    @abstractmethod
    def _create_format(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        """Create a format table; None if there is a table of that name."""

    def _open_format(self, found: FoundTable) -> FormatTable:
        return format_tables.format_table.FormatTable(
            found.identifier, found.schema, found.path, found.file_io.within(found.path)
        )

    def _not_found_format(self, identifier: Identifier) -> Exception:
        if not self.has_database(identifier.database):
            return self._not_found(identifier)
        known = [
            f"{identifier.database}.{name}" for name in self.format_tables(identifier.database)
        ]
        return TableNotFoundError(identifier.full_name, known)


def format_tables_of(catalog: Catalog, database: str) -> list[str]:
    """Names of the format tables of a database, sorted; none where the catalog keeps none."""
    return catalog.format_tables(database) if isinstance(catalog, FormatTableCatalog) else []
