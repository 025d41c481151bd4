"""Options that no other test sets: what a table does differs with their value."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

import paimonlab
from paimonlab.commit.options import CommitOptions
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.read.lookup_options import LookupStoreOptions
from paimonlab.spec.options.table_options import Options
from paimonlab.table.table import Table
from paimonlab.write.key_hashes import DynamicBucketOptions

Made = Callable[..., Table]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Make a table with options, and write rows to it."""
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")

    def make(options: Mapping[str, str], rows: pa.Table, **more: Any) -> Table:
        name = f"db.t{len(catalog.tables('db'))}"
        table = catalog.create_table(name, rows.schema, options=dict(options), **more)
        table.write(rows)
        return table

    return make


def file_of(table: Table, pattern: str) -> Path:
    """Return the only file of a table whose name is like that."""
    (found,) = Path(table.path).glob(f"**/{pattern}")
    return found


RANDOM = random.Random(1)
WORDS = [f"{RANDOM.getrandbits(400):x}" for _ in range(5000)]
TEXTS = pa.table(
    {"id": pa.array(range(30_000), pa.int32()), "v": [RANDOM.choice(WORDS) for _ in range(30_000)]}
)
ORC = {"file.format": "orc"}


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        ({"orc.compress.size": "65536"}, lambda file: file.compression_size),
        ({"orc.row.index.stride": "1000"}, lambda file: file.row_index_stride),
        ({"orc.stripe.size": "65536"}, lambda file: file.nstripes),
        ({"orc.dictionary.key.threshold": "0.8"}, lambda file: file.content_length),
        ({"orc.bloom.filter.columns": "id"}, lambda file: file.file_length),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_orc_files(options: dict[str, str], seen: Callable[[Any], int], made: Made) -> None:
    plain, other = made(ORC, TEXTS), made(ORC | options, TEXTS)

    found = [seen(pa.orc.ORCFile(str(file_of(one, "*.orc")))) for one in (plain, other)]

    assert found[0] != found[1]
    assert other.scan().to_arrow().sort_by("id").equals(plain.scan().to_arrow().sort_by("id"))
    (value,) = options.values()
    if next(iter(options)) in ("orc.compress.size", "orc.row.index.stride"):
        assert found[1] == int(value)


def test_bloom_filters_of_orc_are_larger_where_they_err_less(made: Made) -> None:
    filtered = ORC | {"orc.bloom.filter.columns": "id"}
    sizes = [
        file_of(made(filtered | {"orc.bloom.filter.fpp": fpp}, TEXTS), "*.orc").stat().st_size
        for fpp in ("0.2", "0.001")
    ]

    assert sizes[0] < sizes[1]


def test_instants_in_orc_files_are_of_the_type_that_is_asked_for(made: Made) -> None:
    moments = pa.table({"at": pa.array([0, 10**9], pa.timestamp("ms", "UTC"))})
    types = {
        legacy: pa.orc.ORCFile(
            str(file_of(made(ORC | {"orc.timestamp-ltz.legacy.type": legacy}, moments), "*.orc"))
        ).read()["at"]
        for legacy in ("true", "false")
    }

    assert all(found.type.tz for found in types.values())
    assert types["false"].cast(pa.int64()).to_pylist() == [0, 10**15]


def test_parquet_has_its_own_level_of_zstd(made: Made) -> None:
    text = {"parquet.enable.dictionary": "false", "file.compression": "zstd"}
    rows = pa.table({"v": [f"{(number * 7919) % 10_007:x}" for number in range(30_000)]})

    sizes = [
        file_of(made(text | options, rows), "data-*.parquet").stat().st_size
        for options in ({}, {"parquet.compression.codec.zstd.level": "19"})
    ]

    assert sizes[1] < sizes[0]


def test_changelog_files_have_their_own_statistics(made: Made) -> None:
    rows = pa.table({"id": pa.array([1, 2], pa.int32()), "v": ["a", "b"]})
    keyed = {"bucket": "1", "changelog-producer": "input", "changelog-file.stats-mode": "none"}
    writer = made(keyed, rows, primary_keys=["id"]).new_writer()
    writer.write(rows)

    (message,) = writer.prepare_commit()

    writer.abort()
    assert [file.value_stats_cols for file in message.changelog_files] == [()]
    assert [file.value_stats_cols for file in message.new_files] == [None]


