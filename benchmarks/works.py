"""What is measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """One row of the table of results."""

    name: str
    title: str
    slow: frozenset[str] = frozenset()
    """Engines that get one repetition: they take half a minute for it."""
    makes_folders: bool = False
    """Whether what it takes is in part what the file system takes for folders."""


PURE = frozenset({"pypaimon"})

WORKS = (
    Work("append_write", "append write, 2 M rows"),
    Work("commits", "100 commits of one row each"),
    Work("partition_write", "append write of 2 M rows into 32 partitions", makes_folders=True),
    Work("partition_write_many", "the same into 512 partitions", makes_folders=True),
    Work("append_scan", "append scan to Arrow"),
    Work("java_scan", "the same of a file that Java wrote: one row group of 2 M rows"),
    Work("limit", "10 of its 2 M rows"),
    Work("key_write", "primary-key write, one batch of 2 M rows", PURE),
    Work("upsert", "8 upserts of 250 k rows, half of the keys again", PURE),
    Work("merge_scan", "merge-on-read scan of those 8 runs", PURE),
    Work("merge_first", "the same, nothing merged before", PURE),
    Work(
        "merge_filter",
        "merge-on-read scan of those 8 runs, 2 columns and a filter on a value",
        PURE,
    ),
    Work("key_range", "the same, all columns of 1,000 keys in a row", PURE),
    Work("sum_scan", "the same runs, merge engine aggregation: sum, max, last value", PURE),
    Work("partial_scan", "the same runs, merge engine partial-update, a sequence group"),
    Work("vector_scan", "append scan, a tenth of the rows deleted by deletion vectors"),
    Work("lookup", "100 lookups of one key each", PURE),
    Work("compact_full", "full compaction of those 8 runs in 4 buckets"),
    Work(
        "lookup_changelog", "8 commits of 250 k rows, half of the keys again, changelog by lookup"
    ),
    Work("few_upserts", "commit of 1,000 random keys of 0.4 M in one bucket, changelog by lookup"),
    Work("few_upserts_medium", "the same of 1.6 M"),
    Work("few_upserts_large", "the same of 6.4 M"),
    Work("few_upserts_huge", "the same of 16 M"),
    Work("compact_bucket", "full compaction of one bucket: 8 M rows in 8 runs"),
    Work("expire", "expiry of 900 snapshots of 1,000, a file deleted by each"),
    Work("plan", "plan of 5,000 files in 500 partitions, nothing cached"),
    Work("plan_warm", "the same, manifests cached"),
    Work("plan_partition", "plan of one of these partitions, nothing cached"),
    Work("hash_int", "buckets of 20 M rows by an INT key"),
    Work("hash_text", "buckets of 5 M rows by a text of 16 bytes"),
    Work("assign_keys", "dynamic buckets of 4 M keys, half of them known"),
    Work("stream", "stream 28 M rows (2 GB in Arrow, 8 runs)"),
)

LONG = frozenset({"stream", "lookup_changelog", "compact_bucket"})
"""Works of one repetition."""

ENGINES = (
    *("paimonlab", "pypaimon", "pypaimon native", "Java 1.3.1", "Java 1.4.2"),
    *("deltalake", "deltalake zstd", "pyiceberg", "pyarrow", "polars"),
)
"""Java 1.4.2 is the newest that can be had; most who run Java have 1.3. polars reads files. deltalake
writes with snappy unless it is told to take another codec."""
MODULES = {
    "paimonlab": "paimonlab",
    "pypaimon": "pypaimon",
    "pypaimon native": "pypaimon, pypaimon_rust",
    "deltalake": "deltalake",
    "deltalake zstd": "deltalake",
    "pyiceberg": "pyiceberg.catalog",
    "pyarrow": "pyarrow.parquet",
    "polars": "polars",
}
"""What the engine's user imports."""
