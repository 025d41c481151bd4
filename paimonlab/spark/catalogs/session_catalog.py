"""Paimon's tables beside those of other formats, in the catalog that a session begins with.

As ``spark_catalog`` a catalog answers for both: what is Paimon's is found in the warehouse, all
else (tables of other formats, views, functions) in the catalog that Spark had there. Databases are
created and dropped in both.

Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.SparkGenericCatalog``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paimonlab.catalog import Catalog
from paimonlab.errors import AlreadyExistsError, UnsupportedError
from paimonlab.spark.catalogs.catalog import SparkCatalog
from paimonlab.spark.catalogs.clones import (
    catalogs_of,
    session_catalog_of,
    set_session_catalog,
)
from paimonlab.spark.catalogs.ddl import PROVIDER
from paimonlab.spark.catalogs.functions import NAMESPACE
from paimonlab.spark.catalogs.namespaces import SESSION_CATALOG
from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge
from paimonlab.spark.jvm.callers import reads_rows
from paimonlab.spark.jvm.session_catalog_class import is_session_catalog, session_catalog
from paimonlab.spark.streaming.relations import remember
from paimonlab.storage.schemes import store_kind


class SessionCatalog(SparkCatalog):
    """Tables of Paimon, and what Spark's own catalog has."""

    def __init__(self, bridge: Bridge, catalog: Catalog, delegate: Any) -> None:
        super().__init__(bridge, SESSION_CATALOG, catalog)
        self._delegate = delegate

    # Looking up

    def listTables(self, namespace: Sequence[str]) -> Any:
        """Return the tables of both."""
        others = [str(one.name()) for one in self._delegate.listTables(self._java(namespace))]
        names = sorted({*others, *self._tables(namespace)})
        identifiers = self._bridge.identifiers([*namespace], names)
        return self._bridge.array(CONNECTOR + "catalog.Identifier", identifiers)

    def listTableSummaries(self, namespace: Sequence[str]) -> Any:
        """Return the tables of both with their kind."""
        summary = self._bridge.java_class(CONNECTOR + "catalog.TableSummary")
        found = {
            str(one.identifier().name()): one
            for one in self._delegate.listTableSummaries(self._java(namespace))
        }
        names, kind = self._tables(namespace), summary.MANAGED_TABLE_TYPE
        identifiers = self._bridge.identifiers([*namespace], names)
        found |= {
            name: summary.of(identifier, kind)
            for name, identifier in zip(names, identifiers, strict=True)
        }
        return self._bridge.array(
            CONNECTOR + "catalog.TableSummary", [found[name] for name in sorted(found)]
        )

    listRelationSummaries = listTableSummaries

    def tableExists(self, identifier: Any) -> bool:
        """Say whether one of both has such a table."""
        return self._is_ours(identifier) or bool(self._delegate.tableExists(identifier))

    def loadRelation(self, identifier: Any) -> Any:
        """Return what a name means: Paimon's tables go before others."""
        if self._is_ours(identifier):
            return super().loadRelation(identifier)
        found = self._delegate.loadTable(identifier)
        if reads_rows(self._bridge) or not _is_view(found):
            return found
        return self._bridge.java_class(CONNECTOR + "catalog.V1View")(found.v1Table())

    def loadTable(self, identifier: Any, *arguments: Any) -> Any:
        """Return a table of one of both."""
        if self._is_ours(identifier):
            return super().loadTable(identifier, *arguments)
        return self._delegate.loadTable(identifier, *arguments)

    def invalidateTable(self, identifier: Any) -> None:
        """Let Spark's own catalog forget what it knows."""
        if not self._is_ours(identifier):
            self._delegate.invalidateTable(identifier)

    # Changing

    def createTable(self, identifier: Any, *definition: Any) -> Any:
        """Create a table of Paimon, or of another format."""
        if _provider(definition) != PROVIDER:
            return self._delegate.createTable(identifier, *definition)
        self._check_free(identifier)
        return super().createTable(identifier, *definition)

    def stageCreate(self, identifier: Any, definition: Any) -> Any:
        """Start CREATE TABLE … USING paimon AS SELECT."""
        self._check_staged("CREATE TABLE", identifier, definition)
        return super().stageCreate(identifier, definition)

    def stageReplace(self, identifier: Any, definition: Any) -> Any:
        """Start REPLACE TABLE … USING paimon."""
        self._check_staged("REPLACE TABLE", identifier, definition)
        return super().stageReplace(identifier, definition)

    def stageCreateOrReplace(self, identifier: Any, definition: Any) -> Any:
        """Start CREATE OR REPLACE TABLE … USING paimon."""
        self._check_staged("CREATE OR REPLACE TABLE", identifier, definition)
        is_new = self._found(identifier) is None
        begin = super().stageCreate if is_new else super().stageReplace
        return begin(identifier, definition)

    def createTableLike(self, identifier: Any, definition: Any, source: Any) -> Any:
        """Create a table of Paimon like another one, or one of another format."""
        given = _provider((definition,)) or _provider((source,))
        if given != PROVIDER:
            return self._delegate.createTableLike(identifier, definition, source)
        self._check_free(identifier)
        return super().createTableLike(identifier, definition, source)

    def alterTable(self, identifier: Any, changes: Sequence[Any]) -> Any:
        """Change the definition of a table of one of both."""
        if self._is_ours(identifier):
            return super().alterTable(identifier, changes)
        array = self._bridge.array(CONNECTOR + "catalog.TableChange", list(changes))
        return self._delegate.alterTable(identifier, array)

    def dropTable(self, identifier: Any) -> bool:
        """Drop a table of one of both."""
        if self._is_ours(identifier):
            return super().dropTable(identifier)
        return bool(self._delegate.dropTable(identifier))

    def purgeTable(self, identifier: Any) -> bool:
        """Drop a table of another format for good; refused for Paimon's."""
        if self._is_ours(identifier):
            return super().purgeTable(identifier)
        return bool(self._delegate.purgeTable(identifier))

    def renameTable(self, old: Any, new: Any) -> None:
        """Rename a table of one of both."""
        if not self._is_ours(old):
            self._delegate.renameTable(old, new)
            return
        self._check_free(new)
        super().renameTable(old, new)

    # Databases

    def listNamespaces(self, *parent: Sequence[str]) -> Any:
        """Return the databases of both, which are the same ones."""
        for database in self._catalog.databases():
            self._share(database)
        return self._delegate.listNamespaces(*map(self._java, parent))

    def namespaceExists(self, namespace: Sequence[str]) -> bool:
        """Say whether there is such a database."""
        if len(namespace) == 1 and self._catalog.has_database(str(namespace[0])):
            self._share(str(namespace[0]))
        return bool(self._delegate.namespaceExists(self._java(namespace)))

    def loadNamespaceMetadata(self, namespace: Sequence[str]) -> Any:
        """Return the properties of a database."""
        return self._delegate.loadNamespaceMetadata(self._java(namespace))

    def createNamespace(self, namespace: Sequence[str], properties: Mapping[str, str]) -> None:
        """Create a database in both."""
        self._delegate.createNamespace(self._java(namespace), properties)
        self._catalog.create_database(self._database(namespace), exist_ok=True)

    def alterNamespace(self, namespace: Sequence[str], *changes: Any) -> None:
        """Change the properties of a database."""
        array = self._bridge.array(CONNECTOR + "catalog.NamespaceChange", list(*changes))
        self._delegate.alterNamespace(self._java(namespace), array)

    def dropNamespace(self, namespace: Sequence[str], cascade: bool) -> bool:  # noqa: FBT001
        """Drop a database from both."""
        database = self._database(namespace)
        has_ours = self._catalog.has_database(database)
        if has_ours and not cascade and self._catalog.tables(database):
            self._throw("NonEmptyNamespaceException", namespace)
        dropped = bool(self._delegate.dropNamespace(self._java(namespace), cascade))
        if has_ours and self._catalog.has_database(database):
            self._catalog.drop_database(database, cascade=cascade)
        return dropped or has_ours

    # Views and functions

    def listViews(self, namespace: Sequence[str]) -> Any:
        """Return the views of Spark's own catalog."""
        kept = self._bridge.session.sessionState().catalog()
        found = self._bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(
            kept.listViews(self._database(namespace), "*")
        )
        return self._bridge.array(
            CONNECTOR + "catalog.Identifier",
            [
                self._identifier(namespace, str(one.table()))
                for one in found
                if one.database().isDefined()
            ],
        )

    def viewExists(self, identifier: Any) -> bool:
        """Say whether Spark's own catalog has such a view."""
        views = self.listViews(identifier.namespace())
        return str(identifier.name()).lower() in {str(one.name()).lower() for one in views}

    def loadView(self, identifier: Any) -> Any:
        """Return a view of Spark's own catalog."""
        if not self.viewExists(identifier):
            self._throw("NoSuchViewException", identifier)
        found = self._delegate.loadTable(identifier)
        return self._bridge.java_class(CONNECTOR + "catalog.V1View")(found.v1Table())

    def listFunctions(self, namespace: Sequence[str]) -> Any:
        """Return the functions of ``sys``, or those of Spark's own catalog."""
        if _is_sys(namespace):
            return super().listFunctions(namespace)
        return self._delegate.listFunctions(self._java(namespace))

    def functionExists(self, identifier: Any) -> bool:
        """Say whether one of both has such a function."""
        if _is_sys(identifier.namespace()):
            return super().functionExists(identifier)
        return bool(self._delegate.functionExists(identifier))

    def loadFunction(self, identifier: Any) -> Any:
        """Return a function of one of both."""
        if _is_sys(identifier.namespace()):
            return super().loadFunction(identifier)
        return self._delegate.loadFunction(identifier)

    def _is_ours(self, identifier: Any) -> bool:
        return len(identifier.namespace()) == 1 and self._found(identifier) is not None

    def _java(self, namespace: Sequence[str]) -> Any:
        return self._bridge.strings([str(one) for one in namespace])

    def _check_free(self, identifier: Any) -> None:
        if self._delegate.tableExists(identifier):
            self._throw("TableAlreadyExistsException", identifier)

    def _check_staged(self, statement: str, identifier: Any, definition: Any) -> None:
        provider = _provider((definition,))
        if provider != PROVIDER:
            raise UnsupportedError(
                f"{statement} {identifier.name()} USING {provider or 'no format'} in {self._name}",
                "CREATE TABLE, then INSERT",
            )
        if self._delegate.tableExists(identifier):  # what Spark would say is no error of all three
            raise AlreadyExistsError("table", self._full_name(identifier))

    def _share(self, database: str) -> None:
        """Let Spark's own catalog know a database of the warehouse."""
        name = self._bridge.strings([database])
        if not self._delegate.namespaceExists(name):
            folder = f"{self._catalog.path}/{database}.db"
            is_local = self._catalog.has_folder and store_kind(folder) is None
            location = {"location": folder} if is_local else {}  # Hadoop may not know others
            self._delegate.createNamespace(name, self._bridge.map(location))


