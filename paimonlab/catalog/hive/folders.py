"""Folders of tables of a Hive metastore, and how it is told of them."""

from __future__ import annotations

import logging
import uuid

from paimonlab.errors import (
    SchemaError,
)
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.external_paths import scheme_of
from paimonlab.spec.identifier import Identifier
from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)


def schema_files(path: str, store: FileIO, identifier: Identifier) -> SchemaManager:
    """Return the schemas of the table in a folder, or of a branch of it."""
    layout = TableLayout(path, branch=identifier.branch)
    return SchemaManager(store.within(path), layout, table_name=identifier.full_name)


def has_schemas(path: str, store: FileIO) -> bool:
    """Whether there is a table in a folder."""
    return bool(SchemaManager(store, TableLayout(path)).ids())


def unmake(path: str, store: FileIO) -> None:
    """Delete the first schema of a table that came to nothing, and folders that it left empty."""
    layout = TableLayout(path)
    store.delete(layout.schema(0))
    for folder in (layout.schema(0).rpartition("/")[0], path):
        store.delete_empty_directory(folder)


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
