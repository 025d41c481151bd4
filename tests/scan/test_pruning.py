"""Whatever statistics and indexes files have, a filter finds the rows it finds without them.

``PAIMONLAB_PRUNED_READS`` says how many filters each of the random tables is read with.
"""

from __future__ import annotations

import math
import operator
import os
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimonlab
from paimonlab.spec.predicates.predicate import Predicate, any_of, bind, col, evaluate

FILTERS = int(os.environ.get("PAIMONLAB_PRUNED_READS", "10"))
TEXTS = ["", "a", "ab", "abc", "abd", "é", "éé", "b\U0010ffff\U0010ffff", "\U0010ffff" * 3, "zz"]
FLOATS = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan]


def _batch(rng: np.random.Generator, schema: pa.Schema) -> pa.Table:
    """Make a few rows whose values lie close together, so that statistics tell something."""
    count = int(rng.integers(1, 40))
    centre = int(rng.integers(-50, 50))
    numbers = centre + rng.integers(0, 8, count)
    columns: dict[str, list[Any]] = {}
    for field in schema:
        share = rng.choice([0.0, 0.3, 1.0], p=[0.5, 0.4, 0.1])
        columns[field.name] = [
            None if rng.random() < share else _value(field.type, int(one), rng) for one in numbers
        ]
    return pa.table({field.name: pa.array(columns[field.name], field.type) for field in schema})


