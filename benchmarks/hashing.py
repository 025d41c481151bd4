"""What paimonlab's writers decide with, alone: the bucket of each row, on one core.

Not a race: no peer offers it by itself. The rows are made once, outside the clock.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from benchmarks.engine_side import Task, timed
from paimonlab.spec.buckets.bucket import bucket_ids
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from paimonlab.write.key_hashes import DynamicBucketOptions, KeyHashes

INTS = 20_000_000
TEXTS = 5_000_000
KEYS = 4_000_000
_SEED = 7


def hash_int(task: Task) -> tuple[list[float], object]:
    """Hash an INT bucket key."""
    rng = np.random.default_rng(_SEED)
    keys = pa.array(rng.integers(-(2**31), 2**31, INTS).astype(np.int32))
    return _buckets(task, keys, "INT")


def hash_text(task: Task) -> tuple[list[float], object]:
    """Hash a bucket key of texts of 16 bytes."""
    rng = np.random.default_rng(_SEED)
    words = rng.integers(0x61, 0x7B, 16 * TEXTS).astype(np.uint8)
    offsets = pa.py_buffer(np.arange(0, 16 * TEXTS + 1, 16, dtype=np.int32))
    keys = pa.StringArray.from_buffers(TEXTS, offsets, pa.py_buffer(words))
    return _buckets(task, keys, "STRING")


def _buckets(task: Task, keys: pa.Array, type_text: str) -> tuple[list[float], object]:
    rows, fields = pa.table({"k": keys}), [DataField(0, "k", parse_type(type_text))]
    return timed(task, lambda _: int(bucket_ids(rows, fields, 16).sum()), warm=1)


def assign_keys(task: Task) -> tuple[list[float], object]:
    """Give hashes dynamic buckets, half of them known."""
    rng = np.random.default_rng(_SEED)
    known = rng.integers(-(2**31), 2**31, KEYS // 2).astype(np.int32)
    new = rng.integers(-(2**31), 2**31, KEYS // 2).astype(np.int32)
    hashes = np.concatenate([known, new])
    rng.shuffle(hashes)

    def run(_: int) -> int:
        index = KeyHashes({0: known}, 0, DynamicBucketOptions())
        return int(index.assign(hashes).max())

    return timed(task, run)
