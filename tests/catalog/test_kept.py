from __future__ import annotations

import json
from pathlib import Path

import pytest

from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.format_table import FORMATS
from paimonlab.spec.function import Function
from paimonlab.spec.view import View
from paimonlab.storage import LocalFileIO
from tests.catalog.contracts import FUNCTION, VIEW, FunctionContract, ViewContract
from tests.catalog.format_contract import FormatTableContract
from tests.catalog.kept import KeepingCatalog


class TestKeepingCatalog(ViewContract, FunctionContract, FormatTableContract):
    formats = tuple(one for one in FORMATS if one != "text")

    @pytest.fixture
    def catalog(self, tmp_path: Path) -> KeepingCatalog:
        catalog = KeepingCatalog(str(tmp_path), LocalFileIO())
        catalog.create_database("db")
        return catalog


def test_the_document_of_a_view_is_that_of_java_paimon() -> None:
    # ViewSchema of 1.3.1: fields, query, dialects, comment if there is one, options.
    assert json.loads(VIEW.to_json()) == {
        "fields": [
            {"id": 0, "name": "id", "type": "BIGINT NOT NULL"},
            {"id": 1, "name": "v", "type": {"type": "ARRAY", "element": "STRING"}},
        ],
        "query": "SELECT 1 AS id, array('ü') AS v",
        "dialects": {"flink": "SELECT 1 AS id, ARRAY['ü'] AS v"},
        "comment": "it's one",
        "options": {"a": "1", "b": "2"},
    }


def test_the_document_of_a_function_is_that_of_java_paimon() -> None:
    # GetFunctionResponse and FunctionDefinition of 1.3.1, without name and uuid.
    assert json.loads(FUNCTION.to_json()) == {
        "inputParams": [
            {"id": 0, "name": "id", "type": "BIGINT NOT NULL"},
            {"id": 1, "name": "v", "type": {"type": "ARRAY", "element": "STRING"}},
        ],
        "returnParams": [{"id": 0, "name": "id", "type": "BIGINT NOT NULL"}],
        "deterministic": False,
        "definitions": {
            "spark": {
                "type": "lambda",
                "definition": "(Long id) -> { return id; }",
                "language": "JAVA",
            },
            "flink": {
                "type": "file",
                "fileResources": [{"resourceType": "JAR", "uri": "/a.jar"}],
                "language": "JAVA",
                "className": "a.B",
                "functionName": "b",
            },
        },
        "comment": "it's one",
        "options": {"a": "1"},
    }


def test_a_damaged_document_names_the_view_or_function() -> None:
    with pytest.raises(CorruptMetadataError, match=r"db\.f"):
        Function.from_json(b'{"inputParams": []}', name="db.f")
    with pytest.raises(CorruptMetadataError, match=r"db\.v"):
        View.from_json(b'{"fields": [], "query": 1}', name="db.v")
