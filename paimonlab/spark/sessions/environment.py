"""What this machine has: measured once, judged by `paimonlab.spark.sessions.doctor`."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from paimonlab.catalog import Catalog
from paimonlab.catalog import diagnosing as of_catalogs
from paimonlab.errors import (
    CatalogDatabaseError,
    CatalogServerError,
    PaimonError,
    UnsupportedError,
)
from paimonlab.secrets import without_credentials
from paimonlab.spark.java import JavaNotFoundError, find_java
from paimonlab.spark.sessions.hadoop import HadoopJars, hadoop_jars
from paimonlab.spark.sessions.remote import VARIABLE
from paimonlab.spec.external_paths import scheme_of
from paimonlab.storage import join
from paimonlab.storage.schemes import HDFS, S3, store_kind

if TYPE_CHECKING:
    from paimonlab.spark.reading.own_scan import ScanChoice

PACKAGES = (
    *("pyarrow", "polars", "numpy", "pyspark", "grpcio-status", "pandas"),
    *("ipython", "anywidget", "jupyterlab", "duckdb"),
)
EXTENSION = Path("share/jupyter/labextensions/jupyterlab-paimonlab")
WORKER_PYTHON = "PYSPARK_PYTHON"
_WAIT_SECONDS = 10
_OPENED = (HDFS, S3)
"""Stores that Spark's own scan may read."""
_CGROUPS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
"""Where control groups of version 2 and 1 say what a container may take, and takes."""


_FOLDER = "check that the folder is there, and that you may write to it"


@dataclass(frozen=True, slots=True, kw_only=True)
class WarehouseState:
    """What happened when a warehouse was tried."""

    path: str
    """Without credentials."""
    problem: str = ""
    """Why it cannot be read and written; empty: it can."""
    advice: str = ""
    """What to change then, where more is known than the problem; empty: no more is."""
    publishes_once: bool = True
    """Whether a file that is there keeps a second one of its name out."""
    is_server: bool = False
    """Whether it is a server that answered; where its tables are was not tried."""
    is_in_store: bool = False
    """Whether it is in an object store or HDFS."""
    client: str = ""
    """Which client of HDFS reaches it, and why; empty: it is not on HDFS."""
    scheme: str = ""
    """What its path begins with, ``s3a``; empty: it is a local folder."""
    own_scan: ScanChoice | None = None
    """In a store: who reads its Parquet files in the session that runs; None: none does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What was found."""

    python: tuple[int, int, int]
    packages: Mapping[str, str | None] = field(default_factory=dict)
    """Version by name; None: not there."""
    java: str = ""
    """The Java that would run Spark; empty if there is none."""
    java_problem: str = ""
    worker_python: str = ""
    """The variable ``PYSPARK_PYTHON``; empty: not set."""
    worker_version: tuple[int, int] | None = None
    """Of it; None: it does not start, or is not set."""
    offers_server: bool = False
    """Whether the environment names a Spark Connect server."""
    has_extension: bool = False
    """Whether JupyterLab finds the extension that draws views."""
    zone: str = "UTC"
    """The process's time zone."""
    free_memory_bytes: int | None = None
    """None: the system does not say."""
    hadoop: HadoopJars | None = None
    """What Spark has of Hadoop; None: it was not found."""
    warehouse: WarehouseState | None = None
    """None if no warehouse was given."""


def measured(catalog: Catalog | None = None) -> Environment:
    """Look at this machine, and try a warehouse if there is one.

    The warehouse is tried with a small file in a folder ``.paimonlab-doctor-…`` that is deleted
    again.
    """
    java, problem = _java()
    worker = os.environ.get(WORKER_PYTHON, "")
    version = sys.version_info
    return Environment(
        python=(version.major, version.minor, version.micro),
        packages={name: _version(name) for name in PACKAGES},
        java=java,
        java_problem=problem,
        worker_python=worker,
        worker_version=_python_version(worker) if worker else None,
        offers_server=bool(os.environ.get(VARIABLE)),
        has_extension=_has_extension(),
        zone=os.environ.get("TZ") or time.tzname[0],
        free_memory_bytes=free_memory(),
        hadoop=hadoop_jars(),
        warehouse=None if catalog is None else try_warehouse(catalog),
    )


