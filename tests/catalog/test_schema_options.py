"""Which options a table may have together: refused is what Java Paimon opens no table with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.errors import SchemaError, UnsupportedError
from tests.schema_cases import COLUMNS, SchemaCase, schema_cases


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> pl.Catalog:
    opened = pl.connect(tmp_path_factory.mktemp("warehouse"))
    opened.create_database("db")
    return opened


@pytest.mark.parametrize("case", schema_cases(), ids=str)
def test_a_table_is_created_if_its_options_go_together(
    catalog: pl.Catalog, case: SchemaCase
) -> None:
    def create() -> None:
        catalog.create_table(
            "db.t",
            COLUMNS,
            primary_keys=case.primary_keys,
            partition_keys=case.partition_keys,
            options=case.options,
        )

    if case.error is None:
        create()
        catalog.drop_table("db.t")
        return
    with pytest.raises((SchemaError, UnsupportedError)) as caught:
        create()
    assert case.error in str(caught.value)


def test_a_change_is_refused_as_the_definition_would_be(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table("db.t", COLUMNS)

    for key, value in (
        ("full-compaction.delta-commits", "2"),
        ("scan.mode", "from-snapshot"),
        ("scan.fallback-branch", "old"),
    ):
        with pytest.raises(SchemaError, match=key):
            catalog.alter_table("db.t", pl.SetOption(key, value))
    catalog.table("db.t").branches.create("old")
    catalog.alter_table("db.t", pl.SetOption("scan.fallback-branch", "old"))


def test_a_table_that_has_such_options_is_read_and_mended(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"k": "INT"})
    table.write({"k": [1, 2]})
    path = Path(table.path, "schema", "schema-0")
    document = json.loads(path.read_text(encoding="utf-8"))
    document["options"]["full-compaction.delta-commits"] = "2"
    path.write_text(json.dumps(document), encoding="utf-8")
    table = pl.connect(tmp_path).table("db.t")

    assert table.scan().to_arrow()["k"].to_pylist() == [1, 2]
    table.write({"k": [3]})
    assert table.scan().count() == 3
    with pytest.raises(SchemaError, match="remove it"):
        catalog.alter_table("db.t", pl.AddColumn("v", "INT"))
    remove = pl.RemoveOption("full-compaction.delta-commits")
    catalog.alter_table("db.t", remove, pl.AddColumn("v", "INT"))
    assert catalog.table("db.t").scan().count() == 3


def test_a_copy_does_not_look_for_the_branches_of_the_table(tmp_path: Path) -> None:
    catalog = pl.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"p": "STRING", "v": "INT"}, partition_keys=["p"])
    table.write({"p": ["a"], "v": [1]})
    table.branches.create("old")
    table.on_branch("old").write({"p": ["b"], "v": [2]})
    catalog.alter_table("db.t", pl.SetOption("scan.fallback-branch", "old"))

    catalog.copy_table("db.t", "db.copy")

    assert sorted(catalog.table("db.copy").scan().to_arrow()["v"].to_pylist()) == [1, 2]
