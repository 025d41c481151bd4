"""Spark's own Java classes that run Python on executors.

What Spark ships to executors has to be a Java object: the sources of its Python Data Source API
take a pickled function and run it there.
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
