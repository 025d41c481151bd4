"""Files that stand for all are spread over partitions, and those that merge stay together."""

from __future__ import annotations

import numpy as np

from paimonlab.scan.sampling import FileSample, sampled_files

SIZES = np.full(1_000, 10)


def test_each_partition_has_its_share_however_the_files_are_ordered() -> None:
    partition = np.random.default_rng(3).choice(4, 1_000, p=[0.5, 0.3, 0.15, 0.05])

    for most in (20, 100, 999):
        sample = FileSample(most, 1 << 40)
        chosen = sampled_files(partition, np.arange(1_000), SIZES, sample)

        assert chosen.sum() == most
        shares = np.bincount(partition[chosen], minlength=4) / most
        assert np.abs(shares - np.bincount(partition) / 1_000).max() <= 2 / most


def test_units_are_whole_bytes_are_bounded_and_one_is_read_whatever_its_size() -> None:
    bucket, unit = np.repeat([0, 1], 500), np.arange(1_000) // 8

    chosen = sampled_files(bucket, unit, SIZES, FileSample(1_000, 2_000))

    assert 190 < chosen.sum() <= 200
    counts = np.bincount(unit[chosen], minlength=125)
    assert set(counts.tolist()) == {0, 8}
    assert sampled_files(bucket, unit, SIZES, FileSample(1, 1)).sum() == 8
    assert sampled_files(bucket, unit, SIZES, FileSample(1_000, 10_000)).all()
    assert not sampled_files(bucket[:0], unit[:0], SIZES[:0], FileSample(1, 1)).size
