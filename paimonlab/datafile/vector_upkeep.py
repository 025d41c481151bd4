"""The index files of a bucket after some of its deletion vectors changed.

Source: apache/paimon@1.3.1 ``org.apache.paimon.deletionvectors.append``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.spec.manifests.index_manifest import (
    DELETION_VECTORS,
    DeletionVectorRange,
    IndexManifestEntry,
)

ReadVector = Callable[[IndexManifestEntry, DeletionVectorRange], DeletionVector]
"""Reads one vector out of an index file."""


@dataclass(frozen=True, slots=True)
class VectorChanges:
    """What becomes of the index files of one bucket."""

    vectors: Mapping[str, DeletionVector]
    """What is written anew, by the name of the data file."""
    replaced: tuple[IndexManifestEntry, ...]
    """Index files that go."""


def changed_vectors(
    before: Sequence[IndexManifestEntry],
    changes: Mapping[str, DeletionVector | None],
    alive: Collection[str],
    read: ReadVector,
    *,
    is_one_file: bool,
) -> VectorChanges:
    """Work out which deletion vectors are written, and which index files they replace.

    Parameters
    ----------
    before
        The index files of the bucket.
    changes
        The new vectors by the name of their data file; None removes a vector.
    alive
        Names of the bucket's data files; vectors of other files are dropped.
    read
        Reads a vector that stays as it is and has to move.
    is_one_file
        Whether all vectors of the bucket lie in one file, which is replaced as a whole.

    Returns
    -------
    VectorChanges
        Vectors that did not change come first.
    """
    touched = [
        index
        for index in before
        if index.index_type == DELETION_VECTORS
        and (is_one_file or any(one.data_file_name in changes for one in _ranges(index)))
    ]
    vectors = {
        one.data_file_name: read(index, one)
        for index in touched
        for one in _ranges(index)
        if one.data_file_name not in changes and one.data_file_name in alive
    }
    vectors |= {name: vector for name, vector in changes.items() if vector is not None}
    return VectorChanges(vectors, tuple(touched))


def _ranges(index: IndexManifestEntry) -> Sequence[DeletionVectorRange]:
    return index.deletion_vectors or ()
