"""Manifests that are not Avro files."""

from __future__ import annotations

from pathlib import Path

import pytest

from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.manifests.manifest import read_entries, read_manifest_list
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA
from tests.golden import golden


def manifests(table: str) -> list[Path]:
    folder = golden("java-1.3.1") / "wh/db.db" / table / "manifest"
    return sorted(folder.iterdir())


@pytest.mark.parametrize("table", ["mani_orc", "mani_parquet"])
def test_every_manifest_and_list_is_read(table: str) -> None:
    counts = []
    for file in manifests(table):
        data = file.read_bytes()
        if file.name.startswith("manifest-list"):
            listed = read_manifest_list(data, path=file.name)
            counts += [meta.num_added_files + meta.num_deleted_files for meta in listed]
            assert {meta.file_name for meta in listed} <= {one.name for one in manifests(table)}
        else:
            entries = read_entries(data, path=file.name)
            assert entries.schema == ENTRY_SCHEMA
            times = entries["creation_time_millis"].to_pylist()
            assert all(1_700_000_000_000 < time < 1_900_000_000_000 for time in times)
    assert sum(counts) > 0


@pytest.mark.parametrize("table", ["mani_orc", "mani_parquet"])
@pytest.mark.parametrize("size", [3, 4, 10, 500])
def test_a_manifest_that_is_cut_is_named(table: str, size: int) -> None:
    file = manifests(table)[0]

    with pytest.raises(CorruptMetadataError, match=r"some/manifest"):
        read_entries(file.read_bytes()[:size], path="some/manifest")
