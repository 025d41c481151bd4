"""Which files many tags keep, and what finding that out reads."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from paimonlab.maintenance.needed import needed
from paimonlab.maintenance.references import ReferenceReader, union
from paimonlab.maintenance.roots import Root, tags_of
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.upkeep.history import history_of
from tests.maintenance.expiring_tables import new_table, opened, put

COMMITS = 12


@pytest.fixture
def history(tmp_path: Path) -> TableHistory:
    """Make a history in which each commit but the first few deletes files, all of it tagged."""
    table = new_table(tmp_path, write_only="false", num_sorted_run__compaction_trigger="2")
    for number in range(COMMITS):
        put(table, {number % 5: str(number)}, replaces=False)
    for snapshot_id in range(1, table.snapshot.id + 1 if table.snapshot else 0, 2):
        table.tags.create(f"t{snapshot_id}", snapshot=snapshot_id)
    again = opened(tmp_path)
    return history_of(definition_of(again), store_of(again))


def test_tags_keep_what_reading_them_takes(history: TableHistory) -> None:
    roots = tags_of(history.layout, history.file_io)
    files = union(history.reader.of_state(root.snapshot) for root in roots)
    for order in (roots, roots[::-1], [*roots[1::2], *roots[::2]]):
        kept = found(order, history, files.data_names)

        assert kept == files.all


def test_of_data_files_only_those_are_kept_that_are_asked_for(history: TableHistory) -> None:
    roots = tags_of(history.layout, history.file_io)
    files = union(history.reader.of_state(root.snapshot) for root in roots)
    wanted = frozenset(sorted(files.data_names)[::2])

    kept = found(roots, history, wanted)

    asked = {path for path in files.data if path.rpartition("/")[2] in wanted}
    assert kept == (files.all - files.data) | asked


def test_each_entry_is_looked_at_once_however_many_tags_have_it(
    history: TableHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = tags_of(history.layout, history.file_io)
    looked_at = list[tuple[str, int]]()
    data_files = ReferenceReader.data_files

    def counted(self: ReferenceReader, entries: pa.Table) -> list[tuple[str, ...]]:
        looked_at.extend(
            zip(*(entries[name].to_pylist() for name in ("file_name", "kind")), strict=True)
        )
        return data_files(self, entries)

    files = union(history.reader.of_state(root.snapshot) for root in roots)
    monkeypatch.setattr(ReferenceReader, "data_files", counted)
    found(roots, history, files.data_names)

    assert len(roots) > 5
    assert len(looked_at) <= 2 * len(set(looked_at))  # merged manifests repeat entries


def found(roots: list[Root], history: TableHistory, names: frozenset[str]) -> set[str]:
    return needed(lambda: roots, history.reader, history.file_io, data_names=names)
