"""Which task writes which rows: all rows of a bucket of a partition meet in one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, functions
from pyspark.sql.types import IntegerType, StructField, StructType

from paimonlab.errors import UnsupportedError
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.writing.bucket_expression import bucket_of, has_expression
from paimonlab.spark.writing.executor_write import BUCKET_COLUMN, add_buckets
from paimonlab.spec.buckets.bucket import BucketFunction
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan

if TYPE_CHECKING:
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.table.table import Table
    from paimonlab.write.write_plan import WritePlan


def shuffled(bridge: Bridge, rows: DataFrame, table: Table) -> DataFrame:
    """Bring all rows of a bucket of a partition into one task; add the column of the bucket.

    The rows of a table without buckets stay where they are.
    """
    plan = write_plan(definition_of(table), store_of(table).layout)
    if plan.buckets < 1:
        return rows
    rows = _with_bucket(bridge, rows, plan)
    bucket = functions.col(BUCKET_COLUMN)
    if not table.partition_keys:
        return rows.repartitionById(plan.buckets, bucket)
    return rows.repartition(*map(functions.col, map(quoted, table.partition_keys)), bucket)


def _with_bucket(bridge: Bridge, rows: DataFrame, plan: WritePlan) -> DataFrame:
    if BUCKET_COLUMN in (name.lower() for name in rows.columns):
        raise UnsupportedError(f"a column {BUCKET_COLUMN!r} in Spark", "rename it")
    keys = [plan.schema.field(name) for name in plan.schema.bucket_keys]
    is_default = plan.schema.bucket_function is BucketFunction.DEFAULT
    if is_default and has_expression(keys):
        return rows.withColumn(BUCKET_COLUMN, bucket_of(bridge, keys, plan.buckets))
    schema = StructType([*rows.schema.fields, StructField(BUCKET_COLUMN, IntegerType())])
    return rows.mapInArrow(partial(add_buckets, plan), schema)
