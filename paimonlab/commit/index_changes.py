"""The index manifest of a snapshot, made of the one before and what a commit changes.

Source: apache/paimon@1.3.1 ``org.apache.paimon.manifest.IndexManifestFileHandler``,
``org.apache.paimon.utils.ConflictDeletionUtils``.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence

from paimonlab.commit.file_changes import IndexChanges
from paimonlab.errors import FilesConflictError, UnsupportedError
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS, HASH, IndexManifestEntry

_BUILT = (HASH, DELETION_VECTORS)
_REDO = "Read the table again and redo this write."


def combine(
    before: Sequence[IndexManifestEntry], changes: IndexChanges, *, has_buckets: bool
) -> list[IndexManifestEntry]:
    """Return the complete list of index files after a commit.

    Parameters
    ----------
    before
        The complete list of the snapshot that the commit follows.
    changes
        What the commit does to index files.
    has_buckets
        Whether rows belong to buckets: then there is one file of a type a bucket, and a new one
        replaces it. Else deletion vectors go by the names of their files.

    Raises
    ------
    UnsupportedError
        If there are indexes of an unknown type, which cannot be carried over.
    """
    _check_types((*before, *changes.new, *changes.deleted))
    files = {_slot(file, has_buckets): file for file in before}
    for file in changes.deleted:
        files.pop(_slot(file, has_buckets), None)
    for file in changes.new:
        files[_slot(file, has_buckets)] = file
    # Stable, so that what did not change stays where it was.
    return sorted(files.values(), key=lambda file: _BUILT.index(file.index_type))


def check_vectors(
    before: Sequence[IndexManifestEntry],
    changes: IndexChanges,
    deleted_files: Collection[str],
    *,
    table: str,
    snapshot_id: int,
) -> None:
    """Check that deletion vectors are still those that a commit replaces.

    Parameters
    ----------
    before
        All index files of the snapshot that the commit follows; vectors go by file name.
    changes
        What the commit does to index files; it names the data files whose vectors it replaces.
    deleted_files
        Names of the data files that it deletes.
    table, snapshot_id
        For the message.

    Raises
    ------
    FilesConflictError
        If others deleted rows of a file that the commit deletes or gives a new vector: those rows
        would reappear.
    """
    known = {file.file_name for file in changes.deleted if file.index_type == DELETION_VECTORS}
    there = {file.file_name for file in before}
    gone = sorted(known - there)
    if gone:
        problem = f"the deletion vectors in {gone[0]} were replaced by another commit. {_REDO}"
        raise FilesConflictError(table, snapshot_id, gone, problem)
    touched = set(deleted_files) | set(vector_owners(changes.new))
    lost = {
        owner
        for file in before
        if file.file_name not in known
        for owner in vector_owners([file])
        if owner in touched
    }
    if lost:
        names = sorted(lost)
        problem = f"rows of {names[0]} were deleted by another commit. {_REDO}"
        raise FilesConflictError(table, snapshot_id, names, problem)


def check_one_vector_each(
    files: Sequence[IndexManifestEntry], *, table: str, snapshot_id: int
) -> None:
    """Check that no data file has two deletion vectors.

    Raises
    ------
    FilesConflictError
        If one has: it would be unclear which of them counts.
    """
    seen: set[tuple[bytes, int, str]] = set()
    for file in files:
        for owner in vector_owners([file]):
            owned_file = (file.partition, file.bucket, owner)
            if owned_file in seen:
                problem = f"{owner} would have two deletion vectors. {_REDO}"
                raise FilesConflictError(table, snapshot_id, [owner], problem)
            seen.add(owned_file)


def check_buckets_unchanged(
    history: Iterable[tuple[str, Sequence[IndexManifestEntry], Sequence[IndexManifestEntry]]],
    changes: IndexChanges,
    *,
    user: str,
    table: str,
    snapshot_id: int,
) -> None:
    """Check that no other user changed the index of a bucket that a commit replaces.

    Parameters
    ----------
    history
        The commits since the indexes of the commit were made: user, all index files before,
        all index files after.
    changes
        What the commit does to index files.
    user
        Who commits; their own earlier changes are known to them.
    table, snapshot_id
        For the message.

    Raises
    ------
    FilesConflictError
        If another user did: their changes of the index would be lost.
    """
    slots = {_slot(file, has_buckets=True) for file in (*changes.new, *changes.deleted)}
    for other, before, after in history:
        if other == user:
            continue
        old, new = _names_by_slot(before), _names_by_slot(after)
        for slot in slots:
            if old.get(slot) != new.get(slot):
                name = new.get(slot) or old.get(slot) or ""
                problem = f"the index of a bucket became {name} by the commit of {other!r}. {_REDO}"
                raise FilesConflictError(table, snapshot_id, [name], problem)


def _slot(file: IndexManifestEntry, has_buckets: bool) -> Hashable:  # noqa: FBT001
    if file.index_type == DELETION_VECTORS and not has_buckets:
        return file.file_name
    return (file.partition, file.bucket, file.index_type)


def _names_by_slot(files: Iterable[IndexManifestEntry]) -> dict[Hashable, str]:
    return {_slot(file, has_buckets=True): file.file_name for file in files}


def vector_owners(files: Iterable[IndexManifestEntry]) -> list[str]:
    """Return the names of the data files whose rows index files say are deleted."""
    return [vector.data_file_name for file in files for vector in file.deletion_vectors or ()]


def _check_types(files: Iterable[IndexManifestEntry]) -> None:
    for file in files:
        if file.index_type not in _BUILT:
            raise UnsupportedError(
                f"{file.index_type} index",
                "this commit would have to rewrite the list of indexes, and paimonlab cannot hand "
                "on those of this type",
            )
