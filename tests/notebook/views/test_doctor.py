"""What is wrong with a machine, told from what was measured."""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import paimonlab
from paimonlab import notebook
from paimonlab.catalog import FileSystemCatalog
from paimonlab.cli.main import main
from paimonlab.notebook.kernel import determinism
from paimonlab.spark import java
from paimonlab.spark.sessions.doctor import Check, checks
from paimonlab.spark.sessions.environment import (
    Environment,
    WarehouseState,
    free_memory,
    measured,
    try_warehouse,
)
from paimonlab.spark.sessions.hadoop import HadoopJars, hadoop_jars
from paimonlab.storage import LocalFileIO

FINE = Environment(
    python=(3, 12, 1),
    packages={"pyarrow": "26.0.1", "pyspark": "4.3.0", "pandas": "2.3.3", "jupyterlab": "4.6.6"},
    java="Java 17.0.15 (PATH)",
    has_extension=True,
    free_memory_bytes=8 << 30,
    warehouse=WarehouseState(path="/w"),
)


@pytest.mark.parametrize(
    ("name", "changes", "status", "fix"),
    [
        ("Python", {"python": (3, 10, 9)}, "error", "3.11"),
        ("pyarrow", {"packages": {"pyarrow": "15.0.0"}}, "error", "pip install"),
        ("pyarrow", {"packages": {}}, "error", "pip install"),
        ("Spark", {"packages": {"duckdb": "2.0.0"}}, "info", "paimonlab[spark]"),
        ("Spark", {"packages": {"pyarrow": "26.0.1"}}, "warning", "paimonlab[sql]"),
        ("Spark", {"packages": {"pyspark": "3.5.1"}}, "error", "pyspark>=4.2"),
        ("pandas", {"packages": {"pyspark": "4.3.0"}}, "error", "pandas"),
        ("Java", {"java": "", "java_problem": "Java 8 only"}, "error", "paimonlab[java]"),
        ("PYSPARK_PYTHON", {"worker_python": "/no"}, "error", "unset"),
        (
            "PYSPARK_PYTHON",
            {"worker_python": "/py", "worker_version": (3, 11)},
            "error",
            "same version",
        ),
        ("PYSPARK_PYTHON", {"worker_python": "/py", "worker_version": (3, 12)}, "ok", ""),
        ("Spark Connect", {"offers_server": True}, "warning", "paimonlab[connect]"),
        (
            "Spark Connect",
            {"offers_server": True, "packages": {"pyspark": "4.3.0", "grpcio-status": "1.85.1"}},
            "ok",
            "",
        ),
        ("JupyterLab", {"has_extension": False}, "warning", "pip install"),
        ("warehouse", {"warehouse": None}, "info", "%paimon_connect"),
        (
            "warehouse",
            {"warehouse": WarehouseState(path="/w", problem="no answer", advice="start it")},
            "error",
            "start it",
        ),
        (
            "warehouse",
            {"warehouse": WarehouseState(path="/w", publishes_once=False)},
            "error",
            "commits would be lost",
        ),
        ("memory", {"free_memory_bytes": 1 << 30}, "warning", "spark.driver.memory"),
        ("memory", {"free_memory_bytes": None}, "info", ""),
        ("time zone", {"zone": "Europe/Berlin"}, "info", "TZ=UTC"),
    ],
)
def test_what_is_wrong_is_named_with_what_to_do(
    name: str, changes: dict[str, Any], status: str, fix: str
) -> None:
    found = {one.name: one for one in checks(replace(FINE, **changes))}

    assert found[name].status == status
    assert fix in found[name].fix
    assert bool(found[name].fix) == bool(fix)


def test_a_machine_that_is_fine_has_nothing_to_do() -> None:
    assert {one.status for one in checks(FINE)} == {"ok"}
    assert not any(one.fix for one in checks(FINE))
    assert "by its own scan" in verdict(FINE, "Spark reads").found


def test_this_machine_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)

    seen = measured()

    assert seen.python == sys.version_info[:3]
    assert seen.worker_version == sys.version_info[:2]
    assert seen.packages["pyarrow"]
    monkeypatch.setenv("PYSPARK_PYTHON", "/no/such/python")
    assert measured().worker_version is None


@pytest.mark.parametrize(
    ("scheme", "jars", "told"),
    [
        ("s3a", "hadoop-client-api-3.4.1.jar", "org.apache.hadoop:hadoop-aws:3.4.1 before Spark"),
        ("s3", "", "add the JAR of hadoop-aws"),
        ("abfss", "hadoop-client-api-3.5.0.jar", "org.apache.hadoop:hadoop-azure:3.5.0"),
        ("gs", "hadoop-client-api-3.5.0.jar", "add the JAR of gcs-connector"),
        ("s3a", "hadoop-aws-3.4.1.jar", None),
        ("hdfs", "", None),
        ("", "", None),
    ],
)
def test_a_module_of_hadoop_that_spark_lacks_is_named_in_one_line(
    scheme: str, jars: str, told: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    (tmp_path / "jars").mkdir()
    if jars:
        (tmp_path / "jars" / jars).touch()
    state = WarehouseState(path=f"{scheme}://w", is_in_store=bool(scheme), scheme=scheme)
    seen = replace(FINE, warehouse=state, hadoop=hadoop_jars())

    found = [one for one in checks(seen) if one.name == "Hadoop"]

    assert bool(found) is (told is not None)
    if told is not None:
        assert found[0].status == "info"
        assert told in found[0].fix
        assert "\n" not in found[0].found + found[0].fix


def test_the_jars_of_the_spark_that_is_installed_are_found() -> None:
    jars = hadoop_jars()

    assert jars is not None
    assert jars.version[:2] == "3."
    assert jars.missing_for("s3a") == (
        "hadoop-aws",
        f"org.apache.hadoop:hadoop-aws:{jars.version}",
        "s3a",
    )
    assert HadoopJars("", frozenset()).missing_for("viewfs") is None


def verdict(seen: Environment, name: str) -> Check:
    return next(one for one in checks(seen) if one.name == name)


def test_a_machine_without_java_is_told_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java, "_USUAL_FOLDERS", ())
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    found = verdict(measured(), "Java")

    assert (found.status, found.fix) == ("error", "pip install 'paimonlab[java]'")
    assert str(tmp_path / "none") in found.found


