"""Hash indexes of dynamic buckets that Java wrote: decoded, encoded again, and true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paimonlab
from paimonlab.read.splits import read_splits
from paimonlab.spec.binary_row.rows import hash_codes
from paimonlab.spec.manifests.hash_index import decode_hashes, encode_hashes
from paimonlab.spec.manifests.index_manifest import HASH
from paimonlab.table.inside import store_of
from paimonlab.table.plans.read import read_plan
from paimonlab.table.table import Table
from tests.golden import RELEASES, golden

TABLES = [f"{writer}/{name}" for writer in RELEASES for name in ("dyn", "dyn_max", "dyn_part")]


@pytest.mark.parametrize("name", [*TABLES, "java-0.9/dyn"])
def test_indexes_keep_their_bytes_and_know_every_key(name: str) -> None:
    writer, _, table_name = name.partition("/")
    table = paimonlab.connect(golden(writer) / "wh").table(f"db.{table_name}")
    assert isinstance(table, Table)
    snapshot = table.snapshot
    assert snapshot is not None
    assert snapshot.index_manifest is not None
    entries = store_of(table).manifests.read_index(snapshot.index_manifest)
    assert {entry.index_type for entry in entries} == {HASH}

    hashes = {}
    for entry in entries:
        data = Path(table.path, "index", entry.file_name).read_bytes()
        found = decode_hashes(data, rows=entry.row_count, path=entry.file_name)
        assert encode_hashes(found) == data
        hashes[entry.partition, entry.bucket] = set(found.tolist())

    fields = [table.schema.field(key) for key in table.schema.trimmed_primary_keys]
    for split in table.scan().plan().splits:
        plan = table.scan([field.name for field in fields])
        rows = read_splits(
            [split],
            read_plan(
                plan.definition, plan.store, plan.schema, plan.columns, None, snapshot=snapshot
            ),
            store_of(table).file_io,
        ).read_all()
        keys = hash_codes([rows[field.name] for field in fields], [f.type for f in fields])
        assert set(np.unique(keys).tolist()) <= hashes[split.partition, split.bucket]
