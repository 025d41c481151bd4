"""What a table remembers of its buckets is what is in them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import paimonlab as pl
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.table.inside import store_of
from paimonlab.table.memories.bucket_files import BucketMemory, of_buckets

KEYS = ["file_name", "level"]


def places(entries: pa.Table, keys: list[BucketKey]) -> set[tuple[str, int]]:
    chosen = of_buckets(keys)(entries)
    return set(zip(*(chosen[name].to_pylist() for name in KEYS), strict=True))


def test_it_is_followed_through_whatever_happens(tmp_path: Path, rng: np.random.Generator) -> None:
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"k": "INT NOT NULL", "v": "INT"},
        primary_keys=["k"],
        options={"bucket": "3", "num-sorted-run.compaction-trigger": "2"},
    )
    memory = BucketMemory(table.snapshots, store_of(table).manifests)
    for number in range(25):
        rows = pa.table({"k": pa.array(rng.integers(0, 50, 4), pa.int32())})
        step = int(rng.integers(6))
        if step == 0:
            table.overwrite(rows)
        elif step == 1:
            table.compact(full=True)
        elif step == 2 and number > 3:
            there = [snapshot.id for snapshot in table.snapshots.list()]
            table.maintenance.rollback_to(snapshot=int(rng.choice(there[-3:])))
        else:
            table.write(rows)
        snapshot = table.snapshot
        if snapshot is None or rng.random() < 0.3:
            continue
        keys = [(EMPTY_ROW, int(bucket)) for bucket in set(rng.integers(0, 3, 2).tolist())]

        found = memory.at(snapshot, keys)

        assert places(found, keys) == places(
            live_entries(snapshot, store_of(table).manifests), keys
        )
