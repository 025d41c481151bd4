"""What a commit costs does not grow with the commits before it.

Counted are calls of the store and bytes, not time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.metadata.manifest_cache import shared_cache
from paimonlab.table.table import Table
from tests.fault_io import FaultFileIO
from tests.maintenance.expiring_tables import opened
from tests.small_tables import UNSYNCED

CYCLE = 40
"""Commits that are compared: they merge manifests twice, and each lets a snapshot go."""
WARM = 30
"""Commits until snapshots expire and there are runs of all sizes."""
LATE = 110
OPTIONS = {
    "snapshot.num-retained.max": "20",
    "snapshot.num-retained.min": "10",
    "manifest.merge-min-count": "20",
}


@dataclass
class Metered(FaultFileIO):
    """Counts what goes to the store and comes from it."""

    moved_bytes: int = 0

    def call(self, method: str, path: str, action: Any) -> Any:
        """Make a call; a file that is opened counts as if all of it were read."""
        result = super().call(method, path, action)
        if method == "read":
            self.moved_bytes += len(result)
        elif method == "open_input":
            self.moved_bytes += result.size()
        elif method == "output.write":
            self.moved_bytes += result
        elif method == "list_names":
            self.moved_bytes += sum(map(len, result))
        return result


def _metered(path: Path, **definition: Any) -> tuple[Table, Metered]:
    catalog = pl.connect(path)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "BIGINT NOT NULL", "v": "STRING"}, **definition)
    store = Metered(UNSYNCED)
    return opened(path, store), store


def _cycle(table: Table, store: Metered, first: int) -> tuple[float, float]:
    """Commit rows; return calls and bytes a snapshot."""
    before = table.snapshots.latest_id() or 0
    store.calls.clear()
    store.moved_bytes = 0
    _written(table, range(first, first + CYCLE))
    count = (table.snapshots.latest_id() or 0) - before
    return len(store.calls) / count, store.moved_bytes / count


def _written(table: Table, numbers: Iterable[int]) -> None:
    for number in numbers:
        table.write(pa.table({"id": [number], "v": ["x"]}))


@pytest.mark.parametrize(
    "definition",
    [
        {"primary_keys": ["id"], "options": {"bucket": "1", **OPTIONS}},
        {"options": OPTIONS},
    ],
    ids=["primary key", "append"],
)
def test_a_late_commit_costs_what_an_early_one_did(
    tmp_path: Path, definition: Mapping[str, Any]
) -> None:
    table, store = _metered(tmp_path, **definition)
    _written(table, range(WARM))
    early_calls, early_bytes = _cycle(table, store, WARM)
    _written(table, range(WARM + CYCLE, LATE))

    late_calls, late_bytes = _cycle(table, store, LATE)

    assert late_calls < 1.05 * early_calls
    assert late_bytes < 1.2 * early_bytes


def test_manifests_that_expired_are_not_kept_in_memory(tmp_path: Path) -> None:
    table, store = _metered(
        tmp_path, options={"snapshot.num-retained.max": "2", "snapshot.num-retained.min": "1"}
    )
    _written(table, range(8))

    written = {path for method, path in store.calls if method == "create"}
    there = {path for path in written if Path(path).exists()}
    kept = {path for path in written if shared_cache.get(path) or shared_cache.get_list(path)}
    assert len(there) < len(written), "something has expired"
    assert kept, "what is there is kept"
    assert kept <= there
