"""Databases of a Paimon catalog as Spark's namespaces."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from py4j.java_gateway import JavaObject

from paimonlab.errors import (
    AlreadyExistsError,
    DatabaseNotFoundError,
    TableNotFoundError,
    UnsupportedError,
    close_matches,
)
from paimonlab.spark.jvm.bridge import ANALYSIS, Bridge, Proxy
from paimonlab.spark.jvm.missing_names import remember_missing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimonlab.catalog import Catalog

DEFAULT_DATABASE = "default"
"""Current after ``USE paimon``; made when the first table is created in it."""
_CHOSEN_DEFAULT = "defaultDatabase"
"""Option of a catalog: what is current after ``USE`` instead, which has to be there."""
SESSION_CATALOG = "spark_catalog"
"""The name of the catalog that a session begins with."""
_SET_BY_SPARK = frozenset({"owner"})
_catalogs: weakref.WeakValueDictionary[int, Namespaces] = weakref.WeakValueDictionary()
"""Catalogs that sessions have, by their hash codes."""


class Namespaces(Proxy):
    """The part of `SparkCatalog` that knows databases."""

    def __init__(self, bridge: Bridge, name: str, catalog: Catalog) -> None:
        super().__init__(bridge)
        self._name = name
        self._catalog = catalog
        _catalogs[self.hashCode()] = self

    def initialize(self, name: str, options: Any) -> None:
        """Do nothing: the catalog is complete when it is registered."""

    def name(self) -> str:
        """Return the catalog's name in SQL."""
        return self._name

    def toString(self) -> str:
        """Answer ``Object.toString``."""
        return self._name

    def defaultNamespace(self) -> Any:
        """Return the database that is current after ``USE <catalog>``."""
        chosen = self._catalog.options.get(_CHOSEN_DEFAULT, DEFAULT_DATABASE)
        return self._bridge.once(
            ("namespace", chosen), lambda: self._bridge.strings([chosen])
        )  # asked for several times by each statement

    def listNamespaces(self, *parent: Sequence[str]) -> Any:
        """Return the databases, or nothing inside one."""
        names = self._names(parent[0]) if parent else []
        if not names:
            return self._nested([[database] for database in self._catalog.databases()])
        if not self._exists(names):
            self._throw("NoSuchNamespaceException", names)
        return self._nested([])

    def namespaceExists(self, namespace: Sequence[str]) -> bool:
        """Say whether there is such a database."""
        names = self._names(namespace)
        return self._exists(names) or self._is_missing_default(names)

    def loadNamespaceMetadata(self, namespace: Sequence[str]) -> Any:
        """Return the properties of a database."""
        names, found = self._names(namespace), {}
        if self._exists(names):
            found = self._catalog.database_options(self._database(names))
        elif not self._is_missing_default(names):
            self._throw("NoSuchNamespaceException", names)
        if not found:  # asked for several times by each statement
            return self._bridge.once(
                ("no properties",), self._bridge.jvm.java.util.Collections.emptyMap
            )
        return self._bridge.map(found)

    def createNamespace(self, namespace: Sequence[str], properties: Mapping[str, str]) -> None:
        """Run CREATE DATABASE; who runs it is kept only where others are."""
        given = dict(properties)
        if not self._catalog.keeps_database_options:
            given = {key: value for key, value in given.items() if key not in _SET_BY_SPARK}
        try:
            self._catalog.create_database(self._database(namespace), options=given)
        except AlreadyExistsError:
            self._throw("NamespaceAlreadyExistsException", namespace)

    def alterNamespace(self, namespace: Sequence[str], changes: Sequence[Any]) -> None:
        """Run ALTER DATABASE … SET and UNSET PROPERTIES, and COMMENT ON DATABASE."""
        changed: dict[str, str] = {}
        removed: set[str] = set()
        for change in changes:
            key = str(change.property())
            removed.discard(key)
            changed.pop(key, None)
            if change.getClass().getSimpleName() == "RemoveProperty":
                removed.add(key)
            else:
                changed[key] = str(change.value())
        try:
            self._catalog.alter_database(self._database(namespace), set=changed, remove=removed)
        except DatabaseNotFoundError:
            self._throw("NoSuchNamespaceException", namespace)

    def dropNamespace(self, namespace: Sequence[str], cascade: bool) -> bool:  # noqa: FBT001
        """Run DROP DATABASE."""
        database = self._database(namespace)
        try:
            if not cascade and self._catalog.tables(database):
                self._throw("NonEmptyNamespaceException", namespace)
            self._catalog.drop_database(database, cascade=cascade)
        except DatabaseNotFoundError:
            return False
        return True

    def _names(self, namespace: Sequence[str]) -> list[str]:
        """Return the parts of a namespace; those of a Java array in one call, not three each."""
        return [
            *(self._bridge.texts(namespace) if isinstance(namespace, JavaObject) else namespace)
        ]

    def _database(self, namespace: Sequence[str]) -> str:
        names = self._names(namespace)
        if len(names) != 1:
            path = ".".join(names) or "(none)"
            raise UnsupportedError(
                f"namespace {path} in catalog {self._name}",
                "write database.table: one level; a system table is database.table$snapshots",
            )
        return names[0]

    def _exists(self, namespace: Sequence[str]) -> bool:
        names = self._names(namespace)
        return len(names) == 1 and names[0] in self._catalog.databases()

    def _is_missing_default(self, namespace: Sequence[str]) -> bool:
        names = self._names(namespace)
        return names == [DEFAULT_DATABASE] and not self._exists(names)

    def _make_default_database(self, database: str) -> None:
        if database == DEFAULT_DATABASE:
            self._catalog.create_database(DEFAULT_DATABASE, exist_ok=True)

    def _nested(self, names: Sequence[Sequence[str]]) -> Any:
        array = self._bridge.gateway.new_array(
            self._bridge.jvm.java.lang.String, len(names), 1 if names else 0
        )
        for index, name in enumerate(names):
            array[index] = self._bridge.strings(name)
        return array

    def _throw(self, exception: str, what: Any) -> NoReturn:
        """Throw one of Spark's analysis exceptions; ``what`` is an identifier or a namespace."""
        if exception == "NoSuchTableException":
            remember_missing(what, self._missing_name, self._near)
        argument = what if isinstance(what, JavaObject) else self._bridge.strings(what)
        self._bridge.throw(self._bridge.java_class(ANALYSIS + exception)(argument))

    def _missing_name(self, identifier: Any) -> tuple[str, ...]:
        return (self._name, *self._names(identifier.namespace()), str(identifier.name()))

    def _near(self, name: Sequence[str]) -> str:
        _, database, *_ = name
        try:
            known = [f"{database}.{one}" for one in self._catalog.tables(database)]
        except DatabaseNotFoundError as error:
            return close_matches(error.database, error.known)
        return TableNotFoundError(".".join(name[1:]), known).near


def catalog_behind(found: Any) -> Namespaces | None:
    """Return our object behind a catalog of Spark; None if it is another one's."""
    return _catalogs.get(int(found.hashCode()))
