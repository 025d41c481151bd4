"""File indexes from the option to the rows left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.errors import CorruptDataError, SchemaError, UnsupportedError
from paimonlab.read import merging, splits
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.write.folders import delete_files

COLUMNS = {"k": "INT", "a": "INT", "s": "STRING", "d": "DOUBLE"}
OPTIONS = {
    "bucket": "1",
    "file-index.bloom-filter.columns": "s",
    "file-index.bloom-filter.s.items": "1000",
    "file-index.bitmap.columns": "a,s",
    "file-index.range-bitmap.columns": "d,a",
}


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    made = paimonlab.connect(tmp_path)
    made.create_database("db")
    return made


def _rows(rng: np.random.Generator, count: int = 200) -> pa.Table:
    numbers = rng.integers(0, 50, count)
    return pa.table(
        {
            "k": pa.array(rng.choice(10**4, count, replace=False), pa.int32()),
            "a": pa.array(numbers, pa.int32(), mask=rng.random(count) < 0.1),
            "s": [f"text {one}" for one in rng.integers(0, 50, count)],
            "d": numbers / 3,
        }
    )


WHERE = [
    "a = 7",
    "a IN (1, 2) OR s = 'text 3'",
    "s = 'none'",
    "d > 10 AND a <> 40",
    "a IS NULL",
    "d < 1",
]


@pytest.mark.parametrize("keys", [[], ["k"]], ids=["append", "keyed"])
@pytest.mark.parametrize("threshold", ["1 b", "1 mb"])
def test_reads_through_indexes_agree_with_reads_without(
    keys: list[str], threshold: str, catalog: paimonlab.Catalog, rng: np.random.Generator
) -> None:
    options = OPTIONS | {"file-index.in-manifest-threshold": threshold}
    if not keys:
        options |= {"bucket-key": "k"}
    table = catalog.create_table("db.t", COLUMNS, primary_keys=keys, options=options)
    for _ in range(3):
        table.write(_rows(rng))
    files = [file for split in table.scan().plan().splits for file in split.files]
    has_file = threshold == "1 b"
    assert all(bool(file.extra_files) is has_file for file in files)
    assert all((file.embedded_file_index is None) is has_file for file in files)
    folder = Path(table.path) / "bucket-0"
    assert len(list(folder.glob("*.index"))) == (3 if has_file else 0)
    for where in WHERE:
        found = table.scan(where=where)
        plain = table.scan(where=where, options={"file-index.read.enabled": "false"})
        order = [(name, "ascending") for name in COLUMNS]
        assert found.to_arrow().sort_by(order) == plain.to_arrow().sort_by(order)
        assert found.count() == plain.count()


def test_a_file_that_an_index_rules_out_is_not_opened(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = catalog.create_table(
        "db.t", {"s": "STRING"}, options={"file-index.bloom-filter.columns": "s"}
    )
    table.write(pa.table({"s": ["a", "c"]}))
    table.write(pa.table({"s": ["a", "b", "c"]}))
    opened = set()
    open_data_file = merging.open_data_file

    def spy(split: Any, file: Any, *arguments: Any) -> object:
        opened.add(file.file_name)  # two threads may read one file
        return open_data_file(split, file, *arguments)

    monkeypatch.setattr(splits, "open_data_file", spy)
    assert table.scan(where="s = 'b'").to_arrow().to_pylist() == [{"s": "b"}]
    assert len(opened) == 1


def test_columns_are_found_after_they_were_renamed(catalog: paimonlab.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"a": "INT", "b": "INT"}, options={"file-index.bitmap.columns": "a"}
    )
    table.write(
        pa.table({"a": pa.array([1, 2, 3], pa.int32()), "b": pa.array([3, 2, 1], pa.int32())})
    )
    catalog.alter_table("db.t", paimonlab.RemoveOption("file-index.bitmap.columns"))
    catalog.alter_table("db.t", paimonlab.RenameColumn("a", "c"))
    catalog.alter_table("db.t", paimonlab.RenameColumn("b", "a"))
    renamed = catalog.table("db.t")
    assert isinstance(renamed, paimonlab.Table)
    assert renamed.scan(where="a = 3").to_arrow().to_pylist() == [{"c": 1, "a": 3}]
    assert renamed.scan(where="c = 3").to_arrow().to_pylist() == [{"c": 3, "a": 1}]


def test_indexes_that_cannot_be_made_are_refused_at_creation(catalog: paimonlab.Catalog) -> None:
    with pytest.raises(SchemaError, match="'x', which is not a column"):
        catalog.create_table("db.t", {"a": "INT"}, options={"file-index.bitmap.columns": "x"})


def test_a_type_that_has_no_such_index_is_named_as_in_sql(catalog: paimonlab.Catalog) -> None:
    options = {"file-index.range-bitmap.columns": "t"}
    with pytest.raises(UnsupportedError, match=r"t is TIMESTAMP\(9\), which no range-bitmap index"):
        catalog.create_table("db.t", {"t": "TIMESTAMP(9)"}, options=options)


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_damage_of_an_index_is_named(damage: str, catalog: paimonlab.Catalog) -> None:
    table = catalog.create_table(
        "db.t", {"s": "STRING"}, options={"file-index.bloom-filter.columns": "s"}
    )
    table.write(pa.table({"s": ["a", "c"]}))
    (path,) = Path(table.path).glob("bucket-0/*.index")
    path.unlink() if damage == "missing" else path.write_bytes(path.read_bytes()[:9])
    with pytest.raises(CorruptDataError, match=r"\.index"):
        table.scan(where="s = 'a'").to_arrow()
    without = table.scan(where="s = 'a'", options={"file-index.read.enabled": "false"})
    assert without.to_arrow().num_rows == 1


@pytest.mark.parametrize("is_prepared", [True, False])
def test_indexes_go_with_their_files(is_prepared: bool, catalog: paimonlab.Catalog) -> None:
    table = catalog.create_table(
        "db.t",
        {"k": "INT", "s": "STRING"},
        primary_keys=["k"],
        options={"bucket": "1", "file-index.bloom-filter.columns": "s", "write-buffer-size": "1 b"},
    )
    writer = table.new_writer()
    for number in range(3):
        writer.write(pa.table({"k": pa.array([number], pa.int32()), "s": [str(number)]}))
    if is_prepared:
        messages = writer.prepare_commit()
        assert list(Path(table.path).glob("bucket-0/*.index"))
        delete_files(
            messages,
            write_plan(definition_of(table), store_of(table).layout),
            store_of(table).file_io,
        )
    writer.abort()
    assert not list(Path(table.path).glob("bucket-0/*"))
