from __future__ import annotations

from pathlib import Path

import pytest

from paimonlab.errors import AlreadyExistsError, ArgumentError, SchemaError, ViewNotFoundError
from paimonlab.procedures import bind, find
from paimonlab.storage import LocalFileIO
from tests.catalog.contracts import VIEW
from tests.catalog.kept import KeepingCatalog


@pytest.fixture
def kept(tmp_path: Path) -> KeepingCatalog:
    catalog = KeepingCatalog(str(tmp_path), LocalFileIO())
    catalog.create_database("db")
    catalog.create_view("db.v", VIEW)
    return catalog


def call(catalog: KeepingCatalog, *arguments: object) -> object:
    procedure = find("alter_view_dialect")
    return procedure.call(catalog, bind(procedure, list(arguments))).to_pylist()


def test_dialects_of_a_view_are_added_changed_and_dropped(kept: KeepingCatalog) -> None:
    # The calls of Java's AlterViewDialectProcedureTest: without an engine Spark is meant.
    assert call(kept, "db.v", "add", "", "SELECT 3") == [{"result": True}]
    call(kept, "db.v", "update", "flink", "SELECT 4")
    assert kept.view("db.v").dialects == {"flink": "SELECT 4", "spark": "SELECT 3"}

    call(kept, "db.v", "drop", "flink")
    call(kept, "db.v", "drop")
    assert kept.view("db.v").dialects == {}
    assert kept.view("db.v").query_in("spark") == VIEW.query


def test_what_cannot_be_done_changes_nothing(kept: KeepingCatalog) -> None:
    with pytest.raises(AlreadyExistsError, match="dialect flink"):
        call(kept, "db.v", "add", "flink", "SELECT 3")
    with pytest.raises(SchemaError, match="no dialect 'spark'"):
        call(kept, "db.v", "update", "spark", "SELECT 3")
    with pytest.raises(ArgumentError, match="query must not be empty"):
        call(kept, "db.v", "add", "trino")
    with pytest.raises(ArgumentError, match="'put' is not add, update or drop"):
        call(kept, "db.v", "put", "trino", "SELECT 3")
    with pytest.raises(ViewNotFoundError):
        call(kept, "db.w", "drop", "flink")

    assert kept.view("db.v") == VIEW
