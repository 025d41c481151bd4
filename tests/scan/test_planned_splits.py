"""Counts, and the splits that are enough, are those of all splits looked at one by one."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from paimonlab.formats.manifests.entry_rows import entries_to_table
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.planned_splits import PlannedSplits
from paimonlab.scan.split import DataSplit
from paimonlab.scan.split_making import place
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.manifests.index_manifest import DeletionVectorRange
from paimonlab.spec.manifests.manifest import FileKind, ManifestEntry
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.types.text import parse_type
from tests.scan.test_deletion_files import SNAPSHOT, file, index

SCHEMA = new_table_schema(Schema({"k": "INT NOT NULL"}, primary_keys=["k"]), time_millis=0)


def _planned(rng: np.random.Generator, *, has_row_ids: bool) -> PlannedSplits:
    """Plan files of two buckets that overlap, hold deletes, have vectors, or none of it."""
    files, vectors = [], {}
    for number in range(int(rng.integers(12))):
        low, name = int(rng.integers(60)), f"f{number}"
        made = file(name, low, low + int(rng.integers(9)), deletes=int(rng.random() < 0.3))
        row_id = int(rng.integers(3)) * 100 if has_row_ids else None
        files.append(structs.replace(made, row_count=int(rng.integers(1, 20)), first_row_id=row_id))
        if rng.random() < 0.3:
            deleted = 1 if rng.random() < 0.5 else None
            vectors[name] = index("i"), DeletionVectorRange(name, 1, 20, deleted)
    entries = entries_to_table(
        [
            ManifestEntry(
                kind=FileKind.ADD,
                partition=EMPTY_ROW,
                bucket=int(rng.integers(2)),
                total_buckets=2,
                file=one,
            )
            for one in files
        ]
    )
    return PlannedSplits(
        snapshot=SNAPSHOT,
        files=entries,
        placement=place(entries, [parse_type("INT")]),
        schema=SCHEMA,
        options=ScanOptions(split_target_bytes=250, open_file_cost_bytes=1),
        deletion_files=DeletionFiles(vectors),
    )


def _enough(splits: list[DataSplit], limit: int) -> list[DataSplit]:
    raw = [split for split in splits if split.raw_convertible]
    for count in range(len(raw) + 1):
        if sum(split.least_row_count for split in raw[:count]) >= limit:
            return raw[:count]
    return splits


def _without(split: DataSplit, names: set[str]) -> DataSplit:
    return split.with_files(lambda one: one.file_name not in names)


@pytest.mark.parametrize("has_row_ids", [False, True])
def test_a_count_and_enough_splits_are_those_of_all_splits(
    rng: np.random.Generator, *, has_row_ids: bool
) -> None:
    for _ in range(8):
        planned = _planned(rng, has_row_ids=has_row_ids)
        every = planned.all()

        for limit in (0, 1, 12, 40, 10_000):
            assert planned.enough_for(limit) == _enough(every, limit)
            planned.enough_for(limit).clear()
            assert planned.enough_for(limit) == _enough(every, limit), "asked again"
        known, others = planned.counted()

        if has_row_ids:
            assert (known, others) == (0, every)
            continue
        left = {one.file_name for split in others for one in split.files}
        counted = [_without(split, left) for split in every]
        assert known == sum(split.least_row_count for split in counted)
        assert all(split.has_known_deletions for split in counted)
        for split in every:
            is_known = split.raw_convertible and split.has_known_deletions
            names = {one.file_name for one in split.files}
            assert not (is_known and names & left), "nothing is read that metadata says"
            assert split.raw_convertible or names <= left, "what is merged is read"
