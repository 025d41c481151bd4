"""What every test gets: repeatable random numbers, the right Python for Spark's workers, and no
waiting for disks, for Java's compiler or for the garbage collector.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

import paimonlab as pl
from paimonlab.read.lookup_stores import kept_stores
from tools import quick_imports, short_java

os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
short_java.let_spark_have_them()
quick_imports.pass_grammars_by()

IS_REPEATABLE = "PAIMONLAB_SEED" in os.environ
"""With a seed a run repeats itself: continuous integration names one, so that what it says is
about the change; everybody else looks in new places each time."""


class HasFileno(Protocol):
    """An open file."""

    def fileno(self) -> int: ...


_sync = os.fsync
_OUTSIDE = Path(__file__).with_name("outside")
"""Tests of disks, which have room for less until what is written is synced."""


def _need_not_wait(fd: int | HasFileno) -> None:
    """Stand in for `os.fsync`: as strict about descriptors, but it does not wait for the disk.

    Nobody cuts the power of a test; what is synced and when, tests of the store watch by the
    calls. Processes that tests start sync as anybody's do.
    """
    os.fstat(fd if isinstance(fd, int) else fd.fileno())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let only those tests wait for the disk that are about disks."""
    os.fsync = _sync if item.path.is_relative_to(_OUTSIDE) else _need_not_wait


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Let the garbage collector pass by modules and tests, which stay to the end anyway."""
    gc.collect()
    gc.freeze()


EXAMPLES = int(os.environ.get("PAIMONLAB_EXAMPLES", "30"))
"""How many hypothesis draws for a test that does not say itself; its own default is 100."""

# No deadline: a timing never decides a test. A failure prints the blob that repeats it.
settings.register_profile(
    "paimonlab",
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=IS_REPEATABLE,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("paimonlab")

# hypothesis would parse all our modules and draw constants that it finds there, too: then what a
# seed draws depends on the whole code, and to find them takes fifteen seconds of a core.
providers._get_local_constants = lambda: providers._local_constants


@pytest.fixture
def seed() -> int:
    """Return the seed of this run; a failing test shows it, ``PAIMONLAB_SEED`` sets it."""
    chosen = int(os.environ.get("PAIMONLAB_SEED", "0")) or int.from_bytes(os.urandom(4))
    print(f"PAIMONLAB_SEED={chosen}")  # noqa: T201 - pytest shows it when the test fails
    return chosen


@pytest.fixture
def rng(seed: int) -> np.random.Generator:
    """Return a random generator whose seed a failing test shows."""
    return np.random.default_rng(seed)


@pytest.fixture
def catalog(tmp_path: Path) -> pl.Catalog:
    """Open a new warehouse with one database, ``db``."""
    catalog = pl.connect(tmp_path / "warehouse")
    catalog.create_database("db")
    return catalog


@pytest.fixture(autouse=True, scope="session")
def _lookup_stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep lookup stores of tests that name no folder for them with their other files."""
    folder = str(tmp_path_factory.mktemp("lookup", numbered=True) / "stores")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_stores, "default_folder", lambda: folder)
        yield
