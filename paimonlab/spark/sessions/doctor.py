"""Whether this machine can run paimonlab and Spark, and what to do if not.

Pure: a function from what was measured to checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import msgspec

from paimonlab.spark.sessions.environment import WORKER_PYTHON, Environment
from paimonlab.spark.sessions.remote import VARIABLE
from paimonlab.storage.schemes import S3

Status: TypeAlias = Literal["ok", "info", "warning", "error"]

_OPENED = ("hdfs", *S3.schemes)
"""Of warehouses that Spark's own scan may read."""
LEAST_PYTHON = (3, 11)
LEAST_PYARROW = 23
LEAST_PYSPARK = (4, 2)
LEAST_MEMORY_BYTES = 2 << 30


class Check(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that was looked at."""

    name: str
    status: Status
    """An error stops something from working; a warning may; the rest is good to know."""
    found: str
    fix: str = ""
    """What to type; empty: nothing is to be done."""


def checks(environment: Environment) -> tuple[Check, ...]:
    """Judge what was measured."""
    return tuple(check for judge in _JUDGES for check in judge(environment))


def _python(seen: Environment) -> Iterator[Check]:
    is_old = seen.python[:2] < LEAST_PYTHON
    yield Check(
        name="Python",
        status="error" if is_old else "ok",
        found=".".join(map(str, seen.python)),
        fix="install Python 3.11 or newer" if is_old else "",
    )


def _pyarrow(seen: Environment) -> Iterator[Check]:
    version = seen.packages.get("pyarrow")
    is_fine = version is not None and _numbers(version)[0] >= LEAST_PYARROW
    yield Check(
        name="pyarrow",
        status="ok" if is_fine else "error",
        found=version or "not installed",
        fix="" if is_fine else f"pip install 'pyarrow>={LEAST_PYARROW}'",
    )


def _spark(seen: Environment) -> Iterator[Check]:
    version = seen.packages.get("pyspark")
    if version is None:
        has_duckdb = bool(seen.packages.get("duckdb"))
        yield Check(
            name="Spark",
            status="info" if has_duckdb else "warning",
            found=(
                "not installed: SQL runs on DuckDB, except what only Spark knows"
                if has_duckdb
                else "not installed, and no DuckDB: views and Python work, SQL does not"
            ),
            fix=f"pip install 'paimonlab[{'spark' if has_duckdb else 'sql'}]'",
        )
        return
    is_old = _numbers(version)[:2] < LEAST_PYSPARK
    yield Check(
        name="Spark",
        status="error" if is_old else "ok",
        found=version,
        fix="pip install 'pyspark>=4.2'" if is_old else "",
    )
    pandas = seen.packages.get("pandas")
    if pandas is None:
        yield Check(name="pandas", status="error", found="not installed", fix="pip install pandas")


def _java(seen: Environment) -> Iterator[Check]:
    if seen.java:
        yield Check(name="Java", status="ok", found=seen.java)
    elif seen.packages.get("pyspark"):
        yield Check(
            name="Java",
            status="error",
            found=seen.java_problem or "none that Spark runs on",
            fix="pip install 'paimonlab[java]'",
        )


def _server(seen: Environment) -> Iterator[Check]:
    if not seen.offers_server:
        return
    has_client = bool(seen.packages.get("pyspark") and seen.packages.get("grpcio-status"))
    yield Check(
        name="Spark Connect",
        status="ok" if has_client else "warning",
        found=f"{VARIABLE} names a server" + ("" if has_client else ", but there is no client"),
        fix="" if has_client else "pip install 'paimonlab[connect]'",
    )


def _workers(seen: Environment) -> Iterator[Check]:
    if not seen.packages.get("pyspark"):
        return
    mine = seen.python[:2]
    if not seen.worker_python:
        yield Check(name=WORKER_PYTHON, status="ok", found="not set: workers run this Python")
    elif seen.worker_version is None:
        yield Check(
            name=WORKER_PYTHON,
            status="error",
            found=f"{seen.worker_python} does not start",
            fix=f"unset {WORKER_PYTHON}",
        )
    else:
        is_same = seen.worker_version == mine
        version = ".".join(map(str, seen.worker_version))
        yield Check(
            name=WORKER_PYTHON,
            status="ok" if is_same else "error",
            found=f"{seen.worker_python}, Python {version}",
            fix="" if is_same else f"unset {WORKER_PYTHON}: workers must be of the same version",
        )


def _notebook(seen: Environment) -> Iterator[Check]:
    if not seen.packages.get("jupyterlab"):
        yield Check(
            name="JupyterLab",
            status="info",
            found="not in this environment; outputs show their static form elsewhere, too",
        )
    elif seen.has_extension:
        version = seen.packages["jupyterlab"]
        yield Check(name="JupyterLab", status="ok", found=f"{version}, with our extension")
    else:
        yield Check(
            name="JupyterLab",
            status="warning",
            found=f"{seen.packages['jupyterlab']}, without our extension: views are static",
            fix="pip install --force-reinstall --no-deps paimonlab, then reload the page",
        )


def _zone(seen: Environment) -> Iterator[Check]:
    is_utc = seen.zone in {"UTC", "Etc/UTC", "GMT"}
    note = "" if is_utc else ": times typed as text are of this zone"
    yield Check(
        name="time zone",
        status="ok" if is_utc else "info",
        found=seen.zone + note,
        fix="" if is_utc else "export TZ=UTC, before Jupyter starts, if they are to be of UTC",
    )


def _memory(seen: Environment) -> Iterator[Check]:
    free = seen.free_memory_bytes
    if free is None:
        yield Check(name="memory", status="info", found="the system does not say")
        return
    is_low = free < LEAST_MEMORY_BYTES
    yield Check(
        name="memory",
        status="warning" if is_low else "ok",
        found=f"{free / 1e9:.1f} GB free",
        fix="close other programs, or set spark.driver.memory to less" if is_low else "",
    )


def _warehouse(seen: Environment) -> Iterator[Check]:
    state = seen.warehouse
    if state is None:
        yield Check(
            name="warehouse",
            status="info",
            found="not connected: none was tried",
            fix="%paimon_connect PATH, or in a shell: paimonlab doctor WAREHOUSE",
        )
    elif state.problem:
        yield Check(
            name="warehouse",
            status="error",
            found=f"{state.path}: {state.problem}",
            fix=state.advice,
        )
    elif not state.publishes_once:
        yield Check(
            name="warehouse",
            status="error",
            found=f"{state.path}: two writers can both make a file of the same name",
            fix="use a store that makes hard links or renames once: commits would be lost",
        )
    else:
        yield Check(
            name="warehouse",
            status="ok",
            found=f"{state.path}: "
            + ("the server answers" if state.is_server else "read, written, published once"),
        )


def _hdfs(seen: Environment) -> Iterator[Check]:
    state = seen.warehouse
    if state is None or not state.client:
        return
    reads_alone = state.client.startswith("libhdfs")
    yield Check(
        name="HDFS client",
        status="warning" if reads_alone else "ok",
        found=state.client,
        fix="pip install 'paimonlab[hdfs]', and leave hdfs.client out" if reads_alone else "",
    )


def _reader(seen: Environment) -> Iterator[Check]:
    state = seen.warehouse
    if state is None or state.is_server or not seen.packages.get("pyspark"):
        return
    choice = state.own_scan
    missing = seen.hadoop and seen.hadoop.missing_for(state.scheme)
    if not state.is_in_store:
        found = "by its own scan where it can, else by Python; EXPLAIN says which"
    elif choice is not None and choice.is_own:
        found = f"by its own scan where it can, as {choice.why}; it writes by Python"
    elif choice is not None:
        found = f"and writes by Python, as {choice.why}"
    elif state.scheme in _OPENED and not missing:
        found = "by its own scan if its Hadoop opens the warehouse as the catalog does, else by "
        found += "Python: known once Spark runs; it writes by Python"
    else:
        found = "and writes by Python, with the options of the catalog: no module of Hadoop is "
        found += "needed"
    yield Check(name="Spark reads", status="ok", found=found)
    if missing:
        module, coordinates, scheme = missing
        yield Check(
            name="Hadoop",
            status="info",
            found=f"Spark has no {module}: spark.read opens no {scheme}://; our tables need none",
            fix=(
                f"set spark.jars.packages = {coordinates} before Spark starts"
                if coordinates
                else f"add the JAR of {module} to spark.jars before Spark starts"
            )
            + (
                ", and Spark's own scan reads tables here as well"
                if state.scheme in _OPENED
                else ", if files are to be read by Spark itself"
            ),
        )


_JUDGES: tuple[Callable[[Environment], Iterator[Check]], ...] = (
    _python,
    _pyarrow,
    _spark,
    _java,
    _server,
    _workers,
    _notebook,
    _warehouse,
    _hdfs,
    _reader,
    _memory,
    _zone,
)


def _numbers(version: str) -> tuple[int, ...]:
    """Read the leading numbers of a version; a part with letters counts as 0."""
    return tuple(int(part) if part.isdecimal() else 0 for part in version.split(".")[:3])
