"""Files of HDFS, whichever client reaches it: the methods of `FileIO`.

A name that others may take is taken by moving a file of a name of our own onto it, which the name
node does at once and refuses if the name is taken. Whatever the answer, our own name says whether
it happened: only this call moves it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib.util
import io
import random
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import pyarrow as pa

from paimonlab.errors import CorruptMetadataError, PaimonError, StorageError
from paimonlab.secrets import without_secrets
from paimonlab.storage.failures import delete_each
from paimonlab.storage.file_io import METADATA_LIMIT_BYTES, Buffer, FileStatus
from paimonlab.storage.forks import Home, fork_count
from paimonlab.storage.hdfs.clients import HdfsClient, Reader, Status, Writer
from paimonlab.storage.hdfs.options import ClientKind, HdfsOptions, WebHdfsOptions
from paimonlab.storage.places import place_of
from paimonlab.storage.random_input import RandomInput
from paimonlab.storage.schemes import HDFS_CLIENT

_PATIENCE_SECONDS = 30.0
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 3.0
_WRITTEN_AT_ONCE = 8 << 20
_FIRST_HOME: list[Home] = []
_WHOLE_FILE_TRIES = 3
_REFUSALS = (errno.EACCES, errno.EDQUOT)
"""Of answers that say that nothing happened."""


@dataclass(frozen=True, slots=True)
class HdfsFileIO:
    """Files of one HDFS."""

    root: str
    options: HdfsOptions | WebHdfsOptions = field(default_factory=HdfsOptions, repr=False)

    @property
    def client_told(self) -> str:
        """Say which client reaches the files, and why it is this one."""
        if isinstance(self.options, WebHdfsOptions):
            return "WebHDFS, as the scheme of the warehouse says"
        is_installed = importlib.util.find_spec("hdfs_native") is not None
        if self.options.client is ClientKind.NATIVE:
            return "hdfs-native"
        why = f"{HDFS_CLIENT} says" if is_installed else "hdfs-native is not installed"
        return f"libhdfs, as {why}: it reads and does not write"

    def within(self, *roots: str) -> Self:
        """Return this store: no link of HDFS's is followed."""
        for root in roots:
            place_of(root)
        return self

    def read(self, path: str, *, limit_bytes: int = METADATA_LIMIT_BYTES) -> bytes:
        """Return the whole file."""
        with _named(path, "reading"):
            reader = self._client(path).read(_inner(path))
            size_bytes = len(reader)
            if size_bytes > limit_bytes:
                problem = f"it has {size_bytes:,} bytes, more than the {limit_bytes:,} allowed"
                raise CorruptMetadataError(path, f"{problem} for a file of its kind")
            data = bytes(reader.read_range(0, size_bytes)) if size_bytes else b""
        if len(data) != size_bytes:
            problem = f"{len(data):,} of its {size_bytes:,} bytes came"
            raise StorageError(errno.ECONNABORTED, problem, path)
        return data

    def open_input(self, path: str, *, size_bytes: int | None = None) -> pa.NativeFile:
        """Open a file for random reads."""
        del size_bytes  # the answer that says where the blocks are has it
        with _named(path, "reading"):
            return pa.PythonFile(_Input(self._client(path).read(_inner(path)), path), mode="r")

    def open_output(self, path: str) -> pa.NativeFile:
        """Create a new file for writing; it is durable when it is closed."""
        return pa.PythonFile(self._created(path), mode="w")

    def create(self, path: str, data: Buffer) -> None:
        """Create a new file."""
        self.write(path, bytes(data))

    def write(self, path: str, data: bytes) -> None:
        """Create a new, durable file."""
        if self._client(path).creates_at_once:
            _fill(self._created(path), data)
        elif not self._take(self._temporary(path, data), path):
            raise FileExistsError(errno.EEXIST, "the file exists", path)

    def begin_sync(self, output: pa.NativeFile) -> None:
        """Do nothing: a file is durable once it is there."""

    def sync_files(self, sizes: Mapping[str, int]) -> None:
        """Check the sizes of written files; those that are closed are durable."""
        for path, size_bytes in sizes.items():
            found = self.size_bytes(path)
            if found != size_bytes:
                problem = f"{size_bytes:,} bytes were written and {found:,} are there"
                raise StorageError(errno.ECONNABORTED, problem, path)

    def publish(self, path: str, data: bytes) -> bool:
        """Create ``path`` with ``data`` if nothing exists there."""
        return self._take(self._temporary(path, data), path)

    def _temporary(self, path: str, data: bytes) -> str:
        """Write a file of a name that only this call has, beside another.

        By WebHDFS all of it is one request, whose data node may be lost: a few names are tried.
        """
        tries = 1 if self._client(path).creates_at_once else _WHOLE_FILE_TRIES
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            tries -= 1
            temporary = _beside(path)
            discard = functools.partial(self.delete, temporary)
            try:
                _fill(_Output(self._writer(temporary), path, discard), data)
            except StorageError as error:
                if not tries or error.errno in _REFUSALS or time.monotonic() >= end:
                    raise
            else:
                return temporary

    def _take(self, temporary: str, path: str, *, overwrite: bool = False) -> bool:
        """Move a file of our own onto a name that others may take; False: it is taken.

        Where an answer is lost, whichever name node is active by then says whether our name is
        left: it knows of all moves that another one has done before.
        """
        end = time.monotonic() + _PATIENCE_SECONDS
        attempt = 0
        while True:
            try:
                self._move(temporary, path, overwrite=overwrite)
            except FileExistsError:
                if not self._is_left(temporary):
                    return True  # the answer to an earlier request of the client's was lost
                self.delete(temporary)
                return False
            except OSError as error:
                if self._has_moved(temporary, path, error):
                    return True
                if attempt and time.monotonic() >= end:  # one time-out may be longer
                    problem = f"{error.strerror}; it may be there or not ({attempt + 1} attempts)"
                    raise StorageError(errno.ECONNABORTED, problem, path) from None
                longest = min(_FIRST_PAUSE_SECONDS * 2.0**attempt, _LONGEST_PAUSE_SECONDS)
                time.sleep(longest * (0.5 + random.random() / 2))  # noqa: S311 - not a secret
                attempt += 1
            else:
                return True

    def _has_moved(self, temporary: str, path: str, error: OSError) -> bool:
        """Find out whether a move that failed happened; False: not yet, or nobody knows.

        Raises
        ------
        OSError
            If it will not happen any more.
        """
        end: OSError | None = None
        with contextlib.suppress(StorageError):
            if not self._is_left(temporary):
                if self.exists(path):
                    return True
                end = _deleted(path)
            elif error.errno in _REFUSALS:
                self.delete(temporary)
                end = error
        if end is not None:
            raise end from None
        return False

    def replace(self, path: str, data: bytes, *, durable: bool = True) -> None:
        """Write ``path`` atomically, whether or not it exists."""
        del durable
        temporary = self._temporary(path, data)
        try:
            if not self._take(temporary, path, overwrite=True):
                raise FileExistsError(errno.EEXIST, "a folder has this name", path)
        except StorageError as error:
            if error.errno == errno.ENOENT:
                raise FileNotFoundError(errno.ENOENT, "there is no such file", path) from None
            raise

    def exists(self, path: str) -> bool:
        """Whether a file or folder exists."""
        try:
            self._status(path)
        except FileNotFoundError:
            return False
        return True

    def has_file(self, path: str) -> bool:
        """Whether a path that is never a folder exists."""
        return self.exists(path)

    def size_bytes(self, path: str) -> int:
        """Size of a file."""
        return int(self._status(path).length)

    def check_files(self, folder: str, names: Collection[str]) -> None:
        """Do nothing: a name is a file or a folder."""

    def list(self, path: str) -> list[FileStatus]:
        """Files and folders directly in a folder; [] when the folder does not exist."""
        place = place_of(path)
        try:
            with _named(path, "listing"):
                found = [*self._client(path).list_status(_inner(path))]
        except FileNotFoundError:
            return []
        return [
            FileStatus(
                place.of(status.path.lstrip("/")),
                size_bytes=int(status.length),
                is_directory=bool(status.isdir),
                modified_millis=int(status.modification_time),
            )
            for status in found
        ]

    def list_names(self, path: str) -> Sequence[str]:
        """Names directly in a folder; [] when it does not exist."""
        return [status.path.rpartition("/")[2] for status in self.list(path)]

    def make_directory(self, path: str) -> None:
        """Create a folder and its parents; fine when it exists."""
        with _named(path, "making"):
            self._client(path).mkdirs(_inner(path))

    def rename(self, source: str, target: str, *, durable: bool = True) -> None:
        """Move a file or folder."""
        del durable
        self.make_directory(target.rpartition("/")[0])
        try:
            self._move(source, target)
        except FileNotFoundError:
            raise FileNotFoundError(errno.ENOENT, "there is no such file", source) from None

    def delete(self, path: str) -> None:
        """Delete a file; fine when it does not exist."""
        with contextlib.suppress(FileNotFoundError), _named(path, "deleting"):
            self._client(path).delete(_inner(path), recursive=False)

    def delete_files(self, paths: Sequence[str]) -> Mapping[str, OSError | CorruptMetadataError]:
        """Delete files; return what could not be, and why."""
        return delete_each(self.delete, paths)

    def delete_directory(self, path: str) -> None:
        """Delete a folder with all in it; fine when it does not exist."""
        with contextlib.suppress(FileNotFoundError), _named(path, "deleting"):
            self._client(path).delete(_inner(path), recursive=True)

    def delete_empty_directory(self, path: str) -> bool:
        """Delete a folder if nothing is in it; False if something is, or if it is not there."""
        try:
            if self.list(path) or not self.exists(path):
                return False
            with _named(path, "deleting"):
                return bool(self._client(path).delete(_inner(path), recursive=False))
        except StorageError as error:
            if "is non empty" in str(error):
                return False
            raise

    def _client(self, path: str) -> HdfsClient:
        if not _FIRST_HOME:
            _FIRST_HOME.append(Home())
        _FIRST_HOME[0].check("the connection to HDFS", "use stores in one of them alone")
        place = place_of(path)
        return _connected(f"{place.scheme}://{place.bucket}", self.options, fork_count())

    def _created(self, path: str) -> _Output:
        if self._client(path).creates_at_once:
            return _Output(self._writer(path), path, lambda: self.delete(path))
        # What is sent in one request may be there or not if its answer is lost. Under a name of
        # our own that is found out, and a file of another is never taken for ours, or deleted.
        temporary = _beside(path)

        def take() -> None:
            if not self._take(temporary, path):
                raise FileExistsError(errno.EEXIST, "the file exists", path)

        return _Output(self._writer(temporary), path, lambda: self.delete(temporary), take)

    def _writer(self, path: str) -> Writer:
        with _named(path, "creating"):
            return self._client(path).create(_inner(path))

    def _move(self, source: str, target: str, *, overwrite: bool = False) -> None:
        with _named(target, "moving a file to it"):
            self._client(source).rename(_inner(source), _inner(target), overwrite=overwrite)

    def _is_left(self, temporary: str) -> bool:
        return self.exists(temporary)

    def _status(self, path: str) -> Status:
        with _named(path, "asking"):
            return self._client(path).get_file_info(_inner(path))


