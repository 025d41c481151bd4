"""Lookup stores of the files of a bucket: found, checked, made and dropped.

Source of what the options mean: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.LookupLevels``,
``…LookupFile``. The files are not those of Java.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from paimonlab.read.lazy_file import LazyFile
from paimonlab.read.lookup_options import default_folder
from paimonlab.read.lookup_stores.store_file import (
    StoreFile,
    StoreIdentity,
    combined,
    write_store,
)
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage.kept_files import KeptFiles
from paimonlab.storage.recent import Recent

_LEAST_ROWS = 20_000
"""A file of fewer rows is read as fast as a store is opened."""
_ROWS_PER_KEY = 8
"""A file that has fewer rows for each key asked for is read as a whole."""
_CHECKED_BYTES = 400
_checked: Recent[tuple[str, int, int, int], bool] = Recent(limit_bytes=4 << 20)
"""Stores whose content this process has compared with its checksum or has written."""


@dataclass(frozen=True, slots=True)
class LookupStores:
    """The stores of the files of one bucket.

    A store has all rows of a file, whatever a deletion vector says of them.
    """

    plan: ReadPlan
    bucket_path: str
    keys: tuple[DataField, ...]
    """All key copies."""
    values: tuple[DataField, ...]
    """Other columns, as files have them; (): stores have keys only."""

    def find(self, file: LazyFile, asked_count: int) -> StoreFile | None:
        """Open the store of a file, after making it if that pays.

        Parameters
        ----------
        file
            Of the bucket; opened only if a store is made.
        asked_count
            How many keys are looked for.

        Returns
        -------
        StoreFile or None
            None if the file itself is better read, or if the store cannot be kept.
        """
        if not self._pays(file.meta, asked_count):
            return None
        identity = self._identity(file)
        group, name = self._group, _name(identity)
        path = self._kept.find(group, name)
        store = None if path is None else self._opened(path, identity)
        if store is not None:
            return store
        path = self._kept.add(group, name, lambda draft: self._write(draft, identity, file))
        if path is None:
            return None
        _remember(path)
        return self._opened(path, identity)

    def drop_others(self, files: Sequence[DataFileMeta]) -> None:
        """Delete the stores of all files of the bucket but some."""
        names = {_file_name(file.file_name) for file in files}
        self._kept.keep_only(self._group, lambda name: name.split("-")[0] in names)

    def _pays(self, file: DataFileMeta, asked_count: int) -> bool:
        if self.plan.options.legacy_ltz and file.file_name.endswith(".orc"):
            return False  # what it has depends on the time zone of the process
        return file.row_count >= max(_LEAST_ROWS, _ROWS_PER_KEY * asked_count)

    @property
    def _kept(self) -> KeptFiles:
        stores = self.plan.lookup_stores
        return KeptFiles(
            stores.folder or default_folder(),
            retention_seconds=stores.options.retention_millis / 1000,
            limit_bytes=stores.options.max_disk_bytes,
        )

    @property
    def _group(self) -> str:
        # The name tells branches apart, which have the same path and other files.
        return _digest(self.plan.table_path, self.plan.table_name, self.bucket_path)

    def _identity(self, file: LazyFile) -> StoreIdentity:
        return StoreIdentity(
            table_path=self.plan.table_path,
            bucket_path=self.bucket_path,
            file_name=file.meta.file_name,
            file_size_bytes=file.meta.file_size_bytes,
            columns=repr((self.keys, self.values)),
            compression=self.plan.lookup_stores.options.compression,
        )

    def _opened(self, path: str, identity: StoreIdentity) -> StoreFile | None:
        try:
            key = _state(path)
            store = StoreFile.open(
                path,
                identity,
                keys=arrow_schema(self.keys),
                values=arrow_schema(self.values) if self.values else None,
                is_checked=_checked.get(key) is not None,
            )
        except (OSError, pa.ArrowInvalid):
            return None
        if store is not None:
            _checked.put(key, True, _CHECKED_BYTES)  # noqa: FBT003 - a value
        return store

    def _write(self, draft: str, identity: StoreIdentity, file: LazyFile) -> None:
        bounds = self.plan.bounds
        # Twice: as they were read, and put together.
        most_bytes = min(bounds.piece_bytes, self.plan.lookup_stores.options.memory_bytes // 2)
        write_store(
            draft,
            identity,
            combined(self._rows(file), bounds.piece_rows, most_bytes),
            keys=arrow_schema(self.keys),
            values=arrow_schema(self.values) if self.values else None,
        )

    def _rows(self, file: LazyFile) -> Iterator[pa.RecordBatch]:
        return file.data.batches((*self.keys, *self.values), batch_rows=self.plan.bounds.batch_rows)


def _remember(path: str) -> None:
    with suppress(FileNotFoundError):  # another process may have deleted it
        _checked.put(_state(path), True, _CHECKED_BYTES)  # noqa: FBT003 - a value


def _state(path: str) -> tuple[str, int, int, int]:
    found = Path(path).stat()
    return path, found.st_ino, found.st_size, found.st_mtime_ns


def _name(identity: StoreIdentity) -> str:
    parts = (str(identity.file_size_bytes), identity.columns, identity.compression)
    return f"{_file_name(identity.file_name)}-{_digest(*parts)}"


def _file_name(name: str) -> str:
    return _digest(name)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
