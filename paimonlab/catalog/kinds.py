"""Kinds of catalogs: ``metastore`` says which one `connect` opens."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Protocol

from msgspec import Struct

from paimonlab.catalog import option_values
from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.filesystem import FileSystemCatalog
from paimonlab.secrets import hides_secrets
from paimonlab.storage import FileIO
from paimonlab.storage.schemes import store_kind


class StoreOpener(Protocol):
    """Opens stores as the options of a catalog say, read-only if they do. Picklable."""

    def __call__(self, folder: str | None = None, *, has_lock: bool = False) -> tuple[str, FileIO]:
        """Return the path of a folder, and its store.

        Parameters
        ----------
        folder
            None: the warehouse.
        has_lock
            Whether the catalog takes a lock of the table, within `guards.lock_held`, wherever
            others may take a name: then stores that do not keep conditions can be written.
        """
        ...


@hides_secrets
class CatalogRequest(Struct, frozen=True, kw_only=True):
    """What `connect` was asked for; options that all catalogs take were checked and read."""

    options: Mapping[str, str]
    """All of them, as they were given."""
    external_roots: tuple[str, ...]
    lookup_folder: str
    max_columns: int
    follows_links: bool
    is_read_only: bool
    open_store: StoreOpener


class CatalogKind(Struct, frozen=True, kw_only=True):
    """A value of ``metastore``."""

    open: Callable[[CatalogRequest], Catalog]
    options: frozenset[str] = frozenset()
    """The options that it takes beside those of all catalogs."""
    prefixes: tuple[str, ...] = ()
    """What other options that it takes begin with."""
    needs_warehouse: bool = True
    """Whether the option ``warehouse`` must be given."""


def takes_lock(given: Mapping[str, str]) -> bool:
    """Say whether a catalog locks tables: as ``lock.enabled`` says, else on stores alone.

    Parameters
    ----------
    given
        The options of the catalog, ``warehouse`` among them.
    """
    if "lock.enabled" in given:
        return option_values.boolean(given, "lock.enabled")
    return store_kind(given["warehouse"]) is not None


def _filesystem(request: CatalogRequest) -> Catalog:
    path, store = request.open_store()
    return FileSystemCatalog(
        path,
        store,
        external_roots=request.external_roots,
        lookup_folder=request.lookup_folder,
        options=request.options,
        max_columns=request.max_columns,
    )


_FILESYSTEM = CatalogKind(open=_filesystem)
_ELSEWHERE: Mapping[str, str] = {
    "hive": "paimonlab.catalog.hive.opening",
    "jdbc": "paimonlab.catalog.jdbc.opening",
    "rest": "paimonlab.catalog.rest.opening",
}
"""Modules with a ``KIND``, by the value of ``metastore``; imported when they are used."""
METASTORES = ("filesystem", *_ELSEWHERE)


def kind_of(metastore: str) -> CatalogKind:
    """Return one of `METASTORES`."""
    if metastore == "filesystem":
        return _FILESYSTEM
    kind = importlib.import_module(_ELSEWHERE[metastore]).KIND
    assert isinstance(kind, CatalogKind)
    return kind
