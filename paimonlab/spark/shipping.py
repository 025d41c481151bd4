"""Executors need this package: it is sent to them as a zip file, once a Spark application.

Python workers have the interpreter's own packages, but not a checkout that only the driver
has on its path, and executors on other machines may have neither. The libraries that
paimonlab needs (pyarrow, numpy, …) have to be installed where executors run.
"""

from __future__ import annotations

import threading
import weakref
import zipfile
from pathlib import Path
from tempfile import mkdtemp

from pyspark import SparkContext

import paimonlab
from paimonlab.storage.forks import delete_at_exit

_lock = threading.Lock()
_shipped: weakref.WeakSet[SparkContext] = weakref.WeakSet()


def ship(context: SparkContext) -> None:
    """Make this package importable in the Python workers of a Spark application."""
    with _lock:
        if context in _shipped:
            return
        folder = Path(mkdtemp(prefix="paimonlab-ship-"))
        delete_at_exit(str(folder))
        context.addPyFile(str(_zipped(Path(paimonlab.__file__).parent, folder)))
        _shipped.add(context)


def _zipped(package: Path, folder: Path) -> Path:
    target = folder / "paimonlab.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(package.rglob("*")):
            if source.is_file() and "__pycache__" not in source.parts:
                archive.write(source, Path(package.name, source.relative_to(package)))
    return target
