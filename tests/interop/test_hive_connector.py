"""Hive 3.1.3 with Paimon's connector 0.9.0 reads tables that were written here.

Only queries without jobs and conditions: Hive's way of sending these does not run on the Java of
today.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import paimonlab as pm
from tests.interop.java_build import JavaMissingError, JavaTools, program_class_path
from tools import short_java

pytestmark = pytest.mark.interop
_HERE = Path(__file__).parent / "hive"
_OPENED = [
    f"--add-opens=java.base/java.{package}=ALL-UNNAMED"
    for package in ("lang", "net", "nio", "util")
]
_CREATE = "CREATE EXTERNAL TABLE t STORED BY 'org.apache.paimon.hive.PaimonStorageHandler'"
ROWS = pa.table(
    {
        "id": pa.array(range(6), pa.int32()),
        "text": ["a", "ü\U0001f40e", None, "", "d", "e"],
        "amount": pa.array([Decimal("1.50"), None, Decimal("-2.25"), *[Decimal(7)] * 3]),
        "day": pa.array([0, 19_000, None, 1, 2, 3], pa.int32()).cast(pa.date32()),
        "is_new": [True, False, None, True, True, False],
        "size": [0.5, -1.0, None, 1e300, 2.0, 3.0],
        "part": ["x", "y", "x", "y", "x", "y"],
    }
)
KINDS: Mapping[str, dict[str, Any]] = {
    "append": {"partition_keys": ["part"]},
    "keys": {"primary_keys": ["id"], "options": {"bucket": "2"}},
    "keys, ORC": {"primary_keys": ["id"], "options": {"bucket": "1", "file.format": "orc"}},
    "keys in partitions": {
        "primary_keys": ["id", "part"],
        "partition_keys": ["part"],
        "options": {"bucket": "1"},
    },
    "vectors": {
        "primary_keys": ["id"],
        "options": {"bucket": "1", "deletion-vectors.enabled": "true"},
    },
}


@pytest.fixture(scope="module")
def command() -> list[str]:
    """What begins a program that runs Hive."""
    if os.environ.get("PAIMONLAB_INTEROP") != "require":
        pytest.skip("Hive's reader is part of make interop")
    try:
        tools = JavaTools.find()
        path = program_class_path(tools, _HERE / "HiveSql.java")
    except JavaMissingError as error:
        pytest.skip(f"no Hive: {error}")
    return [tools.java, "-Xmx500m", *short_java.OPTIONS, *_OPENED, "-cp", path, "HiveSql"]


@pytest.mark.parametrize("kind", KINDS)
def test_hive_reads_what_is_written_here(kind: str, command: list[str], tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path / "w")
    catalog.create_database("db")
    table = catalog.write_table("db.t", ROWS, **KINDS[kind])
    if table.primary_keys:
        table.write(ROWS.slice(1, 2).set_column(1, "text", pa.array(["new", "newer"])))
    table.delete("id = 4")
    if kind == "vectors":
        table.compact()
    wanted = table.scan().to_arrow().to_pylist()
    hive = tmp_path / "hive"
    hive.mkdir()

    done = subprocess.run(
        [
            *command,
            str(hive),
            f"{_CREATE} LOCATION 'file://{table.path}'",
            "SELECT id, text, amount, day, is_new, size, part FROM t",
        ],
        cwd=hive,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    lines = [line.split("\t")[1:] for line in done.stdout.splitlines() if line.startswith("row\t")]
    assert sorted(lines) == sorted(
        [as_hive_says(value) for value in row.values()] for row in wanted
    )


def as_hive_says(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).replace("1e+300", "1.0E300")
