"""Folders of tables of a Hive metastore, and how it is told of them."""

from __future__ import annotations

import logging
import uuid

from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)


def has_schemas(path: str, store: FileIO) -> bool:
    """Whether there is a table in a folder."""
    return bool(SchemaManager(store, TableLayout(path)).ids())


def remove_folder(path: str, store: FileIO) -> None:
    """Delete the files of a table, and none of another one that gets its name meanwhile."""
    if "://" not in path:
        parent, _, name = path.rpartition("/")
        gone = f"{parent}/.{name}.dropped-{uuid.uuid4().hex}"
        try:
            store.rename(path, gone)
        except FileNotFoundError:
            return
        except OSError as error:
            logger.info("%s cannot be moved aside, and is deleted where it is: %s", path, error)
        else:
            store.delete_directory(gone)
            return
    schemas = TableLayout(path).schema(0).rpartition("/")[0]
    for status in store.list(path):
        if not status.is_directory:
            store.delete(status.path)
        elif status.path.rstrip("/") != schemas:
            store.delete_directory(status.path)
    store.delete_directory(schemas)  # as long as it is there nobody makes another table here
    store.delete_empty_directory(path)
