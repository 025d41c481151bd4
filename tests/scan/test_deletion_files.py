"""Which files of a plan have deletion vectors, and which need no merging because of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.manifests.entry_rows import entries_to_table
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.split import DataSplit, DeletionFile
from paimonlab.scan.split_making import place
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import (
    DELETION_VECTORS,
    HASH,
    DeletionVectorRange,
    IndexManifestEntry,
)
from paimonlab.spec.manifests.manifest import FileKind, ManifestEntry
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.spec.types.text import parse_type


def key(value: int) -> bytes:
    row = encode([pa.array([value], pa.int32())], [parse_type("INT")])[0].as_py()
    assert isinstance(row, bytes)
    return row


def file(name: str, low: int = 0, high: int = 9, **more: int | None) -> DataFileMeta:
    return DataFileMeta(
        file_name=name,
        file_size_bytes=100,
        row_count=10,
        min_key=key(low),
        max_key=key(high),
        min_sequence_number=0,
        max_sequence_number=9,
        schema_id=0,
        level=more.get("level") or 0,
        delete_row_count=more.get("deletes", 0),
    )


def placed(*files: DataFileMeta, buckets: list[int] | None = None) -> tuple[list[int], list[bool]]:
    entries = entries_to_table(
        [
            ManifestEntry(
                kind=FileKind.ADD, partition=b"", bucket=bucket, total_buckets=2, file=one
            )
            for one, bucket in zip(files, buckets or [0] * len(files), strict=True)
        ]
    )
    found = place(entries, [parse_type("INT")], has_each_key_once=True)
    return found.unit.tolist(), found.is_raw.tolist()


def test_compacted_files_that_overlap_are_read_by_themselves() -> None:
    assert placed(file("a", level=4), file("b", level=5)) == ([0, 1], [True, True])


def test_a_file_of_level_0_makes_its_bucket_merge() -> None:
    files = file("a", level=4), file("b", level=5), file("c", 20, 29)

    assert placed(*files) == ([0, 0, 1], [False, False, True])


def test_deletes_make_their_bucket_merge() -> None:
    assert placed(file("a", level=4, deletes=1), file("b", level=5))[1] == [False, False]
    assert placed(file("a", level=4, deletes=None), file("b", level=5))[1] == [False, False]


def test_buckets_are_looked_at_one_by_one() -> None:
    files = [file(name, level=level) for name, level in [("a", 4), ("b", 0), ("c", 5), ("d", 3)]]

    units, raw = placed(*files, buckets=[0, 1, 0, 1])

    assert raw == [True, False, True, False]
    assert units[1] == units[3]
    assert len(set(units)) == 3


@pytest.mark.parametrize(
    ("options", "skips", "merges_nothing"),
    [
        ({}, False, False),
        ({"deletion-vectors.enabled": "true"}, True, True),
        (
            {"deletion-vectors.enabled": "true", "deletion-vectors.merge-on-read": "true"},
            False,
            True,
        ),
        ({"deletion-vectors.merge-on-read": "true"}, False, False),
        ({"merge-engine": "first-row"}, True, True),
        ({"merge-engine": "aggregation"}, False, False),
    ],
)
def test_options_say_what_readers_see(
    options: dict[str, str], skips: bool, merges_nothing: bool
) -> None:
    found = Options(options).slice(ScanOptions)

    assert (found.skips_level_0, found.needs_no_merging) == (skips, merges_nothing)


SNAPSHOT = Snapshot(
    version=3,
    id=1,
    schema_id=0,
    base_manifest_list="base",
    delta_manifest_list="delta",
    commit_user="u",
    commit_identifier=1,
    commit_kind=CommitKind.APPEND,
    time_millis=0,
    total_record_count=0,
    delta_record_count=0,
    index_manifest="index-manifest-1",
)


class Manifests:
    """Stands for a `ManifestStore` with one index manifest."""

    def __init__(self, *entries: IndexManifestEntry) -> None:
        self.entries = list(entries)

    def read_index(self, name: str, *, referrer: str = "") -> list[IndexManifestEntry]:
        assert (name, referrer) == ("index-manifest-1", "snapshot-1")
        return self.entries


def index(name: str, *files: str, kind: str = DELETION_VECTORS) -> IndexManifestEntry:
    return IndexManifestEntry(
        partition=b"",
        bucket=0,
        index_type=kind,
        file_name=name,
        file_size_bytes=100,
        row_count=len(files),
        deletion_vectors=tuple(DeletionVectorRange(one, 1, 20, 3) for one in files)
        if kind == DELETION_VECTORS
        else None,
    )


def found(*entries: IndexManifestEntry, beside_data: bool = False) -> DeletionFiles:
    manifests = Manifests(*entries)
    return DeletionFiles.of(SNAPSHOT, manifests, beside_data=beside_data)  # type: ignore[arg-type]


def test_vectors_are_found_by_the_names_of_their_files() -> None:
    files = found(index("index-1", "a", "c"), index("index-2"), index("hash", kind=HASH))

    assert files.vectors_of([file("a"), file("b")], "bucket-0") == (
        DeletionFile("index/index-1", 1, 20, 3),
        None,
    )
    assert files.vectors_of([file("b")], "bucket-0") == ()


def test_index_files_may_lie_beside_the_data() -> None:
    files = found(index("index-1", "a"), beside_data=True)

    (vector,) = files.vectors_of([file("a")], "dt=1/bucket-0")

    assert vector is not None
    assert vector.path == "dt=1/bucket-0/index-1"


def test_a_data_file_with_two_vectors_is_an_error() -> None:
    with pytest.raises(CorruptMetadataError, match="index-1 and index-2"):
        found(index("index-1", "a"), index("index-2", "a"))


def split() -> DataSplit:
    vectors = (DeletionFile("index/i", 1, 20, 3), None, DeletionFile("index/i", 30, 20, None))
    return DataSplit(
        snapshot_id=1,
        partition=b"",
        bucket=0,
        total_buckets=-1,
        bucket_path="bucket-0",
        files=(file("a"), file("b"), file("c")),
        raw_convertible=True,
        deletion_files=vectors,
    )


def test_a_split_keeps_files_and_vectors_together() -> None:
    some = split().with_files(lambda one: one.file_name != "a")

    assert [one.file_name for one in some.files] == ["b", "c"]
    assert some.deletion_files == (None, DeletionFile("index/i", 30, 20, None))


def test_a_split_counts_deleted_rows_as_far_as_it_knows() -> None:
    whole = split()

    assert whole.least_row_count == 30 - 3 - 10
    assert not whole.has_known_deletions
    assert whole.with_files(lambda one: one.file_name != "c").has_known_deletions
    assert np.sign(whole.row_count - whole.least_row_count) == 1
