"""How large files are, and what to do about it."""

from __future__ import annotations

import numpy as np
import pytest

from paimonlab.analysis.files.file_sizes import MIB, advice, size_bins
from tests.support import cases


@pytest.mark.parametrize(("title", "given", "wanted"), cases("file_sizes"))
def test_histogram_and_advice(title: str, given: str, wanted: str) -> None:
    sizes: list[int] = []
    buckets: list[int] = []
    for bucket, files in enumerate(given.split("|")):
        for word in files.split():
            size, _, times = word.partition("*")
            sizes += [int(float(size) * MIB)] * int(times or 1)
            buckets += [bucket] * int(times or 1)
    array = np.array(sizes, np.int64)

    bins = size_bins(array, np.ones(len(sizes), np.int64))
    found = advice("db.t", array, np.array(buckets, np.int64))

    counts = [one.files for one in bins]
    assert " ".join(map(str, [*counts, *(one.code for one in found)])) == wanted, title
    assert sum(one.bytes or 0 for one in bins) == sum(sizes)


def test_advice_names_numbers_thresholds_and_what_to_run() -> None:
    sizes = np.array([2 * MIB] * 15 + [300 * MIB] * 5, np.int64)

    first, *_ = advice("db.it's", sizes, np.array([0] * 10 + [1] * 10, np.int64))

    assert first.text == (
        "75 % of 20 files are smaller than 32 MiB (more than 30 %); 15 of them share 2 buckets "
        "with other small files: compact"
    )
    assert first.action == r"CALL sys.compact(table => 'db.`it\'s`')"
