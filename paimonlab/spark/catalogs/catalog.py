"""A Paimon catalog as a Spark SQL catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from paimonlab.catalog.format_tables import FormatTableCatalog
from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.names import is_name, parse
from paimonlab.errors import (
    AlreadyExistsError,
    DatabaseNotFoundError,
    SchemaError,
    TableNotFoundError,
    UnsupportedError,
)
from paimonlab.spark.catalogs.clones import catalogs_of
from paimonlab.spark.catalogs.ddl import (
    PROVIDER,
    check_no_replacement,
    copied_properties,
    no_replacement_by_format,
    not_a_format,
    schema_changes,
    table_definition,
)
from paimonlab.spark.catalogs.functions import Functions
from paimonlab.spark.catalogs.procedures import Procedures, current_database
from paimonlab.spark.catalogs.sql_function_calls import resolve_sql_functions
from paimonlab.spark.catalogs.staged import CreatedTable, ReplacedTable
from paimonlab.spark.catalogs.system_names import instead_of
from paimonlab.spark.catalogs.table_relation import TableRelation
from paimonlab.spark.catalogs.views import Views
from paimonlab.spark.format_tables.relation import (
    CreatedFormatTable,
    FormatRelation,
    check_created_with_rows,
    with_session_options,
)
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.jvm.callers import reads_rows, statement
from paimonlab.spark.reading import relation
from paimonlab.spark.reading.system_tables import SystemRelation, system_relation
from paimonlab.spark.reading.time_travel import (
    READ_OPTIONS,
    TravelArguments,
    travel_arguments,
)
from paimonlab.spark.session_options import (
    BRANCH,
    SessionOptions,
    check_new_table,
    chosen_branch,
    session_options,
)
from paimonlab.spark.streaming.relations import remember
from paimonlab.spark.streaming.source import StreamTable
from paimonlab.spark.writing.access import (
    REFUSED_OPTIONS,
    check_access,
    check_statement,
)
from paimonlab.spec.format_table import FORMATS, is_format_table
from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.table.format_tables.format_table import FormatTable
from paimonlab.table.system import CatalogTable, SystemTable
from paimonlab.table.table import Table

if TYPE_CHECKING:
    from paimonlab.catalog import Catalog


class SparkCatalog(Views, Functions, Procedures):
    """The databases and tables of one Paimon catalog, under one name in one Spark session."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            CONNECTOR + "catalog.RelationCatalog",
            CONNECTOR + "catalog.StagingTableCatalog",
            CONNECTOR + "catalog.SupportsNamespaces",
            CONNECTOR + "catalog.FunctionCatalog",
            CONNECTOR + "catalog.ProcedureCatalog",
        ]

    def capabilities(self) -> Any:
        """Say that columns can have defaults, and tables a primary key."""
        return self._bridge.capabilities(
            "SUPPORT_COLUMN_DEFAULT_VALUE",
            "SUPPORT_TABLE_CONSTRAINT",
            kind="TableCatalogCapability",
        )

    def tableStateOptionKeys(self) -> Any:
        """Return the read options for which Spark asks `loadTable`, not `loadRelation`."""
        return self._bridge.strings_once(*READ_OPTIONS, *REFUSED_OPTIONS)

    def changelogStateOptionKeys(self) -> Any:
        """Return no read options that would choose changes."""
        return self._bridge.strings_once()

    def useNullableQuerySchema(self) -> bool:
        """Let CREATE TABLE AS SELECT make nullable columns; key columns become NOT NULL."""
        return True

    # Looking up

    def listTables(self, namespace: Sequence[str]) -> Any:
        """Return the tables of a database as ``Identifier[]``."""
        identifiers = self._bridge.identifiers([*namespace], self._tables(namespace))
        return self._bridge.array(CONNECTOR + "catalog.Identifier", identifiers)

    def listTableSummaries(self, namespace: Sequence[str]) -> Any:
        """Return the tables of a database with their kind."""
        summary = self._bridge.java_class(CONNECTOR + "catalog.TableSummary")
        identifiers = self._bridge.identifiers([*namespace], self._tables(namespace))
        kind = summary.MANAGED_TABLE_TYPE
        summaries = [summary.of(identifier, kind) for identifier in identifiers]
        return self._bridge.array(CONNECTOR + "catalog.TableSummary", summaries)

    listRelationSummaries = listTableSummaries

    def tableExists(self, identifier: Any) -> bool:
        """Say whether there is such a table or system table."""
        return self._found(identifier) is not None

    def loadRelation(self, identifier: Any) -> Any:
        """Return a view for a SELECT, the table or the catalog's own view for other statements."""
        self._check_name(identifier)
        table = self._found(identifier)
        if table is None:
            return self._relation_of_view(identifier, is_read=reads_rows(self._bridge))
        check_statement(statement(self._bridge))
        if isinstance(table, FormatTable):
            return self._described_format(table)
        table, given = self._chosen(identifier, table)
        if isinstance(table, SystemTable) or not reads_rows(self._bridge):
            return self._described(table)
        return relation.view_for(self._bridge, table, given, name=self._parts(table))

    def loadTable(self, identifier: Any, *arguments: Any) -> Any:
        """Return a table for writing or DESCRIBE, or as it was at a point in time.

        ``arguments`` are what `travel_arguments` and `check_access` take.
        """
        with self._missing_as_spark_says(identifier):
            table = self._opened(identifier)
        check_access(self._bridge, table, arguments)
        point = travel_arguments(arguments)
        if isinstance(table, FormatTable):
            if point:
                what = ", ".join(point.get("options", ["time travel"]))
                raise UnsupportedError(f"{what} of {table.name}", "it is read as its files are now")
            return self._described_format(table)
        if point:
            return self._as_of(point, identifier, table)
        return self._described(self._chosen(identifier, table)[0])

    def _streamed(self, identifier: Any, given: Mapping[str, str]) -> Proxy:
        """Return a table for a stream with these options."""
        table, of_session = self._chosen(identifier, self._open(identifier))
        return StreamTable(self._bridge, f"{self._name}.{table.name}", table, of_session, given)

    def _as_of(self, point: TravelArguments, identifier: Any, table: Table | SystemTable) -> Any:
        table, given = self._chosen(identifier, table)
        if isinstance(table, SystemTable):
            return system_relation(self._bridge, f"{self._name}.{table.name}", table, point)
        return relation.table_for(
            self._bridge, self, identifier, table, point, given, name=self._parts(table)
        )

    def _chosen(
        self, identifier: Any, table: Table | SystemTable
    ) -> tuple[Table | SystemTable, SessionOptions]:
        """Return a table on the session's branch, and the session's options for it."""
        if isinstance(table, CatalogTable):  # it is about no one table
            return table, {}
        given = session_options(self._bridge, self._parts(table))
        branch = chosen_branch(str(identifier.name()), given)
        return table if branch is None else table.on_branch(branch), given

    def _described_format(self, table: FormatTable) -> Proxy:
        given = session_options(self._bridge, self._parts(table))
        return FormatRelation(self._bridge, self._name, with_session_options(table, given))

    def _described(self, table: Table | SystemTable) -> Proxy:
        if isinstance(table, SystemTable):
            return SystemRelation(self._bridge, f"{self._name}.{table.name}", table)
        return TableRelation(self._bridge, self._name, table)

    def invalidateTable(self, identifier: Any) -> None:
        """Forget nothing: tables are opened anew for each statement."""

    # Changing

    def createTable(self, identifier: Any, definition: Any) -> Any:
        """Run CREATE TABLE."""
        return self._relation_of(self._created(identifier, definition))

    def _relation_of(self, table: Table | FormatTable) -> Proxy:
        if isinstance(table, FormatTable):
            return FormatRelation(self._bridge, self._name, table)
        return TableRelation(self._bridge, self._name, table)

    def stageCreate(self, identifier: Any, definition: Any) -> Any:
        """Start CREATE TABLE AS SELECT."""
        table = self._created(identifier, definition)
        name = self._full_name(identifier)
        if isinstance(table, FormatTable):
            check_created_with_rows(table, lambda: self._catalog.drop_table(name))
            return CreatedFormatTable(
                self._bridge,
                self._name,
                table,
                lambda: self._catalog.drop_table(name, missing_ok=True),
            )
        if table.snapshot is not None:  # at a LOCATION that has a table
            self._catalog.drop_table(name)
            raise SchemaError(
                f"{name}: there are rows in {table.path}; use CREATE TABLE without AS SELECT, "
                "then INSERT"
            )
        return CreatedTable(
            self._bridge, self._name, table, lambda: self._catalog.drop_table(name, missing_ok=True)
        )

    def stageReplace(self, identifier: Any, definition: Any) -> Any:
        """Start REPLACE TABLE, with rows or without."""
        name = self._writable_name(identifier)
        check_new_table(self._bridge)
        self._check_means_whole_table("REPLACE TABLE", identifier)
        schema = table_definition(self._bridge, definition)
        if is_format_table(schema.options):
            raise no_replacement_by_format(name, schema.options)
        with self._missing_as_spark_says(identifier):
            replacement = self._catalog.replacement(name, schema)
        return ReplacedTable(self._bridge, self._name, replacement)

    def stageCreateOrReplace(self, identifier: Any, definition: Any) -> Any:
        """Start CREATE OR REPLACE TABLE, with rows or without."""
        is_new = self._found(identifier) is None
        return (self.stageCreate if is_new else self.stageReplace)(identifier, definition)

    def supportedCustomMetrics(self) -> Any:
        """Return none: commits of staged tables are counted nowhere."""
        return self._bridge.array(CONNECTOR + "metric.CustomMetric", [])

    def _created(
        self, identifier: Any, definition: Any, copied: Mapping[str, str] | None = None
    ) -> Table | FormatTable:
        name = self._full_name(identifier)
        if "$" in name:
            raise UnsupportedError(f"CREATE TABLE {name}", "'$' in a name means a system table")
        check_new_table(self._bridge)
        schema = table_definition(
            self._bridge, definition, copied or {}, takes_places=self._catalog.takes_places
        )
        self._make_default_database(name.rpartition(".")[0])
        try:
            if is_format_table(schema.options):
                if isinstance(self._catalog, FormatTableCatalog):
                    return self._catalog.create_format_table(name, schema)
                raise not_a_format(name, schema.options)
            return self._catalog.create_table(name, schema)
        except AlreadyExistsError:
            self._throw("TableAlreadyExistsException", identifier)
        except DatabaseNotFoundError:
            self._throw("NoSuchNamespaceException", identifier.namespace())

    def createTableLike(self, identifier: Any, definition: Any, source: Any) -> Any:
        """Run CREATE TABLE … LIKE: what the source is, with the options that the statement adds."""
        of_source = dict(source.properties())
        given = self._bridge.texts_of_map(definition.properties()).get("provider")
        own = of_source.get("provider", "").lower()
        keeps = own in FORMATS and isinstance(self._catalog, FormatTableCatalog)
        provider = given or (own if keeps else PROVIDER)
        copied = {**copied_properties(of_source, provider), "provider": provider}
        return self._relation_of(self._created(identifier, definition, copied))

    def alterTable(self, identifier: Any, changes: Sequence[Any]) -> Any:
        """Run ALTER TABLE: all changes or none."""
        name = parse(self._writable_name(identifier))
        given = session_options(self._bridge, (self._name, name.database, name.table))
        branch = chosen_branch(str(identifier.name()), given)
        if branch is not None:  # Spark has looked at the columns that the table has there
            name = replace(name, branch=branch if branch != MAIN_BRANCH else None)
        found = schema_changes(self._bridge, changes)
        check_no_replacement(str(name), found)
        with self._missing_as_spark_says(identifier):
            altered: Table | FormatTable = self._catalog.alter_table(str(name), *found)
        return self._relation_of(altered)

    def dropTable(self, identifier: Any) -> bool:
        """Run DROP TABLE; False if there is no such table."""
        name = self._writable_name(identifier)
        self._check_means_whole_table("DROP TABLE", identifier)
        try:
            self._catalog.drop_table(name)
        except (TableNotFoundError, DatabaseNotFoundError):
            return False
        return True

    def purgeTable(self, identifier: Any) -> bool:
        """Refuse: dropping a table always deletes its files."""
        raise UnsupportedError(
            f"DROP TABLE {identifier.name()} PURGE", "DROP TABLE deletes the files already"
        )

    def renameTable(self, old: Any, new: Any) -> None:
        """Run ALTER TABLE … RENAME TO; a new name without database stays in the old one's."""
        namespace = list(new.namespace()) or list(old.namespace())
        if len(namespace) > 1 and namespace[0] == self._name:
            namespace = namespace[1:]
        self._check_means_whole_table("ALTER TABLE … RENAME TO of", old)
        with self._missing_as_spark_says(old):
            try:
                self._catalog.rename_table(
                    self._writable_name(old), f"{self._database(namespace)}.{new.name()}"
                )
            except AlreadyExistsError:
                self._throw("TableAlreadyExistsException", new)

    def _check_means_whole_table(self, statement: str, identifier: Any) -> None:
        """Refuse statements about all branches of a table if the session has chosen one."""
        table = self._found(identifier)
        if table is None:
            return
        given = session_options(self._bridge, self._parts(table))
        if chosen_branch(str(identifier.name()), given) is not None:
            option = given[BRANCH]
            raise UnsupportedError(
                f"{statement} {table.name} with {option.setting} = {option.value!r}",
                f"it is done to the table with all its branches: RESET {option.setting} first; "
                "CALL sys.delete_branch deletes one branch",
            )

    # Names

    def _check_name(self, identifier: Any) -> None:
        """Say what system tables are called to who writes ``t.snapshots``, as in Iceberg."""
        namespace = [str(part) for part in identifier.namespace()]
        name = str(identifier.name())
        instead = instead_of(namespace[-1], name) if namespace else None
        if instead is None or self._exists(namespace):
            return
        *before, table = namespace
        database = before[0] if before else current_database(self._bridge, self._name)
        if self._catalog.has_table(f"{database}.{table}"):
            raise UnsupportedError(f"the name {'.'.join([*namespace, name])}", instead)

    def _open(self, identifier: Any) -> Table | SystemTable:
        found = self._opened(identifier)
        if isinstance(found, FormatTable):
            raise UnsupportedError(f"this of {found.name}", "a format table has no snapshots")
        return found

    def _opened(self, identifier: Any) -> Table | SystemTable | FormatTable:
        name = self._full_name(identifier)
        if not is_name(name):  # ``parquet.`/data/orders.parquet` ``: Spark looks for a table first
            raise TableNotFoundError(name)
        return self._catalog.opened(name)

    def _identifier(self, namespace: Sequence[str], name: str) -> Any:
        return self._bridge.identifier(list(namespace), name)

    def _tables(self, namespace: Sequence[str]) -> list[str]:
        if self._is_missing_default(namespace):
            return []
        try:
            names = self._catalog.tables(self._database(namespace))
            if not isinstance(self._catalog, FormatTableCatalog):
                return names
            return sorted([*names, *self._catalog.format_tables(self._database(namespace))])
        except DatabaseNotFoundError:
            self._throw("NoSuchNamespaceException", namespace)

    def _full_name(self, identifier: Any) -> str:
        return f"{self._database(identifier.namespace())}.{identifier.name()}"

    def _writable_name(self, identifier: Any) -> str:
        name = self._full_name(identifier)
        if isinstance(self._found(identifier), SystemTable):
            raise UnsupportedError(f"changing {name}", "a system table is read-only")
        return name

    def _found(self, identifier: Any) -> Table | SystemTable | FormatTable | None:
        try:
            return self._opened(identifier)
        except (TableNotFoundError, DatabaseNotFoundError):
            return None

    def _parts(self, table: Table | SystemTable | FormatTable) -> tuple[str, str, str]:
        name = table.identifier
        return (self._name, name.database, name.table)

    @contextmanager
    def _missing_as_spark_says(self, identifier: Any) -> Iterator[None]:
        """Turn "not found" into the exception by which Spark knows it."""
        try:
            yield
        except (TableNotFoundError, DatabaseNotFoundError):
            self._throw("NoSuchTableException", identifier)


def register(bridge: Bridge, name: str, catalog: Catalog) -> None:
    """Put a catalog into the session of ``bridge`` under ``name``; an older one is replaced."""
    made = SparkCatalog(bridge, name, catalog)
    remember(made)
    catalogs_of(bridge.session.sessionState()).put(name, made)
    if isinstance(catalog, FunctionCatalog):
        resolve_sql_functions(bridge)


def unregister(bridge: Bridge, name: str) -> None:
    """Remove a catalog from a session that is no longer used."""
    catalogs_of(bridge.session.sessionState()).remove(name)
