"""Statements that change rows, beside Delta, Iceberg and Java Paimon's connector.

``python -m benchmarks.spark_changes [rows] [rounds] [engine …]`` prints CPU seconds of whole process trees
and what they are of a plain Parquet write in the same Spark; each of the others has the newest
Spark that it can be had for, in an environment of its own below ``build/bench``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers import environment
from benchmarks.run import ROOT
from paimonlab.spark.java import find_java
from tests.interop.java_build import JavaTools, fetch_jars

ROWS = 2_000_000
ROUNDS = 3
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Peer:
    """An engine: its PySpark and its library."""

    spark: str
    group: str
    artifact: str
    version: str


PEERS = {
    "Delta": Peer("4.2.0", "io.delta", "delta-spark_4.2_2.13", "4.4.0"),
    "Iceberg": Peer("4.1.4", "org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.12.0"),
    "Java": Peer("3.5.9", "org.apache.paimon", "paimon-spark-3.5", "0.9.0"),
}


def main(rows: int = ROWS, rounds: int = ROUNDS, *, engines: Sequence[str] = ()) -> None:
    """Run all engines, one after the other."""
    for engine in engines or ("paimonlab", *PEERS):
        found = run(engine, rows, rounds)
        peer = PEERS.get(engine)
        library = f" {peer.version}" if peer else ""
        print(f"\n{engine}{library}, Spark {found['spark']}, {rows:,} rows")
        plain = found["works"]["plain write"]["cpu"]
        for name, cost in found["works"].items():
            ratio = cost["cpu"] / plain
            print(f"  {name:28} {cost['cpu']:6.2f} CPU s {ratio:5.2f}x  {cost['clock']:6.2f} s")


def run(engine: str, rows: int, rounds: int) -> dict[str, Any]:
    """Run the works of an engine in its environment."""
    python, jars = sys.executable, "-"
    if peer := PEERS.get(engine):
        folder = ROOT / "build" / "bench" / f"spark-{peer.spark}"
        python = environment(folder, [f"pyspark=={peer.spark}"])
        settings = {"group": peer.group, "artifact": peer.artifact, "version": peer.version}
        given = [f"-Dpeer.{key}={value}" for key, value in settings.items()]
        pom = _HERE / "java" / "spark_peer.xml"
        jars = str(fetch_jars(JavaTools.find(), pom, *given, "-DincludeScope=runtime"))
    with tempfile.TemporaryDirectory(prefix="paimonlab-bench-") as warehouse:
        script = str(_HERE / "spark_changes_side.py")
        done = subprocess.run(
            [python, script, engine, warehouse, jars, str(rows), str(rounds)],
            env=os.environ | {"PYTHONPATH": str(ROOT), "JAVA_HOME": str(find_java().home)},
            cwd=warehouse,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(*numbers[:2], engines=[word for word in sys.argv[1:] if not word.isdigit()])
