"""Whatever call of the store an operation dies or fails at: the table is old or new, and whole.

Done again it completes, and nothing happens twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.harness import MODES, Mode, Operation, calls_of, catalog, numbers, tried
from tests.crash.operations import OPERATIONS

LEAST_POINTS = 1500
EVERY = int(os.environ.get("PAIMONLAB_CRASH_EVERY", "4"))
"""Every how many calls there is a fault; 1: all, about 7,000 points."""


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.commit.settlement._PAUSE_SECONDS", 0)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Operation], Path]:
    """Make each kind of table once."""
    warehouses: dict[object, Path] = {}

    def make(operation: Operation) -> Path:
        if operation.setup not in warehouses:
            warehouses[operation.setup] = tmp_path_factory.mktemp("made")
            operation.setup(catalog(warehouses[operation.setup]))
        return warehouses[operation.setup]

    return make


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_old_or_new(
    tmp_path: Path, made: Callable[[Operation], Path], operation: Operation, mode: Mode
) -> None:
    points = tried(operation, mode, made(operation), tmp_path, every=EVERY)

    assert points.count > 0 or points.calls < EVERY


def test_there_are_many_points(tmp_path: Path, made: Callable[[Operation], Path]) -> None:
    points = {}
    for number, operation in enumerate(OPERATIONS):
        scratch = tmp_path / str(number)
        scratch.mkdir()
        count, _ = calls_of(operation, made(operation), scratch)
        points[operation.name] = sum(len(numbers(operation, mode, count, EVERY)) for mode in MODES)

    assert sum(points.values()) >= LEAST_POINTS, points
