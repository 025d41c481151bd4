"""Which index files a change of deletion vectors replaces."""

from __future__ import annotations

import numpy as np

from paimonlab.datafile.vector_upkeep import VectorChanges, changed_vectors
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.spec.manifests.index_manifest import (
    DELETION_VECTORS,
    DeletionVectorRange,
    IndexManifestEntry,
)


def vector(*positions: int) -> DeletionVector:
    return DeletionVector.of(np.array(positions, np.int64))


def index(name: str, *files: str) -> IndexManifestEntry:
    return IndexManifestEntry(
        partition=b"",
        bucket=0,
        index_type=DELETION_VECTORS,
        file_name=name,
        file_size_bytes=10,
        row_count=len(files),
        deletion_vectors=tuple(DeletionVectorRange(file, 1, 20, 1) for file in files),
    )


def changed(
    before: list[IndexManifestEntry],
    changes: dict[str, DeletionVector | None],
    alive: str,
    *,
    is_one_file: bool = False,
) -> tuple[dict[str, list[int]], list[str]]:
    found: VectorChanges = changed_vectors(
        before, changes, set(alive), lambda _, one: vector(ord(one.data_file_name)),
        is_one_file=is_one_file,
    )  # fmt: skip
    vectors = {name: one.positions().tolist() for name, one in found.vectors.items()}
    return vectors, [one.file_name for one in found.replaced]


def test_a_first_vector_replaces_nothing() -> None:
    assert changed([], {"a": vector(1)}, "ab") == ({"a": [1]}, [])


def test_files_without_a_changed_vector_stay() -> None:
    before = [index("i1", "a"), index("i2", "b")]

    assert changed(before, {"a": vector(1)}, "ab") == ({"a": [1]}, ["i1"])
    assert changed(before, {"c": vector(1)}, "abc") == ({"c": [1]}, [])


def test_vectors_in_the_same_file_move_along() -> None:
    before = [index("i1", "a", "b")]

    assert changed(before, {"a": vector(1)}, "ab") == ({"b": [ord("b")], "a": [1]}, ["i1"])


def test_a_bucket_has_one_file() -> None:
    before = [index("i1", "a")]

    found = changed(before, {"b": vector(1)}, "ab", is_one_file=True)

    assert found == ({"a": [ord("a")], "b": [1]}, ["i1"])


def test_vectors_go_with_their_files() -> None:
    assert changed([index("i1", "a")], {"a": None}, "") == ({}, ["i1"])


def test_vectors_of_files_that_are_gone_are_left_behind() -> None:
    before = [index("i1", "a", "x")]

    assert changed(before, {"a": vector(1)}, "a") == ({"a": [1]}, ["i1"])
