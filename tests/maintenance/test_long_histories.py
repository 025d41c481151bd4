"""What planning to let many snapshots go reads: each file once, however many tags there are."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paimonlab.maintenance import candidates
from paimonlab.maintenance.manifest_entries import ManifestEntries
from paimonlab.maintenance.retention import RetentionRequest
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiryRequest, expire_snapshots
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.metadata.manifest_cache import ManifestCache
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.storage import LocalFileIO
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.upkeep.history import history_of
from tests.maintenance.expiring_tables import filled, new_table, opened, put, unaccounted

KEEP_ONE = RetentionRequest(retain_max=1, retain_min=1, max_deletes=1000)


def test_of_a_history_without_tags_each_file_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(new_table(tmp_path), 12)

    reads = _reads_of_plan(tmp_path, monkeypatch)

    # Of what commits changed all, of states the first and the last, and those that are kept.
    assert sum(name.startswith("manifest-list-") for name in reads) in range(14, 17)
    # The lists of the snapshot that is kept are read again, for what it needs.
    assert sorted(reads.values()) == [*[1] * (len(reads) - 1), 2]


def test_manifests_are_read_once_though_tags_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = filled(new_table(tmp_path), 12)
    for snapshot_id in range(1, 12, 2):
        table.tags.create(f"t{snapshot_id}", snapshot=snapshot_id)

    reads = _reads_of_plan(tmp_path, monkeypatch)

    manifests = {name: count for name, count in reads.items() if "-list-" not in name}
    assert len(manifests) >= 12
    assert set(manifests.values()) == {1}


@pytest.mark.parametrize("at_once", [1, 2, 5, 100])
def test_it_does_not_matter_how_many_commits_are_looked_at_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(candidates, "_AT_ONCE", at_once)
    table = new_table(
        tmp_path,
        write_only="false",
        num_sorted_run__compaction_trigger="2",
        changelog_producer="lookup",
    )
    for number in range(9):
        put(table, {number % 3: str(number)}, replaces=False)
        table.tags.create(f"t{number}")
    for number in (1, 2, 5):
        table.tags.delete(f"t{number}")
    table.branches.create("b", tag="t3")

    expired = table.maintenance.expire_snapshots(retain_max=1, retain_min=1, max_deletes=1000)

    assert expired.files.counts()["data"] > 2
    assert expired.files.counts()["changelog"] > 2
    assert unaccounted(opened(tmp_path)) == set()


@pytest.mark.parametrize("limit_bytes", [0, 1 << 10, 1 << 20])
def test_entries_are_the_same_whether_they_were_read_before(
    tmp_path: Path, limit_bytes: int
) -> None:
    table = filled(new_table(tmp_path), 5)
    opened_table = opened(tmp_path)
    manifests = store_of(opened_table).manifests
    metas = list[ManifestFileMeta]()
    for snapshot in table.snapshots.list():
        metas += manifests.read_list(snapshot.delta_manifest_list)
    expected = [manifests.read([meta])[0].select(["kind", "file_name"]) for meta in metas]
    entries = ManifestEntries(manifests, limit_bytes=limit_bytes)

    for order in ([0, 1], [1, 2, 0], [3, 3, 1], [*range(len(metas))]):
        read = entries.read([metas[number] for number in order])

        rows = [row for number in order for row in expected[number].to_pylist()]
        assert read.table.select(["kind", "file_name"]).to_pylist() == rows
        assert list(read.counts) == [expected[number].num_rows for number in order]


def _reads_of_plan(path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often planning reads each manifest and list, where none is cached."""
    history = _uncached(path)
    reads = Counter[str]()
    read = LocalFileIO.read

    def counted(self: LocalFileIO, path: str, **options: Any) -> bytes:
        if "/manifest/" in path:
            reads[path.rpartition("/")[2]] += 1
        return read(self, path, **options)

    monkeypatch.setattr(LocalFileIO, "read", counted)
    plan = expire_snapshots(history, SnapshotExpiryRequest(retention=KEEP_ONE, dry_run=True))
    assert len(plan.snapshots) == 11
    return reads


def _uncached(path: Path) -> TableHistory:
    table = opened(path)
    store = store_of(table)
    history = history_of(definition_of(table), store)
    manifests = ManifestStore(store.file_io, store.layout, cache=ManifestCache(0))
    return replace(history, reader=replace(history.reader, manifests=manifests))
