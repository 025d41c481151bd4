"""Environments of Python with packages that ours cannot have, made once by pip."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.interop.java_build import build_once, cache_folder


class PackagesMissingError(Exception):
    """The packages cannot be had on this machine."""


def environment(name: str, *packages: str) -> Path:
    """Return the Python of an environment with some packages.

    Raises
    ------
    PackagesMissingError
        If pip does not get them.
    """

    def install(folder: Path) -> None:
        venv.create(folder / "venv", with_pip=True)
        pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "--quiet", *packages]
        run = subprocess.run(pip, capture_output=True, text=True, check=False)
        if run.returncode:
            raise PackagesMissingError(f"{' '.join(packages)}: {run.stderr[-2000:]}")

    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256("\n".join(packages).encode()).hexdigest()[:8]
    made = build_once(cache_folder() / f"{name}-python{version}-{digest}", install)
    return made / "venv/bin/python"


def required_environment(name: str, *packages: str) -> Path:
    """Return what `environment` does, for tests that only ``make interop`` runs."""
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip(f"{name} is part of make interop")
    try:
        return environment(name, *packages)
    except PackagesMissingError as missing:
        pytest.fail(f"live tests are required: {missing}", pytrace=False)
