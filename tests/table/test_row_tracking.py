"""Rows with ids, and columns in files of their own, against a dict."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import paimonlab
from paimonlab.compact.append_rewriting import rewrite_files
from paimonlab.errors import (
    ColumnNotFoundError,
    DataError,
    FilesConflictError,
    SchemaError,
    UnsupportedError,
)
from paimonlab.table.table import Table

TRACKED = {"row-tracking.enabled": "true"}
EVOLVING = {**TRACKED, "data-evolution.enabled": "true"}
IDS = ["_ROW_ID", "_SEQUENCE_NUMBER"]


@pytest.fixture
def catalog(tmp_path: Path) -> paimonlab.Catalog:
    opened = paimonlab.connect(tmp_path)
    opened.create_database("db")
    return opened


def make(
    catalog: paimonlab.Catalog, options: Mapping[str, str], partition_keys: Sequence[str] = ()
) -> Table:
    columns = {"a": "INT", "b": "STRING", "p": "INT"}
    return catalog.create_table("db.t", columns, partition_keys=partition_keys, options=options)


def rows_of(count: int, first: int = 0, parts: int = 1) -> pa.Table:
    numbers = range(first, first + count)
    return pa.table(
        {
            "a": pa.array(numbers, pa.int32()),
            "b": [f"b{number}" for number in numbers],
            "p": pa.array([number % parts for number in numbers], pa.int32()),
        }
    )


def rows_by_id(
    table: Table, columns: Sequence[str] = ("a", "b", "p")
) -> dict[int, tuple[Any, ...]]:
    found = table.scan(["_ROW_ID", *columns]).to_arrow()
    rows = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    by_id = {row[0]: row[1:] for row in rows}
    assert len(by_id) == len(rows) == table.scan().count(), "row ids are unique"
    return by_id


def test_ids_go_on_from_commit_to_commit_and_sequences_are_snapshots(
    catalog: paimonlab.Catalog,
) -> None:
    table = make(catalog, TRACKED, ["p"])
    table.write(rows_of(5, parts=2))
    table.write(rows_of(3, first=5))

    found = table.scan(IDS).to_arrow()

    assert sorted(found["_ROW_ID"].to_pylist()) == list(range(8))
    assert sorted(found["_SEQUENCE_NUMBER"].to_pylist()) == [1] * 5 + [2] * 3
    assert table.snapshot is not None
    assert table.snapshot.next_row_id == 8
    assert found.schema.field("_ROW_ID").type == pa.int64()
    assert not found.schema.field("_SEQUENCE_NUMBER").nullable


def test_rows_are_found_by_their_ids(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, TRACKED)
    table.write(rows_of(5))
    table.write(rows_of(5, first=5))

    assert table.scan(["a"], "_ROW_ID IN (3, 7)").to_arrow()["a"].to_pylist() in ([3, 7], [7, 3])
    assert table.scan(where="_SEQUENCE_NUMBER = 2").count() == 5
    assert table.scan(where="_ROW_ID > 8 AND b = 'b9'").to_arrow().column_names == ["a", "b", "p"]


FILES_OF_IDS = {
    "_ROW_ID = 7": 1,
    "_ROW_ID IN (7, 33)": 2,
    f"_ROW_ID IN ({', '.join(str(10 * one + 3) for one in range(1500))})": 4,
    "_ROW_ID BETWEEN 9 AND 15": 3,
    "_ROW_ID < 5": 1,
    "_ROW_ID > 34": 1,
    "_ROW_ID >= 40": 0,
    "_ROW_ID <= 4 OR _ROW_ID = 39": 2,
    "NOT _ROW_ID < 35": 1,
    "_ROW_ID IS NULL": 0,
    "_ROW_ID = 7 AND b = 'b7'": 1,
    "_ROW_ID = 33 OR a = 7": 2,
}
"""How many of eight files with five rows each have such ids."""


@pytest.mark.parametrize("options", [TRACKED, EVOLVING], ids=["tracked", "evolving"])
def test_ids_choose_files(catalog: paimonlab.Catalog, options: dict[str, str]) -> None:
    table = make(catalog, options)
    for step in range(8):
        table.write(rows_of(5, first=5 * step))

    planned = {where: table.scan(where=where).plan().files.num_rows for where in FILES_OF_IDS}

    assert planned == FILES_OF_IDS
    if options is EVOLVING:
        table.write_columns(pa.table({"_ROW_ID": [11, 12], "b": ["x", "y"]}))
        assert table.scan(where="_ROW_ID = 13").plan().files.num_rows == 2, "a and b are apart"
    else:
        table.update({"b": "'new'"}, where="a IN (3, 33)")
        table.delete("a IN (8, 39)")
        assert table.scan(where="_ROW_ID = 3").plan().files.num_rows < 3
    rows = table.scan(["_ROW_ID", "a", "b"]).to_arrow()
    for where in FILES_OF_IDS:
        found = table.scan(["_ROW_ID", "a", "b"], where).to_arrow().sort_by("_ROW_ID")
        assert found == asked(rows, where), where


def asked(rows: pa.Table, where: str) -> pa.Table:
    """Return the rows of a condition, which DuckDB looks at."""
    found = duckdb.from_arrow(rows).filter(where).order("_ROW_ID").to_arrow_table()
    return found.cast(rows.schema)


def test_overwritten_rows_have_new_ids(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, TRACKED)
    table.write(rows_of(3))

    table.overwrite(rows_of(2))

    assert sorted(rows_by_id(table)) == [3, 4]


def test_ids_are_not_columns_of_other_tables(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, {})

    with pytest.raises(ColumnNotFoundError):
        table.scan(["_ROW_ID"])
    with pytest.raises(SchemaError, match=r"row-tracking\.enabled"):
        catalog.system_table("db.t$row_tracking")


@pytest.mark.parametrize(
    ("options", "keys", "what"),
    [
        ({**TRACKED, "bucket": "2", "bucket-key": "a"}, [], "without buckets"),
        ({**TRACKED, "bucket": "2"}, ["a"], "without primary key"),
        ({"data-evolution.enabled": "true"}, [], r"needs 'row-tracking\.enabled'"),
    ],
)
def test_options_that_do_not_go_with_row_ids_are_refused(
    catalog: paimonlab.Catalog, options: dict[str, str], keys: list[str], what: str
) -> None:
    with pytest.raises(SchemaError, match=what):
        catalog.create_table("db.t", {"a": "INT", "b": "INT"}, primary_keys=keys, options=options)


def test_new_values_of_columns_against_a_dict(catalog: paimonlab.Catalog, seed: int) -> None:
    rng = random.Random(seed)
    table = make(catalog, {**EVOLVING, "source.split.target-size": "1 b"}, ["p"])
    model: dict[int, dict[str, Any]] = {}
    columns = ["a", "b"]
    for step in range(25):
        if not model or rng.random() < 0.3:
            new = rows_of(rng.randint(1, 6), first=100 * step, parts=3)
            before = set(model)
            table.write(new)
            found = table.scan(["_ROW_ID", "a"], f"a >= {100 * step}").to_arrow().to_pydict()
            for row_id, a in zip(found["_ROW_ID"], found["a"], strict=True):
                if row_id not in before:
                    model[row_id] = {"a": a, "b": f"b{a}", "p": a % 3}
            continue
        if rng.random() < 0.15:
            name = f"c{step}"
            table = catalog.alter_table("db.t", paimonlab.AddColumn(name, "ARRAY<BIGINT>"))
            columns.append(name)
        chosen = rng.sample(sorted(model), rng.randint(1, len(model)))
        names = rng.sample(columns, rng.randint(1, len(columns)))
        values = {name: [value_of(name, rng) for _ in chosen] for name in names}
        types = {name: table.arrow_schema.field(name).type for name in names}
        data = pa.table(
            {"_ROW_ID": chosen, **{name: pa.array(values[name], types[name]) for name in names}}
        )
        table.write_columns(data)
        for position, row_id in enumerate(chosen):
            model[row_id] |= {name: values[name][position] for name in names}

        every = [*columns, "p"]
        wanted = {row_id: tuple(row.get(name) for name in every) for row_id, row in model.items()}
        assert rows_by_id(table, every) == wanted, f"step {step}"
        pivot = rng.choice(sorted(model))
        b = model[pivot]["b"]
        where = "b IS NULL" if b is None else f"b = '{b}'"
        expected = sorted(id for id, row in model.items() if row["b"] == b)
        found_ids = table.scan(["_ROW_ID"], where).to_arrow()["_ROW_ID"].to_pylist()
        assert sorted(found_ids) == expected, f"step {step}: {where}"
        assert table.scan(where=where).count() == len(expected)
    assert table.scan(limit=2).to_arrow().num_rows == min(2, len(model))


def value_of(name: str, rng: random.Random) -> Any:
    if rng.random() < 0.2:
        return None
    if name == "a":
        return rng.randrange(1000)
    if name == "b":
        return f"v{rng.randrange(5)}"
    return [rng.randrange(9) for _ in range(rng.randrange(3))]


def test_a_write_of_columns_keeps_the_ids_and_raises_the_sequence(
    catalog: paimonlab.Catalog,
) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))

    snapshot = table.write_columns(pa.table({"_ROW_ID": [1], "b": ["new"]}))

    assert snapshot is not None
    assert snapshot.next_row_id == 3
    assert rows_by_id(table, ["b"]) == {0: ("b0",), 1: ("new",), 2: ("b2",)}
    files = catalog.system_table("db.t$files").scan(["first_row_id", "write_cols", "record_count"])
    assert files.to_arrow().to_pylist()[-1] == {
        "first_row_id": 0,
        "write_cols": ["b"],
        "record_count": 3,
    }


@pytest.mark.parametrize(
    ("data", "error", "what"),
    [
        ({"_ROW_ID": [0, 99], "b": ["x", "y"]}, DataError, "no row of 1 of the 2"),
        ({"_ROW_ID": [0, 0], "b": ["x", "y"]}, DataError, "comes twice"),
        ({"_ROW_ID": [0, None], "b": ["x", "y"]}, DataError, "without nulls"),
        ({"_ROW_ID": [0]}, DataError, "no column"),
        ({"b": ["x"]}, ColumnNotFoundError, "_ROW_ID"),
        ({"_ROW_ID": [0], "z": ["x"]}, ColumnNotFoundError, "z"),
        ({"_ROW_ID": [0], "p": [7]}, DataError, "partition column"),
        ({"_ROW_ID": [0], "a": ["x"]}, DataError, "a"),
    ],
)
def test_columns_that_do_not_fit_are_errors_and_leave_nothing_behind(
    catalog: paimonlab.Catalog,
    data: dict[str, list[Any]],
    error: type[Exception],
    what: str,
    tmp_path: Path,
) -> None:
    table = make(catalog, EVOLVING, ["p"])
    table.write(rows_of(3))
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())

    with pytest.raises(error, match=what):
        table.write_columns(pa.table(data))

    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_a_table_without_data_evolution_has_no_files_of_columns(
    catalog: paimonlab.Catalog,
) -> None:
    table = make(catalog, TRACKED)
    table.write(rows_of(3))

    with pytest.raises(UnsupportedError, match=r"data-evolution\.enabled"):
        table.write_columns(pa.table({"_ROW_ID": [0], "b": ["x"]}))


def test_of_two_who_write_columns_of_the_same_rows_the_second_is_told(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))
    other = catalog.table("db.t")
    assert isinstance(other, Table)
    meanwhile(monkeypatch, lambda: other.write_columns(pa.table({"_ROW_ID": [2], "b": ["two"]})))

    with pytest.raises(FilesConflictError, match="others wrote columns"):
        table.write_columns(pa.table({"_ROW_ID": [1], "b": ["one"]}))

    assert rows_by_id(table, ["b"]) == {0: ("b0",), 1: ("b1",), 2: ("two",)}


def test_columns_of_rows_that_were_overwritten_meanwhile_are_not_written(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))
    other = catalog.table("db.t")
    assert isinstance(other, Table)
    meanwhile(monkeypatch, lambda: other.overwrite(rows_of(1)))

    with pytest.raises(FilesConflictError, match="are gone"):
        table.write_columns(pa.table({"_ROW_ID": [1], "b": ["one"]}))

    assert rows_by_id(table, ["b"]) == {3: ("b0",)}


def test_rows_that_are_added_meanwhile_are_no_conflict(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(2))
    other = catalog.table("db.t")
    assert isinstance(other, Table)
    meanwhile(monkeypatch, lambda: other.write(rows_of(1, first=7)))

    table.write_columns(pa.table({"_ROW_ID": [1], "b": ["one"]}))

    assert rows_by_id(table, ["b"]) == {0: ("b0",), 1: ("one",), 2: ("b7",)}


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Any) -> None:
    """Let ``act`` happen between the next writing of columns and its commit."""
    from paimonlab.table.writing import columns  # noqa: PLC0415

    complete = columns.CompletingWrite.complete

    def complete_after(*arguments: Any) -> Any:
        message = complete(*arguments)
        monkeypatch.undo()
        act()
        return message

    monkeypatch.setattr(columns.CompletingWrite, "complete", complete_after)


@pytest.mark.parametrize(
    "columns", [["_ROW_ID"], ["_ROW_ID", "a"], ["a", "_SEQUENCE_NUMBER", "_ROW_ID"]]
)
@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("a = 250000", [250_000]),
        ("a IN (7, 299999)", [7, 299_999]),
        ("_ROW_ID = 131073", [131_073]),
        ("_ROW_ID >= 299998 AND a > 5", [299_998, 299_999]),
        ("b = 'b250001' AND _SEQUENCE_NUMBER = 1", [250_001]),
    ],
)
def test_pages_that_are_skipped_count(
    large: Table, columns: list[str], where: str, wanted: list[int]
) -> None:
    found = large.scan(columns, where).to_arrow()

    assert sorted(found["_ROW_ID"].to_pylist()) == wanted
    if "a" in columns:
        assert found["a"].to_pylist() == found["_ROW_ID"].to_pylist()
    assert large.scan(where=where).count() == len(wanted)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Table:
    opened = paimonlab.connect(tmp_path_factory.mktemp("large"))
    opened.create_database("db")
    table = make(opened, TRACKED)
    table.write(rows_of(300_000))
    return table


@pytest.mark.parametrize("by_vector", ["false", "true"])
def test_updated_rows_keep_their_ids(catalog: paimonlab.Catalog, by_vector: str) -> None:
    table = make(catalog, {**TRACKED, "deletion-vectors.enabled": by_vector})
    table.write(rows_of(4))
    table.write(rows_of(1, first=4))

    table.update({"b": "upper(b)"}, where="a IN (1, 2)")
    table.delete("a = 3")
    table.update({"b": "'q'"}, where="a = 2")
    last = table.write(rows_of(1, first=9))

    assert last is not None
    assert last.next_row_id is not None
    found = rows_by_id(table, ["_SEQUENCE_NUMBER", "a", "b"])
    assert found.pop(last.next_row_id - 1) == (6, 9, "b9")
    assert found == {0: (1, 0, "b0"), 1: (3, 1, "B1"), 2: (5, 2, "q"), 4: (2, 4, "b4")}
    assert table.scan(["a"], "_ROW_ID = 1").to_arrow()["a"].to_pylist() == [1]
    assert table.scan(where="b = 'q' AND a = 2").count() == 1


def test_an_update_writes_only_the_columns_it_changes(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))
    table.write(rows_of(2, first=3))

    table.update({"a": "a + 100", "b": "concat(b, '!')"}, where="a = 1")

    assert rows_by_id(table, ["a", "b"]) == {
        0: (0, "b0"),
        1: (101, "b1!"),
        2: (2, "b2"),
        3: (3, "b3"),
        4: (4, "b4"),
    }
    files = catalog.system_table("db.t$files").scan(["first_row_id", "write_cols"]).to_arrow()
    assert files.to_pylist()[-1] == {"first_row_id": 0, "write_cols": ["a", "b"]}
    assert table.update({"a": 0}, where="a = 77") is None
    with pytest.raises(UnsupportedError, match=r"data-evolution\.enabled"):
        table.delete("a = 1")


def test_an_update_that_another_disturbs_runs_again(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))
    other = catalog.table("db.t")
    assert isinstance(other, Table)
    meanwhile(monkeypatch, lambda: other.update({"a": "a + 10"}))

    table.update({"a": "a * 2"})

    assert rows_by_id(table, ["a"]) == {0: (20,), 1: (22,), 2: (24,)}


def test_columns_of_their_own_follow_renames_drops_and_types(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))
    table.write_columns(pa.table({"_ROW_ID": [1], "b": ["new"]}))

    table = catalog.alter_table("db.t", paimonlab.RenameColumn("b", "c"))
    table.write_columns(pa.table({"_ROW_ID": [2], "c": ["newer"]}))
    assert rows_by_id(table, ["c"]) == {0: ("b0",), 1: ("new",), 2: ("newer",)}

    table = catalog.alter_table("db.t", paimonlab.DropColumn("c"), paimonlab.AddColumn("c", "INT"))
    assert rows_by_id(table, ["c"]) == {0: (None,), 1: (None,), 2: (None,)}

    table.write_columns(pa.table({"_ROW_ID": [0], "c": [7]}))
    table = catalog.alter_table("db.t", paimonlab.UpdateColumnType("c", "BIGINT"))
    assert rows_by_id(table, ["c"]) == {0: (7,), 1: (None,), 2: (None,)}
    assert table.scan(["a"], "c > 6").to_arrow()["a"].to_pylist() == [0]


def test_indexes_are_of_the_columns_a_file_has(catalog: paimonlab.Catalog) -> None:
    table = make(catalog, {**EVOLVING, "file-index.bloom-filter.columns": "a"})
    table.write(rows_of(3))

    table.update({"b": "'new'"}, where="a = 1")
    table.update({"a": "a + 10"}, where="a = 2")

    assert table.scan(["b"], "a = 1").to_arrow()["b"].to_pylist() == ["new"]
    assert table.scan(["b"], "a = 12").to_arrow()["b"].to_pylist() == ["b2"]
    assert table.scan(where="a = 2").count() == 0
    listed = catalog.system_table("db.t$file_indexes").scan(["column_name"]).to_arrow()
    assert listed["column_name"].to_pylist() == ["a", "a"]


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("options", [TRACKED, EVOLVING], ids=["tracked", "evolving"])
def test_every_format_keeps_ids(
    catalog: paimonlab.Catalog, options: Mapping[str, str], file_format: str
) -> None:
    table = make(catalog, {**options, "file.format": file_format})
    table.write(rows_of(4))

    table.update({"b": "upper(b)"}, where="a IN (1, 2)")

    assert rows_by_id(table, ["b"]) == {0: ("b0",), 1: ("B1",), 2: ("B2",), 3: ("b3",)}
    assert table.scan(["a"], "_ROW_ID = 2").to_arrow()["a"].to_pylist() == [2]


def test_columns_in_files_of_their_own_become_one_file_and_rows_keep_their_ids(
    catalog: paimonlab.Catalog,
) -> None:
    table = make(catalog, EVOLVING | {"compaction.min.file-num": "3"}, ["p"])
    for first in (0, 10, 20):
        table.write(rows_of(4, first=first, parts=2))
    table.write_columns(pa.table({"_ROW_ID": [1, 4], "b": ["x", "y"]}))
    expected = rows_by_id(table)

    assert table.compact().snapshot is None, "ids of a partition have gaps, so two files at most"
    assert table.compact(full=True).snapshot is not None
    files = table.scan().plan().files
    assert rows_by_id(table) == expected
    assert sorted(
        zip(files["first_row_id"].to_pylist(), files["row_count"].to_pylist(), strict=True)
    ) == [
        (0, 2),
        (2, 2),
        (4, 2),
        (6, 2),
        (8, 2),
        (10, 2),
    ]


def test_compaction_that_columns_overtake_hides_none_of_them(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))
    table.write(rows_of(2, first=3))
    table.write_columns(pa.table({"_ROW_ID": [1], "b": ["x"]}))
    expected = rows_by_id(table)
    seen: list[int] = []

    def overtaken(*arguments: Any, **named: Any) -> Any:
        written = rewrite_files(*arguments, **named)
        if not seen:
            ids = pa.table({"_ROW_ID": [0, 4], "a": pa.array([-1, -2], pa.int32())})
            catalog.table("db.t").write_columns(ids)
        seen.append(len(written))
        return written

    monkeypatch.setattr("paimonlab.table.compacting.append.rewrite_files", overtaken)
    result = table.compact(full=True)

    assert seen == [1, 1], "it was done again"
    assert result.snapshot is not None
    (file,) = catalog.table("db.t").scan().plan().files.to_pylist()
    assert (file["first_row_id"], file["row_count"]) == (0, 5)
    expected[0], expected[4] = (-1, *expected[0][1:]), (-2, *expected[4][1:])
    assert rows_by_id(catalog.table("db.t")) == expected
    catalog.table("db.t").write_columns(pa.table({"_ROW_ID": [0], "b": ["last"]}))
    assert rows_by_id(catalog.table("db.t"))[0] == (-1, "last", 0)


def test_columns_of_a_file_that_was_rewritten_alone_stay_the_newest(
    catalog: paimonlab.Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = make(catalog, EVOLVING)
    table.write(rows_of(3))
    table.write_columns(pa.table({"_ROW_ID": [1], "b": ["x"]}))

    def overtaken(*arguments: Any, **named: Any) -> Any:
        written = rewrite_files(*arguments, **named)
        catalog.table("db.t").write_columns(pa.table({"_ROW_ID": [0], "b": ["newer"]}))
        return written

    monkeypatch.setattr("paimonlab.table.compacting.append.rewrite_files", overtaken)
    table.compact(full=True)

    assert rows_by_id(catalog.table("db.t")) == {
        0: (0, "newer", 0),
        1: (1, "x", 0),
        2: (2, "b2", 0),
    }
