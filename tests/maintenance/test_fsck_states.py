"""Following which files are alive from one state to another, while a table is checked."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from paimonlab.maintenance.fsck.states import FileState
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import live
from paimonlab.scan.live_files import manifests_of
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.inside import store_of
from tests.maintenance.expiring_tables import new_table, opened, put


def states_of(path: Path, commits: int) -> tuple[ManifestStore, Sequence[Snapshot]]:
    table = new_table(
        path,
        write_only="false",
        num_sorted_run__compaction_trigger="2",
        manifest__merge_min_count="5",
    )
    for number in range(commits):
        put(table, {number % 5: str(number)}, replaces=False)
    store = store_of(opened(path))
    return store.manifests, store.snapshots.list()


def test_each_state_has_the_files_that_all_of_its_manifests_give(tmp_path: Path, seed: int) -> None:
    manifests, snapshots = states_of(tmp_path, 20)
    state = FileState()
    for snapshot in [*snapshots, *random.Random(seed).sample(snapshots, len(snapshots))]:
        metas = {meta.file_name: meta for meta in manifests_of(snapshot, manifests)}
        removed = [meta for name, meta in state.manifests.items() if name not in metas]
        added = [meta for name, meta in metas.items() if name not in state.manifests]

        moved = state.move(metas, manifests.read(removed), manifests.read(added))

        expected = live(manifests.read(metas.values()))
        assert moved is not None
        names = sorted(str(identity[3]) for identity in state.rows)
        assert names == sorted(expected["file_name"].to_pylist())
        assert state.row_count == sum(expected["row_count"].to_pylist())
        deep = expected.filter(pa.array([level > 0 for level in expected["level"].to_pylist()]))
        found = {name for group in state.deep.values() for name in group}
        assert found == set(deep["file_name"].to_pylist())


def test_a_file_that_is_added_twice_is_not_followed(tmp_path: Path) -> None:
    manifests, snapshots = states_of(tmp_path, 1)
    metas = {meta.file_name: meta for meta in manifests_of(snapshots[0], manifests)}
    tables = manifests.read(metas.values())

    assert FileState().move(metas, [], [*tables, *tables]) is None


def test_a_check_takes_each_manifest_up_a_few_times_however_many_states_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states_of(tmp_path, 40)
    table = opened(tmp_path)
    for snapshot_id in range(1, 40, 2):
        table.tags.create(f"t{snapshot_id}", snapshot=snapshot_id)
    asked = list[str]()
    read = ManifestStore.read

    def counted(
        self: ManifestStore, metas: Iterable[ManifestFileMeta], *, referrer: str = ""
    ) -> list[pa.Table]:
        metas = list(metas)
        asked.extend(meta.file_name for meta in metas)
        return read(self, metas, referrer=referrer)

    monkeypatch.setattr(ManifestStore, "read", counted)
    report = table.fsck()

    assert report.is_clean
    assert len(asked) <= 6 * len(set(asked))
