"""What indexes tell, held against the rows themselves."""

from __future__ import annotations

import contextlib
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import DataError, SchemaError, UnsupportedError
from paimonlab.formats.file_index import container
from paimonlab.formats.file_index.building import FileIndexBuilder
from paimonlab.formats.file_index.container import DamagedIndexError
from paimonlab.formats.file_index.hashing import hash_bytes
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.formats.file_index.selection import mask_of, matching_rows
from paimonlab.formats.file_index.values import INDEX_TYPES, form_of
from paimonlab.spec.binary_row.buffers import byte_pieces
from paimonlab.spec.options.table_options import Options
from paimonlab.spec.predicates.predicate import Predicate, bind, col, evaluate
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.repetitions import times

SPECIAL = [0.0, -0.0, math.nan, math.inf, -math.inf]
TYPES: dict[str, tuple[str, Any]] = {
    "boolean": ("BOOLEAN", lambda one: one % 2 == 0),
    "tinyint": ("TINYINT", lambda one: one % 100 - 50),
    "smallint": ("SMALLINT", lambda one: one * 7),
    "int": ("INT", lambda one: one * 10**5),
    "bigint": ("BIGINT", lambda one: one * 10**15),
    "float": ("FLOAT", lambda one: SPECIAL[one % 5] if one % 4 == 0 else one / 2),
    "double": ("DOUBLE", lambda one: SPECIAL[one % 5] if one % 4 == 0 else one / 3),
    "decimal": ("DECIMAL(18, 3)", lambda one: Decimal(one) / 8),
    "date": ("DATE", lambda one: one),
    "time": ("TIME(3)", abs),
    "millis": ("TIMESTAMP(3)", lambda one: one * 999),
    "micros": ("TIMESTAMP(6)", lambda one: one * 999_999),
    "nanos": ("TIMESTAMP(9)", lambda one: one * 333),
    "instant": ("TIMESTAMP(6) WITH LOCAL TIME ZONE", lambda one: one * 10**6),
    "text": ("STRING", lambda one: "é" * (one % 3) + str(one)),
    "char": ("CHAR(5)", lambda one: f"{one:5}"),
    "bytes": ("BYTES", lambda one: str(one).encode()),
}
CASES = [
    (name, kind)
    for name, (text, _) in TYPES.items()
    for kind in INDEX_TYPES
    if form_of(parse_type(text), kind) is not None
]


def _column(name: str, numbers: list[int | None]) -> pa.Array:
    text, convert = TYPES[name]
    (field,) = arrow_schema([DataField(0, "c", parse_type(text))])
    return pa.array([None if one is None else convert(one) for one in numbers], field.type)


def _numbers(rng: np.random.Generator) -> list[int | None]:
    size = int(rng.choice([0, 1, 5, 60, 400]))
    spread = int(rng.choice([1, 4, 300]))
    share = rng.choice([0.0, 0.3, 1.0], p=[0.4, 0.5, 0.1])
    drawn = rng.integers(-spread, spread + 1, size).tolist()
    return [None if rng.random() < share else one for one in drawn]


def _predicates(values: pa.Array, others: pa.Array) -> list[Predicate]:
    column = col("c")
    found: list[Predicate] = [column.is_null(), column.is_not_null()]
    for one in (*values.to_pylist()[:3], *others.to_pylist()[:2]):
        if one is not None:
            found += [column == one, column != one, column < one, column <= one]
            found += [column > one, column >= one, column.is_in([one, others[0].as_py()])]
            found += [(column == one) | column.is_null(), (column > one) & column.is_not_null()]
    return found


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_no_matching_row_is_ruled_out(name: str, kind: str, rng: np.random.Generator) -> None:
    field = DataField(0, "c", parse_type(TYPES[name][0]))
    settings = {f"file-index.{kind}.columns": "c"}
    if kind == "bitmap" and rng.random() < 0.5:
        settings["file-index.bitmap.c.version"] = "1"
    elif kind == "bitmap":
        settings["file-index.bitmap.c.index-block-size"] = "100 b"
    if kind == "range-bitmap" and rng.random() < 0.5:
        settings["file-index.range-bitmap.c.chunk-size"] = "40 b"
    if kind == "bloom-filter":
        settings["file-index.bloom-filter.c.items"] = "400"
    options = FileIndexOptions.of([field], Options(settings))
    ruled_out = 0
    for _ in range(times(6)):
        values = _column(name, _numbers(rng))
        rows = pa.table({"c": values})
        builder = FileIndexBuilder([field], options)
        cut = int(rng.integers(0, len(values) + 1))
        builder.add(rows.slice(0, cut))
        builder.add(rows.slice(cut))
        indexes = container.decode(builder.finish())
        for predicate in _predicates(values, _column(name, [-7, 1000])):
            bound = bind(predicate, [field], "t")
            found = matching_rows(bound, indexes, {"c": field.type}, len(values))
            matches = evaluate(bound, rows).fill_null(False).to_numpy()
            told = np.ones(len(values), np.bool_)
            if found is not None:
                told = mask_of(found, len(values))
            assert told[matches].all(), predicate
            ruled_out += int((~told).sum())
    assert ruled_out > 0


