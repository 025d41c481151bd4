"""Names -> tables, and the definition of tables.

Knows databases, tables, their folders and their definition. Must not know Spark or notebooks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.catalog import altering as altering
    from paimonlab.catalog import cloning as cloning
    from paimonlab.catalog import column_types as column_types
    from paimonlab.catalog import engine_requests as engine_requests
    from paimonlab.catalog import engine_statements as engine_statements
    from paimonlab.catalog import foreign_tables as foreign_tables
    from paimonlab.catalog import global_tables as global_tables
    from paimonlab.catalog import iceberg_catalogs as iceberg_catalogs
    from paimonlab.catalog import loading as loading
    from paimonlab.catalog import migrating as migrating
    from paimonlab.catalog import migrating_tables as migrating_tables
    from paimonlab.catalog import replacing as replacing
    from paimonlab.catalog import serving as serving
    from paimonlab.catalog import text_folders as text_folders
    from paimonlab.catalog import views as views
    from paimonlab.catalog.catalog import Catalog
    from paimonlab.catalog.connecting import connect
    from paimonlab.catalog.filesystem import FileSystemCatalog

__all__ = ["Catalog", "FileSystemCatalog", "connect"]

__getattr__, __dir__ = attributes_on_use(
    __name__,
    "altering",
    "cloning",
    "column_types",
    "engine_requests",
    "engine_statements",
    "foreign_tables",
    "global_tables",
    "iceberg_catalogs",
    "loading",
    "migrating",
    "migrating_tables",
    "replacing",
    "serving",
    "text_folders",
    "views",
    Catalog="catalog",
    FileSystemCatalog="filesystem",
    connect="connecting",
)
