"""From a warehouse path or Paimon's catalog options to a catalog."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from paimonlab import storage
from paimonlab.catalog.catalog import MAX_COLUMNS, Catalog
from paimonlab.catalog.kinds import METASTORES, CatalogKind, CatalogRequest, kind_of
from paimonlab.catalog.local_cache import LOCAL_CACHE_OPTIONS, local_cache
from paimonlab.catalog.option_values import size_bytes
from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.secrets import hides_secrets
from paimonlab.spec.external_paths import root_folder
from paimonlab.spec.options.grammar import parse_list
from paimonlab.storage import FileIO, LocalFileIO, ReadOnlyFileIO
from paimonlab.storage.schemes import (
    FOLDER_STORES,
    STORE_OPTIONS,
    STORE_PREFIXES,
    STORES,
    check_store_options,
    store_kind,
)

_METASTORE = "metastore"
_SUPPORTED = {_METASTORE: METASTORES, "table.type": ("managed",)}
_NO_EFFECT = frozenset(
    {
        "cache-enabled",
        "cache.expire-after-access",
        "cache.expire-after-write",
        "cache.manifest.small-file-memory",
        "cache.manifest.small-file-threshold",
        "cache.partition.max-num",
        "cache.snapshot.max-num-per-table",
        "case-sensitive",
        "sync-all-properties",
    }
)
"""Steer caches of the Java catalog, or say what is so here anyway."""
_ROOTS = "allowed-external-roots"
_SCHEMES = ", ".join(f"{scheme}:" for kind in STORES for scheme in kind.schemes)
_READ_ONLY = "read-only"
_FOLLOW_LINKS = "follow-links"
_LOOKUP_FOLDER = "lookup.cache-folder"
_MAX_COLUMNS = "max-columns"
_SQL_MEMORY = "sql.memory"
_SQL_COLUMNS = "sql.columns-memory"
_DEFAULT_DATABASE = "defaultDatabase"
_MEMORY = re.compile(r"[1-9]\d*(\.\d+)?\s*(%|[kmgt]i?b)", re.IGNORECASE)
_OWN = (
    *("warehouse", _ROOTS, _READ_ONLY, _FOLLOW_LINKS, _LOOKUP_FOLDER, _MAX_COLUMNS),
    *(_SQL_MEMORY, _SQL_COLUMNS, _DEFAULT_DATABASE),
    *LOCAL_CACHE_OPTIONS,
)
_KNOWN = (
    *(*_OWN, *_SUPPORTED, *sorted(_NO_EFFECT)),
    *("uri", "lock.enabled", "lock.type"),
    *STORE_OPTIONS,
)


def connect(
    warehouse: str | os.PathLike[str] | Mapping[str, str],
    *,
    follow_links: bool = False,
    max_columns: int | None = None,
) -> Catalog:
    """Open a catalog.

    Parameters
    ----------
    warehouse
        Folder of the warehouse: a path, a ``file:`` URI, or that of an object store (``s3:``,
        ``gs:``, ``abfs:``, ``oss:`` …). It is made when the first database is. Or Paimon's
        catalog options, ``warehouse`` among them; see Notes.
    follow_links
        Whether links in the folder of a table are followed out of it; also the catalog option
        ``follow-links``. Only for tables of people you trust: whoever makes a link chooses which
        of your files is read. Nothing is written or deleted through a link. A warehouse, a
        database or the folder of a table may be a link anyway.
    max_columns
        How many columns a table may have, at least 1; also the catalog option ``max-columns``.
        None: 20,000. Time and memory grow with the columns of a table, even where a query reads
        few of them.

    Returns
    -------
    Catalog
        Nothing is read before it is asked for.

    Raises
    ------
    UnsupportedError
        If the store or the kind of catalog is not implemented.
    ValueError
        If an option is unknown or ``warehouse`` is missing, or if ``max_columns`` is not positive.

    Notes
    -----
    Options of every catalog, beside those of its kind (``docs/catalogs.md``) and of its store
    (``docs/stores.md``):

    - ``read-only``: with ``true`` whatever would change the warehouse raises `ReadOnlyError`.
    - ``allowed-external-roots``: folders, separated by commas, that data files of any table may
      be in, beyond those that its own ``data-file.external-paths`` names.
    - ``lookup.cache-folder``: where copies of files for finding rows by their keys are kept; by
      default a folder of the user's among temporary files.
    - ``sql.memory``: how much memory a query without Spark may take, ``2GB`` or ``50%`` of the
      machine's, which is the default.
    - ``sql.columns-memory``: how much memory columns take that such queries merged and keep;
      ``256 mb`` by default, ``0 b`` for none.
    - ``defaultDatabase``: the current database in Spark after ``USE <catalog>``; ``default`` by
      default.

    Examples
    --------
    >>> connect("./warehouse").path.endswith("/warehouse")
    True
    """
    if isinstance(warehouse, Mapping):
        options = dict(warehouse)
    else:
        options = {"warehouse": os.fspath(warehouse)}
    kind = _checked_kind(options)
    roots = parse_list(options.get(_ROOTS, ""))
    follows = follow_links or _is_true(_FOLLOW_LINKS, options)
    is_read_only = _is_true(_READ_ONLY, options)

    request = CatalogRequest(
        options=options,
        external_roots=tuple(map(root_folder, roots)),
        lookup_folder=_lookup_folder(options),
        max_columns=_columns_allowed(max_columns, options),
        follows_links=follows,
        is_read_only=is_read_only,
        open_store=_Opener(options, follows_links=follows, is_read_only=is_read_only),
    )
    return kind.open(request)


@hides_secrets
@dataclass(frozen=True, slots=True)
class _Opener:
    """See `StoreOpener`."""

    options: Mapping[str, str]
    follows_links: bool = field(kw_only=True)
    is_read_only: bool = field(kw_only=True)

    def __call__(self, folder: str | None = None, *, has_lock: bool = False) -> tuple[str, FileIO]:
        """Return the path of a folder and its store; None: those of ``warehouse``."""
        here = self.options if folder is None else {**self.options, "warehouse": folder}
        path, store = _opened(here, follow_links=self.follows_links, has_lock=has_lock)
        cache = local_cache(self.options)
        if cache is not None and store_kind(path) is not None:
            store = cache.before(store)
        return path, ReadOnlyFileIO(store) if self.is_read_only else store


def _opened(
    options: Mapping[str, str], *, follow_links: bool, has_lock: bool
) -> tuple[str, FileIO]:
    """Return the path of the warehouse and its store."""
    warehouse = options["warehouse"]
    kind = store_kind(warehouse)
    if kind is None:
        return local_path(warehouse), LocalFileIO(follow_links=follow_links)
    if kind in FOLDER_STORES:
        hdfs = storage.hdfs.open_warehouse(warehouse, options)
        return hdfs.root, hdfs
    try:
        store = storage.stores.open_warehouse(warehouse, options, has_lock=has_lock)
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise UnsupportedError(
            f"warehouse = '{warehouse}' without obstore", "pip install 'paimonlab[stores]'"
        ) from None
    return store.root, store


def _columns_allowed(given: int | None, options: Mapping[str, str]) -> int:
    text = options.get(_MAX_COLUMNS)
    if given is None and text is None:
        return MAX_COLUMNS
    if given is None and text is not None and text.isdecimal():
        given = int(text)
    if given is None or given < 1:
        raise ValueError(f"{_MAX_COLUMNS} = {text if given is None else given!r} is not positive")
    return given


def _checked_kind(options: Mapping[str, str]) -> CatalogKind:
    """Check options, and return the kind of catalog that they ask for."""
    kind = _kind(options)
    known = (*_KNOWN, *sorted(kind.options))
    for key, value in options.items():
        if key in kind.options or key.startswith((*kind.prefixes, *STORE_PREFIXES)):
            continue
        if key not in (*_NO_EFFECT, *_OWN, *_SUPPORTED, *STORE_OPTIONS):
            if key in known:
                raise UnsupportedError(f"{key} = '{value}'")
            raise ValueError(f"unknown catalog option {key!r}.{close_matches(key, known)}")
    if kind.needs_warehouse:
        check_store_options(options, options.get("warehouse", ""))
    memory = options.get(_SQL_MEMORY)
    if memory is not None and not _MEMORY.fullmatch(memory):
        raise ValueError(f"{_SQL_MEMORY} = {memory!r} is not a size such as 2GB, or 50%")
    if _SQL_COLUMNS in options:
        _ = size_bytes(options, _SQL_COLUMNS)
    is_local = kind.needs_warehouse and store_kind(options.get("warehouse", "")) is None
    if local_cache(options) is not None and is_local:
        raise UnsupportedError(
            "local-cache.enabled = 'true' for a warehouse on a local disk", "leave it out"
        )
    if kind.needs_warehouse and not options.get("warehouse"):
        raise ValueError("the catalog option 'warehouse' is missing")
    return kind


def _kind(options: Mapping[str, str]) -> CatalogKind:
    """Return the kind of catalog, if it takes the values of what only some kinds let one choose."""
    metastore = options.get(_METASTORE, METASTORES[0])
    kind = kind_of(metastore) if metastore in METASTORES else None
    for key, supported in _SUPPORTED.items():
        is_its_own = kind is not None and key in kind.options
        if not is_its_own and options.get(key, supported[0]) not in supported:
            raise UnsupportedError(f"{key} = '{options[key]}'")
    assert kind is not None, "it is one of those supported"
    return kind


def _lookup_folder(options: Mapping[str, str]) -> str:
    folder = options.get(_LOOKUP_FOLDER, "")
    return folder and str(Path(folder).expanduser().absolute())


def _is_true(key: str, options: Mapping[str, str]) -> bool:
    value = options.get(key, "false")
    if value not in {"true", "false"}:
        raise ValueError(f"{key} = {value!r} is neither true nor false")
    return value == "true"


def local_path(warehouse: str) -> str:
    """Turn a path or ``file:`` URI into an absolute path.

    Raises
    ------
    UnsupportedError
        If the URI is of another store.
    """
    scheme, _, path, _, _ = urlsplit(warehouse)
    if "://" not in warehouse and not warehouse.startswith("file:"):
        path = warehouse
    elif scheme == "file":
        path = unquote(path)
    else:
        raise UnsupportedError(
            f"warehouse = '{warehouse}'",
            f"there is no built-in store for {scheme}:, only for files and {_SCHEMES}"
            f"{_of_servers(warehouse, scheme)}",
        )
    return str(Path(path).expanduser().resolve())


def _of_servers(address: str, scheme: str) -> str:
    """Say how a catalog behind Paimon's REST protocol is opened to whom gives its address alone."""
    if scheme not in ("http", "https"):
        return ""
    return (
        f"; a server of Paimon's REST protocol is opened by its options: {{'metastore': 'rest', "
        f"'uri': {address!r}, 'warehouse': …, 'token.provider': 'bear', 'token': …}}"
    )
