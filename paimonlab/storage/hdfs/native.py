"""HDFS through ``hdfs-native``: the protocol of name and data nodes, without Java."""

from __future__ import annotations

import contextlib
import errno
import socket
import threading
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import hdfs_native

from paimonlab.errors import StorageError
from paimonlab.storage.hdfs.clients import Reader, Status
from paimonlab.storage.hdfs.options import HdfsOptions

_FIRST_ANSWER_SECONDS = 60.0
"""How long the first answer of a name node is waited for."""


class NativeClient:
    """A connection of the library; see `HdfsClient`.

    Parameters
    ----------
    address
        ``hdfs://namenode:8020``.
    options
        How it is reached.

    Raises
    ------
    StorageError
        If nothing answers. The library waits for ever where the name node wants Kerberos, and it
        was not told so.
    """

    creates_at_once = True

    def __init__(self, address: str, options: HdfsOptions) -> None:
        self._client: Any = hdfs_native.Client(
            address,
            dict(options.config) or None,
            options.config_folder,
            kerberos_principal=options.principal,
            kerberos_keytab=options.keytab,
        )
        first = threading.Thread(target=self._ask, daemon=True)
        first.start()
        first.join(_FIRST_ANSWER_SECONDS)
        if first.is_alive():
            if _refuses(address):
                raise StorageError(errno.ECONNREFUSED, "nobody listens there", address)
            raise StorageError(
                None,
                f"no answer in {_FIRST_ANSWER_SECONDS:.0f} s; where it wants Kerberos, say so by "
                "'hadoop.hadoop.security.authentication' = 'kerberos', or in a core-site.xml",
                address,
            )

    def _ask(self) -> None:
        with contextlib.suppress(Exception):  # whoever asks next is told
            self._client.get_file_info("/")

    def read(self, path: str, /) -> Reader:
        """Open a file."""
        return self._client.read(path)

    def create(self, path: str, /) -> _NativeWriter:
        """Begin a file; its name is taken when this returns."""
        options = hdfs_native.WriteOptions(overwrite=False, create_parent=True)
        return _NativeWriter(self._client.create(path, options))

    def rename(self, source: str, target: str, /, *, overwrite: bool) -> None:
        """Move a file or folder."""
        self._client.rename(source, target, overwrite)

    def list_status(self, path: str, /) -> Iterable[Status]:
        """Return what is in a folder."""
        return self._client.list_status(path)

    def mkdirs(self, path: str, /) -> None:
        """Create a folder and its parents."""
        self._client.mkdirs(path, create_parent=True)

    def delete(self, path: str, /, *, recursive: bool) -> bool:
        """Delete a file or folder."""
        return bool(self._client.delete(path, recursive=recursive))

    def get_file_info(self, path: str, /) -> Status:
        """Return what is known of a file or folder."""
        return self._client.get_file_info(path)


def _refuses(address: str) -> bool:
    """Whether nobody listens where the address of one name node says."""
    place = urlsplit(address)
    if place.hostname is None or place.port is None:
        return False  # a service of several, whose addresses are in settings
    try:
        socket.create_connection((place.hostname, place.port), timeout=2).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


class _NativeWriter:
    def __init__(self, writer: Any) -> None:
        self.write, self.hsync, self.close = writer.write, writer.hsync, writer.close

    def abandon(self) -> None:
        """Do nothing: what is left is deleted by its name."""
