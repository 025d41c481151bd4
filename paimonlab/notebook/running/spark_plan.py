"""The reads in Spark's plan of a query: which files are left after pruning.

Our own reads name themselves in the plan (`SnapshotFileIndex.toString`,
`ArrowScan.description`); Spark's scan of files says which of them its conditions leave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_NATIVE = re.compile(r"Paimon\((?P<table>.*), (?:no snapshot|snapshot (?P<id>\d+))\)")
_PYTHON = re.compile(
    r"Paimon\((?P<table>.*)\) by Python(?: \(.*?\))?, columns: \[.*\], filter: (?P<filter>.*)"
)
_NUMBER = re.compile(r"#\d+L?\b")
"""Spark numbers the columns of a plan."""
_FILTERS = ("PartitionFilters", "DataFilters")


@dataclass(frozen=True, slots=True)
class SparkRead:
    """One read that Spark planned."""

    table: str
    snapshot_id: int | None
    file_count: int | None
    """None if Python prunes when it runs."""
    size_bytes: int | None
    filters: str


def spark_reads(frame: DataFrame) -> Sequence[SparkRead]:
    """List the reads of Paimon tables in the plan of a DataFrame, which is not run."""
    execution = frame._jdf.queryExecution()  # noqa: SLF001 - PySpark has no other way
    return [read for leaf in _leaves(execution.executedPlan()) for read in _read(leaf)]


def snapshots_read(frame: DataFrame) -> Sequence[str]:
    """Name the Paimon tables that a DataFrame reads, with their snapshots where the plan has them.

    Only names are looked at: nothing is pruned, nothing is run.
    """
    execution = frame._jdf.queryExecution()  # noqa: SLF001 - PySpark has no other way
    try:
        names = [_named(leaf) for leaf in _leaves(execution.executedPlan())]
    except Py4JError:  # the rows are fetched already, and names only add to them
        return ()
    return tuple(dict.fromkeys(name for name in names if name))


def _named(leaf: Any) -> str:
    kind = _class(leaf)
    if kind == "FileSourceScanExec":
        match = _NATIVE.search(str(leaf.relation().location().toString()))
        return "" if match is None else f"{match['table']}@{match['id'] or 'none'}"
    if kind == "BatchScanExec":
        match = _PYTHON.search(str(leaf.scan().description()))
        return "" if match is None else match["table"]
    return ""


def plan_text(frame: DataFrame, mode: str = "formatted") -> str:
    """Return the plan as ``EXPLAIN FORMATTED``, ``COST`` or ``EXTENDED`` writes it."""
    jvm: Any = frame.sparkSession._jvm  # noqa: SLF001 - PySpark only prints it
    utils = jvm.org.apache.spark.sql.api.python.PythonSQLUtils
    return str(utils.explainString(frame._jdf.queryExecution(), mode))  # noqa: SLF001


def _leaves(plan: Any) -> Iterator[Any]:
    """Yield the leaves of a plan and of its subqueries."""
    if _class(plan) == "AdaptiveSparkPlanExec":
        yield from _leaves(plan.initialPlan())
        return
    children = _items(plan.children())
    if not children:
        yield plan
    for child in children:
        yield from _leaves(child)
    for subquery in _items(plan.subqueries()):
        yield from _leaves(subquery)


def _read(leaf: Any) -> Iterator[SparkRead]:
    kind = _class(leaf)
    if kind == "FileSourceScanExec":
        match = _NATIVE.search(str(leaf.relation().location().toString()))
        if match is None:
            return
        selected = leaf.selectedPartitions()
        metadata = leaf.metadata()
        filters = [str(metadata.apply(key)) for key in _FILTERS if metadata.contains(key)]
        yield SparkRead(
            match["table"],
            int(match["id"]) if match["id"] else None,
            int(selected.totalNumberOfFiles()),
            int(selected.totalFileSize()),
            _NUMBER.sub("", ", ".join(text.strip("[]") for text in filters if text != "[]")),
        )
    elif kind == "BatchScanExec":
        match = _PYTHON.search(str(leaf.scan().description()))
        if match is not None:
            yield SparkRead(match["table"], None, None, None, match["filter"])


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(number) for number in range(sequence.size())]


def _class(value: Any) -> str:
    return str(value.getClass().getSimpleName())
