"""Which snapshots of a table a plan of Spark reads.

What reads a table is a Python object inside of the plan; Spark shows it as a Java proxy, which
answers with the hash code of the object.
"""

from __future__ import annotations

import weakref
from typing import Any

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.reading.scan import SnapshotScan
from paimonlab.spark.reading.time_travel import CHOOSING_OPTIONS

_reads: weakref.WeakValueDictionary[int, PinnedRead] = weakref.WeakValueDictionary()


class PinnedRead(Proxy):
    """Base of what stands in a plan for files of a snapshot."""

    def __init__(self, bridge: Bridge, snapshot: SnapshotScan) -> None:
        super().__init__(bridge)
        self._snapshot = snapshot
        _reads[self.hashCode()] = self

    def equals(self, other: object) -> bool:
        """Say whether Spark holds the same read: it has a proxy of its own for each mention."""
        if other is self or not hasattr(other, "getClass"):
            return other is self
        proxies = self._bridge.jvm.java.lang.reflect.Proxy
        is_proxy = bool(proxies.isProxyClass(other.getClass()))
        return is_proxy and hasattr(other, "hashCode") and _reads.get(other.hashCode()) is self


def read_of(code: int) -> PinnedRead | None:
    """Return what reads a table, by its hash code."""
    return _reads.get(code)


def reads_in(bridge: Bridge, plan: Any) -> list[PinnedRead]:
    """Return what reads tables in a plan, without its subqueries."""
    leaves = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava(plan.collectLeaves())
    found = (_reads.get(code) for leaf in leaves if (code := _code_of(leaf)) is not None)
    return [read for read in found if read is not None]


def snapshots_read(bridge: Bridge, plan: Any, branch_path: str) -> frozenset[int]:
    """Return the ids of the snapshots of a table that a plan reads as the latest; 0: it is empty.

    What a statement says itself, as ``VERSION AS OF 3``, is not among them: it stays what it is
    whatever others commit.

    Parameters
    ----------
    bridge
        The session.
    plan
        An analyzed plan, its subqueries included.
    branch_path
        The folder of the table's branch.
    """
    as_java = bridge.jvm.scala.jdk.javaapi.CollectionConverters.asJava
    plans = [plan, *as_java(plan.subqueriesAll()).toArray()]
    leaves = (leaf for one in plans for leaf in as_java(one.collectLeaves()).toArray())
    found = (_reads.get(code) for leaf in leaves if (code := _code_of(leaf)) is not None)
    scans = [read._snapshot.scan for read in found if read is not None]
    return frozenset(
        scan.snapshot.id if scan.snapshot is not None else 0
        for scan in scans
        if scan.store.layout.branch_path == branch_path
        and scan.definition.options.keys().isdisjoint(CHOOSING_OPTIONS)
    )


def _code_of(leaf: Any) -> int | None:
    """Return the hash code of what a leaf of a plan reads from; None if it is no table's."""
    match leaf.getClass().getSimpleName():
        case "LogicalRelation":
            relation = leaf.relation()
            is_files = relation.getClass().getSimpleName() == "HadoopFsRelation"
            return int(relation.location().hashCode()) if is_files else None
        case "DataSourceV2Relation" | "DataSourceV2ScanRelation":
            relation = leaf if hasattr(leaf, "table") else leaf.relation()
            return int(relation.table().hashCode())
    return None