def _value(arrow_type: pa.DataType, number: int, rng: np.random.Generator) -> Any:
    values: dict[str, Any] = {
        "string": TEXTS[(number // 8) % len(TEXTS)] + TEXTS[number % 3],
        "binary": bytes([number % 3 + 253, number % 256]),
        "bool": number > 0,
        "timestamp[ms]": number + 10**6,
        "list": [number],
    }
    if pa.types.is_floating(arrow_type):
        return FLOATS[number % len(FLOATS)] if rng.random() < 0.3 else number / 4
    return values.get(str(arrow_type).partition("<")[0], number)


def _predicate(rng: np.random.Generator, rows: pa.Table, depth: int = 2) -> Predicate:
    if depth and rng.random() < 0.4:
        left, right = (_predicate(rng, rows, depth - 1) for _ in range(2))
        combined = left & right if rng.random() < 0.5 else any_of(left, right)
        return ~combined if rng.random() < 0.2 else combined
    names = [field.name for field in rows.schema if not pa.types.is_list(field.type)]
    name = str(rng.choice(names))
    column = col(name)
    values = [one for one in rows[name].to_pylist() if one is not None]
    if not values or rng.random() < 0.15:
        return column.is_null() if rng.random() < 0.5 else column.is_not_null()
    one, other = (values[int(rng.integers(0, len(values)))] for _ in range(2))
    found: list[Predicate] = [
        column == one,
        column != one,
        column < one,
        column <= one,
        column > one,
        column >= one,
        column.is_in([one, other]),
    ]
    if isinstance(one, str):
        found += [column.starts_with(one[:2]), ~column.starts_with(one[:1])]
    chosen = found[int(rng.integers(0, len(found)))]
    return ~chosen if rng.random() < 0.2 else chosen


def _options(rng: np.random.Generator) -> dict[str, str]:
    modes = ["none", "counts", "truncate(1)", "truncate(3)", "truncate(16)", "full"]
    options = {
        "metadata.stats-mode": str(rng.choice(modes)),
        "fields.s.stats-mode": str(rng.choice(modes)),
        "fields.i.stats-mode": str(rng.choice(modes)),
        "metadata.stats-dense-store": str(rng.choice(["true", "false"])),
        "file.format": str(rng.choice(["parquet", "parquet", "orc", "avro"])),
        "parquet.page.row.count.limit": "4",
    }
    if rng.random() < 0.3:
        options["metadata.stats-keep-first-n-columns"] = str(rng.integers(0, 6))
    if rng.random() < 0.4:
        options["file-index.bloom-filter.columns"] = "s,i"
        options["file-index.bloom-filter.s.items"] = "50"
        options["file-index.bloom-filter.i.items"] = "50"
        options["file-index.range-bitmap.columns"] = "d,i"
    return options


@pytest.mark.parametrize("attempt", range(6))
def test_pruned_reads_find_what_a_filter_of_all_rows_finds(
    attempt: int, tmp_path: Path, rng: np.random.Generator
) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    types = {
        "i": "INT",
        "l": "BIGINT",
        "d": "DOUBLE",
        "f": "FLOAT",
        "s": "STRING",
        "y": "BYTES",
        "m": "DECIMAL(12, 2)",
        "b": "BOOLEAN",
        "t": "TIMESTAMP(3)",
        "a": "ARRAY<INT>",
    }
    has_key = attempt % 3 == 2
    if has_key:
        types = {"k": "INT NOT NULL"} | types
    table = catalog.create_table(
        "db.t",
        types,
        primary_keys=["k"] if has_key else [],
        options=_options(rng) | ({"bucket": "1"} if has_key else {}),
    )
    for _ in range(4):
        table.write(_with_keys(_batch(rng, table.arrow_schema), rng))
    catalog.alter_table("db.t", paimonlab.UpdateColumnType("i", "BIGINT"))
    catalog.alter_table("db.t", paimonlab.UpdateColumnType("f", "DOUBLE"))
    catalog.alter_table("db.t", paimonlab.AddColumn("new", "INT"))
    if "file-index.bloom-filter.columns" not in table.options:
        catalog.alter_table("db.t", paimonlab.RenameColumn("s", "z"))
        catalog.alter_table("db.t", paimonlab.RenameColumn("l", "s"))
    evolved = catalog.table("db.t")
    assert isinstance(evolved, paimonlab.Table)
    for _ in range(3):
        evolved.write(_with_keys(_batch(rng, evolved.arrow_schema), rng))
    whole = evolved.scan().to_arrow()
    for _ in range(FILTERS):
        predicate = _predicate(rng, whole)
        bound = bind(predicate, evolved.schema.fields, "db.t")
        matches = evaluate(bound, whole).fill_null(False)
        expected = _sorted(whole.filter(matches))
        scan = evolved.scan(where=predicate)
        assert _sorted(scan.to_arrow()) == expected, predicate
        assert scan.count() == len(expected), predicate
        limited = evolved.scan(where=predicate, limit=3).to_arrow()
        assert limited.num_rows == min(3, len(expected)), predicate
        assert set(_sorted(limited)) <= set(expected)


def _with_keys(rows: pa.Table, rng: np.random.Generator) -> pa.Table:
    if "k" not in rows.column_names:
        return rows
    keys = pa.array(rng.integers(0, 60, rows.num_rows), pa.int32())
    return rows.set_column(rows.schema.get_field_index("k"), rows.schema.field("k"), keys)


def _sorted(rows: pa.Table) -> list[str]:
    return sorted(repr(row) for row in rows.to_pylist())


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
@pytest.mark.parametrize("index", [None, "bloom-filter", "bitmap", "range-bitmap"])
def test_blanks_at_the_end_of_a_char_hide_no_row(
    tmp_path: Path, file_format: str, index: str | None
) -> None:
    """ORC files lose them; statistics and indexes must not know better."""
    options = {"file.format": file_format}
    if index is not None:
        options |= {f"file-index.{index}.columns": "c"}
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"c": "CHAR(4)"}, options=options)
    for texts in (["a  ", "b"], ["b ", "a\t"], ["a \t", "a \t"], ["a\n ", None, "a "], ["a"]):
        table.write(pa.table({"c": texts}))

    everything = table.scan().to_arrow()["c"].to_pylist()
    texts = sorted({*everything, "a", "a ", "b", "a\t", "a \t"} - {None})
    for number, (text, comparison) in enumerate(product(texts, ("=", "<=", ">=", "<", ">"))):
        wanted = pc.sum(_COMPARE[comparison](pa.array(everything), text)).as_py() or 0
        found = table.scan(where=_PREDICATE[comparison](col("c"), text))
        if comparison == "=" or number % 2:
            assert found.count() == wanted, (comparison, text)
        if comparison == "=" or not number % 2:
            assert found.to_arrow().num_rows == wanted, (comparison, text)


_COMPARE = {
    "=": pc.equal,
    "<=": pc.less_equal,
    ">=": pc.greater_equal,
    "<": pc.less,
    ">": pc.greater,
}
_PREDICATE = {
    "=": operator.eq,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