def test_values_of_a_maps_key_are_indexed() -> None:
    field = DataField(0, "m", parse_type("MAP<STRING, INT>"))
    options = FileIndexOptions.of(
        [field],
        Options({"file-index.bitmap.columns": "m[a],m[z]", "file-index.bitmap.m[a].version": "1"}),
    )
    (column,) = arrow_schema([field])
    rows = pa.table(
        {"m": pa.array([[("a", 1)], [("b", 2)], None, [("a", 3), ("b", 1)]], column.type)}
    )
    builder = FileIndexBuilder([field], options)
    builder.add(rows)
    indexes = container.decode(builder.finish())
    assert set(indexes) == {"m[a]", "m[z]"}
    a = DataField(1, "m[a]", parse_type("INT"))
    for value, expected in ((1, [0]), (3, [3]), (2, [])):
        bound = bind(col("m[a]") == value, [a], "t")
        found = matching_rows(bound, indexes, {"m[a]": a.type}, 4)
        assert found is not None
        assert list(found) == expected


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"file-index.bitmap.columns": "x"}, SchemaError),
        ({"file-index.bitmap.columns": "a,,b"}, SchemaError),
        ({"file-index.bitmap.columns": "d"}, UnsupportedError),
        ({"file-index.token-bloom.columns": "a"}, UnsupportedError),
        ({"file-index.bitmap.columns": "a", "file-index.bitmap.b.version": "1"}, SchemaError),
        ({"file-index.bitmap.columns": "a", "file-index.bitmap.a.speed": "1"}, UnsupportedError),
        ({"file-index.bitmap.columns": "a[k]"}, SchemaError),
    ],
)
def test_wrong_options_are_refused(settings: dict[str, str], error: type[Exception]) -> None:
    types = {"a": "INT", "b": "INT", "d": "DECIMAL(9, 2)"}
    fields = [
        DataField(at, name, parse_type(text)) for at, (name, text) in enumerate(types.items())
    ]
    with pytest.raises(error):
        FileIndexOptions.of(fields, Options(settings))


def test_the_smallest_bigint_has_no_place_in_a_bsi() -> None:
    field = DataField(0, "c", parse_type("BIGINT"))
    options = FileIndexOptions.of([field], Options({"file-index.bsi.columns": "c"}))
    builder = FileIndexBuilder([field], options)
    builder.add(pa.table({"c": pa.array([-(2**63)], pa.int64())}))
    with pytest.raises(DataError, match="column c, index bsi"):
        builder.finish()


def test_hashes_of_texts() -> None:
    """Values of the xxHash reference implementation, seed 0."""
    texts = [b"", b"a", b"abc", b"message digest", bytes(range(101))]
    hashes = hash_bytes(byte_pieces(pa.array(texts, pa.binary()))).astype(np.uint64)
    assert [f"{one:016x}" for one in hashes.tolist()] == [
        "ef46db3751d8e999",
        "d24ec4f1a98c6e5b",
        "44bc2cf5ad770999",
        "066ed728fceeb3be",
        "e99038495f85381e",
    ]


def test_damaged_indexes_are_named_or_harmless(rng: np.random.Generator) -> None:
    fields = [DataField(0, "a", parse_type("INT")), DataField(1, "s", parse_type("STRING"))]
    columns = {"bloom-filter": "a,s", "bitmap": "a,s", "bsi": "a", "range-bitmap": "a,s"}
    settings = {f"file-index.{kind}.columns": names for kind, names in columns.items()}
    settings |= {f"file-index.bloom-filter.{name}.items": "50" for name in "as"}
    options = FileIndexOptions.of(fields, Options(settings))
    numbers = rng.integers(0, 9, 50)
    builder = FileIndexBuilder(fields, options)
    builder.add(pa.table({"a": pa.array(numbers, pa.int32()), "s": [str(one) for one in numbers]}))
    whole = builder.finish()
    predicate = bind((col("a") > 3) & (col("s") == "5"), fields, "t")
    types = {field.name: field.type for field in fields}
    for _ in range(times(400)):
        damaged = bytearray(whole)
        damaged[int(rng.integers(0, len(whole)))] ^= 1 << int(rng.integers(0, 8))
        cut = bytes(
            damaged[: int(rng.integers(0, len(whole) + 1))] if rng.random() < 0.3 else damaged
        )
        with contextlib.suppress(DamagedIndexError):
            matching_rows(predicate, container.decode(cut), types, 50)
