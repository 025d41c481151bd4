"""From the options of a catalog to the HDFS of its warehouse."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import replace

from paimonlab.errors import UnsupportedError
from paimonlab.storage.hdfs.file_io import HdfsFileIO
from paimonlab.storage.hdfs.libhdfs_places import missing_for_libhdfs, refuse_for_libhdfs
from paimonlab.storage.hdfs.name_nodes import addresses_of
from paimonlab.storage.hdfs.options import ClientKind, client_kind, hdfs_options, webhdfs_options
from paimonlab.storage.places import place_of
from paimonlab.storage.schemes import HDFS_CLIENT, WEBHDFS, store_kind


def open_warehouse(warehouse: str, options: Mapping[str, str]) -> HdfsFileIO:
    """Return the store of a warehouse; nothing is requested before it is asked.

    Parameters
    ----------
    warehouse
        ``hdfs://namenode:8020/folder``, or with the name of a service instead of a host;
        ``webhdfs://namenode:9870/folder``, or likewise of a service; ``swebhdfs:`` by TLS.
    options
        Those of the catalog; the ones of HDFS are taken.

    Raises
    ------
    UnsupportedError
        If neither ``hdfs-native`` nor libhdfs is there, or an option is not implemented.
    ValueError
        If a value is missing.
    """
    root = place_of(warehouse).uri
    if store_kind(root) is WEBHDFS:
        if importlib.util.find_spec("urllib3") is None:
            raise UnsupportedError(f"{root} without urllib3", "pip install 'paimonlab[hdfs]'")
        place = place_of(root)
        web = webhdfs_options(options, is_service=":" not in place.bucket)
        addresses_of(web.services, place.scheme, place.bucket)  # refuses services without addresses
        return HdfsFileIO(root=root, options=web)
    asked = client_kind(options)
    is_there = importlib.util.find_spec("hdfs_native") is not None
    if asked is not ClientKind.LIBHDFS and is_there:
        return HdfsFileIO(root=root, options=hdfs_options(options))
    missing = missing_for_libhdfs()
    if asked is ClientKind.NATIVE or missing:
        also = f"; libhdfs cannot stand in: {missing}" if missing and asked is None else ""
        if asked is ClientKind.LIBHDFS:
            raise UnsupportedError(f"{root} with {HDFS_CLIENT} = 'libhdfs'", missing)
        raise UnsupportedError(
            f"{root} without hdfs-native", f"pip install 'paimonlab[hdfs]'{also}"
        )
    taken = replace(hdfs_options(options), client=ClientKind.LIBHDFS)
    refuse_for_libhdfs(taken)
    return HdfsFileIO(root=root, options=taken)
