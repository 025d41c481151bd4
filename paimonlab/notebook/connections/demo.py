"""A warehouse with tables to try things on."""

from __future__ import annotations

import os
import tempfile

from paimonlab.catalog import Catalog, FileSystemCatalog, connect
from paimonlab.notebook.connections.connection import make_current
from paimonlab.notebook.connections.demo_tables import EVENTS, ORDERS, make_tables
from paimonlab.notebook.connections.warehouse_connection import DEFAULT_CATALOG, Connection
from paimonlab.secrets import without_credentials
from paimonlab.storage import LocalFileIO
from paimonlab.storage.forks import delete_at_exit


def demo(warehouse: str | os.PathLike[str] | None = None) -> Connection:
    """Make two small tables full of history, and connect the views to them, without Spark.

    Parameters
    ----------
    warehouse
        Folder to create them in; existing tables are used as they are. None: a temporary folder,
        which is deleted when the process ends.

    Returns
    -------
    Connection
        Its ``catalog`` has ``demo.orders`` and ``demo.events``.
    """
    catalog = _temporary() if warehouse is None else connect(warehouse)
    if not all(map(catalog.has_table, (ORDERS, EVENTS))):
        make_tables(catalog)
    connection = Connection(
        None, catalog, DEFAULT_CATALOG, without_credentials(catalog.path), alias="demo"
    )
    make_current(connection)
    return connection


def _temporary() -> Catalog:
    """Make a warehouse that need not survive a crash of the machine."""
    folder = tempfile.mkdtemp(prefix="paimonlab-demo-")
    delete_at_exit(folder)
    return FileSystemCatalog(folder, LocalFileIO(durability="none"))
