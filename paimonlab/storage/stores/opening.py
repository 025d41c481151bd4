"""From the options of a catalog to the store of its warehouse."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from paimonlab.storage.guards import Guard
from paimonlab.storage.places import place_of
from paimonlab.storage.schemes import SINGLE_WRITER
from paimonlab.storage.stores.azure_options import AzureOptions, azure_key
from paimonlab.storage.stores.gcs_options import GcsOptions
from paimonlab.storage.stores.keys import AzureKey, BearerToken, Keys
from paimonlab.storage.stores.object_file_io import ObjectFileIO
from paimonlab.storage.stores.store_options import store_options


def open_warehouse(
    warehouse: str,
    options: Mapping[str, str],
    *,
    has_lock: bool = False,
    renewal: Callable[[], Any] | None = None,
) -> ObjectFileIO:
    """Return the store of a warehouse.

    Parameters
    ----------
    warehouse
        ``s3://bucket/folder`` …
    options
        Those of the catalog; the ones of the store are taken.
    has_lock
        Whether the catalog has locks, and takes one of the table wherever others may take a name.
    renewal
        Gives what `keys_in` returns, which holds for a while, whenever requests are signed; None:
        keys of the options stay.

    Returns
    -------
    ObjectFileIO
        Nothing is requested before it is asked.

    Raises
    ------
    UnsupportedError
        If there is no such store, or an option is not implemented.
    ValueError
        If a value is not allowed or missing.
    """
    is_single = options.get(SINGLE_WRITER, "false")
    if is_single not in ("true", "false"):
        raise ValueError(f"{SINGLE_WRITER} = {is_single!r} is neither true nor false")
    root = place_of(warehouse).uri
    of_store = store_options(warehouse, options)
    if renewal is not None:
        of_its_kind: Any = renewal
        of_store = replace(of_store, renewal=of_its_kind)
    guard = Guard.LOCK if has_lock else Guard.CONDITIONS
    return ObjectFileIO(
        root=root,
        options=of_store,
        guard=Guard.SINGLE_WRITER if is_single == "true" else guard,
    )


def keys_in(path: str, options: Mapping[str, str]) -> Keys | AzureKey | BearerToken:
    """Return by what the options of a store allow requests.

    Raises
    ------
    ValueError
        If they give none.
    """
    found = store_options(path, options)
    if isinstance(found, AzureOptions):
        key = azure_key(found, urlsplit(path).netloc)
        if key is None:
            raise ValueError(f"a token for {path} has neither a key of the account nor a signature")
        return key
    if isinstance(found, GcsOptions):
        if found.token is None:
            raise ValueError(f"a token for {path} has no gcs.oauth2.token")
        return BearerToken(found.token)
    if found.access_key is None:
        raise ValueError(f"a token for {path} has no keys")
    return Keys(found.access_key, str(found.secret_key), found.session_token)
