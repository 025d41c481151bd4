"""Joins and aggregations on the bucket key without a shuffle.

A rule of the optimizer finds scans whose buckets a join, an aggregation or a window can use: of a
join, both tables have to be bucketed alike, and its conditions name the bucket keys. Such a scan
is planned as one task per bucket, and says so by a partitioning of its own: Spark's hash is
another than Paimon's, so it must not be taken for that, and nothing is shuffled to match it. Where
it does not fit, Spark shuffles both sides as ever.

``spark.sql.sources.v2.bucketing.enabled`` is Spark's switch for this.
"""

from __future__ import annotations

import itertools
from typing import Any

from msgspec.structs import replace
from pyspark.sql import DataFrame, functions

from paimonlab.spark.jvm.bridge import Bridge, Proxy
from paimonlab.spark.jvm.compiled import new
from paimonlab.spark.jvm.rules import same_rule
from paimonlab.spark.reading.file_shape import FileShape, ShapeColumn
from paimonlab.spark.reading.optimizing.grouping import RULE, SEPARATOR, SOURCE
from paimonlab.spark.reading.scan import SnapshotScan
from paimonlab.spark.values.bucket_expression import bucket_of, has_expression
from paimonlab.spark.values.types import to_spark
from paimonlab.spec.buckets.bucket import BucketFunction
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot, with_nullable
from paimonlab.spec.types.text import format_type, parse_type

BUCKETS_KEY = "paimonlab.buckets"
"""Option of a native scan: its `bucket_layout`."""
SORTED_KEY = "paimonlab.sorted"
"""Option of a native scan: its `sort_order`."""
GROUPED_KEY = "paimonlab.grouped"
"""Option of a scan that is planned as one task per bucket."""
_BETWEEN_TYPES = "; "
_ANY_LENGTH = 1
_BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
"""Whose order nobody promises to be Spark's."""
_UNEQUAL = frozenset({TypeRoot.CHAR, TypeRoot.FLOAT, TypeRoot.DOUBLE})
"""Values that are equal in Spark may have other bytes: blanks at the end, negative zero."""


def bucket_layout(snapshot: SnapshotScan, shape: FileShape) -> str | None:
    """Describe the buckets of a scan; None: a row's bucket does not follow from its values.

    Parameters
    ----------
    snapshot
        What is read.
    shape
        The files of the scan.
    """
    schema = snapshot.scan.schema
    keys = [schema.field(name) for name in schema.bucket_keys]
    count = schema.options.get("bucket", "-1")
    is_hashed = schema.bucket_function is BucketFunction.DEFAULT and has_expression(keys)
    if not keys or int(count) <= 0 or not is_hashed:
        return None
    columns = {column.name: column for column in shape}
    stored = [columns[key.name] for key in keys]
    if snapshot.needs_arrow or snapshot.shapes != (shape,) or not all(map(_is_stored, stored)):
        return None
    if any(split.total_buckets != int(count) for split in snapshot.plan.splits):
        return None  # partitions that were rescaled
    types = _BETWEEN_TYPES.join(_type_text(key.type) for key in keys)
    return SEPARATOR.join((count, types, *(column.file_name for column in stored)))


def sort_order(snapshot: SnapshotScan, shape: FileShape) -> str | None:
    """Name the columns by which the rows of each bucket are sorted; None: they are not.

    They are where no bucket has two files: each file is sorted by the key.

    Parameters
    ----------
    snapshot
        What is read.
    shape
        The files of the scan.
    """
    keys = snapshot.scan.schema.trimmed_primary_keys
    files: dict[int, int] = {}
    for split in snapshot.plan.splits:
        files[split.bucket] = files.get(split.bucket, 0) + len(split.files)
    if not keys or max(files.values(), default=0) > 1:
        return None
    columns = {column.name: column for column in shape}
    ordered = itertools.takewhile(_is_ordered, (columns[key] for key in keys))
    return SEPARATOR.join(column.file_name for column in ordered) or None


def is_by_bucket(frame: DataFrame) -> bool:
    """Say whether a frame without joins has all rows of a bucket in one task."""
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves()
    if leaves.size() != 1 or leaves.head().getClass().getSimpleName() != "LogicalRelation":
        return False
    relation = leaves.head().relation()
    is_files = relation.getClass().getSimpleName() == "HadoopFsRelation"
    return is_files and bool(relation.options().contains(GROUPED_KEY))


def _is_stored(column: ShapeColumn) -> bool:
    """Say whether values of the read have the hash and the order of those in the files."""
    read, stored = (with_nullable(one, nullable=True) for one in (column.type, column.file_type))
    is_same = column.conversion is not None and read == stored
    return is_same and isinstance(read, AtomicType) and read.root not in _UNEQUAL


def _is_ordered(column: ShapeColumn) -> bool:
    kind = column.type
    return _is_stored(column) and isinstance(kind, AtomicType) and kind.root not in _BYTES


def _type_text(kind: DataType) -> str:
    # Lengths of texts do not matter to their bytes.
    kind = with_nullable(kind, nullable=True)
    if isinstance(kind, AtomicType) and kind.length is not None:
        kind = replace(kind, length=_ANY_LENGTH)
    return format_type(kind)


class _Formulas(Proxy):
    """Writes the bucket of a row as an expression of Spark's."""

    class Java:
        """py4j's list of interfaces."""

        implements = ["scala.Function1"]  # noqa: RUF012

    def apply(self, layout: str) -> Any:
        """Return the expression, then the columns that stand in it for those of the key."""
        bridge = self._bridge
        count, types, *_ = layout.split(SEPARATOR)
        keys = [
            DataField(place, f"k{place}", parse_type(text))
            for place, text in enumerate(types.split(_BETWEEN_TYPES))
        ]
        nothing = bridge.spark.range(0).select(
            *(
                functions.lit(None).cast(to_spark(key.type, column=key.name)).alias(key.name)
                for key in keys
            )
        )
        columns = nothing._jdf.queryExecution().analyzed().output()
        plan = nothing.select(bucket_of(bridge, keys, int(count)))
        replaced = bridge.module("org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions")
        final = replaced.apply(plan._jdf.queryExecution().analyzed())
        return columns.prepended(final.projectList().head().child())


def group_by_bucket(bridge: Bridge) -> None:
    """Let the session, its clones and those beside it join and aggregate bucket by bucket."""
    extensions = bridge.session.extensions()
    present = extensions.buildPreCBORules(bridge.session)
    if any(str(present.apply(i).ruleName()).endswith(RULE) for i in range(present.size())):
        return
    rule = new(bridge, SOURCE, RULE, BUCKETS_KEY, GROUPED_KEY)
    extensions.injectPreCBORule(same_rule(bridge, rule))
    formulas = _Formulas(bridge)
    strategy = new(bridge, SOURCE, f"{RULE}$Planning", BUCKETS_KEY, GROUPED_KEY, formulas)
    extensions.injectPlannerStrategy(same_rule(bridge, strategy))