def test_workers_of_another_python_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\necho 3 9\n")
    program.chmod(0o755)
    monkeypatch.setenv("PYSPARK_PYTHON", str(program))

    found = verdict(measured(), "PYSPARK_PYTHON")

    assert (found.status, found.found) == ("error", f"{program}, Python 3.9")
    assert found.fix.startswith("unset PYSPARK_PYTHON")


def test_a_folder_that_may_only_be_read_is_found(tmp_path: Path) -> None:
    class ReadOnly(LocalFileIO):
        def make_directory(self, path: str) -> None:
            raise PermissionError(13, "Permission denied", path)

    found = verdict(measured(FileSystemCatalog(str(tmp_path), ReadOnly())), "warehouse")

    assert found.status == "error"
    assert "Permission denied" in found.found
    assert "write to it" in found.fix


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"proc/meminfo": "MemAvailable: 4000 kB\n"}, 4_096_000),
        (
            {
                "proc/meminfo": "MemTotal: 9 kB\nMemAvailable: 8000000 kB\n",
                "sys/fs/cgroup/memory.max": "1000000\n",
                "sys/fs/cgroup/memory.current": "400000\n",
            },
            600_000,
        ),
        (
            {
                "proc/meminfo": "MemAvailable: 4000 kB\n",
                "sys/fs/cgroup/memory.max": "max\n",
                "sys/fs/cgroup/memory.current": "400000\n",
            },
            4_096_000,
        ),
        (
            {
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9000\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "10000\n",
            },
            0,
        ),
        ({}, None),
    ],
)
def test_the_memory_of_a_container_counts(
    files: dict[str, str], free: int | None, tmp_path: Path
) -> None:
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    seen = replace(FINE, free_memory_bytes=free_memory(tmp_path))

    assert seen.free_memory_bytes == free
    assert verdict(seen, "memory").status == ("info" if free is None else "warning")


def test_a_warehouse_is_tried_and_left_as_it_was(tmp_path: Path) -> None:
    catalog = paimonlab.connect(tmp_path)
    catalog.create_database("db")

    state = try_warehouse(catalog)

    assert state == WarehouseState(path=str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["db.db"]


def test_a_store_that_publishes_twice_is_found(tmp_path: Path) -> None:
    class Overwriting(LocalFileIO):
        def publish(self, path: str, data: bytes) -> bool:
            Path(path).write_bytes(data)
            return True

    assert not try_warehouse(FileSystemCatalog(str(tmp_path), Overwriting())).publishes_once


def test_a_warehouse_that_cannot_be_written_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")

    state = try_warehouse(paimonlab.connect(tmp_path / "file"))

    assert state.problem


def test_outputs_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(determinism.VARIABLE, "1")

    drawn = notebook.doctor()

    assert "memory" not in repr(drawn)
    assert sys.version.split()[0] not in repr(drawn)


def test_the_magic_tries_the_connected_warehouse(shell: InteractiveShell, tmp_path: Path) -> None:
    notebook.demo(tmp_path)

    with pytest.raises(UsageError, match=r"%paimon_health shop\.slow"):
        shell.run_line_magic("paimon_doctor", "shop.slow")
    drawn = shell.run_line_magic("paimon_doctor", "")

    assert "published once" in repr(drawn)
    assert "published once" in drawn.to_html()


def test_the_command_line_tells_by_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    runner = CliRunner()

    fine = runner.invoke(main, ["doctor", str(tmp_path), "--json"])
    broken = runner.invoke(main, ["doctor", str(tmp_path / "file")])

    assert {one["name"]: one["status"] for one in json.loads(fine.stdout)}["warehouse"] == "ok"
    assert broken.exit_code == 1
    assert "error: warehouse" in broken.stdout


def test_which_client_reaches_hdfs_is_told() -> None:
    def told(client: str) -> tuple[str, str, str]:
        state = WarehouseState(path="hdfs://w", is_in_store=True, scheme="hdfs", client=client)
        found = verdict(replace(FINE, warehouse=state), "HDFS client")
        return found.status, found.found, found.fix

    assert told("hdfs-native") == ("ok", "hdfs-native", "")
    status, found, fix = told("libhdfs, as hdfs.client says: it reads and does not write")
    assert (status, found.partition(",")[0]) == ("warning", "libhdfs")
    assert "pip install 'paimonlab[hdfs]'" in fix
