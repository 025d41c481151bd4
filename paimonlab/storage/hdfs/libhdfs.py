"""HDFS through libhdfs, which starts Java in this process: reading alone.

libhdfs creates files by overwriting them and moves files by a request that replaces none
(apache/hadoop ``hdfs.c``, ``hdfsOpenFile`` and ``hdfsRename``). A snapshot could be published by
that, but hints and consumers are files that are replaced at once, so nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pyarrow.fs

from paimonlab.errors import UnsupportedError
from paimonlab.storage.hdfs.clients import Writer
from paimonlab.storage.hdfs.options import HdfsOptions


@dataclass(slots=True)
class _Status:
    path: str
    length: int
    isdir: bool
    modification_time: int


class LibhdfsClient:
    """A connection of libhdfs; see `HdfsClient`.

    Parameters
    ----------
    address
        ``hdfs://namenode:8020``, or with the name of a service.
    options
        How it is reached.
    """

    creates_at_once = True

    def __init__(self, address: str, options: HdfsOptions) -> None:
        parts = urlsplit(address)
        self._address = address
        host = parts.netloc.partition(":")[0]  # upper case counts in the name of a service
        self._files: Any = pyarrow.fs.HadoopFileSystem(
            f"{parts.scheme}://{host}",
            parts.port or 0,
            extra_conf=dict(options.config) or None,
        )

    def read(self, path: str, /) -> _LibhdfsReader:
        """Open a file."""
        self.get_file_info(path)  # libhdfs prints Java's trace where there is none
        return _LibhdfsReader(self._files.open_input_file(path))

    def create(self, path: str, /) -> Writer:
        """Refuse it."""
        self._refuse(path)

    def rename(self, source: str, target: str, /, *, overwrite: bool) -> None:
        """Refuse it."""
        del source, overwrite
        self._refuse(target)

    def list_status(self, path: str, /) -> Iterable[_Status]:
        """Return what is in a folder."""
        self.get_file_info(path)
        found = self._files.get_file_info(pyarrow.fs.FileSelector(path))
        return [_status(one, f"{path.rstrip('/')}/{one.base_name}") for one in found]

    def mkdirs(self, path: str, /) -> None:
        """Refuse it."""
        self._refuse(path)

    def delete(self, path: str, /, *, recursive: bool) -> bool:
        """Refuse it."""
        del recursive
        self._refuse(path)

    def get_file_info(self, path: str, /) -> _Status:
        """Return what is known of a file or folder."""
        (found,) = self._files.get_file_info([path])
        if found.type == pyarrow.fs.FileType.NotFound:
            raise FileNotFoundError(path)
        return _status(found, path)

    def _refuse(self, path: str) -> NoReturn:
        raise UnsupportedError(
            f"writing to {self._address}{path} through libhdfs",
            "it cannot replace a file at once: pip install 'paimonlab[hdfs]', or use webhdfs:; "
            "reading works",
        )


class _LibhdfsReader:
    def __init__(self, file: Any) -> None:
        self._file, self._size_bytes = file, int(file.size())

    def __len__(self) -> int:
        return self._size_bytes

    def read_range(self, start: int, count: int, /) -> bytes:
        return bytes(self._file.read_at(count, start))


def _status(found: Any, path: str) -> _Status:
    is_folder = found.type == pyarrow.fs.FileType.Directory
    nanos = found.mtime_ns or 0
    return _Status(path, 0 if is_folder else int(found.size), is_folder, nanos // 1_000_000)
