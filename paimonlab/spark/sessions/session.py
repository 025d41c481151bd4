"""`connect`: a Spark session whose SQL knows a Paimon catalog."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from paimonlab.catalog import connect as open_catalog
from paimonlab.errors import ForkedProcessError, PaimonError, UnsupportedError
from paimonlab.secrets import redacted, without_secrets
from paimonlab.spark.catalogs.bucket_functions import resolve_bucket_functions
from paimonlab.spark.catalogs.by_path import name_tables_of_format
from paimonlab.spark.catalogs.catalog import register
from paimonlab.spark.catalogs.clones import share_with_clones
from paimonlab.spark.catalogs.namespaces import SESSION_CATALOG
from paimonlab.spark.catalogs.session_catalog import register_as_session_catalog
from paimonlab.spark.catalogs.writer_options import let_writers_define_tables
from paimonlab.spark.functions.table_functions import offer_table_functions
from paimonlab.spark.java import Java, find_java
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.jvm.hints import add_hints
from paimonlab.spark.jvm.python_tasks import offer
from paimonlab.spark.reading.data_source import NAME, PaimonSource
from paimonlab.spark.reading.metadata_columns import offer_metadata_columns
from paimonlab.spark.reading.optimizing.asking import optimize_reads
from paimonlab.spark.reading.optimizing.by_bucket import group_by_bucket
from paimonlab.spark.reading.read_options import refuse_untold_options
from paimonlab.spark.reading.time_travel import READ_OPTIONS
from paimonlab.spark.rows.rewriting import rewrite_statements
from paimonlab.spark.sessions.noise import quiet
from paimonlab.spark.sessions.remote import VARIABLE, is_remote
from paimonlab.spark.sessions.self_check import check_release
from paimonlab.spark.statements.parser import read_statements
from paimonlab.spark.streaming.relations import resolve_streams
from paimonlab.spark.worker_daemon import MODULE as DAEMON
from paimonlab.spark.worker_daemon import fits
from paimonlab.spark.writing.access import REFUSED_OPTIONS
from paimonlab.spark.writing.evolution import merge_schemas
from paimonlab.spark.writing.written_tables import resolve_written_tables
from paimonlab.storage.forks import delete_at_exit, renew_in_children

logger = logging.getLogger(__name__)

SUPPORTED_SPARK = ("4.2", "4.3")
LOG_FILE_KEY = "spark.paimonlab.log-file"
"""Setting that says where the JVM of a session that was built here writes its messages."""
CONNECT_MODE = "SPARK_CONNECT_MODE_ENABLED"
"""Environment variable that PySpark sets once it has become a client of Spark Connect."""
_CLASSIC: Mapping[str, str | None] = {VARIABLE: None}
"""With it set, PySpark would open a session of that server, on a JVM with the jars of a client."""
_LOOPBACK = "127.0.0.1"
_LAUNCHER_KEYS = frozenset(
    {
        "spark.driver.extraClassPath",
        "spark.driver.extraLibraryPath",
        "spark.jars",
        "spark.jars.excludes",
        "spark.jars.ivy",
        "spark.jars.ivySettings",
        "spark.jars.packages",
        "spark.jars.repositories",
        "spark.kerberos.keytab",
        "spark.kerberos.principal",
    }
)
"""Settings that mean something to ``spark-submit`` only, beside the options of the JVM itself."""
_INSTEAD = {
    "spark.jars": "copy the file to this machine and give its path",
    "spark.jars.ivySettings": "copy the file to this machine and give its path",
}
"""How to do without a secret in an address."""
_log_paths: list[str] = []
"""Where the JVM of this process writes, if it was started here."""
_GIB = 1 << 30


class SessionError(PaimonError):
    """Spark did not start."""


def connect(
    warehouse: str | os.PathLike[str] | Mapping[str, str],
    *,
    catalog: str = "paimon",
    spark: SparkSession | None = None,
    master: str | None = None,
    memory: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a Spark session whose SQL knows the tables of ``warehouse``.

    Parameters
    ----------
    warehouse
        Folder or URI of the warehouse, or catalog options under Paimon's own keys; what
        `paimonlab.connect` takes.
    catalog
        Name of the catalog in SQL: ``SELECT … FROM paimon.db.t``; ``spark_catalog`` is Spark's own,
        which has tables of other formats beside Paimon's then. A second call with the same
        name replaces the catalog.
    spark
        Session to put the catalog into; None takes the active one or builds a local one. A
        catalog belongs to one session: call again for each ``spark.newSession()``.
    master
        Spark master of a session that is built here; None is ``local[*]``.
    memory
        Memory of the driver of a session that is built here, as ``4g``; None is a quarter of the
        machine's, at least 1g and at most 8g.
    conf
        Settings of a session that is built here; they win over ours.

    Raises
    ------
    UnsupportedError
        If the Spark version is not one of `SUPPORTED_SPARK`, or fails a check that releases which
        were not tried have to pass once in a process, the session is a Spark Connect client (it has
        no JVM to call Python from), or ``conf`` has a password in an address that
        would stand on the command line of the JVM.
    ValueError
        If ``master``, ``memory`` or ``conf`` is given although a session exists.
    paimonlab.spark.java.JavaNotFoundError
        If a session has to be built and there is no Java for it.

    Notes
    -----
    Tables in object stores and HDFS are read and written by our reader and writer on executors,
    with the options of the catalog: no module of Hadoop is needed. Keys that are not among the
    options have to be in the environment of executors. On HDFS, and on S3 where the session has
    hadoop-aws, Spark's own scan reads what needs no merging.
    """
    _check_version()
    opened = open_catalog(warehouse)
    active = any_session(spark, master=master, memory=memory, conf=conf)
    bridge = Bridge(active)
    if catalog == SESSION_CATALOG:
        register_as_session_catalog(bridge, opened)
    else:
        register(bridge, catalog, opened)
    session = str(bridge.session.sessionUUID())
    bridge.once(("extended", session), lambda: _extend(bridge))
    offer(bridge, NAME, PaimonSource)
    check_release(bridge, opened)
    return active


