"""Null rows whose fields are NOT NULL, in files of every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.formats.hidden_nulls import columns_that_may_hide_nulls, without_hidden_nulls
from paimonlab.write.conversion import convert
from tests.formats.test_data_formats import FORMATS, read, write
from tests.formats.test_parquet import fields_of

POINT = "ROW<x INT NOT NULL, name STRING NOT NULL>"
DEEP = f"ROW<p {POINT} NOT NULL, m MAP<STRING, INT NOT NULL> NOT NULL, l ARRAY<{POINT}> NOT NULL>"
TYPES = [POINT, f"ARRAY<{POINT}>", f"MAP<STRING, {POINT}>", DEEP, f"ARRAY<{DEEP}>"]


def random_value(rng: np.random.Generator, kind: int) -> Any:
    """Return a value of one of `TYPES`; rows are null more often than not null."""
    if kind and rng.integers(3) == 0:
        return None
    match kind:
        case 0:
            is_null = rng.integers(2) == 0
            return None if is_null else {"x": int(rng.integers(9)), "name": "ab"[: rng.integers(3)]}
        case 1:
            return [random_value(rng, 0) for _ in range(rng.integers(4))]
        case 2:
            return [(f"k{key}", random_value(rng, 0)) for key in range(rng.integers(4))]
        case 3:
            return {
                "p": {"x": 1, "name": "p"},
                "m": [("k", 1)][: rng.integers(2)],
                "l": random_value(rng, 1) or [],
            }
        case _:
            return [random_value(rng, 3) for _ in range(rng.integers(4))]


def random_rows(rng: np.random.Generator, count: int) -> tuple[pa.Table, list[Any]]:
    fields = fields_of(*TYPES)
    names = [field.name for field in fields]
    values = [{name: random_value(rng, at) for at, name in enumerate(names)} for _ in range(count)]
    # pyarrow's own way from Python makes null children below null rows.
    schema = without_promises(names)
    return pa.Table.from_pylist(values, schema=schema), values


def without_promises(names: list[str]) -> pa.Schema:
    point = pa.struct({"x": pa.int32(), "name": pa.string()})
    points = pa.list_(point)
    deep = pa.struct({"p": point, "m": pa.map_(pa.string(), pa.int32()), "l": points})
    kinds = [point, points, pa.map_(pa.string(), point), deep, pa.list_(deep)]
    return pa.schema(dict(zip(names, kinds, strict=True)))


def promised(rows: pa.Table) -> pa.Table:
    """Say that fields are NOT NULL, with nulls below null rows as they are."""
    columns = [
        pa.chunked_array([convert(chunk, field.type, field.name) for chunk in column.chunks])
        for column, field in zip(rows.columns, fields_of(*TYPES), strict=True)
    ]
    return pa.table(columns, names=rows.column_names)


@pytest.mark.parametrize("name", FORMATS)
def test_null_rows_are_null_whatever_their_fields_promise(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    rows, values = random_rows(rng, 200)
    cut = int(rng.integers(20))
    rows = promised(pa.concat_tables([rows.slice(0, 77), rows.slice(77)])).slice(cut, 150)

    path = write(tmp_path, rows, fields_of(*TYPES), {"file.format": name})

    assert read(path, fields_of(*TYPES)).to_pylist() == values[cut : cut + 150]


def test_a_null_in_a_row_that_is_not_null_is_refused() -> None:
    point = pa.struct([pa.field("x", pa.int32(), nullable=False)])
    wrong = pa.StructArray.from_arrays(
        [pa.array([1, None, None], pa.int32())],
        fields=list(point),
        mask=pa.array([False, True, False]),
    )
    rows = pa.table({"p": wrong})

    kept = without_hidden_nulls(rows, columns_that_may_hide_nulls(rows.schema))

    assert kept.column("p").chunk(0).field(0).null_count == 2
