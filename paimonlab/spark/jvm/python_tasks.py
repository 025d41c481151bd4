"""Spark's own Java classes that run Python on executors.

What Spark ships to executors has to be a Java object: the sources of its Python Data Source API
take a pickled function and run it there.

Source: apache/spark@v4.2.0 and v4.3.0 ``DataSourceManager``.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql.datasource import DataSource
from pyspark.sql.udf import _wrap_function

from paimonlab.spark.jvm.bridge import Bridge

PYTHON_SOURCE = "org.apache.spark.sql.execution.datasources.v2.python."


class _PaimonSource(DataSource):
    """Only carries the environment of Spark's Python workers."""


def data_source(bridge: Bridge, kind: type[DataSource] = _PaimonSource) -> Any:
    """Make the Java object that knows interpreter and environment of Python workers.

    Parameters
    ----------
    bridge
        The session.
    kind
        What the workers make an object of.
    """
    source = bridge.java_class(PYTHON_SOURCE + "UserDefinedPythonDataSource")
    return source(_wrap_function(bridge.spark.sparkContext, kind))


def offer(bridge: Bridge, name: str, kind: type[DataSource]) -> None:
    """Let the session know a format, as ``spark.dataSource.register`` does.

    Spark's own way starts a Python process that looks for formats in all packages, to warn of one
    of the same name: 1.5 CPU seconds of each new session. Spark looks there anyway once it is asked
    for a format.

    Parameters
    ----------
    bridge
        The session.
    name
        Of the format, in small letters.
    kind
        What the workers make an object of.
    """
    manager = bridge.session.sessionState().dataSourceManager()
    field = manager.getClass().getDeclaredField("runtimeDataSourceBuilders")
    field.setAccessible(True)
    field.get(manager).put(name, data_source(bridge, kind))
