"""Manifests and manifest lists: reading, caching and writing them.

Source: https://paimon.apache.org/docs/master/concepts/spec/manifest/
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from paimonlab.arrow_values import arrow_scalar, numpy_values
from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.manifests import manifest as manifest_avro
from paimonlab.formats.manifests.former_lists import FormerLists
from paimonlab.formats.manifests.index_manifest import read_index_manifest, write_index_manifest
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifest_cache import ManifestCache, shared_cache
from paimonlab.metadata.partition_stats import partition_stats
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO
from paimonlab.storage.forks import UniqueNames
from paimonlab.storage.new_files import create_file
from paimonlab.storage.schemes import store_kind
from paimonlab.storage.together import asked_together

logger = logging.getLogger(__name__)

_SMALL_BYTES = 64 << 20
_MOST_UNWRITTEN_BYTES = 16 << 20
"""What is held of manifests for a store, to write them at the same time."""
_ROLLING_SLACK = 1.05  # a full manifest is a little above the target size, so never merged again


class ManifestOptions(Struct, frozen=True):
    """The table options that say how manifests are written."""

    compression: str = "zstd"
    """``manifest.compression``: codec of the blocks."""
    file_format: str = "avro"
    """``manifest.format``: that of manifests and of lists of them."""
    target_size_bytes: int = 8 << 20
    """``manifest.target-file-size``: a larger manifest is cut."""


class ManifestStore:
    """Reads and writes the manifests of a table.

    Manifests never change under a name, so what was decoded is kept for the whole process,
    up to a number of bytes.
    """

    def __init__(
        self, file_io: FileIO, layout: TableLayout, *, cache: ManifestCache = shared_cache
    ) -> None:
        self._file_io = file_io
        self._layout = layout
        self._cache = cache
        self._names = UniqueNames()
        self._former = FormerLists()
        self._unsynced: dict[str, int] = {}
        self._unwritten: dict[str, bytes] = {}
        """Those of a store by their paths, written with the others at `sync`."""

    def read_list(
        self, name: str, size_bytes: int | None = None, *, referrer: str = ""
    ) -> list[ManifestFileMeta]:
        """Read a manifest list.

        Parameters
        ----------
        name
            As the snapshot has it.
        size_bytes
            As the snapshot has it; None: unknown, not checked.
        referrer
            The file that names it, for the message.

        Raises
        ------
        CorruptMetadataError
            If it is missing, of another size or damaged.
        """
        path = self._layout.manifest(name, referrer)
        known = self._cache.get_list(path)
        if known is None:
            data = self._read(path, size_bytes, referrer)
            known = tuple(manifest_avro.read_manifest_list(data, path=path, former=self._former))
            self._cache.put_list(path, known)
        return list(known)

    def read_lists(
        self, names: Mapping[str, int | None], *, referrer: str = ""
    ) -> dict[str, list[ManifestFileMeta]]:
        """Read manifest lists of these names and sizes; parameters and errors as of `read_list`."""
        paths = {name: self._layout.manifest(name, referrer) for name in names}
        lists = {name: self._cache.get_list(path) for name, path in paths.items()}
        missing = [name for name, known in lists.items() if known is None]
        read = manifest_avro.read_manifest_lists(
            self._read_all([(paths[name], names[name]) for name in missing], referrer),
            former=self._former,
        )
        for name, metas in zip(missing, read, strict=True):
            lists[name] = tuple(metas)
            self._cache.put_list(paths[name], tuple(metas))
        return {name: list(known or ()) for name, known in lists.items()}

    def read(self, manifests: Iterable[ManifestFileMeta], *, referrer: str = "") -> list[pa.Table]:
        """Read the entries of manifests: a table of `ENTRY_SCHEMA` each.

        Parameters
        ----------
        manifests
            As the manifest list has them.
        referrer
            The file that names them, for the message.

        Raises
        ------
        CorruptMetadataError
            If one is missing, of another size or damaged.
        """
        paths = {self._layout.manifest(meta.file_name, referrer): meta for meta in manifests}
        entries_of = {path: self._cache.get(path) for path in paths}
        unknown = [path for path, entries in entries_of.items() if entries is None]
        missing = self._read_all(
            [(path, paths[path].file_size_bytes) for path in unknown], referrer
        )
        if missing:
            decoded, counts = manifest_avro.read_many_entries(missing)
            row_bytes = decoded.nbytes / max(decoded.num_rows, 1)
            start = 0
            for (path, _), count in zip(missing, counts, strict=True):
                _check_count(path, count, paths[path], referrer)
                entries_of[path] = decoded.slice(start, count)
                self._cache.put(path, entries_of[path], int(row_bytes * count))
                start += count
        return [entries for entries in entries_of.values() if entries is not None]

    def read_together(
        self, manifests: Sequence[ManifestFileMeta], *, referrer: str = ""
    ) -> tuple[pa.Table, list[int]]:
        """Read the entries of many manifests as one table; how many each has is the second value.

        It is for those that are wanted once: nothing is kept, which costs more than decoding a few
        entries. Parameters and errors are those of `read`.
        """
        paths = [self._layout.manifest(meta.file_name, referrer) for meta in manifests]
        known = [self._cache.get(path) for path in paths]
        missing = self._read_all(
            [
                (path, meta.file_size_bytes)
                for path, meta, entries in zip(paths, manifests, known, strict=True)
                if entries is None
            ],
            referrer,
        )
        decoded, counts_of_missing = manifest_avro.read_many_entries(missing)
        rest = iter(counts_of_missing)
        counts = [next(rest) if entries is None else entries.num_rows for entries in known]
        for path, meta, count in zip(paths, manifests, counts, strict=True):
            _check_count(path, count, meta, referrer)
        if len(missing) == len(known):
            return decoded, counts
        pieces, start = list[pa.Table](), 0
        for entries, count in zip(known, counts, strict=True):
            pieces.append(decoded.slice(start, count) if entries is None else entries)
            start += count if entries is None else 0
        return pa.concat_tables(pieces), counts

    def read_index(self, name: str, *, referrer: str = "") -> list[IndexManifestEntry]:
        """Read which index files a snapshot has.

        Parameters
        ----------
        name
            As the snapshot has it.
        referrer
            The snapshot, for the message.

        Raises
        ------
        CorruptMetadataError
            If it is missing or damaged.
        """
        path = self._layout.manifest(name, referrer)
        known = self._cache.get_index(path)
        if known is None:
            known = tuple(read_index_manifest(self._read(path, None, referrer), path=path))
            self._cache.put_index(path, known)
        return list(known)

    def write(
        self,
        entries: pa.Table,
        partition_fields: Sequence[DataField],
        options: ManifestOptions,
    ) -> list[ManifestFileMeta]:
        """Write entries as one or more manifests.

        They are durable after `sync`.

        Parameters
        ----------
        entries
            Table of `ENTRY_SCHEMA`; nothing is written for an empty one.
        partition_fields
            Partition columns of the table.
        options
            Compression and size.
        """
        written: list[ManifestFileMeta] = []
        try:
            for part, data in _rolled(entries, options):
                written.append(self._write_manifest(data, part, partition_fields))
        except BaseException:
            self.delete([meta.file_name for meta in written])
            raise
        return written

    def write_list(
        self, manifests: Sequence[ManifestFileMeta], options: ManifestOptions
    ) -> tuple[str, int]:
        """Write a manifest list; return its name and its size in bytes. Durable after `sync`."""
        name = f"manifest-list-{self._names.next()}"
        data = manifest_avro.write_manifest_list(
            manifests, compression=options.compression, file_format=options.file_format
        )
        self._write(name, data)
        self._cache.put_list(self._layout.manifest(name), tuple(manifests))
        return name, len(data)

    def write_index(self, entries: Sequence[IndexManifestEntry], options: ManifestOptions) -> str:
        """Write the complete list of index files; return its name. Durable after `sync`."""
        name = f"index-manifest-{self._names.next()}"
        data = write_index_manifest(
            entries, compression=options.compression, file_format=options.file_format
        )
        self._write(name, data)
        return name

    @property
    def table_path(self) -> str:
        """Folder of the table, for messages."""
        return self._layout.table_path

    def still_has(self, snapshot: Snapshot) -> bool:
        """Whether the snapshot whose manifests are read is still there: ids are used again."""
        path = self._layout.snapshot(snapshot.id)
        try:
            found = Snapshot.from_json(self._file_io.read(path), path=path)
        except FileNotFoundError:
            return False
        return _commit(found) == _commit(snapshot)

    def sync(
        self, names: Sequence[str], meanwhile: Sequence[Callable[[], bool]] = ()
    ) -> Sequence[bool]:
        """Make manifests and lists of these names durable, if they are whole.

        Those that are durable already are left alone.

        Parameters
        ----------
        names
            What `write`, `write_list` and `write_index` gave.
        meanwhile
            Questions that a store is asked at the same time.

        Returns
        -------
        Sequence[bool]
            What they answer.
        """
        sizes = {name: self._unsynced[name] for name in names if name in self._unsynced}
        paths = {name: self._layout.manifest(name) for name in sizes}
        waiting = [path for path in paths.values() if path in self._unwritten]
        created = [partial(self._create_waiting, path) for path in waiting]
        questions: list[Callable[[], bool]] = [*created, *meanwhile]
        answers = asked_together(self.table_path, questions)
        self._file_io.sync_files({paths[name]: sizes[name] for name in sizes})
        for name in sizes:
            del self._unsynced[name]
        return answers[len(created) :]

    def delete(self, names: Sequence[str]) -> None:
        """Delete manifests and lists that nothing refers to; a failure is only logged."""
        self.forget([self._layout.manifest(name) for name in names])
        for name in names:
            self._unsynced.pop(name, None)
            if self._unwritten.pop(self._layout.manifest(name), None) is not None:
                continue
            try:
                self._file_io.delete(self._layout.manifest(name))
            except OSError as error:  # it is junk, but does no harm
                logger.warning("left behind manifest/%s: %s", name, error)

    def forget(self, paths: Collection[str]) -> None:
        """Drop cached files that were deleted, given by their paths."""
        self._cache.forget(paths)

    def _read_all(
        self, wanted: Sequence[tuple[str, int | None]], referrer: str
    ) -> list[tuple[str, bytes]]:
        """Read files of these paths and sizes."""
        read = asked_together(
            self.table_path, [partial(self._read, path, size, referrer) for path, size in wanted]
        )
        return [(path, data) for (path, _), data in zip(wanted, read, strict=True)]

    def _read(self, path: str, size_bytes: int | None, referrer: str) -> bytes:
        if (waiting := self._unwritten.get(path)) is not None:
            return waiting
        try:
            # A file of about the right size is read whole, so that the error can tell both sizes.
            limit = LARGE_LIMIT_BYTES if size_bytes is None else max(size_bytes, _SMALL_BYTES)
            data = self._file_io.read(path, limit_bytes=limit)
        except FileNotFoundError as error:
            raise CorruptMetadataError(path, "the file is missing", referrer) from error
        if size_bytes is not None and len(data) != size_bytes:
            problem = f"it has {len(data):,} bytes, expected were {size_bytes:,}"
            raise CorruptMetadataError(path, problem, referrer)
        return data

    def _write(self, name: str, data: bytes) -> None:
        path = self._layout.manifest(name)
        held_bytes = sum(map(len, self._unwritten.values())) + len(data)
        if store_kind(path) is not None and held_bytes <= _MOST_UNWRITTEN_BYTES:
            self._unwritten[path] = data
        else:
            create_file(self._file_io, path, data)
        self._unsynced[name] = len(data)

    def _create_waiting(self, path: str) -> bool:
        create_file(self._file_io, path, self._unwritten[path])
        return self._unwritten.pop(path, None) is not None

    def _write_manifest(
        self, data: bytes, entries: pa.Table, partition_fields: Sequence[DataField]
    ) -> ManifestFileMeta:
        name = f"manifest-{self._names.next()}"
        self._write(name, data)
        self._cache.put(self._layout.manifest(name), entries, entries.nbytes)
        added = int(np.count_nonzero(numpy_values(entries["kind"]) == int(FileKind.ADD)))
        buckets, levels = (numpy_values(entries[name]) for name in ("bucket", "level"))
        min_row_id, max_row_id = _row_id_range(entries)
        return ManifestFileMeta(
            file_name=name,
            file_size_bytes=len(data),
            num_added_files=added,
            num_deleted_files=entries.num_rows - added,
            partition_stats=partition_stats(entries["partition"], partition_fields),
            schema_id=int(numpy_values(entries["schema_id"]).max()),
            min_bucket=int(buckets.min()),
            max_bucket=int(buckets.max()),
            min_level=int(levels.min()),
            max_level=int(levels.max()),
            min_row_id=min_row_id,
            max_row_id=max_row_id,
        )


def _row_id_range(entries: pa.Table) -> tuple[int | None, int | None]:
    """Return the first and last row id of all files; nothing if a file has no ids.

    Source: apache/paimon@1.4.2 ``org.apache.paimon.manifest.ManifestFile``.
    """
    first = entries["first_row_id"]
    if first.null_count:
        return None, None
    last = pc.subtract(pc.add(first, entries["row_count"]), arrow_scalar(1))
    return pc.min(first).as_py(), pc.max(last).as_py()


def _check_count(path: str, count: int, meta: ManifestFileMeta, referrer: str) -> None:
    expected = meta.num_added_files + meta.num_deleted_files
    if count != expected:
        problem = f"it has {count:,} entries, expected were {expected:,}"
        raise CorruptMetadataError(path, problem, referrer)


def _rolled(entries: pa.Table, options: ManifestOptions) -> Iterator[tuple[pa.Table, bytes]]:
    """Cut entries so that every part but the last has at least the target size."""
    if not entries.num_rows:
        return
    whole = _encoded(entries, options)
    if len(whole) <= _ROLLING_SLACK * options.target_size_bytes:
        yield entries, whole
        return
    share = _ROLLING_SLACK * options.target_size_bytes / len(whole)
    start, rows = 0, math.ceil(entries.num_rows * share)
    while start < entries.num_rows:
        part = entries.slice(start, rows)
        data = _encoded(part, options)
        if len(data) < options.target_size_bytes and start + rows < entries.num_rows:
            rows += math.ceil(rows / 10)  # these compress better than the average
            continue
        yield part, data
        start += rows


def _encoded(entries: pa.Table, options: ManifestOptions) -> bytes:
    return manifest_avro.write_entries(
        entries, compression=options.compression, file_format=options.file_format
    )


def _commit(snapshot: Snapshot) -> tuple[str, int, CommitKind, int]:
    """Tell commits apart by what is no file: names of files may be what is damaged."""
    return (
        snapshot.commit_user,
        snapshot.commit_identifier,
        snapshot.commit_kind,
        snapshot.time_millis,
    )
