"""Filters give the same rows with all the pruning there is as without any: against a model.

The tables are small, but of many files with partitions, buckets and overlapping key ranges, so
that a file too many pruned, or one too few where rows merge, shows as a wrong row.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

import paimonlab
from paimonlab.spec.predicates.predicate import Predicate
from tests.repetitions import times
from tests.spec.predicate_model import TYPES, VALUES, every_leaf, predicates, to_table, truth

Row = dict[str, Any]
DEFINITIONS: dict[str, dict[str, Any]] = {
    "append": {"options": {"bucket": "-1"}},
    "partitioned": {
        "partition_keys": ["day", "text"],
        "options": {"bucket": "3", "bucket-key": "big,money"},
    },
    "keyed": {"primary_keys": ["tiny", "text"], "options": {"bucket": "2"}},
    "keyed and partitioned": {
        "primary_keys": ["day", "big"],
        "partition_keys": ["day"],
        "options": {"bucket": "2"},
    },
}


class _Model:
    """A table and the rows that must be in it."""

    def __init__(self, warehouse: Path, kind: str) -> None:
        definition = DEFINITIONS[kind]
        self.number = [*DEFINITIONS].index(kind)
        keys = definition.get("primary_keys", [])
        columns = {
            name: f"{text} NOT NULL" if name in keys else text for name, text in TYPES.items()
        }
        catalog = paimonlab.connect(str(warehouse))
        catalog.create_database("db")
        self.table = catalog.create_table("db.t", {**columns, "n": "INT NOT NULL"}, **definition)
        self.rows: list[Row] = []
        rng = np.random.default_rng(7)
        numbers = itertools.count()
        for _ in range(9):
            batch = [self._random_row(rng, keys, next(numbers)) for _ in range(rng.integers(1, 9))]
            self._write(batch, keys, rng)

    @staticmethod
    def _random_row(rng: np.random.Generator, keys: Iterable[str], number: int) -> Row:
        row: Row = {"n": number}
        for name, values in VALUES.items():
            is_null = name not in keys and rng.random() < 0.2
            row[name] = None if is_null else values[rng.integers(len(values))]
        return row

    def _write(self, batch: list[Row], keys: list[str], rng: np.random.Generator) -> None:
        rows = to_table(batch).append_column("n", pa.array([row["n"] for row in batch], pa.int32()))
        if not keys:
            self.table.write(rows)
            self.rows += batch
            return
        kinds = ["-D" if rng.random() < 0.2 else "+U" for _ in batch]
        self.table.write(rows.append_column("kind", pa.array(kinds)), row_kinds="kind")
        state = {tuple(row[key] for key in keys): row for row in self.rows}
        for row, kind in zip(batch, kinds, strict=True):
            state.pop(tuple(row[key] for key in keys), None)
            if kind == "+U":
                state[tuple(row[key] for key in keys)] = row
        self.rows = list(state.values())

    def check(self, predicate: Predicate) -> None:
        """Compare a filtered scan with the model."""
        expected = sorted(row["n"] for row in self.rows if truth(predicate, row))
        found = self.table.scan(["n"], predicate).to_arrow()["n"].to_pylist()
        assert sorted(found) == expected, str(predicate)


@pytest.fixture(scope="module", params=DEFINITIONS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> _Model:
    return _Model(tmp_path_factory.mktemp("warehouse"), request.param)


def test_all_rows_are_there(model: _Model) -> None:
    assert sorted(model.table.scan(["n"]).to_arrow()["n"].to_pylist()) == sorted(
        row["n"] for row in model.rows
    )


@pytest.mark.parametrize("column", ["tiny", "big", "text", "day", "money"])
def test_every_leaf_over_columns_that_prune(model: _Model, column: str) -> None:
    leaves = every_leaf(column)
    step = max(1, len(leaves) // times(15))
    for leaf in leaves[model.number % step :: step]:  # each kind of table meets others
        model.check(leaf)


@settings(max_examples=times(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(predicate=predicates)
def test_random_filters(model: _Model, predicate: Predicate) -> None:
    model.check(predicate)
