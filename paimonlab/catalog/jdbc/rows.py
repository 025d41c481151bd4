"""The tables that Java Paimon's JDBC catalog has in its database, and what is done to their rows.

``exists`` = ``true`` says that there is a database; it is not shown. Names are compared here as
well: MySQL takes ``T`` for ``t``.

Source: apache/paimon@1.4.2 and @5dacde5 ``org.apache.paimon.jdbc.JdbcUtils``.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from paimonlab.catalog.jdbc.database import Database, Row, Statements
from paimonlab.errors import CatalogDatabaseError
from paimonlab.spec.identifier import Identifier

logger = logging.getLogger(__name__)

TABLES = "paimon_tables"
DATABASE_PROPERTIES = "paimon_database_properties"
TABLE_PROPERTIES = "paimon_table_properties"
VIEWS = "paimon_views"
EXISTS = "exists"
LONGEST_NAME = 255
LONGEST_VALUE = 1000
_NAME = "VARCHAR(255)"
_NAME_IN_3_BYTES = "VARCHAR(255) CHARACTER SET utf8mb3"
"""An index of MySQL has room for four of these, not for four of four bytes a character."""
_TOO_LONG = "Specified key was too long"
_CREATE = {
    TABLES: (
        "CREATE TABLE paimon_tables(catalog_key {name} NOT NULL, database_name {name} NOT NULL, "
        "table_name {name} NOT NULL, PRIMARY KEY (catalog_key, database_name, table_name))"
    ),
    DATABASE_PROPERTIES: (
        "CREATE TABLE paimon_database_properties(catalog_key {name} NOT NULL, "
        "database_name {name} NOT NULL, property_key {name}, property_value VARCHAR(1000), "
        "PRIMARY KEY (catalog_key, database_name, property_key))"
    ),
    TABLE_PROPERTIES: (
        "CREATE TABLE paimon_table_properties(catalog_key {name} NOT NULL, "
        "database_name {name} NOT NULL, table_name {name} NOT NULL, property_key {name} NOT NULL, "
        "property_value VARCHAR(1000), "
        "PRIMARY KEY (catalog_key, database_name, table_name, property_key))"
    ),
    VIEWS: (
        "CREATE TABLE paimon_views(catalog_key {name} NOT NULL, database_name {name} NOT NULL, "
        "view_name {name} NOT NULL, view_schema TEXT NOT NULL, "
        "PRIMARY KEY (catalog_key, database_name, view_name))"
    ),
}


def create_tables(database: Database) -> None:
    """Create what is missing; beside others who do the same."""
    for table, statement in _CREATE.items():
        create_if_missing(database, table, statement.format(name=_NAME))


def create_if_missing(database: Database, table: str, statement: str) -> None:
    """Create a table, unless there is one of that name."""
    if database.has_table(table):
        return
    try:
        database.change(statement)
    except CatalogDatabaseError as error:
        if database.has_table(table):
            return
        if _TOO_LONG not in str(error):
            raise
        logger.info("%s: the names in %s have 3 bytes a character", database.address.shown, table)
        create_if_missing(database, table, statement.replace(_NAME, _NAME_IN_3_BYTES))


class CatalogRows:
    """The rows of one catalog, among those of others in the same database."""

    def __init__(self, key: str) -> None:
        self._key = key

    # Databases

    def databases(self, ask: Database | Statements) -> list[str]:
        """Return the names of databases: those with properties, tables or views."""
        found = ask.rows(
            "SELECT database_name FROM paimon_database_properties WHERE catalog_key = :key UNION "
            "SELECT database_name FROM paimon_tables WHERE catalog_key = :key UNION "
            "SELECT database_name FROM paimon_views WHERE catalog_key = :key",
            key=self._key,
        )
        return sorted({str(name) for (name,) in found})

    def has_database(self, ask: Database | Statements, database: str) -> bool:
        """Whether there is such a database."""
        where = "WHERE catalog_key = :key AND database_name = :database"
        found = ask.rows(
            f"SELECT database_name FROM paimon_database_properties {where} UNION "
            f"SELECT database_name FROM paimon_tables {where} UNION "
            f"SELECT database_name FROM paimon_views {where}",
            key=self._key,
            database=database,
        )
        return (database,) in found

    def properties(self, ask: Database | Statements, database: str) -> dict[str, str]:
        """Return the properties of a database, `EXISTS` among them."""
        found = ask.rows(
            "SELECT property_key, property_value, database_name FROM paimon_database_properties "
            "WHERE catalog_key = :key AND database_name = :database",
            key=self._key,
            database=database,
        )
        return {key: value or "" for key, value, of in found if of == database}

    def add_properties(self, to: Statements, database: str, properties: Mapping[str, str]) -> None:
        """Insert properties of a database."""
        to.insert(
            DATABASE_PROPERTIES,
            [
                {
                    "catalog_key": self._key,
                    "database_name": database,
                    "property_key": key,
                    "property_value": value,
                }
                for key, value in properties.items()
            ],
        )

    def set_property(self, to: Statements, database: str, key: str, value: str | None) -> None:
        """Give a property of a database another value; None: delete it."""
        where = (
            "WHERE catalog_key = :key AND database_name = :database AND property_key = :property"
        )
        given = {"key": self._key, "database": database, "property": key}
        if value is None:
            to.change(f"DELETE FROM paimon_database_properties {where}", **given)
        else:
            to.change(
                f"UPDATE paimon_database_properties SET property_value = :value {where}",
                value=value,
                **given,
            )

    def drop_database(self, to: Statements, database: str) -> None:
        """Delete all rows of a database."""
        for table in (TABLES, DATABASE_PROPERTIES, TABLE_PROPERTIES, VIEWS):
            to.change(
                f"DELETE FROM {table} WHERE catalog_key = :key AND database_name = :database",
                key=self._key,
                database=database,
            )

    # Tables

    def tables(self, ask: Database | Statements, database: str) -> list[str]:
        """Return the names of the tables of a database, sorted."""
        found = ask.rows(
            "SELECT table_name, database_name FROM paimon_tables "
            "WHERE catalog_key = :key AND database_name = :database",
            key=self._key,
            database=database,
        )
        return sorted(str(name) for name, of in found if of == database)

    def has_table(self, ask: Database | Statements, identifier: Identifier) -> bool:
        """Whether there is such a table."""
        return self._names(identifier) in ask.rows(
            "SELECT database_name, table_name FROM paimon_tables WHERE catalog_key = :key AND "
            "database_name = :database AND table_name = :name",
            **self._values(identifier),
        )

    def add_table(self, to: Statements, identifier: Identifier) -> None:
        """Insert a table; `DuplicateError` if there is one of that name."""
        to.insert(
            TABLES,
            [
                {
                    "catalog_key": self._key,
                    "database_name": identifier.database,
                    "table_name": identifier.table,
                }
            ],
        )

    def drop_table(self, to: Statements, identifier: Identifier) -> bool:
        """Delete a table and its properties; False if there is no such table."""
        if not self.has_table(to, identifier):
            return False
        count = to.change(
            "DELETE FROM paimon_tables WHERE catalog_key = :key AND database_name = :database AND "
            "table_name = :name",
            **self._values(identifier),
        )
        self._drop_table_properties(to, identifier)
        return count > 0

    def rename_table(self, to: Statements, old: Identifier, new: Identifier) -> bool:
        """Give a table and its properties another name; False if there is no such table.

        `DuplicateError` if the name is taken.
        """
        if not self.has_table(to, old):
            return False
        where = "WHERE catalog_key = :key AND database_name = :database AND table_name = :name"
        given = {**self._values(old), "new_database": new.database, "new_name": new.table}
        setting = "SET database_name = :new_database, table_name = :new_name"
        if not to.change(f"UPDATE paimon_tables {setting} {where}", **given):
            return False
        to.change(f"UPDATE paimon_table_properties {setting} {where}", **given)
        return True

    def set_table_properties(
        self, to: Statements, identifier: Identifier, properties: Mapping[str, str]
    ) -> None:
        """Give a table these properties and no others."""
        self._drop_table_properties(to, identifier)
        to.insert(
            TABLE_PROPERTIES,
            [
                {
                    "catalog_key": self._key,
                    "database_name": identifier.database,
                    "table_name": identifier.table,
                    "property_key": key,
                    "property_value": value,
                }
                for key, value in properties.items()
            ],
        )

    def _drop_table_properties(self, to: Statements, identifier: Identifier) -> None:
        to.change(
            "DELETE FROM paimon_table_properties WHERE catalog_key = :key AND "
            "database_name = :database AND table_name = :name",
            **self._values(identifier),
        )

    # Views

    def views(self, ask: Database | Statements, database: str) -> list[str]:
        """Return the names of the views of a database, sorted."""
        found = ask.rows(
            "SELECT view_name, database_name FROM paimon_views "
            "WHERE catalog_key = :key AND database_name = :database",
            key=self._key,
            database=database,
        )
        return sorted(str(name) for name, of in found if of == database)

    def view(self, ask: Database | Statements, identifier: Identifier) -> bytes | None:
        """Return the document of a view; None if there is no such view."""
        found: list[Row] = ask.rows(
            "SELECT database_name, view_name, view_schema FROM paimon_views WHERE "
            "catalog_key = :key AND database_name = :database AND view_name = :name",
            **self._values(identifier),
        )
        for database, name, document in found:
            if (database, name) == self._names(identifier):
                return str(document).encode()
        return None

    def add_view(self, to: Statements, identifier: Identifier, document: bytes) -> None:
        """Insert a view; `DuplicateError` if there is one of that name."""
        to.insert(
            VIEWS,
            [
                {
                    "catalog_key": self._key,
                    "database_name": identifier.database,
                    "view_name": identifier.table,
                    "view_schema": document.decode(),
                }
            ],
        )

    def replace_view(self, to: Statements, identifier: Identifier, document: bytes) -> None:
        """Give a view that exists another document."""
        to.change(
            "UPDATE paimon_views SET view_schema = :document WHERE catalog_key = :key AND "
            "database_name = :database AND view_name = :name",
            document=document.decode(),
            **self._values(identifier),
        )

    def rename_view(self, to: Statements, old: Identifier, new: Identifier) -> None:
        """Give a view that exists another name; `DuplicateError` if a view has it."""
        to.change(
            "UPDATE paimon_views SET database_name = :new_database, view_name = :new_name WHERE "
            "catalog_key = :key AND database_name = :database AND view_name = :name",
            **self._values(old),
            new_database=new.database,
            new_name=new.table,
        )

    def drop_view(self, to: Statements, identifier: Identifier) -> bool:
        """Delete a view; False if there is no such view."""
        if self.view(to, identifier) is None:
            return False
        return (
            to.change(
                "DELETE FROM paimon_views WHERE catalog_key = :key AND "
                "database_name = :database AND view_name = :name",
                **self._values(identifier),
            )
            > 0
        )

    def _values(self, identifier: Identifier) -> dict[str, str]:
        return {"key": self._key, "database": identifier.database, "name": identifier.table}

    def _names(self, identifier: Identifier) -> Row:
        return identifier.database, identifier.table
