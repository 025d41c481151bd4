"""What tests from outside share: operations that were done once without a fault."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.harness import Operation, Prepared, catalog, prepared
from tests.crash.operations import OPERATIONS

BY_NAME = {operation.name: operation for operation in OPERATIONS}
EACH_KIND_OF_FILE = (
    *("append", "upsert with spill and changelog", "delete by vector", "expire snapshots"),
    *("analyze", "alter", "replace a tag", "create a branch", "fast-forward"),
)
"""Operations that together write each kind of file."""
Prepare = Callable[[Operation], Prepared]


@pytest.fixture(scope="session")
def prepare(tmp_path_factory: pytest.TempPathFactory) -> Prepare:
    """Make each kind of table, and do each operation without a fault, once."""
    made: dict[object, Path] = {}

    def prepare(operation: Operation) -> Prepared:
        if operation.setup not in made:
            made[operation.setup] = tmp_path_factory.mktemp("made")
            operation.setup(catalog(made[operation.setup]))
        return prepared(operation, made[operation.setup], tmp_path_factory.mktemp("whole"))

    return functools.cache(prepare)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paimonlab.commit.settlement._PAUSE_SECONDS", 0)
