"""From the options of a catalog to the HDFS of its warehouse."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping

from paimonlab.errors import UnsupportedError
from paimonlab.storage.hdfs.file_io import HdfsFileIO
from paimonlab.storage.hdfs.options import hdfs_options
from paimonlab.storage.places import place_of


def open_warehouse(warehouse: str, options: Mapping[str, str]) -> HdfsFileIO:
    """Return the store of a warehouse; nothing is requested before it is asked.

    Parameters
    ----------
    warehouse
        ``hdfs://namenode:8020/folder``, or with the name of a service instead of a host.
    options
        Those of the catalog; the ones of HDFS are taken.

    Raises
    ------
    UnsupportedError
        If ``hdfs-native`` is not installed, or an option is not implemented.
    ValueError
        If a value is missing.
    """
    root = place_of(warehouse).uri
    if importlib.util.find_spec("hdfs_native") is None:
        raise UnsupportedError(f"{root} without hdfs-native", "pip install 'paimonlab[hdfs]'")
    return HdfsFileIO(root=root, options=hdfs_options(options))
