"""What keeps files, while some of it goes."""

from __future__ import annotations

from pathlib import Path

from paimonlab.maintenance.needed import needed
from paimonlab.maintenance.roots import Root, snapshots_of
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.upkeep.history import history_of
from tests.maintenance.expiring_tables import new_table, opened, put


def test_what_the_oldest_snapshot_kept_the_next_one_keeps(tmp_path: Path) -> None:
    """It expires after it was found and before it is read; its file is in the others, too."""
    made = new_table(tmp_path, snapshot__num_retained__min="1")
    for number in range(3):
        put(made, {number: "v"}, replaces=False)
    definition, store = definition_of(opened(tmp_path)), store_of(opened(tmp_path))
    names = frozenset(made.scan(snapshot=1).plan().files["file_name"].to_pylist())
    finds = []

    def find() -> list[Root]:
        finds.append(snapshots_of(store.layout, store.file_io))
        if len(finds) == 1:
            made.maintenance.expire_snapshots(retain_max=1)
        return finds[-1]

    kept = needed(find, history_of(definition, store).reader, store.file_io, data_names=names)

    assert [len({root.snapshot.id for root in found}) for found in finds] == [3, 1]
    assert names <= {path.rpartition("/")[2] for path in kept}