class _Input(RandomInput):
    def __init__(self, reader: Reader, path: str) -> None:
        super().__init__()
        self._reader, self._path = reader, path
        self._size_bytes = len(reader)

    def size(self) -> int:
        return self._size_bytes

    def _between(self, start: int, end: int) -> bytes:
        with _named(self._path, "reading"):
            data = bytes(self._reader.read_range(start, end - start))
        if len(data) != end - start:
            problem = f"{end - start:,} bytes were asked for and {len(data):,} came"
            raise StorageError(None, problem, self._path)
        return data


class _Output(io.RawIOBase):
    """What ``pyarrow.PythonFile`` writes to. A forked child can do nothing to it."""

    def __init__(
        self,
        writer: Writer,
        path: str,
        discard: Callable[[], None],
        take: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self._writer, self._path = writer, path
        self._discard, self._take = discard, take
        self._home = Home()
        self._size_bytes = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size_bytes

    def write(self, data: Any, /) -> int:
        taken = memoryview(data).cast("B")
        if self._home.is_here:
            with _named(self._path, "writing"):
                for start in range(0, len(taken), _WRITTEN_AT_ONCE):
                    self._writer.write(bytes(taken[start : start + _WRITTEN_AT_ONCE]))
        self._size_bytes += len(taken)
        return len(taken)

    def close(self) -> None:
        if self.closed:
            return
        super().close()
        if not self._home.is_here:
            return
        try:
            with _named(self._path, "writing"):
                if self._size_bytes:
                    self._writer.hsync()
                self._writer.close()
            self._take()
        except BaseException:
            self.abandon()
            raise

    def abandon(self) -> None:
        """Leave nothing of a file whose writing failed."""
        io.RawIOBase.close(self)
        if self._home.is_here:
            with contextlib.suppress(OSError):
                self._writer.abandon()
            with contextlib.suppress(OSError):
                self._discard()


@functools.lru_cache(maxsize=16)
def _connected(address: str, options: HdfsOptions | WebHdfsOptions, forks: int) -> HdfsClient:
    del forks  # of the key alone
    if isinstance(options, WebHdfsOptions):
        from paimonlab.storage.hdfs.web import WebClient  # noqa: PLC0415 - takes urllib3

        return WebClient(address, options)
    if options.client is ClientKind.LIBHDFS:
        from paimonlab.storage.hdfs.libhdfs import LibhdfsClient  # noqa: PLC0415 - starts Java

        return LibhdfsClient(address, options)
    from paimonlab.storage.hdfs.native import NativeClient  # noqa: PLC0415 - an extra

    return NativeClient(address, options)


def _fill(output: _Output, data: bytes) -> None:
    """Write a whole file, or leave nothing of it."""
    try:
        output.write(data)
        output.close()
    except BaseException:
        output.abandon()
        raise


def _inner(path: str) -> str:
    return f"/{place_of(path).key}"


def _beside(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.{uuid.uuid4()}.tmp"


def _deleted(path: str) -> StorageError:
    problem = "what was written for it was deleted, as by dropping the table, before it was there"
    return StorageError(errno.ENOENT, problem, path)


def _number(told: str) -> int:
    """Return the number of the system's error that says the same as Java's exception."""
    if "QuotaExceeded" in told:
        return errno.EDQUOT
    return errno.EACCES if "AccessControl" in told else errno.ECONNABORTED


@contextlib.contextmanager
def _named(path: str, did: str) -> Iterator[None]:
    """Name what goes wrong; texts of the name node have a trace of Java's, which is left out."""
    try:
        yield
    except PaimonError:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "there is no such file", path) from None
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, "the file exists", path) from None
    except (OSError, RuntimeError) as error:
        told = str(error).partition("\\n")[0].partition("\n")[0][:300]
        raise StorageError(_number(told), f"{did} failed: {without_secrets(told)}", path) from None
