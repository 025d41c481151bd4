"""What Spark keeps of statements, jobs and settings for people to see."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from paimonlab.spark.sessions.session import LOG_FILE_KEY


def executions_of(spark: SparkSession) -> list[Any]:
    """Return what Spark keeps of statements, the oldest first."""
    as_java = spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava  # type: ignore[union-attr]
    return [*as_java(spark._jsparkSession.sharedState().statusStore().executionsList())]


def shown(spark: SparkSession, since: int) -> str:
    """Return all that Spark keeps to show: plans, jobs, stages, settings, its log.

    Of statements only those after the one with the number ``since``: it keeps a thousand, and each
    takes tens of calls.
    """
    as_java = spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava  # type: ignore[union-attr]
    texts = [Path(spark.conf.get(LOG_FILE_KEY) or "").read_text(errors="replace")]
    statements = spark._jsparkSession.sharedState().statusStore()
    nodes: list[str] = []
    for one in executions_of(spark):
        if one.executionId() <= since:
            continue
        texts += [one.description(), one.details(), one.physicalPlanDescription()]
        with suppress(Py4JJavaError):  # one whose job went on after it was dropped has no graph
            graph = statements.planGraph(one.executionId())
            nodes += [node.desc() for node in as_java(graph.nodes())]
    assert nodes
    texts += nodes
    context = spark._jsc.sc().statusStore()
    texts += [str(one.description()) + one.name() for one in as_java(context.jobsList(None))]
    environment = context.environmentInfo()
    for properties in (environment.sparkProperties(), environment.systemProperties()):
        texts += [one.toString() for one in as_java(properties)]
    return "\n".join([*texts, *(str(row) for row in spark.sql("SET -v").collect())])
