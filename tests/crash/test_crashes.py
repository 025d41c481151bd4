"""Whatever call of the store an operation dies or fails at: the table is old or new, and whole.

Done again it completes, and nothing happens twice.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.harness import KINDS, Kind, Operation, Prepared, catalog, faults, prepared, tried
from tests.crash.operations import OPERATIONS

LEAST_POINTS = 7500
"""Calls of all operations at which they die or fail, before or after."""
EVERY = int(os.environ.get("PAIMONLAB_CRASH_EVERY", "30"))
"""Every how many faults that differ one is tried; 1: all, about 7,900 points."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.commit.settlement._PAUSE_SECONDS", 0)


@pytest.fixture(scope="module")
def prepare(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Operation], Prepared]:
    """Make each kind of table, and do each operation without a fault, once."""
    warehouses: dict[object, Path] = {}

    def prepare(operation: Operation) -> Prepared:
        if operation.setup not in warehouses:
            warehouses[operation.setup] = tmp_path_factory.mktemp("made")
            operation.setup(catalog(warehouses[operation.setup]))
        made = warehouses[operation.setup]
        return prepared(operation, made, tmp_path_factory.mktemp("whole"))

    return functools.cache(prepare)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
@pytest.mark.parametrize("kind", KINDS)
def test_old_or_new(
    tmp_path: Path, prepare: Callable[[Operation], Prepared], operation: Operation, kind: Kind
) -> None:
    whole = prepare(operation)

    assert tried(whole, kind, tmp_path, every=EVERY) or not faults(whole, kind)


def test_there_are_many_points(prepare: Callable[[Operation], Prepared]) -> None:
    points = {operation.name: prepare(operation).points for operation in OPERATIONS}

    assert sum(points.values()) >= LEAST_POINTS, points
