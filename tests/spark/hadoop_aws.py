"""Hadoop's module for S3 from Maven Central, for sessions that tests start."""

from __future__ import annotations

from pathlib import Path

from paimonlab.spark.sessions.hadoop import hadoop_jars
from tests.interop.java_build import JavaTools, fetch_jars

_POM = Path(__file__).with_name("hadoop_aws.pom.xml")


def jars() -> str:
    """Return the setting ``spark.jars``, of the release of Hadoop that Spark here has.

    Raises
    ------
    JavaMissingError
        If they cannot be had.
    """
    spark = hadoop_jars()
    assert spark is not None, "PySpark has jars"
    folder = fetch_jars(JavaTools.find(), _POM, f"-Dhadoop.version={spark.version}")
    return ",".join(map(str, sorted(folder.glob("*.jar"))))
