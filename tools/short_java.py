"""Options of JVMs that do many short works, as those of tests do: starting fast is all.

The better of Java's two compilers takes more time than it saves in a whole part of the tests. A
session of Spark loads 15,000 classes; an archive of them (`tools.spark_classes`) is mapped into
memory instead.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

OPTIONS = (
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
    "-XX:ReservedCodeCacheSize=240m",  # else 48 MB; when they are full, nothing is compiled
    *("-XX:InitialRAMPercentage=5", "-XX:MetaspaceSize=256m"),  # else collected while small
    # To look whether each class is well-formed takes a third of a short work.
    *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
)

OF_A_TOOL = tuple(f"-J{option}" for option in OPTIONS)
"""The same for ``javac``."""

SPARK_CLASSES = Path(__file__).parents[1] / "build" / "spark-classes.jsa"
"""Classes of one version of Java and Spark, loaded and linked; JVMs of others pass it by."""


def spark_options() -> str:
    """Return the options of a JVM of Spark, as its settings take them."""
    return " ".join((*OPTIONS, *_archived(SPARK_CLASSES)))


def let_spark_have_them() -> None:
    """Give them to Spark sessions built from here on, here and in processes started from here."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments(spark_options())


def let_notebooks_have_them() -> None:
    """Give them besides to masters, workers and executors of a cluster that a notebook starts."""
    options = spark_options()
    os.environ["SPARK_DAEMON_JAVA_OPTS"] = options
    conf = f"--conf 'spark.executor.extraJavaOptions={options}'"
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{conf} {submit_arguments(options)}"


def submit_arguments(java_options: str) -> str:
    """Return what makes PySpark start its JVM with options."""
    return f"--driver-java-options '{java_options}' pyspark-shell"


def is_plain(path: Path) -> bool:
    """Whether a path among the options of a JVM arrives there as it is."""
    return re.fullmatch(r"[\w./+-]+", str(path)) is not None


def _archived(archive: Path) -> tuple[str, ...]:
    """Map an archive if there is one; a JVM that it is not for says nothing."""
    if archive.is_file() and is_plain(archive):
        return (f"-XX:SharedArchiveFile={archive}", "-Xlog:cds*=off")
    return ()
