from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from paimonlab.errors import CorruptMetadataError, SchemaNotFoundError
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.schema.definition import Schema, new_table_schema
from tests.fault_io import Fault, FaultFileIO
from tests.small_tables import UNSYNCED

FIRST = new_table_schema(Schema({"id": "BIGINT"}), time_millis=5)


def test_a_schema_is_published_once(tmp_path: Path) -> None:
    manager = SchemaManager(UNSYNCED, TableLayout(str(tmp_path)))

    assert manager.latest() is None
    assert manager.publish(FIRST)
    assert not manager.publish(replace(FIRST, comment="late"))
    assert manager.publish(replace(FIRST, id=1))

    assert manager.latest() == replace(FIRST, id=1)
    assert manager.list() == [FIRST, replace(FIRST, id=1)]


def test_ten_comes_after_nine(tmp_path: Path) -> None:
    manager = SchemaManager(UNSYNCED, TableLayout(str(tmp_path)))
    for schema_id in (9, 10, 2):
        manager.publish(replace(FIRST, id=schema_id))

    assert manager.ids() == [2, 9, 10]


def test_a_missing_and_a_damaged_schema_are_named(tmp_path: Path) -> None:
    manager = SchemaManager(UNSYNCED, TableLayout(str(tmp_path)), table_name="db.t")
    manager.publish(FIRST)
    (tmp_path / "schema" / "schema-1").write_bytes(FIRST.to_json())

    with pytest.raises(SchemaNotFoundError, match=r"db.t: schema 4"):
        manager.get(4)
    with pytest.raises(CorruptMetadataError, match=r"schema-1.*says that it is schema 0"):
        manager.get(1)


@pytest.mark.parametrize("after", [False, True])
def test_a_failing_store_does_not_hide_that_the_schema_landed(tmp_path: Path, after: bool) -> None:
    file_io = FaultFileIO(UNSYNCED, Fault("error", at=1, after=after, only="publish"))
    manager = SchemaManager(file_io, TableLayout(str(tmp_path)))

    assert manager.publish(FIRST)
    assert manager.latest() == FIRST


def test_the_latest_schema_is_found_again_without_a_listing(tmp_path: Path) -> None:
    store = FaultFileIO(UNSYNCED)
    manager, other = (SchemaManager(io, TableLayout(str(tmp_path))) for io in (store, UNSYNCED))
    other.publish(FIRST)

    found = [manager.latest(), manager.latest()]
    other.publish(replace(FIRST, id=1))
    found.append(manager.latest())

    assert [one.id for one in found if one] == [0, 0, 1]
    assert len([method for method, _ in store.calls if method == "list_names"]) == 2
    for number in (0, 1):
        (tmp_path / f"schema/schema-{number}").unlink()
    assert manager.latest() is None
