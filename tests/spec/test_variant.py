"""VARIANT values: Java's bytes from JSON and back."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.errors import DataError
from paimonlab.spec.variant.decode import to_json
from paimonlab.spec.variant.encode import parse_json
from tests.golden import RELEASES, golden
from tests.repetitions import times


def javas() -> list[dict[str, str]]:
    """Variants that Java made: the text, and both parts in hex."""
    folders = [golden(writer) / "expected" for writer in RELEASES]
    found = []
    for path in [one / f"variant_{name}.json" for one in folders for name in ("parquet", "pk")]:
        document = json.loads(path.read_text(encoding="utf-8"))
        cells = [cell for _, row in document["latest"] for cell in row]
        found += [cell for cell in cells if isinstance(cell, dict)]
    return found


AS_WRITTEN = {
    '{"n":1.0E100,"neg":-7,"nested":{"deep":{"er":"é"}}}': (
        '{"nested": {"deep": {"er": "é"}}, "n": 1e100, "neg": -7}'
    )
}
"""Texts whose names Java met in another order."""


def test_java_makes_the_same_bytes_of_the_same_json() -> None:
    texts = [AS_WRITTEN.get(one["json"], one["json"]) for one in javas()]
    assert len(texts) > 5

    made = parse_json(texts).to_pylist()

    for one, ours in zip(javas(), made, strict=True):
        assert ours["metadata"].hex() == one["metadata"], one["json"]
        assert ours["value"].hex() == one["value"], one["json"]


def test_java_spells_the_same_variants_alike() -> None:
    variants = [
        {"value": bytes.fromhex(one["value"]), "metadata": bytes.fromhex(one["metadata"])}
        for one in javas()
    ]

    assert to_json(pa.array(variants)).to_pylist() == [one["json"] for one in javas()]


def random_tree(rng: np.random.Generator, depth: int) -> Any:
    kind = int(rng.integers(8 if depth else 6))
    if kind == 6:
        return [random_tree(rng, depth - 1) for _ in range(int(rng.choice([0, 1, 3, 300])))]
    if kind == 7:
        return {f"n{rng.integers(400)}é": random_tree(rng, depth - 1) for _ in range(5)}
    choices: list[Any] = [
        None,
        bool(rng.integers(2)),
        int(rng.integers(-(2**62), 2**62)) >> int(rng.integers(62)),
        float(rng.normal() * 10.0 ** int(rng.integers(-30, 30))),
        "x" * int(rng.choice([0, 1, 63, 64, 300])) + '"\\\n\x01é',
        10 ** int(rng.integers(18, 37)) + 1,
    ]
    return choices[kind]


def test_trees_come_back(rng: np.random.Generator) -> None:
    trees = [random_tree(rng, 3) for _ in range(times(30))]

    texts = to_json(parse_json([json.dumps(tree) for tree in trees])).to_pylist()

    for text, tree in zip(texts, trees, strict=True):
        assert json.loads(text) == json.loads(json.dumps(tree))


def test_nulls_stay_and_null_is_a_value() -> None:
    found = parse_json(pa.chunked_array([["null"], [None]]))

    assert found.is_null().to_pylist() == [False, True]
    assert to_json(found).to_pylist() == ["null", None]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (bytes([11 << 2]) + struct.pack("<i", 19_782), '"2024-02-29"'),
        (bytes([12 << 2]) + struct.pack("<q", 1_500_000), '"1970-01-01 00:00:01.500+00:00"'),
        (bytes([13 << 2]) + struct.pack("<q", 1), '"1970-01-01 00:00:00.000001"'),
        (bytes([14 << 2]) + struct.pack("<f", 1.5), "1.5"),
        (bytes([7 << 2]) + struct.pack("<d", float("nan")), '"NaN"'),
        (bytes([15 << 2]) + struct.pack("<I", 2) + b"ab", '"YWI="'),
        (bytes([20 << 2]) + bytes(range(16)), '"00010203-0405-0607-0809-0a0b0c0d0e0f"'),
        (bytes([8 << 2, 3]) + struct.pack("<i", 1500), "1.5"),
    ],
)
def test_types_that_json_has_not_are_spelled_as_java_does(data: bytes, text: str) -> None:
    variant = pa.array([{"value": data, "metadata": bytes([1, 0, 0])}])

    assert to_json(variant).to_pylist() == [text]


@pytest.mark.parametrize("text", ["", "{", "nul", "NaN", '{"a":1,"a":2}', "[" * 100_000])
def test_what_is_no_json_is_an_error(text: str) -> None:
    with pytest.raises(DataError, match="cannot be read as JSON"):
        parse_json([text])


def test_damage_is_an_error_or_a_text(rng: np.random.Generator) -> None:
    (whole,) = parse_json(['{"a":[1,2.5,"xyz",{"b":null}],"c":true}']).to_pylist()
    for _ in range(300):
        value, metadata = bytearray(whole["value"]), bytearray(whole["metadata"])
        for part in (value, metadata):
            part[int(rng.integers(len(part)))] ^= 1 << int(rng.integers(8))
        try:
            to_json(pa.array([{"value": bytes(value), "metadata": bytes(metadata)}]))
        except DataError as error:
            assert "damaged" in str(error)  # noqa: PT017
