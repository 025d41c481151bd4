"""Tables that Java Paimon wrote, kept as archives, with what Java reads from them.

``java-1.3.1`` holds ``wh/`` (a warehouse) and ``expected/<table>.json``; ``java-0.9`` the
same under ``fixtures/java09``, and under ``fixtures/py21``, ``fixtures/rust04`` tables of
other writers.
"""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

ROOTS = {"java-1.3.1": "java-1.3.1", "java-0.9": "fixtures/java09"}


@cache
def golden(name: str) -> Path:
    """Unpack an archive, once a process; returns the folder with ``wh`` and ``expected``."""
    target = Path(tempfile.mkdtemp(prefix="paimonlab-golden-"))
    atexit.register(shutil.rmtree, target, ignore_errors=True)
    with tarfile.open(Path(__file__).parent / f"{name}.tar.xz") as archive:
        archive.extractall(target, filter="data")
    return target / ROOTS[name]
