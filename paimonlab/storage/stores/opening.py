"""From the options of a catalog to the store of its warehouse."""

from __future__ import annotations

from collections.abc import Mapping

from paimonlab.storage.stores.object_file_io import ObjectFileIO
from paimonlab.storage.stores.places import place_of
from paimonlab.storage.stores.s3_options import s3_options


def open_warehouse(warehouse: str, options: Mapping[str, str]) -> ObjectFileIO:
    """Return the store of a warehouse.

    Parameters
    ----------
    warehouse
        ``s3://bucket/folder``.
    options
        Those of the catalog; the ones of the store are taken.

    Returns
    -------
    ObjectFileIO
        Nothing is requested before it is asked.
    """
    return ObjectFileIO(root=place_of(warehouse).uri, options=s3_options(options))
