from __future__ import annotations

from pathlib import Path

import pytest

from paimonlab.errors import (
    AlreadyExistsError,
    ArgumentError,
    FunctionNotFoundError,
    SchemaError,
    ViewNotFoundError,
)
from paimonlab.procedures import bind, find
from paimonlab.spec.function import LambdaDefinition
from paimonlab.storage import LocalFileIO
from tests.catalog.contracts import VIEW
from tests.catalog.kept import KeepingCatalog


@pytest.fixture
def kept(tmp_path: Path) -> KeepingCatalog:
    catalog = KeepingCatalog(str(tmp_path), LocalFileIO())
    catalog.create_database("db")
    catalog.create_view("db.v", VIEW)
    return catalog


def call(catalog: KeepingCatalog, *arguments: object, name: str = "alter_view_dialect") -> object:
    procedure = find(name)
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


def test_functions_are_created_altered_and_dropped(kept: KeepingCatalog) -> None:
    # The calls of Java's FunctionProcedureTest.
    inputs = '[{"id": 0, "name":"length", "type":"INT"}, {"id": 1, "name":"width", "type":"INT"}]'
    returns = '[{"id": 0, "name":"area", "type":"BIGINT"}]'
    made = call(
        kept, "db.f", inputs, returns, True, "comment", "k1=v1,k2=v2", name="create_function"
    )
    assert made == [{"result": True}]
    call(
        kept,
        "db.f",
        '{"action" : "addDefinition", "name" : "spark", "definition" : {"type" : "lambda", '
        '"definition" : "(Integer length, Integer width) -> { return (long) length * width; }", '
        '"language": "JAVA" } }',
        name="alter_function",
    )

    function = kept.function("db.f")
    assert [field.name for field in function.input_params] == ["length", "width"]
    assert [field.name for field in function.return_params] == ["area"]
    assert function.is_deterministic
    assert (function.comment, function.options) == ("comment", {"k1": "v1", "k2": "v2"})
    assert isinstance(function.definitions["spark"], LambdaDefinition)
    for change, said in {
        '{"action": "setOption", "key": "k1", "value": "w"}': {"k1": "w", "k2": "v2"},
        '{"action": "removeOption", "key": "k1"}': {"k2": "v2"},
    }.items():
        call(kept, "db.f", change, name="alter_function")
        assert kept.function("db.f").options == said

    call(kept, "db.f", name="drop_function")
    with pytest.raises(FunctionNotFoundError):
        call(kept, "db.f", name="drop_function")


def test_what_is_no_parameter_or_change_is_an_error(kept: KeepingCatalog) -> None:
    for inputs in ("x INT", '{"id": 0}', '[{"id": 0, "name": "x"}]', '[{"id": 0, "type": "NO"}]'):
        with pytest.raises(ArgumentError, match="inputParams"):
            call(kept, "db.f", inputs, "[]", name="create_function")
    with pytest.raises(ArgumentError, match="change"):
        call(kept, "db.f", '{"action": "rename"}', name="alter_function")

    assert kept.functions("db") == []
