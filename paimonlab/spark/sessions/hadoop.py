"""Which modules of Hadoop Spark has: without that of its scheme, Spark itself opens no store.

Nothing here starts Spark: JARs are known by their names.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_MODULES: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("s3", "s3a", "s3n"), ("hadoop-aws", "s3a")),
    **{scheme: ("hadoop-azure", scheme) for scheme in ("abfs", "abfss", "wasb", "wasbs")},
    "gs": ("gcs-connector", "gs"),
    "oss": ("hadoop-aliyun", "oss"),
    "cosn": ("hadoop-cos", "cosn"),
    "obs": ("hadoop-huaweicloud", "obs"),
}
"""By the scheme of a warehouse: the module, and the scheme that it opens; HDFS needs none."""
_OF_HADOOP = frozenset({"hadoop-aws", "hadoop-azure", "hadoop-aliyun", "hadoop-cos"})
"""Modules that have the version of Hadoop."""
_CLIENT = re.compile(r"hadoop-client-api-(\d[\w.]*?)\.jar")
_BETWEEN = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class HadoopJars:
    """Names of the JARs of Spark, and the version of Hadoop's."""

    version: str
    """Empty: unknown."""
    names: frozenset[str]

    def missing_for(self, scheme: str) -> tuple[str, str, str] | None:
        """Return what Spark's own reader lacks.

        Returns
        -------
        tuple of str
            The module, its coordinates for ``spark.jars.packages``, empty if they are unknown, and
            the scheme that it opens; None: nothing is missing, or nothing is needed.
        """
        if scheme not in _MODULES:
            return None
        module, opens = _MODULES[scheme]
        if any(name.startswith(f"{module}-") for name in self.names):
            return None
        is_known = module in _OF_HADOOP and self.version
        return module, f"org.apache.hadoop:{module}:{self.version}" if is_known else "", opens


def hadoop_jars() -> HadoopJars | None:
    """Look at the JARs of Spark and at those that a running session was given."""
    folder = _folder()
    if folder is None:
        return None
    names = [path.name for path in folder.glob("*.jar")]
    versions = [found[1] for name in names if (found := _CLIENT.fullmatch(name))]
    return HadoopJars(versions[0] if versions else "", frozenset((*names, *_given())))


def _folder() -> Path | None:
    home = os.environ.get("SPARK_HOME")
    if not home:
        found = importlib.util.find_spec("pyspark")
        home = os.path.dirname(found.origin) if found and found.origin else None  # noqa: PTH120
    folder = None if home is None else Path(home, "jars")
    return folder if folder is not None and folder.is_dir() else None


def _given() -> Iterable[str]:
    """Return the names of JARs that the session of this process was started with."""
    if "pyspark.sql" not in sys.modules:
        return ()
    from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, which is loaded already

    session = SparkSession.getActiveSession()
    if session is None or not hasattr(session, "sparkContext"):
        return ()
    conf = session.sparkContext.getConf()
    jars = _BETWEEN.split(conf.get("spark.jars", "") or "")
    packages = _BETWEEN.split(conf.get("spark.jars.packages", "") or "")
    return (
        *(jar.rpartition("/")[2] for jar in jars),
        *(f"{package.partition(':')[2].replace(':', '-')}.jar" for package in packages),
    )
