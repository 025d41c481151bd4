"""Whether data files exist, and whether their metadata can be true."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.errors import PaimonError
from paimonlab.maintenance.fsck.notes import Notes
from paimonlab.maintenance.fsck.roots import Branch
from paimonlab.maintenance.fsck.states import Group
from paimonlab.metadata.layout import TableLayout
from paimonlab.scan.key_ranges import first_overlap
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.storage import FileIO
from paimonlab.storage.paths import is_plain
from paimonlab.storage.schemes import store_kind
from paimonlab.storage.together import asked_together

MISSING = -1
"""Of sizes: there is no such file."""
_REWRITE = "Overwrite its partition, or roll the table back to before it was committed."


@dataclass
class StoredFiles:
    """Sizes of files, each folder listed once."""

    file_io: FileIO
    _folders: dict[str, dict[str, int | None]] = field(default_factory=dict)
    """By folder and name; None behind links, which are followed one by one."""

    def known_size(self, path: str) -> int | None:
        """Return the size of a file of a folder that was listed, `MISSING` if it is not there.

        None: its folder was not listed yet, or it is behind a link.
        """
        folder, _, name = path.rpartition("/")
        files = self._folders.get(folder)
        return None if files is None else files.get(name, MISSING)

    def size_bytes(self, path: str) -> int | None:
        """Return the size of a file; None if it is missing."""
        folder, name = posixpath.split(path)
        if folder not in self._folders:
            self._folders[folder] = self._listed(folder)
        files = self._folders[folder]
        if name not in files:
            return None
        size = files[name]
        return self._linked_size(path) if size is None else size

    def list_ahead(self, paths: Sequence[str]) -> None:
        """List the folders of files of a store together; one that cannot be listed is left out.

        On a disk each is listed when the first of its files is asked for.
        """
        folders = dict.fromkeys(posixpath.dirname(path) for path in paths)
        missing = [folder for folder in folders if folder not in self._folders]
        if len(missing) < 2 or store_kind(missing[0]) is None:
            return

        def listed(folder: str) -> None:
            with suppress(PaimonError, OSError):  # it is listed again, where that is told
                self._folders[folder] = self._listed(folder)

        asked_together(missing[0], [partial(listed, folder) for folder in missing])

    def _listed(self, folder: str) -> dict[str, int | None]:
        return {
            posixpath.basename(status.path): None if status.is_linked else status.size_bytes
            for status in self.file_io.list(folder)
            if status.is_linked or not status.is_directory
        }

    def _linked_size(self, path: str) -> int | None:
        """Return the size of a file behind a link that may be followed."""
        try:
            return self.file_io.size_bytes(path)
        except FileNotFoundError:
            return None


def data_paths(
    entries: pa.Table, layout: TableLayout, schema: TableSchema, options: PartitionOptions
) -> list[str]:
    """Return the paths of the files of n entries; errors as of `TableLayout.data_file`."""
    fields = [schema.field(name) for name in schema.partition_keys]
    folders = bucket_paths(
        entries["partition"].combine_chunks(), entries["bucket"].to_pylist(), fields, options
    )
    names, external = entries["file_name"].to_pylist(), entries["external_path"].to_pylist()
    known: dict[str, str] = {}
    for folder, name in zip(folders, names, strict=True):
        if folder not in known and is_plain(name):
            known[folder] = layout.data_file(folder, name).removesuffix(name)
    return [
        known[folder] + name
        if path is None and is_plain(name)
        else layout.data_file(folder, name, path)
        for folder, name, path in zip(folders, names, external, strict=True)
    ]


def check_stored(
    entries: pa.Table,
    paths: Sequence[str],
    stored: StoredFiles,
    notes: Notes,
    referrers: Sequence[str],
) -> None:
    """Check that files, and those that belong to them, are there with the right sizes."""
    sizes = entries["file_size_bytes"].to_pylist()
    extras = entries["extra_files"].to_pylist()
    notes.counts["data_files"] += len(paths)
    stored.list_ahead(paths)
    for path, size, extra, referrer in zip(paths, sizes, extras, referrers, strict=True):
        known = stored.known_size(path)
        if known == MISSING:
            notes.add(path, "the file is missing", referrer=referrer)
        elif known != size:
            with notes.taken(path, referrer=referrer):
                _check_size(path, size, stored, notes, referrer)
        for name in extra or ():
            beside = posixpath.join(posixpath.dirname(path), name)
            with notes.taken(beside, referrer=posixpath.basename(path)):
                if stored.size_bytes(beside) is None:
                    notes.add(beside, "the file is missing", referrer=posixpath.basename(path))


def _check_size(path: str, size: int, stored: StoredFiles, notes: Notes, referrer: str) -> None:
    stored_size = stored.size_bytes(path)
    if stored_size is None:
        notes.add(path, "the file is missing", referrer=referrer)
    elif stored_size != size:
        problem = f"it has {stored_size:,} bytes, expected were {size:,}"
        notes.add(path, problem, referrer=referrer)


def check_numbers(
    entries: pa.Table,
    paths: Sequence[str],
    branch: Branch,
    notes: Notes,
    referrers: Sequence[str],
) -> None:
    """Check what entries say of their files by itself."""
    rows, deletes = numpy_values(entries["row_count"]), entries["delete_row_count"]
    known = arrow_array(sorted(branch.schemas), pa.int64())
    tests: list[tuple[str, npt.NDArray[np.bool_]]] = [
        ("a number of rows below 0", rows < 0),
        ("more deleted rows than rows", numpy_values(null_filled(deletes, 0)) > rows),
        (
            "a smallest sequence number above the greatest",
            numpy_values(entries["min_sequence_number"])
            > numpy_values(entries["max_sequence_number"]),
        ),
        ("a level below 0", numpy_values(entries["level"]) < 0),
        (
            "a schema that is not there",
            ~numpy_values(pc.is_in(entries["schema_id"], known)),
        ),
    ]
    for problem, is_wrong in tests:
        for row in np.flatnonzero(is_wrong).tolist():
            text = f"metadata says that it has {problem}"
            notes.add(paths[row], text, referrer=referrers[row], advice=_REWRITE)


def check_key_ranges(
    deep: Mapping[Group, Mapping[str, tuple[bytes, bytes]]],
    branch: Branch,
    notes: Notes,
    referrer: str,
) -> None:
    """Check that from level 1 on no two files of a bucket and level share keys."""
    schema = branch.schema
    files = [
        (number, name, *keys)
        for number, group in enumerate(deep.values())
        if len(group) > 1
        for name, keys in group.items()
    ]
    if schema is None or not schema.primary_keys or not files:
        return
    groups, names, low, high = zip(*files, strict=True)
    types = [schema.field(name).type for name in schema.trimmed_primary_keys]
    keys = [pa.chunked_array([arrow_array(ends, pa.large_binary())]) for ends in (low, high)]
    pair = first_overlap(np.array(groups), keys[0], keys[1], types)
    if pair is not None:
        first, second = names[pair[0]], names[pair[1]]
        level = [*deep][groups[pair[0]]][2]
        problem = f"it shares keys with {second}, both are in level {level}"
        notes.add(first, problem, referrer=referrer, advice="Compact the bucket fully.")
