"""Which files are alive in tables that Java wrote, and what pruning may leave out of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.plan import Plan, ScanRequest, plan
from paimonlab.scan.sequences import restore_sequence_numbers
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import LocalFileIO
from tests.golden import RELEASES, golden

POSTPONED = "postpone"
"""Not all of its rows have buckets yet."""
LISTED_AT_SNAPSHOT = {"evo_avro": 4, "evo_orc": 4, "evo_parquet": 4}
"""Tables that were compacted after their files were listed."""
NAMES = [
    (writer, file.stem)
    for writer in RELEASES
    for file in sorted((golden(writer) / "expected").glob("*.json"))
]


class _Golden:
    """One table that Java wrote."""

    def __init__(self, writer: str, name: str) -> None:
        root = golden(writer)
        self.expected: dict[str, Any] = json.loads(
            (root / "expected" / f"{name}.json").read_text(encoding="utf-8")
        )
        self.layout = TableLayout(str(root / self.expected["path"]))
        self.file_io = LocalFileIO()
        self.snapshots = SnapshotManager(self.file_io, self.layout)
        self.schemas = SchemaManager(self.file_io, self.layout)
        self.manifests = ManifestStore(self.file_io, self.layout)

    def plan(self, snapshot: Snapshot | None) -> Plan:
        schema = self.schemas.latest()
        assert schema is not None
        options = Options(schema.options).slice(ScanOptions)
        # Files that wait for compaction are listed, too, although readers may not see them.
        options = structs.replace(options, has_deletion_vectors=False, is_first_row=False)
        return plan(ScanRequest(snapshot=snapshot), schema, self.schemas, self.manifests, options)


def _planned(made: Plan) -> list[tuple[object, ...]]:
    return sorted(
        (
            split.bucket,
            split.total_buckets,
            file.file_name,
            file.file_size_bytes,
            file.row_count,
            file.level,
            file.schema_id,
            file.min_sequence_number,
            file.max_sequence_number,
            file.delete_row_count,
        )
        for split in made.splits
        for file in split.files
    )


def _listed(expected: dict[str, Any]) -> list[tuple[object, ...]]:
    keys = ("name", "size", "rows", "level", "schema", "minSeq", "maxSeq", "deleteRows")
    return sorted(
        (entry["bucket"], entry["totalBuckets"], *(entry["file"][key] for key in keys))
        for entry in expected["files"]
        if entry["bucket"] >= 0  # others wait for compaction
    )


@pytest.mark.parametrize(("writer", "name"), NAMES)
def test_the_files_java_lists_are_planned(writer: str, name: str) -> None:
    table = _Golden(writer, name)
    listed_at = LISTED_AT_SNAPSHOT.get(name)

    latest = table.snapshots.get(listed_at) if listed_at else table.snapshots.latest()
    made = table.plan(latest)

    assert _planned(made) == _listed(table.expected)
    assert made.left("files") == len(table.expected["files"])
    for split in made.splits:
        folder = Path(table.layout.table_path, split.bucket_path)
        assert all((folder / file.file_name).is_file() for file in split.files)


@pytest.mark.parametrize(("writer", "name"), NAMES)
def test_every_snapshot_and_tag_is_planned(writer: str, name: str) -> None:
    table = _Golden(writer, name)
    found = table.snapshots.list()

    for snapshot in found:
        made = table.plan(snapshot)
        if name != POSTPONED:
            assert made.files["row_count"].to_numpy().sum() == snapshot.total_record_count
    tags = TagManager(table.file_io, table.layout).list()

    assert {tag for tag, _ in tags} == set(table.expected["tags"])
    for _, tagged in tags:
        table.plan(tagged)


@pytest.mark.parametrize("name", ["pk_dedup", "pk_part", "append_bucketed", "lsm"])
@pytest.mark.parametrize("writer", RELEASES)
def test_sequence_numbers_go_on_from_what_java_wrote(writer: str, name: str) -> None:
    table = _Golden(writer, name)
    expected: dict[tuple[Any, ...], int] = {}
    for entry in table.expected["files"]:
        bucket = (*map(str, entry["partition"]), entry["bucket"], entry["totalBuckets"])
        expected[bucket] = max(expected.get(bucket, -1), entry["file"]["maxSeq"])

    restored = restore_sequence_numbers(table.snapshots.latest(), table.manifests)

    assert sorted(restored["max_sequence_number"].to_pylist()) == sorted(expected.values())
    assert restored.num_rows == len(expected)
