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
    assert any(part.bits is not None for part in parts), "DuckDB reads them"
    assert all(part.stream is None for part in _check(catalog, model)[:1]), "and nothing else does"


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
