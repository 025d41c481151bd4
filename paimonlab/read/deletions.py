"""Deletion vectors of a split: from index files to masks over the rows of its data files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimonlab import formats
from paimonlab.datafile.masks import Mask
from paimonlab.datafile.opening import referred_to_by
from paimonlab.errors import CorruptDataError
from paimonlab.read.expired import expiry_explained
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit, DeletionFile
from paimonlab.storage import FileIO

if TYPE_CHECKING:
    from paimonlab.formats.deletion_vectors import DeletionVector

_AROUND_BYTES = 8
"""Length and checksum, which the length in the manifest may leave out."""


def surviving_rows(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> list[Mask | None]:
    """Find the rows of each file of a split that no deletion vector deletes.

    Parameters
    ----------
    split
        f files.
    plan, file_io
        How to read the table; its store.

    Returns
    -------
    list of f
        (row_count,) bool each, over the rows as they are in the file; None: all rows.

    Raises
    ------
    SnapshotExpiredError
        If the snapshot has expired meanwhile.
    CorruptDataError
        If an index file is missing or damaged, or names rows that do not exist.
    """
    if not split.has_deletions:
        return [None] * len(split.files)
    vectors = vectors_of(split, plan, file_io)
    return [
        None
        if vector is None or place is None
        else vector.survivors(file.row_count, path=plan.layout.index_file(place.path))
        for file, place, vector in zip(split.files, split.deletion_files, vectors, strict=True)
    ]


def vectors_of(
    split: DataSplit, plan: ReadPlan, file_io: FileIO
) -> Sequence[DeletionVector | None]:
    """Read the deletion vectors of the files of a split, as they are; see `surviving_rows`."""
    if not split.has_deletions:
        return [None] * len(split.files)
    return read_deletion_vectors(split.deletion_files, plan, file_io, snapshot_id=split.snapshot_id)


def read_deletion_vectors(
    places: Sequence[DeletionFile | None],
    plan: ReadPlan,
    file_io: FileIO,
    *,
    snapshot_id: int,
) -> list[DeletionVector | None]:
    """Read deletion vectors, each index file once.

    Parameters
    ----------
    places
        Where they are; None for a file without one.
    plan, file_io
        How to read the table; its store.
    snapshot_id
        The snapshot with the vectors.

    Raises
    ------
    SnapshotExpiredError
        If the snapshot has expired meanwhile.
    CorruptDataError
        If an index file is missing or damaged.
    """
    ends: dict[str, int] = {}
    for vector_place in places:
        if vector_place is not None:
            end = vector_place.offset + vector_place.length_bytes + _AROUND_BYTES
            ends[vector_place.path] = max(end, ends.get(vector_place.path, 0))
    with expiry_explained(snapshot_id, plan, file_io):
        contents = {path: _read(path, end, plan, file_io) for path, end in ends.items()}
    return [
        None if vector_place is None else _vector(vector_place, contents[vector_place.path], plan)
        for vector_place in places
    ]


def _read(path: str, end: int, plan: ReadPlan, file_io: FileIO) -> bytes:
    absolute = plan.layout.index_file(path)
    try:
        with file_io.open_input(absolute) as file:
            return bytes(file.read(end))
    except FileNotFoundError as error:
        raise CorruptDataError(
            absolute,
            "the index file with the deletion vectors is missing. If the snapshot has expired "
            "while it was read, read the newest one; without it deleted rows would come back",
            plan.table_name,
        ) from error


def _vector(place: DeletionFile, content: bytes, plan: ReadPlan) -> DeletionVector:
    path = plan.layout.index_file(place.path)
    with referred_to_by(plan.table_name):
        data = formats.deletion_vectors.cut_deletion_vector(
            content, place.offset, place.length_bytes, path=path
        )
        vector = formats.deletion_vectors.decode_deletion_vector(data, path=path)
    if place.cardinality is not None and vector.cardinality != place.cardinality:
        raise CorruptDataError(
            path,
            f"a deletion vector has {vector.cardinality:,} rows, metadata says "
            f"{place.cardinality:,}",
            plan.table_name,
        )
    return vector
