"""Files that DuckDB reads itself give the rows that a scan gives, merged and by vectors as well."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab
from paimonlab.catalog import Catalog
from paimonlab.read.mask_cache import shared_masks
from paimonlab.sql_engine import data_files, engine
from paimonlab.sql_engine.merged_columns import merged_columns
from paimonlab.sql_engine.rows import COLUMNS_MEMORY
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.table import Table

_SEED = int(os.environ.get("PAIMONLAB_SEED", "20261123"))
_COLUMNS = {"id": "INT NOT NULL", "p": "INT NOT NULL", "v": "BIGINT", "s": "STRING"}
_KEYED = {"bucket": "2", "write-only": "true"}
_CONDITIONS = (
    "",
    "WHERE v > 50",
    "WHERE id < 30",
    "WHERE id IN (3, 4, 77)",
    "WHERE p = 1 AND v < 9",
)


def _table(catalog: Catalog, name: str, options: Mapping[str, str], *, keys: bool) -> Table:
    if keys:
        return catalog.create_table(
            name, _COLUMNS, primary_keys=["p", "id"], partition_keys=["p"], options=options
        )
    return catalog.create_table(name, _COLUMNS, partition_keys=["p"], options=options)


def _answer(catalog: Catalog, sql: str) -> tuple[engine.Planned, list[tuple[Any, ...]]]:
    planned = engine.plan(sql, Sources(catalog))
    found = engine.run(planned)
    return planned, sorted(zip(*(one.to_pylist() for one in found.columns), strict=True), key=repr)


def _batch(drawn: random.Random, *, kinds: bool) -> tuple[pa.Table, list[dict[str, Any]]]:
    ids = drawn.sample(range(100), 40)
    rows = [
        {
            "id": number,
            "p": number % 2,
            "v": drawn.choice([None, drawn.randrange(100)]),
            "s": drawn.choice([None, "", "ä", "x" * 20]),
            "_kind": "-D" if kinds and drawn.random() < 0.3 else "+I",
        }
        for number in ids
    ]
    table = pa.Table.from_pylist(rows)
    types = {"id": pa.int32(), "p": pa.int32(), "v": pa.int64(), "s": pa.string()}
    return table.cast(pa.schema([*types.items(), ("_kind", pa.string())])), rows


def _check(catalog: Catalog, model: Mapping[tuple[int, int], dict[str, Any]]) -> list[Any]:
    parts: list[Any] = []
    for condition in _CONDITIONS:
        planned, found = _answer(catalog, f"SELECT id, p, v, s FROM db.t {condition}")
        wanted = [tuple(row[name] for name in _COLUMNS) for row in model.values()]
        assert found == sorted(filter(_TRUE[condition], wanted), key=repr), condition
        _, [(count,)] = _answer(catalog, f"SELECT count(*) FROM db.t {condition}")
        assert count == len(found)
        parts += planned.parts
    return parts


_TRUE = {
    "": lambda row: True,
    "WHERE v > 50": lambda row: row[2] is not None and row[2] > 50,
    "WHERE id < 30": lambda row: row[0] < 30,
    "WHERE id IN (3, 4, 77)": lambda row: row[0] in (3, 4, 77),
    "WHERE p = 1 AND v < 9": lambda row: row[1] == 1 and row[2] is not None and row[2] < 9,
}


@pytest.mark.parametrize("group", [1, 3, 64])
def test_runs_that_overlap_give_the_rows_of_a_dict(
    tmp_path: Path, group: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "_FILES_A_GROUP", group)
    drawn = random.Random(_SEED + group)
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = _table(catalog, "db.t", _KEYED, keys=True)
    model: dict[tuple[int, int], dict[str, Any]] = {}
    for _ in range(6):
        batch, rows = _batch(drawn, kinds=True)
        table.write(batch, row_kinds="_kind")
        for row in rows:
            model.pop((row["p"], row["id"]), None)
            if row["_kind"] == "+I":
                model[row["p"], row["id"]] = row

    shared_masks.clear()
    parts = _check(catalog, model)
    assert any(part.bits is not None for part in parts[:3]), "DuckDB reads them"
    assert all(part.bits is None for part in _check(catalog, model)), "and keeps their columns"
    merged_columns(COLUMNS_MEMORY).clear()


def test_columns_that_are_kept_are_those_of_the_newest_snapshot(tmp_path: Path) -> None:
    drawn = random.Random(_SEED)
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = _table(catalog, "db.t", _KEYED, keys=True)
    model: dict[tuple[int, int], dict[str, Any]] = {}
    chosen = [["id", "s"], ["v"], ["v", "id", "p"], ["s"], ["id", "v"]]
    kept = 0
    for step in range(12):
        batch, given = _batch(drawn, kinds=True)
        table.write(batch, row_kinds="_kind")
        for row in given:
            model.pop((row["p"], row["id"]), None)
            if row["_kind"] == "+I":
                model[row["p"], row["id"]] = row
        if step == 7:
            table.compact(full=True)
        for _ in range(4):
            names = drawn.choice(chosen)
            planned, found = _answer(catalog, f"SELECT {', '.join(names)} FROM db.t WHERE p < 5")
            wanted = [tuple(row[name] for name in names) for row in model.values()]
            assert found == sorted(wanted, key=repr), (step, names)
            kept += any("kept" in part.name for part in planned.parts)
    assert kept > 10, "most are asked for twice"


@pytest.mark.parametrize(("memory", "is_kept"), [("0 b", False), ("1 kb", False), ("9 mb", True)])
def test_no_more_columns_are_kept_than_the_option_says(
    tmp_path: Path, memory: str, is_kept: bool
) -> None:
    catalog = paimonlab.connect({"warehouse": str(tmp_path), "sql.columns-memory": memory})
    catalog.create_database("db")
    table = _table(catalog, "db.t", _KEYED, keys=True)
    for version in range(3):
        table.write([{"id": n, "p": 0, "v": version, "s": "x"} for n in range(version, 50)])

    for _ in range(2):
        _answer(catalog, "SELECT id, s FROM db.t")
    planned, found = _answer(catalog, "SELECT id, s FROM db.t")

    assert found == sorted(((n, "x") for n in range(50)), key=repr)
    assert any("kept" in part.name for part in planned.parts) == is_kept
    with pytest.raises(ValueError, match=r"sql\.columns-memory = 'much'"):
        paimonlab.connect({"warehouse": str(tmp_path), "sql.columns-memory": "much"})


def test_rows_that_vectors_delete_are_left_out(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    options = {"bucket": "-1", "deletion-vectors.enabled": "true", "write-only": "true"}
    table = _table(catalog, "db.t", options, keys=False)
    rows: list[dict[str, Any]] = [{"id": n, "p": n % 2, "v": n, "s": f"s{n}"} for n in range(100)]
    table.write(rows)
    table.delete("id BETWEEN 11 AND 40 OR v = 90")
    kept = [row for row in rows if not 11 <= row["id"] <= 40 and row["id"] != 90]

    parts = _check(catalog, {(row["p"], row["id"]): row for row in kept})

    assert any(part.bits is not None for part in parts)


@pytest.mark.parametrize("engine_name", ["partial-update", "aggregation"])
def test_engines_that_make_rows_are_read_here(tmp_path: Path, engine_name: str) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    options = _KEYED | {"merge-engine": engine_name}
    table = _table(catalog, "db.t", options, keys=True)
    for version in range(3):
        table.write([{"id": n, "p": 0, "v": version + 1, "s": None} for n in range(version, 5)])
    wanted = sorted((tuple(row.values()) for row in table.scan().to_arrow().to_pylist()), key=repr)

    planned, found = _answer(catalog, "SELECT id, p, v, s FROM db.t")

    assert found == wanted
    assert all(part.stream is not None for part in planned.parts)
    for _ in range(2):
        planned, found = _answer(catalog, "SELECT id, p, v, s FROM db.t")
        assert found == wanted
    assert any("kept" in part.name for part in planned.parts), "rows that were made are kept"


def test_columns_may_be_called_as_those_of_duckdb(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    columns = {"file_row_number": "INT NOT NULL", "file_index": "INT"}
    table = catalog.create_table(
        "db.t", columns, primary_keys=["file_row_number"], options=_KEYED | {"bucket": "1"}
    )
    for version in range(2):
        table.write([{"file_row_number": n, "file_index": version} for n in range(version, 3)])

    _, found = _answer(catalog, "SELECT file_row_number, file_index FROM db.t")

    assert found == [(0, 0), (1, 1), (2, 1)]


def test_of_more_rows_than_bits_may_be_had_for_all_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "MOST_MASKED_ROWS", 10)
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = _table(catalog, "db.t", _KEYED, keys=True)
    for version in range(3):
        table.write([{"id": n, "p": n % 2, "v": version, "s": ""} for n in range(20)])

    _, found = _answer(catalog, "SELECT id, v FROM db.t")

    assert found == sorted(((n, 2) for n in range(20)), key=repr)