def _extend(bridge: Bridge) -> None:
    """Give a session, its clones and those beside it what all of our catalogs need."""
    share_with_clones(bridge)
    name_tables_of_format(bridge)  # before the rules that look at names
    resolve_streams(bridge)
    refuse_untold_options(bridge, (*READ_OPTIONS, *REFUSED_OPTIONS))
    let_writers_define_tables(bridge)
    merge_schemas(bridge)
    offer_metadata_columns(bridge)
    rewrite_statements(bridge)
    resolve_bucket_functions(bridge)
    read_statements(bridge)
    optimize_reads(bridge)
    group_by_bucket(bridge)
    offer_table_functions(bridge)
    resolve_written_tables(bridge)
    add_hints(bridge)


def any_session(
    spark: SparkSession | None = None,
    *,
    master: str | None = None,
    memory: str | None = None,
    conf: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return a session, the active one, or a local one that is built, without a catalog.

    Parameters, and errors, are those of `connect`.
    """
    _check_version()
    active = existing_session() if spark is None else spark
    if active is None:
        _check_no_client()
        active = _build(master, memory, dict(conf or {}))
    elif master is not None or memory is not None or conf:
        raise ValueError(
            "master, memory and conf are for a session that is built here, but there is one "
            "already; set them on that session, or call its stop() first"
        )
    if is_remote(active):
        raise UnsupportedError(
            "a catalog in a Spark Connect session",
            "it runs in the driver's Python: give a classic session here, or start the server "
            "with paimonlab.spark.serve",
        )
    _set_worker_python(active)
    quiet()
    return active


class _Inherited:
    """The Spark that was there when this process was forked: its connections are in use."""

    context: SparkContext | None = None

    def renew(self) -> None:
        """Remember it."""
        self.context = SparkContext._active_spark_context


_inherited = _Inherited()
renew_in_children(_inherited)


def existing_session() -> SparkSession | None:
    """Return the active session, or the default one when called from another thread.

    None if no Spark runs in this process; a client of Spark Connect does not count.

    Raises
    ------
    ForkedProcessError
        If it is that of the process this one was forked from.
    """
    if SparkContext._active_spark_context is None:
        return None
    if SparkContext._active_spark_context is _inherited.context:
        raise ForkedProcessError("a Spark session", "use Spark there")
    with _environment(_CLASSIC):
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _check_no_client() -> None:
    if CONNECT_MODE in os.environ:
        raise UnsupportedError(
            "Spark beside a Spark Connect session that PySpark has opened",
            "PySpark has one kind in a process: use that session, or no Spark, or a new process",
        )


def _check_version() -> None:
    version = pyspark.__version__
    if not any(version == line or version.startswith(line + ".") for line in SUPPORTED_SPARK):
        raise UnsupportedError(
            f"PySpark {version}",
            f"install one of {', '.join(line + '.x' for line in SUPPORTED_SPARK)}; "
            "other versions lack what the catalog is built on, or were not tried",
        )


def _build(master: str | None, memory: str | None, conf: dict[str, str]) -> SparkSession:
    """Start the JVM and a session on it."""
    chosen = master or conf.pop("spark.master", "local[*]")
    settings = _settings(chosen, memory) | conf
    if settings["spark.ui.enabled"] == "false":
        # Spark describes the plan of each statement for its pages, which takes a tenth of its work.
        settings.setdefault("spark.sql.ui.explainMode", "simple")
    _check_launchable(settings)
    launched = [(key, value) for key, value in settings.items() if not _is_hidden(key, value)]
    _start_gateway(find_java(), SparkConf(loadDefaults=False).setAll(launched))
    # A JVM that ran before goes on writing to the file it was started with.
    settings[LOG_FILE_KEY] = _log_paths[-1] if _log_paths else os.devnull
    with _environment(_CLASSIC):
        builder = SparkSession.builder.master(chosen).appName(settings["spark.app.name"])
        for key, value in settings.items():
            builder = builder.config(key, value)
        return builder.getOrCreate()


def _is_hidden(key: str, value: str) -> bool:
    """Return whether a setting is kept off the command line of the JVM, which all users can see.

    The session has it all the same. What the launcher alone reads cannot come any other way.
    """
    is_launchers = key in _LAUNCHER_KEYS or key.endswith("JavaOptions")
    return not is_launchers and redacted({key: value})[key] != value


def _check_launchable(settings: Mapping[str, str]) -> None:
    """Refuse addresses with a secret where they would have to stand on the command line.

    Raises
    ------
    UnsupportedError
        Names the setting.
    """
    for key in sorted(_LAUNCHER_KEYS & settings.keys()):
        for address in settings[key].split(","):
            if "://" in address and without_secrets(address) != address:
                instead = _INSTEAD.get(
                    key, "put it into an Ivy settings file that spark.jars.ivySettings names"
                )
                raise UnsupportedError(
                    f"a user or password in {key} = {address.strip()!r}",
                    "all users of this machine would see it on the command line of the JVM; "
                    + instead,
                )


def _settings(master: str, memory: str | None) -> dict[str, str]:
    """Choose the settings of a session: quiet, small, bound to this machine if it is local."""
    scratch = Path(_scratch_folder())
    settings = {
        "spark.app.name": "paimonlab",
        "spark.driver.memory": memory or _default_memory(),
        "spark.log.level": "WARN",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Smaller frames of Arrow and pandas become rows on the driver, which each statement takes
        # through it again; their size is known, so that joins may broadcast them.
        "spark.sql.execution.arrow.localRelationThreshold": "10m",
        # Spark makes this folder in the working directory otherwise.
        "spark.sql.warehouse.dir": str(scratch / "spark-warehouse"),
        LOG_FILE_KEY: str(scratch / "spark.log"),
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.host": _LOOPBACK,
            "spark.driver.bindAddress": _LOOPBACK,
            # Python tasks start sooner, and no other user of the machine can reach them.
            "spark.python.unix.domain.socket.enabled": "true",
            "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 2)),
        }
        if fits(os.environ.get("PYSPARK_PYTHON")):
            settings["spark.python.daemon.module"] = DAEMON
    return settings


def _default_memory() -> str:
    total_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return f"{min(8, max(1, total_bytes // 4 // _GIB))}g"


def _scratch_folder() -> str:
    folder = tempfile.mkdtemp(prefix="paimonlab-spark-")
    delete_at_exit(folder)
    return folder


def _start_gateway(java: Java, conf: SparkConf) -> None:
    """Start the JVM, unless one runs; what it prints goes to a file instead of the notebook."""
    if SparkContext._gateway is not None:
        return
    logger.info("Spark runs on %s", java)
    log_path = Path(conf.get(LOG_FILE_KEY) or os.devnull)
    local = (conf.get("spark.driver.host") or "") == _LOOPBACK
    environment = {**_CLASSIC, "JAVA_HOME": str(java.home)}
    if local:
        environment["SPARK_LOCAL_IP"] = _LOOPBACK
    with log_path.open("wb") as log, _environment(environment):
        try:
            gateway = launch_gateway(conf, {"stdout": log, "stderr": log})
        except PySparkRuntimeError as error:
            said = log_path.read_text(errors="replace").strip()[-2000:]
            raise SessionError(f"Spark did not start on {java} at {java.home}: {said}") from error
    SparkContext._ensure_initialized(gateway=gateway)
    _log_paths.append(str(log_path))


@contextmanager
def _environment(variables: Mapping[str, str | None]) -> Iterator[None]:
    """Set environment variables for a while; None takes one away."""
    before = {name: os.environ.get(name) for name in variables}
    _set(variables)
    try:
        yield
    finally:
        _set(before)


def _set(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _set_worker_python(spark: SparkSession) -> None:
    """Let Python workers on this machine run this interpreter, not the ``python3`` of PATH."""
    context = spark.sparkContext
    if "PYSPARK_PYTHON" not in os.environ and (context.master or "").startswith("local"):
        context.pythonExec = sys.executable
