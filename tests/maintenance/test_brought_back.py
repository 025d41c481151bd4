"""Files that a later snapshot adds again: they stay as long as any snapshot has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import paimonlab as pl
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.spec.commit_message import CommitMessage
from tests.maintenance.expiring_tables import filled, ids, new_table, opened, put, unaccounted


def _bring_back(table: pl.Table, **state: Any) -> None:
    (one,) = table_to_entries(table.scan(**state).plan().files)
    message = CommitMessage(
        partition=one.partition, bucket=0, total_buckets=1, new_files=(one.file,)
    )
    table.commit([message])


def test_going_back_leaves_what_older_snapshots_have(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path), 2)
    _bring_back(table, snapshot=1)

    table.maintenance.rollback_to(snapshot=2)

    assert [ids(opened(tmp_path).scan(snapshot=one)) for one in (1, 2)] == [[1], [2]]
    assert not unaccounted(opened(tmp_path))


def test_deleting_a_tag_leaves_what_younger_snapshots_have(tmp_path: Path) -> None:
    table = filled(new_table(tmp_path), 1)
    table.tags.create("first")
    put(table, {2: "v"})
    table.maintenance.expire_snapshots(retain_max=1)
    _bring_back(table, tag="first")

    table.tags.delete("first")

    assert ids(opened(tmp_path).scan()) == [1, 2]
    assert not unaccounted(opened(tmp_path))
