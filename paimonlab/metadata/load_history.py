"""Which files were loaded into a table, and which loads are not finished.

A file is known by its path, its size and when it was modified. Java Paimon reads and writes the
records of ``copy-into/history``; the loads of ``copy-into/running`` are ours.

Source: apache/paimon@5dacde5 ``org.apache.paimon.spark.copyinto.CopyLoadHistoryManager``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from paimonlab.errors import CorruptMetadataError
from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.decoding import ready
from paimonlab.storage import FileIO, join, safe_join

_RECORD_PREFIX = "load-"
_HASH_LENGTH = 16


class LoadRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A file that was loaded."""

    file_path: str
    """As the engine lists it: ``file:/in/a.csv``."""
    file_size: int
    """Bytes."""
    last_modified: int
    """Epoch milliseconds."""
    loaded_at: int
    """Epoch milliseconds."""
    snapshot_id: int
    """The snapshot its rows are in; 0 if the table had none and the file no rows."""
    rows_loaded: int

    @property
    def version(self) -> tuple[str, int, int]:
        """What tells one state of a file from another."""
        return self.file_path, self.file_size, self.last_modified


class Load(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A load that is not finished: its commit may have happened."""

    user: str
    """Who commits; nobody else ever does so by this name."""
    began_at: int
    """Epoch milliseconds, before its first file was written."""
    after_snapshot_id: int
    """The latest snapshot then; 0 if there was none."""
    machine: str
    """Where its process runs."""
    process: int
    files: tuple[LoadRecord, ...]
    """What becomes of the history if it commits; the id of the snapshot is not known yet."""


_Kind = TypeVar("_Kind", LoadRecord, Load)


class LoadHistory:
    """Reads and writes the history of loads of a table, on its branch."""

    def __init__(self, file_io: FileIO, layout: TableLayout) -> None:
        self._file_io = file_io
        self._layout = layout

    def records(self, paths: Iterable[str]) -> list[LoadRecord]:
        """Return the records of files, by their paths.

        Raises
        ------
        CorruptMetadataError
            If one cannot be read: whether the file was loaded would be a guess.
        """
        folder = self._layout.load_history_folder
        wanted = {_hash(path): path for path in paths}
        found = []
        for name in self._file_io.list_names(folder):
            if name.removeprefix(_RECORD_PREFIX).partition("-")[0] in wanted:
                record = self._read(safe_join(folder, name), LoadRecord)
                if record is not None:
                    found.append(record)
        return found

    def add(self, records: Iterable[LoadRecord]) -> None:
        """Note down that files were loaded; doing it twice changes nothing."""
        for record in records:
            name = f"{_RECORD_PREFIX}{_hash(record.file_path)}-{record.loaded_at}"
            path = join(self._layout.load_history_folder, name)
            self._file_io.replace(path, msgspec.json.encode(record))

    def running(self) -> list[Load]:
        """Return the loads that are not finished."""
        folder = self._layout.loads_folder
        names = sorted(self._file_io.list_names(folder))
        loads = [
            self._read(safe_join(folder, name), Load) for name in names if name.endswith(".json")
        ]
        return [load for load in loads if load is not None]

    def begin(self, load: Load) -> None:
        """Note down a load before it commits."""
        self._file_io.write(self.place_of(load), msgspec.json.encode(load))

    def end(self, load: Load) -> None:
        """Forget a load."""
        self._file_io.delete(self.place_of(load))

    def place_of(self, load: Load) -> str:
        """Return the path of the file that says that a load is not finished."""
        return join(self._layout.loads_folder, f"{_hash(load.user)}.json")

    def clear(self) -> None:
        """Forget which files were loaded."""
        folder = self._layout.load_history_folder
        for name in self._file_io.list_names(folder):
            self._file_io.delete(safe_join(folder, name))

    def _read(self, path: str, kind: type[_Kind]) -> _Kind | None:
        """Return what a file says; None if it is gone."""
        try:
            return msgspec.json.decode(self._file_io.read(path), type=ready(kind))
        except FileNotFoundError:
            return None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CorruptMetadataError(path, str(error)) from error


def _hash(path: str) -> str:
    return hashlib.sha256(path.encode()).hexdigest()[:_HASH_LENGTH]