def _java() -> tuple[str, str]:
    try:
        return str(find_java()), ""
    except JavaNotFoundError as error:
        return "", str(error)


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _python_version(program: str) -> tuple[int, int] | None:
    asked = [program, "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        said = subprocess.run(  # noqa: S603 - what Spark would start
            asked, capture_output=True, text=True, timeout=_WAIT_SECONDS, check=True
        )
        major, minor = said.stdout.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _has_extension() -> bool:
    roots = [sys.prefix, *os.environ.get("JUPYTER_PATH", "").split(os.pathsep)]
    user = Path.home() / ".local"
    places = [Path(root) / EXTENSION for root in roots if root]
    places += [Path(root) / "labextensions" / EXTENSION.name for root in roots[1:] if root]
    return any((place / "package.json").is_file() for place in (*places, user / EXTENSION))


def free_memory(root: Path = Path("/")) -> int | None:
    """Return the bytes that programs may still take: of the machine, and of this container.

    Parameters
    ----------
    root
        The folder that holds ``proc`` and ``sys``.

    Returns
    -------
    int | None
        None: the system does not say.
    """
    lines = (_read(root / "proc/meminfo") or "").splitlines()
    known = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    for limit, used in _CGROUPS:
        numbers = [_read(root / "sys/fs/cgroup" / name) for name in (limit, used)]
        texts = [text.strip() for text in numbers if text is not None]
        if len(texts) == len(numbers) and all(map(str.isdecimal, texts)):
            known.append(max(int(texts[0]) - int(texts[1]), 0))
    return min(known, default=None)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return None


def try_warehouse(catalog: Catalog) -> WarehouseState:
    """Write a file in a warehouse, and see that a second writer of its name is kept out."""
    shown, client = without_credentials(catalog.path), ""
    folder = join(catalog.path, f".paimonlab-doctor-{uuid.uuid4()}")
    path = join(folder, "published")
    try:
        files = catalog.file_io
        client = getattr(files, "client_told", "")
        catalog.databases()
        if not catalog.has_folder:
            return WarehouseState(path=shown, is_server=True)
        files.make_directory(folder)
        try:
            first, second = files.publish(path, b"first"), files.publish(path, b"second")
            is_kept = files.read(path) == b"first"
        finally:
            files.delete_directory(folder)
    except (PaimonError, OSError, ValueError) as error:  # the last: options that do not fit
        problem = " ".join(str(error).split())
        advice = _advice(catalog, error)
        return WarehouseState(path=shown, problem=problem, advice=advice, client=client)
    scheme = scheme_of(catalog.path)
    return WarehouseState(
        path=shown,
        publishes_once=first and not second and is_kept,
        is_in_store=store_kind(catalog.path) is not None,
        client=client,
        scheme=scheme,
        own_scan=_own_scan(catalog) if store_kind(catalog.path) in _OPENED else None,
    )


def _own_scan(catalog: Catalog) -> ScanChoice | None:
    """Ask the session of this process, if there is one with a JVM of its own."""
    if "pyspark.sql" not in sys.modules:
        return None
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, which is loaded already

    session = SparkSession.getActiveSession()
    if session is None or not hasattr(session, "sparkContext"):
        return None
    from paimonlab.spark.jvm.bridge import Bridge  # noqa: PLC0415
    from paimonlab.spark.reading.own_scan import scan_choice  # noqa: PLC0415

    return scan_choice(Bridge(session), catalog.file_io, catalog.path)


def _advice(catalog: Catalog, error: Exception) -> str:
    """Say what to change where a catalog or store does not answer as it should."""
    if isinstance(error, UnsupportedError):
        return error.reason
    if not isinstance(error, PaimonError | OSError):
        return "correct the option"
    if told := of_catalogs.advice(catalog.options, error):
        return told
    if isinstance(error, CatalogDatabaseError | CatalogServerError):
        return ""
    return _FOLDER if store_kind(catalog.path) is None else _of_store(catalog, str(error))


def _of_store(catalog: Catalog, problem: str) -> str:
    if not (options := getattr(catalog.file_io, "options", None)):
        return ""
    try:
        from paimonlab.storage.stores import diagnosing  # noqa: PLC0415 - obstore is an extra
    except (ImportError, PaimonError):
        return ""
    return diagnosing.advice(catalog.path, options, problem)