def register_as_session_catalog(bridge: Bridge, catalog: Catalog) -> None:
    """Put a catalog in the place of Spark's own, which goes on to answer for all other formats."""
    state = bridge.session.sessionState()
    present = session_catalog_of(state)
    if is_session_catalog(present):
        present = _delegate_of(present)
    made = SessionCatalog(bridge, catalog, present)
    remember(made)
    java = session_catalog(bridge, made, present, SparkCatalog.Java.implements)
    catalogs_of(state).put(SESSION_CATALOG, java)
    set_session_catalog(state, java)
    for database in catalog.databases():
        made._share(database)


def _delegate_of(java_catalog: Any) -> Any:
    field = java_catalog.getClass().getSuperclass().getDeclaredField("delegate")
    field.setAccessible(True)
    return field.get(java_catalog)


def _provider(definition: Sequence[Any]) -> str:
    """Return the format of a table that is to be created, in lower case; empty: Spark's default.

    ``definition`` is a ``TableInfo``, or columns, partitions and properties.
    """
    properties = definition[0].properties() if len(definition) == 1 else definition[-1]
    return str(dict(properties).get("provider") or "").lower()


def _is_view(table: Any) -> bool:
    """Say whether what Spark's own catalog calls a table is a view."""
    is_sparks = str(table.getClass().getSimpleName()) == "V1Table"
    return is_sparks and str(table.v1Table().tableType().name()) == "VIEW"


def _is_sys(namespace: Sequence[str]) -> bool:
    return [str(part).lower() for part in namespace] == [NAMESPACE]
