"""How notebooks are checked, and what nbval must not compare; `make test` loads this plug-in.

nbval compares every MIME type of an output but pictures. Outputs kept as data beside their
text (``text/plain`` and ``text/html`` are compared) and what a kernel writes to standard
error (Spark's log) are no results.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.debian import is_installed
from tests.storage.stores.server import ServerMissingError, scripts
from tools import quick_imports, short_java

quick_imports.pass_grammars_by()

_NOT_COMPARED = (
    "application/vnd.paimonlab.view.v1+json",
    "application/vnd.plotly.v1+json",
    "image/svg+xml",
    "stderr",
)


_WITH_MARIADB = "16_from_mariadb.ipynb"
_WITH_S3 = "17_on_s3.ipynb"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave a notebook out whose server cannot be had."""
    if collection_path.name == _WITH_S3:
        return None if _has_moto() else True
    if collection_path.name != _WITH_MARIADB or shutil.which("mariadbd") is not None:
        return None
    return not is_installed("mariadb-server")


def _has_moto() -> bool:
    """Whether kernels find moto, an S3 server; the environment that tests have of it is made."""
    try:
        folder = str(scripts())
    except ServerMissingError:
        return False
    if folder not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    return True


def pytest_configure() -> None:
    """Let the kernels' Spark, and the cluster that one of them starts, start fast."""
    short_java.let_notebooks_have_them()


def pytest_collectstart(collector: pytest.Collector) -> None:
    """Extend what a notebook's collector skips, and let its kernel find what it starts."""
    if collector.path.name == _WITH_S3:
        _has_moto()  # a file that is named is not asked to be ignored
    skipped = getattr(collector, "skip_compare", None)
    if skipped is not None:
        collector.skip_compare = (*skipped, *_NOT_COMPARED)  # type: ignore[attr-defined]
