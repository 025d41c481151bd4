"""Where the files of a server's tables are, and with which credentials they are reached.

Source: apache/paimon@1.4.2 ``org.apache.paimon.rest.RESTTokenFileIO``.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from paimonlab import storage
from paimonlab.catalog.rest.answers import meant_for
from paimonlab.catalog.rest.client import RestClient
from paimonlab.catalog.rest.wire import TableAnswer, TokenAnswer, object_name
from paimonlab.clock import now_millis
from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.grammar import parse_boolean
from paimonlab.storage import FileIO, ReadOnlyFileIO
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, Buffer, FileStatus
from paimonlab.storage.schemes import HDFS, store_kind

DATA_TOKENS = "data-token.enabled"
_SAFE_MILLIS = 3_600_000
"""Tokens that have less time left are renewed, or those of short life after half of it."""


@dataclass(frozen=True)
class TableStores:
    """Finds the store of a table by the path that the server names."""

    client: RestClient
    local: FileIO

    def of(
        self, identifier: Identifier, answer: TableAnswer, *, read_only: bool
    ) -> tuple[str, FileIO]:
        """Return the folder of a table, and its store.

        Raises
        ------
        UnsupportedError
            If there is no such store here, or a token for one.
        """
        path, store = self._plain(identifier, answer)
        return path, ReadOnlyFileIO(store) if read_only else store

    def _plain(self, identifier: Identifier, answer: TableAnswer) -> tuple[str, FileIO]:
        path = answer.path.rstrip("/")
        options = self.client.options
        scheme = urlsplit(path).scheme.lower() if ":" in path.partition("/")[0] else ""
        has_tokens = parse_boolean(options.get(DATA_TOKENS, "false")) and not answer.is_external
        if store_kind(path) is not None:
            if has_tokens:
                return path, VendedFileIO(path, TokenSource(self.client, identifier))
            return path, opened_store(path, options)
        if has_tokens or scheme not in ("", "file"):
            tokens = f" with {DATA_TOKENS} = 'true'" if has_tokens else ""
            raise UnsupportedError(
                f"{identifier} at {path}{tokens}",
                "files are reached on disks, and in object stores also with tokens of the server",
            )
        return unquote(urlsplit(path).path) if scheme else path, self.local


def opened_store(path: str, options: Mapping[str, str]) -> FileIO:
    """Open a store with the options of a catalog.

    Raises
    ------
    UnsupportedError
        If obstore is not installed, or an option is not implemented.
    ValueError
        If an option is missing, or its value is not allowed.
    """
    try:
        if store_kind(path) is HDFS:
            return storage.hdfs.open_warehouse(path, options)
        return storage.stores.open_warehouse(path, options)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    except ModuleNotFoundError as error:
        if error.name != "obstore":
            raise
        raise UnsupportedError(f"{path} without obstore", "pip install 'paimonlab[stores]'") from (
            None
        )


@dataclass(frozen=True, slots=True)
class TokenSource:
    """Asks a server for the token of a table. Picklable: executors ask themselves."""

    client: RestClient
    identifier: Identifier

    def token(self) -> TokenAnswer:
        """Return a token, and until when it holds."""
        parts = ("databases", self.identifier.database, "tables", object_name(self.identifier))
        with meant_for(str(self.identifier)):
            return self.client.get(TokenAnswer, *parts, "token")


class _Held:
    """The token that one process has; a copy begins without one."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.store: FileIO | None = None
        self.renew_at_millis = 0

    def __reduce__(self) -> tuple[type[_Held], tuple[()]]:
        return _Held, ()


@dataclass(frozen=True, slots=True)
class VendedFileIO:
    """Files of one table, reached with tokens that the server hands out; see `FileIO`."""

    path: str
    source: TokenSource = field(repr=False)
    _held: _Held = field(default_factory=_Held, init=False, compare=False, repr=False)

    def _store(self) -> FileIO:
        held = self._held
        with held.turn:
            if held.store is None or now_millis() >= held.renew_at_millis:
                answer = self.source.token()
                left = answer.expires_at_millis - now_millis()
                wait = left - _SAFE_MILLIS if left > 2 * _SAFE_MILLIS else left // 2
                options = {**self.source.client.options, **answer.token}
                held.store = opened_store(self.path, options)
                held.renew_at_millis = now_millis() + max(wait, 0)
            return held.store

    def within(self, *roots: str) -> VendedFileIO:
        """Return this store: there are no links that lead out of a folder."""
        del roots
        return self

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        return self._store().read(path, limit_bytes=limit_bytes)

    def open_input(self, path: str) -> pa.NativeFile:
        """Open a file for random reads; it goes on with the token that it was opened with."""
        return self._store().open_input(path)

    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing."""
        return self._store().open_output(path)

    def create(self, path: str, data: Buffer) -> None:
        """Create a new file at once."""
        self._store().create(path, data)

    def write(self, path: str, data: bytes) -> None:
        """Create a new, durable file."""
        self._store().write(path, data)

    def begin_sync(self, output: pa.NativeFile) -> None:
        """Let a file that is being written become durable."""
        self._store().begin_sync(output)

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Check the sizes of written files."""
        self._store().sync_files(sizes)

    def publish(self, path: str, data: bytes) -> bool:
        """Create a file if nothing exists there."""
        return self._store().publish(path, data)

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write a file, whether or not it exists."""
        self._store().replace(path, data, durable=durable)

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        return self._store().exists(path)

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists."""
        return self._store().has_file(path)

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        return self._store().size_bytes(path)

    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Check that names in a folder are files that may be read."""
        self._store().check_files(folder, names)

    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder."""
        return self._store().list(path)

    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder."""
        return self._store().list_names(path)

    def make_directory(self, path: str) -> None:
        """Create a folder and its parents."""
        self._store().make_directory(path)

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        """Move a file or folder."""
        self._store().rename(source, target, durable=durable)

    def delete(self, path: str) -> None:
        """Delete a file."""
        self._store().delete(path)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Delete files; return what could not be, and why."""
        return self._store().delete_files(paths)

    def delete_directory(self, path: str) -> None:
        """Delete a folder with all in it."""
        self._store().delete_directory(path)

    def delete_empty_directory(self, path: str) -> bool:
        """Delete a folder if nothing is in it."""
        return self._store().delete_empty_directory(path)
