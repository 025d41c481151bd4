"""What is measured of a table agrees with its system tables."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.analysis.health.table_health import measured
from paimonlab.scan.live_files import changelog_manifests_of
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table
from tests.golden import golden


def opened(catalog: paimonlab.Catalog, name: str) -> Table:
    table = catalog.table(name)
    assert isinstance(table, Table)
    return table


def test_numbers_are_those_of_the_system_tables() -> None:
    catalog = paimonlab.connect(golden("java-1.3.1") / "wh")
    looked_at = 0
    for database in catalog.databases():
        for name in catalog.tables(database):
            table = opened(catalog, f"{database}.{name}")
            found = measured(
                definition_of(table),
                store_of(table),
                now_millis=time.time_ns() // 1_000_000,
                orphans=False,
            )

            def system(kind: str, of: str = table.name) -> list[dict[str, object]]:
                return catalog.system_table(f"{of}${kind}").scan().to_arrow().to_pylist()

            files = system("files")
            assert found.file_count == len(files), table
            assert found.total_bytes == sum(int(str(one["file_size_in_bytes"])) for one in files)
            assert found.record_count == sum(int(str(one["record_count"])) for one in files)
            latest = table.snapshot
            of_changelog = latest and changelog_manifests_of(latest, store_of(table).manifests)
            assert found.manifest_count == len(system("manifests")) - len(of_changelog or ())
            assert found.snapshot_count == len(system("snapshots"))
            assert len(found.consumers) == len(system("consumers"))
            if table.primary_keys:
                level_0 = Counter(
                    (one["partition"], one["bucket"]) for one in files if one["level"] == 0
                )
                assert found.level_0_files == level_0.total()
                assert found.level_0_worst == max(level_0.values(), default=0)
            looked_at += 1
    assert looked_at > 50


def test_skew_is_the_largest_bucket_by_the_median_one(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    options = {"bucket": "3", "bucket-key": "k", "write-only": "true"}
    table = catalog.create_table("db.t", {"k": "INT", "v": "STRING"}, options=options)
    for number in range(4):
        texts = [os.urandom(50).hex() for _ in range(100)]
        table.write(pa.table({"k": pa.array([number] * 100, pa.int32()), "v": texts}))
    sizes: Counter[int] = Counter()
    for one in catalog.system_table("db.t$buckets").scan().to_arrow().to_pylist():
        sizes[one["bucket"]] = one["file_size_in_bytes"]

    found = measured(definition_of(table), store_of(table), now_millis=0, orphans=False)

    ordered = sorted(sizes.values())
    median = ordered[(len(ordered) - 1) // 2]
    assert found.skew_ratio == pytest.approx(ordered[-1] / median)
    assert found.largest_bucket_bytes == ordered[-1]
    assert found.clock_jumps[-1].is_in_future
