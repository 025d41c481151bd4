"""Random rows of format tables come back as they were written, whatever slices they are in."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from paimonlab.spec.format_table import FORMATS
from paimonlab.storage import LocalFileIO
from paimonlab.table.format_tables import writing
from tests.catalog.kept import KeepingCatalog

ROWS = 30
TEXTS = ("a", "", " b ", "ü,", '"', "\\", "a,b", "it's", 'x"y\\z', "\\N", "NULL", "0", "{}", "[1]")
Draw = random.Random
ATOMS: dict[pa.DataType, Callable[[Draw], Any]] = {
    pa.int64(): lambda draw: draw.randint(-(2**63), 2**63 - 1),
    pa.int8(): lambda draw: draw.randint(-128, 127),
    pa.string(): lambda draw: draw.choice(TEXTS),
    pa.bool_(): lambda draw: draw.random() < 0.5,
    pa.float64(): lambda draw: draw.choice([0.0, -1.5, 1e300, 0.1, 123456789.125]),
    pa.decimal128(12, 2): lambda draw: Decimal(draw.randint(-(10**12) + 1, 10**12 - 1)) / 100,
    pa.date32(): lambda draw: date(1970, 1, 1) + timedelta(days=draw.randint(-9000, 30000)),
    pa.timestamp("us"): lambda draw: (
        datetime(1970, 1, 1) + timedelta(microseconds=draw.randint(0, 10**15))
    ),
}


def random_type(draw: Draw, depth: int) -> pa.DataType:
    kind = draw.random() if depth else 1.0
    if kind < 0.25:
        return pa.list_(random_type(draw, depth - 1))
    if kind < 0.5:
        return pa.map_(pa.string(), random_type(draw, depth - 1))
    if kind < 0.75:
        names = ("u", "v")
        return pa.struct([(name, random_type(draw, depth - 1)) for name in names])
    return draw.choice([*ATOMS])


def random_value(draw: Draw, kind: pa.DataType) -> Any:
    if draw.random() < 0.15:
        return None
    if pa.types.is_list(kind):
        return [random_value(draw, kind.value_type) for _ in range(draw.randint(0, 3))]
    if pa.types.is_map(kind):
        keys = draw.sample(["x", "y", "z", "ü"], draw.randint(0, 3))
        return [(key, random_value(draw, kind.item_type)) for key in keys]
    if pa.types.is_struct(kind):
        return {one.name: random_value(draw, one.type) for one in kind}
    return ATOMS[kind](draw)


@pytest.mark.parametrize("file_format", [one for one in FORMATS if one != "text"])
def test_slices_of_rows(
    tmp_path: Path, file_format: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_STEP_ROWS", 7)  # a file is written some rows at a time
    draw = random.Random(f"{seed} {file_format}")
    depth = 0 if file_format == "csv" else 2
    columns = {f"c{number}": random_type(draw, depth) for number in range(4)}
    rows = pa.table(
        {"k": pa.array(range(ROWS), pa.int64())}
        | {name: [random_value(draw, kind) for _ in range(ROWS)] for name, kind in columns.items()},
        schema=pa.schema({"k": pa.int64()} | columns),
    )
    options = {"csv.null-literal": "no value"} if file_format == "csv" else {}
    catalog = KeepingCatalog(str(tmp_path), LocalFileIO())
    catalog.create_database("db")
    table = catalog.create_format_table(
        "db.t", rows.schema, file_format=file_format, options=options
    )
    cut = draw.randint(1, ROWS - 1)
    table.write(rows.slice(cut))
    table.write(rows.slice(0, cut))
    assert table.scan().to_arrow().sort_by("k").to_pylist() == rows.to_pylist(), columns
