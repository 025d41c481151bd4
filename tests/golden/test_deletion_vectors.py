"""Every deletion vector of the golden tables is read, and written again byte for byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import paimonlab
from paimonlab.formats.deletion_vectors import (
    cut_deletion_vector,
    decode_deletion_vector,
    encode_deletion_vector,
)
from paimonlab.formats.manifests.index_manifest import read_index_manifest
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.manifests.index_manifest import DELETION_VECTORS
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.golden import RELEASES, ROOTS, golden


def stored_vectors(root: Path, *manifests: Path) -> Iterator[tuple[str, str, bytes]]:
    """Index file, data file and bytes of every vector that index manifests name; none: all."""
    files = {path.name: path for path in root.rglob("index-*") if path.is_file()}
    for manifest in manifests or sorted(root.rglob("manifest/index-manifest-*")):
        if b"avro" not in manifest.read_bytes():
            continue  # manifests in other formats have tests of their own
        for entry in read_index_manifest(manifest.read_bytes(), path=str(manifest)):
            if entry.index_type != DELETION_VECTORS or entry.file_name not in files:
                continue
            path = files[entry.file_name]
            for vector in entry.deletion_vectors or ():
                data = cut_deletion_vector(
                    path.read_bytes(), vector.offset, vector.length_bytes, path=str(path)
                )
                found = decode_deletion_vector(data, path=str(path))
                assert vector.cardinality in (None, found.cardinality)
                yield entry.file_name, vector.data_file_name, data


@pytest.mark.parametrize("writer", ROOTS)
def test_vectors_are_written_as_they_were_read(writer: str) -> None:
    seen = 0

    for _, _, data in stored_vectors(golden(writer) / "wh"):
        vector = decode_deletion_vector(data, path=writer)
        assert encode_deletion_vector(vector, bitmap64=data[4] == 0xD1) == data
        seen += 1

    assert seen or not writer.startswith("java")


@pytest.mark.parametrize("writer", RELEASES)
def test_the_positions_are_those_java_shows(writer: str) -> None:
    root = golden(writer)
    found = {
        (index, file): decode_deletion_vector(data, path=index).positions().tolist()
        for index, file, data in stored_vectors(root / "wh")
    }
    seen = 0

    for document in sorted((root / "expected").glob("*.json")):
        for entry in json.loads(document.read_text(encoding="utf-8")).get("index_manifest") or []:
            for name, positions in entry.get("vectors", {}).items():
                assert found[entry["file"], name] == positions
                seen += 1

    assert seen


def newest_rows(table: Table, snapshot: Snapshot) -> list[dict[str, Any]]:
    """Merge all rows of a table with the key ``a`` that are not deleted, in the plainest way."""
    deleted: dict[str, list[int]] = {}
    if snapshot.index_manifest is not None:
        manifest = Path(table.path, "manifest", snapshot.index_manifest)
        deleted = {
            name: decode_deletion_vector(data, path=name).positions().tolist()
            for _, name, data in stored_vectors(Path(table.path), manifest)
        }
    newest: dict[int, dict[str, Any]] = {}
    for entry in live_entries(snapshot, store_of(table).manifests).to_pylist():
        path = Path(table.path, f"bucket-{entry['bucket']}", entry["file_name"])
        for position, row in enumerate(pq.read_table(path).to_pylist()):
            is_newer = row["_SEQUENCE_NUMBER"] >= newest.get(row["a"], row)["_SEQUENCE_NUMBER"]
            if is_newer and position not in deleted.get(entry["file_name"], ()):
                newest[row["a"]] = row
    return [
        {name: value for name, value in row.items() if not name.startswith("_")}
        for row in newest.values()
        if row["_VALUE_KIND"] in {RowKind.INSERT, RowKind.UPDATE_AFTER}
    ]


DELETED_BY_KEY = ["pk_dv", "pk_dv_small", "dv64_pk", "idx_in_data_dir", "lookup_dv"]


@pytest.mark.parametrize("name", DELETED_BY_KEY)
@pytest.mark.parametrize("writer", RELEASES)
def test_merge_on_read_sees_what_is_not_compacted_yet(writer: str, name: str) -> None:
    table = paimonlab.connect(golden(writer) / "wh").table(f"db.{name}")
    assert isinstance(table, Table)
    hidden = 0

    for snapshot in table.snapshots.list():
        whole = table.scan(snapshot=snapshot.id, options={"deletion-vectors.merge-on-read": "true"})
        rows = sorted(whole.to_arrow().to_pylist(), key=lambda row: row["a"])
        counts = dict(table.scan(snapshot=snapshot.id).plan().funnel())
        hidden += counts["after buckets"] - counts.get("compacted", counts["after buckets"])

        assert rows == sorted(newest_rows(table, snapshot), key=lambda row: row["a"])
        assert whole.count() == len(rows)

    assert hidden or name != "pk_dv"
