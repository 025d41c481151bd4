"""What Spark asks every table and most of ours answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge, Proxy
from paimonlab.spark.values.quoting import quoted


class PlainTable(Proxy):
    """Base of tables of which Spark sees columns only: no partitions, properties, constraints."""

    def id(self) -> None:
        """Return no identity: equal names are the same table."""

    def version(self) -> None:
        """Return no version: what is read is pinned, or computed for each query."""

    def partitioning(self) -> Any:
        """Return nothing: splits are not divided by a column."""
        return self._bridge.array(CONNECTOR + "expressions.Transform", [])

    def properties(self) -> Any:
        """Return nothing."""
        return self._bridge.map({})

    def constraints(self) -> Any:
        """Return nothing."""
        return self._bridge.array(CONNECTOR + "catalog.constraints.Constraint", [])


def identities(bridge: Bridge, columns: Sequence[str]) -> Any:
    """Make what says that a table is partitioned by values of columns, as ``Transform[]``."""
    expressions = bridge.java_class(CONNECTOR + "expressions.Expressions")
    keys = [expressions.identity(quoted(column)) for column in columns]
    return bridge.array(CONNECTOR + "expressions.Transform", keys)
