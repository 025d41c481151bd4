"""Reading and writing the hash index files of a table with dynamic buckets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptMetadataError, UnsupportedError
from paimonlab.read.lookup_options import LookupStorePlan
from paimonlab.read.lookup_stores.kept_stores import KeptStores, StoredColumns
from paimonlab.read.lookup_stores.key_search import find_in
from paimonlab.read.lookup_stores.store_file import StoreIdentity
from paimonlab.read.lookup_stores.stores import pays
from paimonlab.spec.manifests.hash_index import decode_hashes, encode_hashes
from paimonlab.spec.manifests.index_manifest import HASH, IndexManifestEntry
from paimonlab.storage import LARGE_LIMIT_BYTES, FileIO, safe_join
from paimonlab.storage.forks import UniqueNames
from paimonlab.storage.new_files import create_file
from paimonlab.write.folders import bucket_folder
from paimonlab.write.key_hashes import Hashes, StoredHashes
from paimonlab.write.write_plan import WritePlan

_FOLDER = "index"
_HASH = "hash"
_STORED = StoredColumns(pa.schema([pa.field(_HASH, pa.int32(), nullable=False)]))


class HashIndexFiles:
    """The hash indexes of one snapshot, and those written on top of them.

    Parameters
    ----------
    file_io, plan
        The table's store, and how to write to it.
    entries
        Its index files.
    snapshot_id
        The snapshot they belong to; 0 if there is none yet; None if the files are not read.
    """

    def __init__(
        self,
        file_io: FileIO,
        plan: WritePlan,
        entries: Sequence[IndexManifestEntry] = (),
        *,
        snapshot_id: int | None = None,
    ) -> None:
        if plan.options.indexes_beside_data and plan.external.folders:
            raise UnsupportedError(
                "index-file-in-data-file-dir = 'true' with data-file.external-paths",
                f"{plan.table_name}: hash indexes outside the table's folder",
            )
        self.snapshot_id = snapshot_id
        """The snapshot that the indexes belong to."""
        self._file_io = file_io
        self._plan = plan
        self.entries = tuple(entry for entry in entries if entry.index_type == HASH)
        """The index files of that snapshot."""
        self._names = UniqueNames()

    def each(self, partition: bytes, bucket: int | None = None) -> Iterator[tuple[int, Hashes]]:
        """Yield the buckets of a partition that have an index, or one of them, and its hashes.

        Raises
        ------
        CorruptMetadataError
            If a file is missing or damaged.
        """
        for entry in self.entries:
            if entry.partition == partition and bucket in (None, entry.bucket):
                yield entry.bucket, self.read_file(entry)

    def stored(self, partition: bytes, stores: LookupStorePlan) -> dict[int, StoredHashes]:
        """Return the hashes of each bucket of a partition that has an index, not read yet.

        Parameters
        ----------
        partition
            Serialised BinaryRow.
        stores
            Where they are kept sorted, for finding few of them.
        """
        group = (self._plan.table_path, self._plan.table_name, _FOLDER, partition.hex())
        kept = KeptStores(stores, group, _STORED)
        entries = [entry for entry in self.entries if entry.partition == partition]
        kept.drop_others(entry.file_name for entry in entries)
        return {entry.bucket: _IndexFile(self, entry, kept) for entry in entries}

    def write(self, partition: bytes, bucket: int, hashes: Hashes) -> IndexManifestEntry:
        """Write the index of a bucket, durable when this returns, and describe it."""
        name = f"index-{self._names.next()}"
        path = self._path(partition, bucket, name)
        data = encode_hashes(hashes)
        create_file(self._file_io, path, data)
        try:
            self._file_io.sync_files({path: len(data)})
        except BaseException:
            self._file_io.delete(path)
            raise
        return IndexManifestEntry(
            partition=partition,
            bucket=bucket,
            index_type=HASH,
            file_name=name,
            file_size_bytes=len(data),
            row_count=len(hashes),
        )

    def delete(self, entry: IndexManifestEntry) -> None:
        """Delete a file that no commit will name."""
        self._file_io.delete(self._path(entry.partition, entry.bucket, entry.file_name))

    def _path(self, partition: bytes, bucket: int, name: str) -> str:
        folder = _FOLDER
        if self._plan.options.indexes_beside_data:
            folder = bucket_folder(self._plan, partition, bucket)
        return safe_join(self._plan.table_path, folder, name)

    def identity(self, entry: IndexManifestEntry) -> StoreIdentity:
        """Say what a store of the hashes of a file has."""
        return StoreIdentity(
            table_path=self._plan.table_path,
            bucket_path=_FOLDER,
            file_name=entry.file_name,
            file_size_bytes=entry.file_size_bytes,
            columns=_HASH,
            compression="none",
        )

    def read_file(self, entry: IndexManifestEntry) -> Hashes:
        """Read the hashes of a file, in any order."""
        path = self._path(entry.partition, entry.bucket, entry.file_name)
        try:
            data = self._file_io.read(path, limit_bytes=LARGE_LIMIT_BYTES)
        except FileNotFoundError as error:
            raise CorruptMetadataError(path, "the file is missing") from error
        return decode_hashes(data, rows=entry.row_count, path=path)


@dataclass(frozen=True, slots=True)
class _IndexFile:
    """The hashes of one file: `StoredHashes`."""

    files: HashIndexFiles
    entry: IndexManifestEntry
    stores: KeptStores

    @property
    def row_count(self) -> int:
        return self.entry.row_count

    def all(self) -> Hashes:
        return np.sort(self.files.read_file(self.entry))

    def found(self, hashes: Hashes, asked_count: int) -> npt.NDArray[np.bool_] | None:
        if not pays(self.row_count, asked_count):
            return None
        store = self.stores.find(self.files.identity(self.entry), self._rows)
        if store is None:
            return None
        places, _ = find_in(store, pa.table([arrow_array(hashes)], schema=_STORED.keys))
        found = np.zeros(len(hashes), np.bool_)
        found[places] = True
        return found

    def _rows(self) -> Iterator[pa.Table]:
        yield pa.table([arrow_array(self.all())], schema=_STORED.keys)
