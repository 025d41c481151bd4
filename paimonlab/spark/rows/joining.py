"""The join of a statement's target with its source.

Spark has to shuffle a target that is too large to be broadcast, with all of its rows, where rows of
the source are inserted as well. Most statements change a few of them: so the keys of the source
are put into a Bloom filter first, and rows of the target that it rules out are not shuffled.

Source: apache/spark@v4.3.0 ``InjectRuntimeFilter``, which does so for tables of gigabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame, functions

from paimonlab.spark.jvm.expressions import column_of, expression_of
from paimonlab.spark.rows.statements import RowStatement, as_list
from paimonlab.write.merge_clauses import needs_unmatched_source, needs_unmatched_target

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge

TARGET_COLUMN = "__paimon_in_target"
"""Column that is true in rows of the target, else null."""
SOURCE_COLUMN = "__paimon_in_source"
"""Column that is true in rows of the source, else null."""
_TRUE = True
_LEAST_KEYS, _MOST_KEYS = 1_000_000, 4_000_000
"""A filter is made for so many keys: it takes 1 to 4 MB."""
_BITS_PER_KEY = 8
_SOURCE_SHARE = 2
"""A source of more than so many times the bytes of the target is not read twice."""
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_PLANS = "org.apache.spark.sql.catalyst.plans."
_DATASET = "org.apache.spark.sql.classic.Dataset"
_SESSIONS = "org.apache.spark.sql.classic.SparkSession"
_AGAIN = frozenset(
    {"Filter", "LocalRelation", "LogicalRelation", "Project", "Range", "SubqueryAlias", "View"}
)
"""Plans that have the same rows when they run again, if all of their expressions have."""
_HASHED = frozenset(
    {
        "bigint",
        "binary",
        "boolean",
        "date",
        "int",
        "smallint",
        "string",
        "timestamp",
        "timestamp_ntz",
        "tinyint",
    }
)
"""Types of which equal values have equal bytes; DECIMAL is another."""


def joined(bridge: Bridge, statement: RowStatement, target: DataFrame) -> DataFrame:
    """Join the target of a MERGE with its source; see `TARGET_COLUMN` and `SOURCE_COLUMN`.

    Rows of one side alone are there as far as the clauses need them.
    """
    rules = statement.rules
    source_too, target_too = needs_unmatched_source(rules), needs_unmatched_target(rules)
    source = frame_of(bridge, statement.source)
    if not target_too:
        target = _met(bridge, statement, target, source, inner=not source_too)
    kinds = {
        (False, False): "Inner",
        (True, False): "LeftOuter",
        (False, True): "RightOuter",
        (True, True): "FullOuter",
    }
    # The source comes first: what is there twice gets other ids where it comes again, and clauses
    # know those of the source.
    join = bridge.java_class(_PLANS + "logical.Join")(
        _marked(source, SOURCE_COLUMN)._jdf.queryExecution().analyzed(),
        _marked(target, TARGET_COLUMN)._jdf.queryExecution().analyzed(),
        bridge.module(_PLANS + kinds[source_too, target_too]),
        bridge.some(statement.condition),
        bridge.java_class(_PLANS + "logical.JoinHint").NONE(),
    )
    return frame_of(bridge, join)


def _marked(rows: DataFrame, name: str) -> DataFrame:
    return rows.select("*", functions.lit(_TRUE).alias(name))


def _met(
    bridge: Bridge, statement: RowStatement, target: DataFrame, source: DataFrame, *, inner: bool
) -> DataFrame:
    """Leave out rows of the target that meet no row of the source, where that saves a shuffle."""
    broadcast = int(bridge.conf.autoBroadcastJoinThreshold())
    target_bytes, source_bytes = estimated_bytes(target), estimated_bytes(source)
    is_broadcast = target_bytes <= broadcast or (inner and source_bytes <= broadcast)
    if is_broadcast or source_bytes > _SOURCE_SHARE * target_bytes:
        return target
    if not _is_same_again(bridge, statement.source):
        return target
    pairs = _equalities(bridge, statement, statement.condition)
    if not pairs:
        return target
    keys, others = ([column_of(bridge, pair[side]) for pair in pairs] for side in (0, 1))
    return target.where(_may_have(bridge, source, others, keys))


def _may_have(
    bridge: Bridge, source: DataFrame, others: list[Column], keys: list[Column]
) -> Column:
    """Make the test whether the source may have a row whose ``others`` are ``keys``."""
    hashes = source.select(functions.xxhash64(*others).alias("hash"))
    count = min(max(estimated_bytes(hashes) // 16, _LEAST_KEYS), _MOST_KEYS)
    keys_expected, bits = (
        functions.lit(number).cast("bigint") for number in (count, count * _BITS_PER_KEY)
    )
    aggregate = bridge.java_class(_EXPRESSIONS + "aggregate.BloomFilterAggregate")(
        expression_of(bridge, functions.col("hash")),
        *(expression_of(bridge, size) for size in (keys_expected, bits)),
    )
    gathered = hashes.agg(column_of(bridge, aggregate.toAggregateExpression()).alias("keys"))
    test = bridge.java_class(_EXPRESSIONS + "BloomFilterMightContain")
    return column_of(
        bridge,
        test(
            expression_of(bridge, gathered.scalar()),
            expression_of(bridge, functions.xxhash64(*keys)),
        ),
    )


def estimated_bytes(rows: DataFrame) -> int:
    """Estimate a size as Spark does."""
    return int(str(rows._jdf.queryExecution().analyzed().stats().sizeInBytes()))


def _is_same_again(bridge: Bridge, plan: Any) -> bool:
    """Whether a plan surely gives the same rows when it runs a second time."""
    kind = plan.getClass().getSimpleName()
    if kind not in _AGAIN or not plan.deterministic():
        return False
    if kind == "LogicalRelation":  # a database would be asked again
        return bool(plan.relation().getClass().getSimpleName() == "HadoopFsRelation")
    return all(_is_same_again(bridge, child) for child in as_list(bridge, plan.children()))


def _equalities(bridge: Bridge, statement: RowStatement, condition: Any) -> list[tuple[Any, Any]]:
    """Return expressions over the target alone that have to equal such of the source alone."""
    kind = condition.getClass().getSimpleName()
    if kind == "And":
        sides = (condition.left(), condition.right())
        return [pair for side in sides for pair in _equalities(bridge, statement, side)]
    if kind not in ("EqualTo", "EqualNullSafe"):
        return []
    assert statement.source is not None, "a MERGE has a source"
    sides = (condition.left(), condition.right())
    target, source = statement.target.outputSet(), statement.source.outputSet()
    for one, other in (sides, sides[::-1]):
        if is_over(one, target) and is_over(other, source) and is_hashed(one, other):
            return [(one, other)]
    return []


def parts_of(condition: Any) -> list[Any]:
    """Return the conditions that AND joins."""
    if condition.getClass().getSimpleName() == "And":
        return parts_of(condition.left()) + parts_of(condition.right())
    return [condition]


def is_over(expression: Any, columns: Any) -> bool:
    """Whether an expression looks at such columns, and at no others."""
    references = expression.references()
    return bool(
        expression.deterministic() and not references.isEmpty() and references.subsetOf(columns)
    )


def is_hashed(one: Any, other: Any) -> bool:
    """Whether expressions have one type, of which equal values have equal bytes."""
    types = {str(value.dataType().catalogString()) for value in (one, other)}
    return len(types) == 1 and all(name in _HASHED or name.startswith("decimal(") for name in types)


def named_as(bridge: Bridge, column: Any, other: Any) -> Any:
    """Give a column the name and the id of another, by which expressions know it."""
    alias = bridge.java_class(_EXPRESSIONS + "Alias")
    nothing = bridge.once("no items", lambda: bridge.seq([]))
    return alias(column, other.name(), other.exprId(), nothing, bridge.none(), nothing)


def frame_of(bridge: Bridge, plan: Any) -> DataFrame:
    """Make a DataFrame of a plan, in the session that is active."""
    session = bridge.java_class(_SESSIONS).active()
    return DataFrame(bridge.module(_DATASET).ofRows(session, plan), bridge.spark)
