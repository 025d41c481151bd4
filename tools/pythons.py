"""The Python interpreters of this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13")
"""That are supported."""


def interpreter(version: str) -> str | None:
    """Return the path of an interpreter of pyenv, or on PATH; None: there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    if found := sorted(pyenv.glob(f"{version}.*/bin/python")):
        return str(found[-1])
    return shutil.which(f"python{version}")
