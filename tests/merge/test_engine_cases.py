"""Merge engines by examples that a person can check."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from paimonlab.merge.engines import merge
from paimonlab.merge.groups import Members
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.support import cases


def _value(text: str) -> Any:
    return None if text == "-" else json.loads(text)


def _merged(
    rows: list[tuple[str, list[Any]]], columns: dict[str, str], options: dict[str, str]
) -> tuple[str, list[Any]]:
    """Merge rows of one key; the only row that is left."""
    fields = [
        DataField(number, name, parse_type(text))
        for number, (name, text) in enumerate(columns.items())
    ]
    arrays = [
        pa.array([values[place] for _, values in rows], to_arrow(field.type))
        for place, field in enumerate(fields)
    ]
    kinds = np.array([SYMBOLS.index(kind) for kind, _ in rows], np.int8)
    found = merge(
        pa.table(arrays, names=list(columns)),
        list(columns),
        Members.of(np.zeros(len(rows), np.int64)),
        kinds=kinds,
        engine=MergeEngine.of(fields, ["key"], options),
        required=[],
    )
    assert found.kinds is not None
    values = [found.columns[name].to_pylist()[0] for name in columns]
    return SYMBOLS[int(found.kinds[0])], values


@pytest.mark.parametrize(("title", "given", "expected"), cases("aggregates"))
def test_aggregates(title: str, given: str, expected: str) -> None:
    header, drawn = given.strip().splitlines()
    function, kind, *more = header.split()
    options = {"merge-engine": "aggregation", "fields.v.aggregate-function": function}
    for option in more:
        if option == "remove":
            options["aggregation.remove-record-on-delete"] = "true"
        else:
            key, _, value = option.partition("=")
            options[f"fields.v.{key}"] = value
    rows = [(text[:2], [_value(text[3:])]) for text in drawn.split()]

    merged = _merged(rows, {"v": kind}, options)

    assert merged == (expected[:2], [_value(expected[3:])]), title


@pytest.mark.parametrize(("title", "given", "expected"), cases("partial_update"))
def test_partial_update(title: str, given: str, expected: str) -> None:
    header, drawn = given.strip().splitlines()
    options = dict(option.partition("=")[::2] for option in header.split() if option != "plain")
    rows = [(text[:2], [_value(value) for value in text[3:].split(",")]) for text in drawn.split()]

    merged = _merged(
        rows,
        dict.fromkeys(("a", "g", "x", "y"), "INT"),
        {"merge-engine": "partial-update", **options},
    )

    wanted = [_value(value) for value in expected[3:].split(",")]
    assert merged == (expected[:2], wanted), title
