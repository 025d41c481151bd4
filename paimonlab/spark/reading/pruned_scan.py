"""Reads whose partitions are chosen while a query runs: by the rows of the other side of a join.

Source: apache/spark@v4.2.0 and v4.3.0 ``SupportsRuntimeV2Filtering``, ``BatchScanExec``.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Hashable, Sequence
from typing import Any

from pyspark.sql.types import StructType

from paimonlab.spark.jvm.bridge import CONNECTOR, Bridge
from paimonlab.spark.reading.arrow_scan import ArrowScan
from paimonlab.spark.reading.executor_rows import ExecutorRows
from paimonlab.spark.reading.filters import to_predicate
from paimonlab.spark.values.quoting import quoted
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate, all_of

_PREDICATE = CONNECTOR + "expressions.filter.Predicate"
_PREDICATE_UTILS = "org.apache.spark.sql.internal.connector.PredicateUtils"
_numbers = itertools.count(1)


class _Code:
    """A number that scans of the same rows share, as long as one of them is held."""

    def __init__(self) -> None:
        self.number = next(_numbers)


_codes: weakref.WeakValueDictionary[Hashable, _Code] = weakref.WeakValueDictionary()


class KnownScan(ArrowScan):
    """A read that equals others of the same columns and conditions."""

    class Java:
        """py4j's list of interfaces."""

        implements = ArrowScan.Java.implements

    def __init__(
        self,
        bridge: Bridge,
        rows: ExecutorRows,
        schema: StructType,
        names: dict[str, str],
        filters: Sequence[Any],
        *,
        key: Hashable,
    ) -> None:
        super().__init__(bridge, rows, schema, names, filters)
        read = (type(self), key, schema.json(), self._predicate)
        self._code = _codes.setdefault(read, _Code())

    def toString(self) -> str:
        """Answer ``Object.toString``."""
        return f"paimonlab.KnownScan#{self._code.number}"

    def hashCode(self) -> int:
        """Answer ``Object.hashCode``."""
        return self._code.number & 0x7FFFFFFF

    def equals(self, other: Any) -> bool:
        """Say whether it reads the same: Spark has a proxy of its own for each mention."""
        if other is None or other is self or not hasattr(other, "getClass"):
            return bool(other is self)
        proxies = self._bridge.jvm.java.lang.reflect.Proxy
        is_proxy = bool(proxies.isProxyClass(other.getClass()))
        return is_proxy and str(other.toString()) == f"paimonlab.KnownScan#{self._code.number}"


class PrunedScan(KnownScan):
    """A read that is told values of partition columns before its tasks are planned."""

    class Java:
        """py4j's list of interfaces."""

        implements = [  # noqa: RUF012
            *ArrowScan.Java.implements,
            CONNECTOR + "read.SupportsRuntimeV2Filtering",
        ]

    def __init__(self, *arguments: Any, key: Hashable) -> None:
        super().__init__(*arguments, key=key)
        # Spark filters and plans in one thread; another may plan a copy of the scan meanwhile.
        self._told = threading.local()

    def filterAttributes(self) -> Any:
        """Return the partition columns that are read."""
        references = self._bridge.java_class(CONNECTOR + "expressions.Expressions")
        keys = [key for key in self._rows.partition_keys if key in self._schema.names]
        return self._bridge.array(
            CONNECTOR + "expressions.NamedReference",
            [references.column(quoted(key)) for key in keys],
        )

    def filter(self, predicates: Sequence[Any]) -> None:
        """Read only files that may have rows with these values, in the plan that comes next.

        What cannot be translated chooses nothing: the join looks at each row.
        """
        utilities = self._bridge.module(_PREDICATE_UTILS)
        translated = [utilities.toV1(predicate) for predicate in predicates]
        filters = [one.get() for one in translated if one.isDefined()]
        self._told.predicate = to_predicate(self._bridge, filters, self._names, self._floats)

    def pushedPredicates(self) -> Any:
        """Return nothing: Spark 4.3 asks."""
        return self._bridge.array(_PREDICATE, [])

    def supportsIterativePushdown(self) -> bool:
        """Say no: Spark 4.3 asks."""
        return False

    def planInputPartitions(self) -> Any:
        """Return one task per piece of the partitions that are asked for."""
        told: Predicate = self._told.__dict__.pop("predicate", AlwaysTrue())
        if isinstance(told, AlwaysTrue):  # other plans of this scan may be told nothing
            return super().planInputPartitions()
        predicate = all_of(self._predicate, told)
        return self._tasks(self._rows.pieces(self._schema.names, predicate), predicate)
