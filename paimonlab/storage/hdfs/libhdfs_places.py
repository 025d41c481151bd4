"""Whether libhdfs can be had, found out without starting Java.

Source: arrow.apache.org, "Filesystem Interface", Hadoop (``ARROW_LIBHDFS_DIR``, ``HADOOP_HOME``,
``JAVA_HOME``, ``CLASSPATH``).
"""

from __future__ import annotations

import os
from pathlib import Path

from paimonlab.errors import UnsupportedError
from paimonlab.storage.hdfs.options import HdfsOptions
from paimonlab.storage.schemes import HDFS_CLIENT, KERBEROS_PREFIX

_NAMES = ("libhdfs.so", "libhdfs.dylib", "hdfs.dll")


def missing_for_libhdfs() -> str:
    """Say what libhdfs lacks; "": nothing."""
    folder, home = os.environ.get("ARROW_LIBHDFS_DIR"), os.environ.get("HADOOP_HOME")
    folders = [folder] if folder else []
    folders += [str(Path(home, "lib/native"))] if home else []
    if not any(Path(one, name).is_file() for one in folders for name in _NAMES):
        return "there is no libhdfs in ARROW_LIBHDFS_DIR or HADOOP_HOME/lib/native"
    if not os.environ.get("JAVA_HOME"):
        return "JAVA_HOME is not set"
    if not os.environ.get("CLASSPATH"):
        return "CLASSPATH is not set: export CLASSPATH=$(hadoop classpath --glob)"
    return ""


def refuse_for_libhdfs(options: HdfsOptions) -> None:
    """Refuse options that libhdfs cannot be told.

    Raises
    ------
    UnsupportedError
        If there is one.
    """
    if options.config_folder:
        raise UnsupportedError(
            f"hadoop-conf-dir with {HDFS_CLIENT} = 'libhdfs'", "put the folder first in CLASSPATH"
        )
    if options.principal:
        raise UnsupportedError(
            f"{KERBEROS_PREFIX}principal with {HDFS_CLIENT} = 'libhdfs'",
            "log in by kinit: it takes the ticket cache",
        )
