"""Others replace what is being compacted, and let it expire: nothing is taken for damage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.table.table import Table
from tests.fault_io import FaultFileIO
from tests.maintenance.expiring_tables import opened, unaccounted
from tests.small_tables import UNSYNCED

VECTORS = {"deletion-vectors.enabled": "true"}
KEYS = {"primary_keys": ["id"]}


@dataclass
class Overtaken(FaultFileIO):
    """Lets others act before files in a folder are read."""

    folder: str = ""
    others: Callable[[], object] | None = None

    def call(self, method: str, path: str, action: Any) -> Any:
        """Make a call."""
        if method == "open_input" and self.folder in path and self.others is not None:
            others, self.others = self.others, None
            others()
        return super().call(method, path, action)


def _overtaken(path: Path, folder: str, definition: Mapping[str, Any]) -> tuple[Table, Overtaken]:
    """Make a table with rows 0 to 9 of which one was written or deleted later."""
    catalog = pl.connect(path)
    catalog.create_database("db")
    columns = {"id": "INT NOT NULL", "v": "INT"}
    made = catalog.create_table("db.t", columns, **definition)
    assert isinstance(made, Table)
    made.write(_rows(dict.fromkeys(range(10), 0)))
    made.compact(full=True)
    if made.primary_keys:
        made.write(_rows({1: 1}))
    else:
        made.delete("id = 1")

    def replace() -> None:
        other = opened(path)
        if not made.primary_keys:
            other.delete("id = 2")
        other.compact(full=True)
        other.maintenance.expire_snapshots(retain_max=1, retain_min=1)

    store = Overtaken(UNSYNCED, folder=folder, others=replace)
    return opened(path, store), store


def _rows(values: Mapping[int, int]) -> pa.Table:
    ids, found = (pa.array(given, pa.int32()) for given in (values, values.values()))
    return pa.table({"id": ids, "v": found})


def _found(table: Table) -> dict[int, int]:
    return dict(zip(*table.scan().to_arrow().to_pydict().values(), strict=True))


@pytest.mark.parametrize("folder", ["/index/", "/bucket-0/"])
@pytest.mark.parametrize(
    "definition",
    [
        KEYS | {"options": {"bucket": "1", **VECTORS}},
        {"options": VECTORS | {"compaction.delete-ratio-threshold": "0.01"}},
    ],
    ids=["keys", "append"],
)
def test_compacting_begins_anew(tmp_path: Path, folder: str, definition: Mapping[str, Any]) -> None:
    table, store = _overtaken(tmp_path, folder, definition)

    table.compact(full=True)

    assert store.others is None, "somebody was faster"
    expected = dict.fromkeys(range(10), 0)
    if table.primary_keys:
        expected[1] = 1
    else:
        del expected[1], expected[2]
    assert _found(table) == expected
    assert not unaccounted(table)


@pytest.mark.parametrize("folder", ["/index/", "/bucket-0/"])
def test_rows_land_and_are_compacted_later(tmp_path: Path, folder: str) -> None:
    table, store = _overtaken(tmp_path, folder, KEYS | {"options": {"bucket": "1", **VECTORS}})

    table.write(_rows({2: 2}))

    assert store.others is None, "somebody was faster"
    assert table.compact().snapshot is not None
    assert _found(table) == dict.fromkeys(range(10), 0) | {1: 1, 2: 2}
    assert not unaccounted(table)


def test_appended_rows_land_and_are_compacted_later(tmp_path: Path) -> None:
    options = {"bucket": "1", "bucket-key": "id", "compaction.min.file-num": "2"}
    table, store = _overtaken(tmp_path, "/bucket-0/", {"options": options})

    table.write(_rows({10: 2}))

    assert store.others is None, "somebody was faster"
    expected = dict.fromkeys(range(10), 0) | {10: 2}
    assert _found(table) == {key: value for key, value in expected.items() if key not in (1, 2)}
    assert not unaccounted(table)


Verb = Callable[[Table], object]
SMALL = {"bucket": "1", "bucket-key": "id", "compaction.min.file-num": "2"}


@pytest.mark.parametrize(
    ("verb", "definition"),
    [
        (lambda table: table.maintenance.rescale(buckets=2), KEYS | {"options": {"bucket": "1"}}),
        (lambda table: table.maintenance.rescale(buckets=2), {"options": SMALL}),
        (
            lambda table: table.maintenance.rewrite_file_index(),
            KEYS | {"options": {"bucket": "1", "file-index.bloom-filter.columns": "v"}},
        ),
        (lambda table: table.compact(), KEYS | {"options": {"bucket": "-2"}}),
    ],
    ids=["rescale keys", "rescale appends", "index", "postponed"],
)
def test_other_verbs_begin_anew(tmp_path: Path, verb: Verb, definition: Mapping[str, Any]) -> None:
    table, store = _overtaken(tmp_path, "/bucket-", definition)

    verb(table)

    assert store.others is None, "somebody was faster"
    assert len(_found(table)) >= 8
    assert not unaccounted(table)
