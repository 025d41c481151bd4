"""Delta's answers to sequences of statements, by a Spark of its own below ``build``."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.peers import environment
from benchmarks.run import ROOT
from paimonlab.spark.java import find_java
from tests.interop.java_build import JavaTools, fetch_jars
from tests.random_changes.kinds import COLUMNS
from tests.random_changes.sequences import Sequenced
from tests.random_changes.statements import written

SPARK = "4.2.0"
"""The newest that Delta has a library for."""
VERSION = "4.4.0"
LIBRARY = {"group": "io.delta", "artifact": "delta-spark_4.2_2.13", "version": VERSION}


def ask_delta(sequences: Sequence[Sequenced], folder: Path) -> tuple[str, list[list[Any]]]:
    """Run the statements of sequences of one seed on Delta.

    Returns
    -------
    tuple
        The version of Spark, and of each sequence the rows after each step as texts; a text in the
        place of rows is the error that ended it.

    Raises
    ------
    subprocess.CalledProcessError, JavaMissingError
        If PySpark or Delta cannot be had, or the program fails.
    """
    python = environment(ROOT / "build" / "bench" / f"spark-{SPARK}", [f"pyspark=={SPARK}"])
    settings = [f"-Dpeer.{key}={value}" for key, value in LIBRARY.items()]
    pom = ROOT / "benchmarks" / "java" / "spark_peer.xml"
    jars = fetch_jars(JavaTools.find(), pom, *settings, "-DincludeScope=runtime")
    given, found = folder / "sequences.json", folder / "answers.json"
    columns = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    asked = {
        "columns": columns,
        "others": written(COLUMNS, sequences[0].others),
        "sequences": [
            {
                "columns": columns,
                "partitions": list(one.kind.partitions),
                "steps": [
                    {"text": step.delta, "settings": dict(step.settings)} for step in one.steps
                ],
            }
            for one in sequences
        ],
    }
    given.write_text(json.dumps(asked))
    subprocess.run(
        [
            *(python, "-m", "tests.random_changes.delta_side", str(given), str(found)),
            *(str(folder / "delta"), ",".join(map(str, sorted(jars.glob("*.jar"))))),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT), "JAVA_HOME": str(find_java().home), "TZ": "UTC"},
        cwd=folder,
        check=True,
    )
    answers = json.loads(found.read_text())
    return answers["delta"], answers["answers"]
