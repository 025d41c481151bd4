"""Variants that Java Paimon shredded, read here as Java reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pl
from paimonlab.errors import UnsupportedError
from paimonlab.spec.predicates.predicate import col
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.json import type_to_json
from paimonlab.spec.types.text import parse_type
from paimonlab.spec.variant.build import FLOAT, metadata_of, object_of, primitive
from tests.interop.pair import Pair
from tests.java_values import unordered
from tests.spec.test_variant import random_tree

pytestmark = pytest.mark.interop

COLUMNS = {"k": "INT NOT NULL", "v": "VARIANT"}
SCALARS = ["STRING", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN"]
SCALARS += ["VARIANT"]
DECIMALS = ["DECIMAL(5, 2)", "DECIMAL(18, 0)", "DECIMAL(38, 10)"]
"""Java Paimon 1.3.1 writes them and fails to read them."""
NAMES = ["a", "b", "c", "é", "𝄞", "ﬁ", "value", "typed_value", "metadata", "long name " * 8]


def random_shape(scalars: list[str], rng: np.random.Generator, depth: int) -> DataType:
    """Return the type that a part of documents is expected to have."""
    kind = int(rng.integers(6)) if depth else 5
    if kind < 2:
        return random_row(scalars, rng, depth - 1)
    if kind == 2:
        return ArrayType(random_shape(scalars, rng, depth - 1))
    return parse_type(str(rng.choice(scalars)))


def random_row(scalars: list[str], rng: np.random.Generator, depth: int) -> RowType:
    names = rng.permutation(NAMES)[: int(rng.integers(1, 6))].tolist()
    types = [random_shape(scalars, rng, depth) for _ in names]
    return RowType(
        tuple(DataField(at, *one) for at, one in enumerate(zip(names, types, strict=True)))
    )


def random_document(shape: DataType, rng: np.random.Generator) -> Any:
    """Return something that has a shape, more or less."""
    if rng.random() < 0.15:
        return random_tree(rng, 2)
    match shape:
        case RowType(fields):
            of_shape = {one.name: random_document(one.type, rng) for one in fields}
            others = {name: random_tree(rng, 1) for name in NAMES if rng.random() < 0.2}
            kept = {name: one for name, one in of_shape.items() if rng.random() < 0.8}
            both = list({**others, **kept}.items()) if rng.random() < 0.7 else list(kept.items())
            return {both[at][0]: both[at][1] for at in rng.permutation(len(both)).tolist()}
        case ArrayType(element):
            count = int(rng.choice([0, 1, 2, 5, 300], p=[0.2, 0.3, 0.3, 0.18, 0.02]))
            return [random_document(element, rng) for _ in range(count)]
        case AtomicType(root=root):
            return random_scalar(root, rng)


def random_scalar(root: TypeRoot, rng: np.random.Generator) -> Any:
    match root:
        case TypeRoot.VARCHAR:
            return "é" * int(rng.choice([0, 1, 31, 32, 40]))
        case TypeRoot.BOOLEAN:
            return bool(rng.integers(2))
        case TypeRoot.DOUBLE | TypeRoot.FLOAT:
            return float(rng.normal() * 1e200)
        case TypeRoot.DECIMAL:
            return round(float(rng.normal() * 100), int(rng.integers(4)))
        case _:  # of whole numbers
            return int(rng.integers(-(2**62), 2**62)) >> int(rng.integers(62))


def create(pair: Pair, shape: RowType, *, keyed: bool) -> None:
    shapes = RowType((DataField(1, "v", shape),))
    options = {"parquet.variant.shreddingSchema": json.dumps(type_to_json(shapes))}
    if keyed:
        options["bucket"] = "1"
    pair.create("java", "db.t", COLUMNS, pk=["k"] if keyed else [], options=options)


def leaves(pair: Pair) -> list[set[str]]:
    """Return the columns of the files."""
    paths = Path(pair.open("db.t").path).glob("bucket-*/data-*.parquet")
    schemas = [pq.read_metadata(path).schema for path in paths]
    return [{schema.column(at).path for at in range(len(schema))} for schema in schemas]


@pytest.mark.parametrize("keyed", [False, True], ids=["append", "keyed"])
@pytest.mark.parametrize("attempt", range(5))
def test_random_documents(pair: Pair, attempt: int, keyed: bool, rng: np.random.Generator) -> None:
    has_decimals = attempt > 2
    shape = random_row(SCALARS + DECIMALS * 2 if has_decimals else SCALARS, rng, 2)
    create(pair, shape, keyed=keyed)
    texts = [
        None if rng.random() < 0.05 else json.dumps(random_document(shape, rng)) for _ in range(60)
    ]
    variants = pl.parse_json(texts)
    rows = pa.table({"k": pa.array(range(60), pa.int32()), "v": variants})

    pair.write("java", "db.t", rows.slice(0, 40))
    pair.write("java", "db.t", rows.slice(20 if keyed else 40))

    assert all(any(one.startswith("v.typed_value.") for one in found) for found in leaves(pair))
    ours = pair.open("db.t").scan(["v"]).to_arrow()["v"]
    assert unordered(pl.to_json(ours).to_pylist()) == unordered(pl.to_json(variants).to_pylist())
    some = pair.open("db.t").scan(["v"], where=col("k") == 37).to_arrow()["v"]
    assert pl.to_json(some).to_pylist() == pl.to_json(variants.slice(37, 1)).to_pylist()
    if not has_decimals:
        pair.assert_same("db.t")
        pair.java("compact", table="db.t")
        pair.assert_same("db.t")


def test_every_type_is_taken_out_and_put_back(pair: Pair) -> None:
    kinds = "s STRING, i TINYINT, f FLOAT, d DOUBLE, n INT, b BOOLEAN, a ARRAY<INT>"
    shape = parse_type(f"ROW<{kinds}, r ROW<x BIGINT, y ROW<z STRING>>>")
    assert isinstance(shape, RowType)
    create(pair, shape, keyed=False)
    texts = [
        '{"s": "x", "i": 1, "d": 1e300, "n": 150.0, "b": true, "a": [1, 2], "r": {"x": 5}}',
        '{"s": 1, "i": 300, "d": 1, "n": 1000.5, "b": null, "a": [1, "x", null], "r": []}',
        '{"r": {"y": {"z": "deep", "more": {"a": 1}}, "w": 1}, "t": {"s": "not it"}}',
        *("{}", "null", "[]", "1"),
    ]
    floating = object_of([("f", 0, primitive(FLOAT, b"\0\0\xc0\x3f"))])
    variants = [*pl.parse_json(texts).to_pylist(), None]
    variants.append({"value": floating, "metadata": metadata_of(["f"])})
    column = pa.array(variants, pl.parse_json(texts).type)

    pair.write("java", "db.t", pa.table({"k": pa.array(range(9), pa.int32()), "v": column}))

    (found,) = leaves(pair)
    assert {
        "v.typed_value.f.typed_value",
        "v.typed_value.a.typed_value.list.element.value",
    } <= found
    pair.assert_same("db.t")
    ours = pair.open("db.t").scan(["v"]).to_arrow()["v"]
    assert pl.to_json(ours).to_pylist() == pl.to_json(column).to_pylist()
    with pytest.raises(UnsupportedError, match="shreddingSchema"):
        pair.write("us", "db.t", pa.table({"k": pa.array([9], pa.int32()), "v": column[:1]}))