def test_commit_users_have_a_prefix(made: Made) -> None:
    table = made({"commit.user-prefix": "nightly"}, TEXTS)

    assert table.snapshot is not None
    assert table.snapshot.commit_user.startswith("nightly_")


@pytest.mark.parametrize(
    ("strategy", "reason"), [("zorder", "zorder by x, y"), ("hilbert", "hilbert by x, y")]
)
def test_clustering_goes_by_its_strategy(strategy: str, reason: str, made: Made) -> None:
    rows = pa.table({"x": pa.array(range(9), pa.int32()), "y": pa.array(range(9), pa.int32())})
    clustered = {"clustering.incremental": "true", "clustering.columns": "x,y"}

    result = made(clustered | {"clustering.strategy": strategy}, rows).compact(full=True)

    assert reason in result.buckets[0].reason


HOUR = 3_600_000
FIVE = 1_767_243_600_000
"""2026-01-01 05:00 UTC in milliseconds."""


@pytest.mark.parametrize(
    ("options", "tags"),
    [
        ({}, ["2026-01-01 04", "2026-01-01 05", "2026-01-01 07"]),
        (
            {"tag.automatic-completion": "true"},  # a commit catches up with one of them
            ["2026-01-01 04", "2026-01-01 05", "2026-01-01 06"],
        ),
        ({"tag.period-formatter": "without_dashes"}, ["20260101 04", "20260101 05", "20260101 07"]),
        (
            {"sink.watermark-time-zone": "GMT+02:00"},
            ["2026-01-01 06", "2026-01-01 07", "2026-01-01 09"],
        ),
        ({"tag.creation-period-duration": "4 h"}, ["202601010000", "202601010400"]),
    ],
    ids=lambda value: "".join(value) if isinstance(value, dict) else "",
)
def test_tags_of_periods(options: dict[str, str], tags: list[str], tmp_path: Path) -> None:
    every = {"tag.automatic-creation": "watermark", "tag.creation-period": "hourly"}
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"id": "INT"}, options=every | options)
    for number, watermark in enumerate((FIVE, FIVE + HOUR + 5, FIVE + 3 * HOUR)):
        writer = table.new_writer("u")
        writer.write(pa.table({"id": pa.array([number], pa.int32())}))
        messages = writer.prepare_commit(number)
        table.commit(messages, identifier=number, user="u", watermark=watermark)

    assert sorted(table.tags.list()) == tags


@pytest.mark.parametrize("expires", ["true", "false"])
def test_commits_delete_old_tags_unless_they_must_not(expires: str, made: Made) -> None:
    table = made({"tag.time-expire-enabled": expires}, TEXTS)
    table.tags.create("old", time_retained=timedelta(milliseconds=1))

    table.write(TEXTS)

    assert list(table.tags.list()) == ([] if expires == "true" else ["old"])


@pytest.mark.parametrize(
    ("key", "text", "read", "value"),
    [
        (
            "commit.timeout",
            "3 s",
            lambda given: given.slice(CommitOptions).retry.timeout_millis,
            3000,
        ),
        (
            "commit.min-retry-wait",
            "4 ms",
            lambda given: given.slice(CommitOptions).retry.min_wait_millis,
            4,
        ),
        (
            "commit.max-retry-wait",
            "5 s",
            lambda given: given.slice(CommitOptions).retry.max_wait_millis,
            5000,
        ),
        (
            "snapshot.ignore-empty-commit",
            "false",
            lambda given: given.slice(CommitOptions).ignore_empty_commit,
            False,
        ),
        (
            "dynamic-bucket.initial-buckets",
            "3",
            lambda given: given.slice(DynamicBucketOptions).initial_buckets,
            3,
        ),
        (
            "file-operation.thread-num",
            "7",
            lambda given: given.slice(ExpireOptions).threads,
            7,
        ),
        (
            "lookup.cache-file-retention",
            "2 min",
            lambda given: given.slice(LookupStoreOptions).retention_millis,
            120_000,
        ),
    ],
)
def test_numbers_come_from_options(
    key: str, text: str, read: Callable[[Options], int], value: int
) -> None:
    assert read(Options({key: text})) == value
