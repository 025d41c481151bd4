"""From the options of a catalog to the store of its warehouse."""

from __future__ import annotations

from collections.abc import Mapping

from paimonlab.storage.guards import Guard
from paimonlab.storage.places import place_of
from paimonlab.storage.schemes import SINGLE_WRITER
from paimonlab.storage.stores.object_file_io import ObjectFileIO
from paimonlab.storage.stores.store_options import store_options


def open_warehouse(
    warehouse: str, options: Mapping[str, str], *, has_lock: bool = False
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
    guard = Guard.LOCK if has_lock else Guard.CONDITIONS
    return ObjectFileIO(
        root=place_of(warehouse).uri,
        options=store_options(warehouse, options),
        guard=Guard.SINGLE_WRITER if is_single == "true" else guard,
    )
