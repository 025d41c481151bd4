from __future__ import annotations

import pyarrow as pa
import pytest

from paimonlab.spec.bucket import bucket_ids, default_bucket
from paimonlab.spec.murmur import hash_words
from paimonlab.spec.type_text import parse_type
from paimonlab.spec.types import DataField


def test_the_remainder_keeps_the_sign_of_the_hash_before_it_is_dropped() -> None:
    words = pa.array([0, 0, 0xFFFFFFF9, 0], pa.uint32()).to_numpy().reshape(1, 4)

    assert default_bucket(hash_words(words), 5).tolist() == [2]


def test_bucket_ids_follow_the_order_of_the_bucket_key() -> None:
    batch = pa.table({"b": ["hello world"], "other": [9], "a": pa.array([1], pa.int32())})
    a = DataField(0, "a", parse_type("INT"))
    b = DataField(1, "b", parse_type("STRING"))

    assert bucket_ids(batch, [a, b], 1_000_003).tolist() == [484653]
    assert bucket_ids(batch, [b, a], 1_000_003).tolist() != [484653]


def test_no_buckets_at_all_is_an_error() -> None:
    a = DataField(0, "a", parse_type("INT"))

    with pytest.raises(ValueError, match="at least 1, got 0"):
        bucket_ids(pa.table({"a": pa.array([1], pa.int32())}), [a], 0)
