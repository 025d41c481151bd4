"""Warehouses on HDFS, through ``hdfs-native``, WebHDFS or libhdfs. See ``docs/stores.md``."""

from __future__ import annotations

from paimonlab.storage.hdfs.file_io import HdfsFileIO
from paimonlab.storage.hdfs.opening import open_warehouse

__all__ = ["HdfsFileIO", "open_warehouse"]
