"""Keep the names of the tests that failed, for `tools.run_tests`, which loads this plug-in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PLACE = "PAIMONLAB_FAILED_TESTS"
"""The variable of the environment that names the file for them: one a line."""


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add a test whose setup, call or teardown failed."""
    if report.failed and (place := os.environ.get(PLACE)):
        # A cell alone would lack what the cells before it made.
        name = report.nodeid.partition("::")[0] if ".ipynb" in report.nodeid else report.nodeid
        with Path(place).open("a", encoding="utf-8") as out:
            out.write(f"{name}\n")
