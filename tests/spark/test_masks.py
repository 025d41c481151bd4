from __future__ import annotations

import msgspec
import numpy as np
import pytest

from paimonlab.scan.split import DataSplit, DeletionFile
from paimonlab.spark.reading.mask_cache import MaskCache
from paimonlab.spark.reading.masks import FileMask, pack
from paimonlab.spec.manifests.data_file import DataFileMeta


@pytest.mark.parametrize("rows", [1, 8, 31, 32, 33, 1000])
def test_bit_i_is_row_i(rows: int, rng: np.random.Generator) -> None:
    mask = rng.random(rows) < 0.5
    mask[0], mask[-1] = True, rows == 1
    bits = pack(mask).bits

    if rows > 1:
        assert bits is not None
        words = np.frombuffer(bits, "<u4")
        assert [bool(words[i // 32] >> (i % 32) & 1) for i in range(rows)] == mask.tolist()


def test_where_all_or_none_win_there_is_no_mask() -> None:
    assert pack(np.ones(5, np.bool_)) == FileMask(None)
    assert pack(np.zeros(5, np.bool_)) == FileMask(None, is_empty=True)


def split(*names: str) -> DataSplit:
    files = tuple(
        DataFileMeta(
            file_name=name,
            file_size_bytes=1,
            row_count=1,
            min_sequence_number=0,
            max_sequence_number=0,
            schema_id=0,
        )
        for name in names
    )
    return DataSplit(
        snapshot_id=1,
        partition=b"",
        bucket=0,
        total_buckets=1,
        bucket_path="bucket-0",
        files=files,
        raw_convertible=False,
    )


def test_the_cache_lets_go_of_what_was_not_used() -> None:
    cache = MaskCache(bound_bytes=2 * (100 + 50))
    masks = (FileMask(bytes(50)),)
    cache.put("t", split("a"), masks)
    cache.put("t", split("b"), masks)
    cache.get("t", split("a"))

    cache.put("t", split("c"), masks)

    found = [cache.get("t", split(name)) is not None for name in "abc"]
    assert found == [True, False, True]


def test_the_same_files_with_other_deletion_vectors_are_others() -> None:
    cache = MaskCache()
    whole = split("a")
    deleted = msgspec.structs.replace(
        whole, deletion_files=(DeletionFile("index/index-1", 1, 20, 3),)
    )

    cache.put("t", whole, (FileMask(None),))

    assert cache.get("t", deleted) is None


def test_the_same_files_of_another_table_are_others() -> None:
    cache = MaskCache()
    cache.put("t", split("a"), (FileMask(None),))

    assert cache.get("u", split("a")) is None
    assert cache.get("t", split("a", "b")) is None
