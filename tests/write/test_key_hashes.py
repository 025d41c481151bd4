"""Assigning keys to dynamic buckets, against Java's rules row by row."""

from __future__ import annotations

import numpy as np
import pytest

from paimonlab.errors import DataError
from paimonlab.write.key_hashes import DynamicBucketOptions, KeyHashes


class RowByRow:
    """One assigner of one partition, as Java keeps it: a dict and counts."""

    def __init__(self, known: dict[int, list[int]], options: DynamicBucketOptions) -> None:
        self.buckets = {key: bucket for bucket, keys in known.items() for key in keys}
        self.counts = {bucket: len(keys) for bucket, keys in sorted(known.items())}
        self.options = options

    def assign(self, key: int) -> int:
        if key not in self.buckets:
            self.buckets[key] = self._new_bucket()
        return self.buckets[key]

    def _new_bucket(self) -> int:
        for bucket, count in sorted(self.counts.items()):
            if count < self.options.target_rows:
                self.counts[bucket] += 1
                return bucket
        bucket = next(number for number in range(99999) if number not in self.counts)
        self.counts[bucket] = 1
        return bucket


def random_hashes(rng: np.random.Generator, count: int, variety: int) -> list[int]:
    values = rng.integers(-(2**31), 2**31, variety)
    return values[rng.integers(0, variety, count)].tolist()


@pytest.mark.parametrize("target", [1, 2, 5, 100, 300, 10_000])
@pytest.mark.parametrize("known", [{}, {3: [-9, 1, 2, 3]}, {0: [1, 2, 3], 4: [-5], 2: [6, 7]}])
def test_keys_go_where_java_puts_them(
    target: int, known: dict[int, list[int]], rng: np.random.Generator
) -> None:
    options = DynamicBucketOptions(target_rows=target)
    model = RowByRow(known, options)
    index = KeyHashes({b: np.array(k, np.int32) for b, k in known.items()}, -77, options)

    for count in (60, 200, 3, 60, 0, 90):
        hashes = random_hashes(rng, count, 40)
        found = index.assign(np.array(hashes, np.int32))
        assert found.tolist() == [model.assign(value) for value in hashes]

    changed = dict(index.take_changed())
    for bucket in model.counts:
        keys = {key for key, of in model.buckets.items() if of == bucket}
        if keys > set(known.get(bucket, ())):
            assert set(changed.pop(bucket).tolist()) == keys
    assert changed == {}
    assert dict(index.take_changed()) == {}


def test_no_more_buckets_than_allowed_are_made(rng: np.random.Generator) -> None:
    options = DynamicBucketOptions(target_rows=2, most_buckets=3)
    index = KeyHashes({}, 0, options)
    hashes = np.arange(-50, 50, dtype=np.int32)

    found = index.assign(hashes)

    assert found[:6].tolist() == [0, 0, 1, 1, 2, 2]
    assert set(found.tolist()) == {0, 1, 2}
    again = rng.permutation(100)
    assert index.assign(hashes[again]).tolist() == found[again].tolist()


def test_each_share_of_the_keys_has_buckets_of_its_own() -> None:
    options = DynamicBucketOptions(target_rows=3, assigner_parallelism=4, initial_buckets=2)
    index = KeyHashes({}, -6, options)  # begins at channel 2
    hashes = np.array([0, 1, 2, 3, 4, 5, 6, -7, 8, -9], np.int32)

    found = index.assign(hashes)

    # abs(hash % 2) + 2 of 4 channels is 2 or 3: buckets of the remainder 0 or 1.
    assert found.tolist() == [0, 1, 0, 1, 0, 1, 2, 3, 2, 3]


def test_without_a_limit_there_are_as_many_buckets_as_ids() -> None:
    index = KeyHashes({}, 0, DynamicBucketOptions(target_rows=1))

    assert index.assign(np.arange(32767, dtype=np.int32)).max() == 32766
    with pytest.raises(DataError, match=r"dynamic-bucket\.target-row-num"):
        index.assign(np.array([-1], np.int32))
