"""Which task writes which rows: all rows of a bucket of a partition meet in one.

Many rows of a table without partitions pass there in packets (`executor_packets`).

Where the index of keys says which bucket a row belongs to, the rows meet twice: by shares of keys,
so that one task finds the buckets of all keys of its share, then by buckets. Few rows, or an
index of few keys, are one share: the task that finds the buckets also writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, functions
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BinaryType, ByteType, IntegerType, StructField, StructType

from paimonlab.compact.ordering.ranges import Ranges
from paimonlab.compact.ordering.row_order import OrderType
from paimonlab.errors import UnsupportedError
from paimonlab.spark.values.bucket_expression import bucket_of, has_expression, hash_of
from paimonlab.spark.values.in_arrow import map_in_arrow
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.writing.executor_assign import (
    PARTITION_COLUMN,
    SHARE_COLUMN,
    HashAssignment,
    HashShares,
    KeyAssignment,
    KeyReads,
    add_key_shares,
    add_shares,
)
from paimonlab.spark.writing.executor_packets import (
    PACKETS,
    SHARE,
    BucketShares,
    OneShare,
    Packing,
    Repacking,
    Shares,
)
from paimonlab.spark.writing.executor_ranges import RangeOfRows
from paimonlab.spark.writing.executor_small_rows import LONG_COLUMN
from paimonlab.spark.writing.executor_write import (
    BEFORE,
    BUCKET_COLUMN,
    KIND_COLUMN,
    Routing,
    add_buckets,
    given,
    indexed,
    keyed,
    waiting,
)
from paimonlab.spark.writing.small_rows import ANY_BYTES, bytes_of_row, optimized_bytes
from paimonlab.spec.buckets.bucket import BucketFunction
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.read import read_plan
from paimonlab.table.plans.write import write_plan
from paimonlab.table.writing.divided import SinkOptions
from paimonlab.table.writing.key_index import KeyIndex, StoredKeyIndex, all_splits
from paimonlab.table.writing.writers import sequence_numbers

if TYPE_CHECKING:
    from paimonlab.compact.ordering.row_order import RowOrder
    from paimonlab.spark.jvm.bridge import Bridge
    from paimonlab.spec.snapshot import Snapshot
    from paimonlab.spec.types.data_types import DataField
    from paimonlab.table.table import Table
    from paimonlab.write.key_hashes import DynamicBucketOptions
    from paimonlab.write.write_plan import WritePlan

_OURS = (KIND_COLUMN, LONG_COLUMN)
_RESERVED = (*_OURS, BUCKET_COLUMN, PARTITION_COLUMN, SHARE_COLUMN)
_STATED_BYTES = 1 << 20
"""Rows of a statement of at most so many bytes are written by one task."""
_FEW_BYTES = 1 << 20
"""Of so few bytes, as Spark estimates them, a shuffle takes less time than to make packets."""
_SHARE_BYTES = 64 << 20
"""Rows of about so many bytes make one share of keys."""
_SHARE_KEYS = 4_000_000
"""So do so many rows of a table whose keys may move."""
_RANGE_BYTES = 128 << 20
"""Rows of about so many bytes, as Spark estimates them, make one range of an order."""
_SAMPLES_PER_RANGE, _LEAST_SAMPLES = 500, 20_000
"""Rows that say where ranges begin."""
_TASKS_PER_CORE = 2
"""Tasks that write buckets without partitions; each writes several buckets."""
_LEAST_PART_BYTES, _MOST_PART_BYTES = 4 << 10, 64 << 10
"""Of a row of the shuffle of packets; of fewer bytes there would be too many."""
_PLACE_BYTES = 64
"""What such a row has besides."""


@dataclass(frozen=True, slots=True)
class Shuffled:
    """Rows where they are written, and what tells the tasks their buckets."""

    rows: DataFrame
    routing: Routing | None = None
    takes_buckets: bool = False
    is_packed: bool = False
    """Whether rows are in packets: `executor_packets.Unpacking` makes rows of them again."""
    assignment: HashAssignment | None = None
    """What finds the buckets of rows in the task that writes them; None: they are found."""


def shuffled(
    bridge: Bridge,
    rows: DataFrame,
    table: Table,
    seen: Snapshot | None,
    *,
    replaces: bool,
    packs: bool = False,
) -> Shuffled:
    """Bring all rows of a bucket of a partition into one task.

    Parameters
    ----------
    bridge
        The session.
    rows
        The rows, with `KIND_COLUMN` if some are not inserted.
    table
        Where they go to.
    seen
        Its latest snapshot.
    replaces
        Whether all rows of the partitions that are written to are replaced.
    packs
        Whether rows may come in packets.
    """
    _check_names(rows)
    is_alone = _are_few(rows)
    if is_alone:
        rows = rows.coalesce(1)
    plan = write_plan(definition_of(table), store_of(table).layout)
    match plan.bucket_mode:
        case BucketMode.HASH_FIXED if is_alone:
            return Shuffled(rows)
        case BucketMode.HASH_FIXED:
            packs = packs and not plan.schema.partition_keys
            part_bytes = _part_bytes(bridge, rows) if packs else None
            if part_bytes is not None:
                by_bucket = BucketShares(plan, _bucket_tasks(bridge, plan.buckets))
                return Shuffled(_packed(rows, by_bucket, part_bytes), is_packed=True)
            return Shuffled(
                _by_bucket(bridge, _with_bucket(bridge, rows, plan), plan, plan.buckets)
            )
        case BucketMode.HASH_DYNAMIC | BucketMode.KEY_DYNAMIC as mode:
            divide = _by_hash if mode is BucketMode.HASH_DYNAMIC else _by_key
            known = None if replaces else seen
            return divide(bridge, rows, table, known, plan, replaces=replaces, packs=packs)
        case BucketMode.POSTPONE_MODE:
            return Shuffled(_by_partition(rows, table, is_alone=is_alone), waiting)
    by_partition = _by_partition(rows, table, is_alone=is_alone)
    is_ordered = by_partition is rows and not is_alone
    return Shuffled(_by_ranges(bridge, rows, plan.order) if is_ordered else by_partition)


def _by_ranges(bridge: Bridge, rows: DataFrame, order: RowOrder | None) -> DataFrame:
    """Shuffle rows into ranges of an order, each for one task, which puts them in order.

    What makes the rows runs twice: a sample of them says where ranges begin.
    """
    if order is None:
        return rows
    size_bytes = optimized_bytes(rows)
    count = min(size_bytes // _RANGE_BYTES + 1, _shuffle_partitions(bridge))
    if count == 1:
        return rows
    columns = [functions.col(quoted(name)) for name in order.names]
    if order.type is OrderType.ORDER:
        return rows.repartitionByRange(count, *(column.asc_nulls_first() for column in columns))
    row_bytes = max(int(rows._jdf.schema().defaultSize()), 1)
    wanted = max(_LEAST_SAMPLES, _SAMPLES_PER_RANGE * count)
    sample = rows.select(*columns).sample(min(1.0, wanted * row_bytes / size_bytes))
    ranges = Ranges.of(order, sample.toArrow(), count)
    schema = StructType([*rows.schema.fields, StructField(SHARE_COLUMN, IntegerType())])
    divided = map_in_arrow(rows, RangeOfRows(ranges), schema)
    share = functions.col(SHARE_COLUMN)
    return divided.repartitionById(ranges.count, share).drop(SHARE_COLUMN)


def _shuffle_partitions(bridge: Bridge) -> int:
    return int(bridge.conf.numShufflePartitions())


def _by_partition(rows: DataFrame, table: Table, *, is_alone: bool) -> DataFrame:
    """Bring all rows of a partition into one task, if the table asks for it."""
    definition = definition_of(table)
    keys = definition.partition_keys
    if is_alone or not keys or not definition.options.slice(SinkOptions).by_partition:
        return rows
    return rows.repartition(*(functions.col(quoted(key)) for key in keys))


def _are_few(rows: DataFrame) -> bool:
    """Say whether rows stand in a statement, and are few: one task has them, without a shuffle."""
    plan = rows._jdf.queryExecution().optimizedPlan()
    is_stated = plan.getClass().getSimpleName() == "LocalRelation"
    return bool(is_stated and plan.stats().sizeInBytes() <= _STATED_BYTES)


def _check_names(rows: DataFrame) -> None:
    for name in rows.columns:
        if name.lower() in _RESERVED and name not in _OURS:
            raise UnsupportedError(f"a column {name!r} in Spark", "rename it")


def _part_bytes(bridge: Bridge, rows: DataFrame) -> int | None:
    """Return the bytes of a part of a packet; None: rows are few, or batches may be long."""
    row_bytes = bytes_of_row(bridge)
    if not _LEAST_PART_BYTES <= row_bytes < ANY_BYTES or optimized_bytes(rows) <= _FEW_BYTES:
        return None
    return min(row_bytes - _PLACE_BYTES, _MOST_PART_BYTES)


def _packed(rows: DataFrame, shares: Shares, part_bytes: int) -> DataFrame:
    """Shuffle rows by who takes them, in packets."""
    return _of_shares(map_in_arrow(rows, Packing(shares, part_bytes), PACKETS), shares)


def _of_shares(packets: DataFrame, shares: Shares) -> DataFrame:
    return packets.repartitionById(shares.count, functions.col(SHARE))


def _bucket_tasks(bridge: Bridge, most: int) -> int:
    return min(most, _TASKS_PER_CORE * bridge.spark.sparkContext.defaultParallelism)


def _by_bucket(bridge: Bridge, rows: DataFrame, plan: WritePlan, most: int) -> DataFrame:
    """Shuffle rows by `BUCKET_COLUMN`, into ``most`` tasks if there are no partitions."""
    bucket = functions.col(BUCKET_COLUMN)
    keys = plan.schema.partition_keys
    if keys:
        return rows.repartition(*(functions.col(quoted(key)) for key in keys), bucket)
    tasks = _bucket_tasks(bridge, most)
    return rows.repartitionById(tasks, bucket % functions.lit(tasks))


def _with_bucket(bridge: Bridge, rows: DataFrame, plan: WritePlan) -> DataFrame:
    keys = [plan.schema.field(name) for name in plan.schema.bucket_keys]
    is_default = plan.schema.bucket_function is BucketFunction.DEFAULT
    if is_default and has_expression(keys):
        return rows.withColumn(BUCKET_COLUMN, bucket_of(bridge, keys, plan.buckets))
    schema = StructType([*rows.schema.fields, StructField(BUCKET_COLUMN, IntegerType())])
    return map_in_arrow(rows, partial(add_buckets, plan), schema)


def _by_hash(
    bridge: Bridge,
    rows: DataFrame,
    table: Table,
    seen: Snapshot | None,
    plan: WritePlan,
    *,
    replaces: bool,
    packs: bool,
) -> Shuffled:
    definition, store = definition_of(table), store_of(table)
    if replaces:
        stored = StoredKeyIndex.empty(plan, store.file_io)
    else:
        live = sequence_numbers(store.sequence_memory, seen)
        stored = KeyIndex(definition, store, seen, live).stored()
    options = plan.dynamic
    shares = options.assigner_parallelism or max(
        options.initial_buckets or 1, _shares_of(bridge, rows, 0)
    )
    if shares == 1:
        return _by_one(bridge, rows, partial(indexed, stored=stored), packs=packs)
    divided = HashShares(plan, shares)
    assignment, routing = HashAssignment(divided, stored), partial(given, stored=stored)
    writes_where_found = seen is None and _have_own_buckets(divided.options)
    part_bytes = _part_bytes(bridge, rows) if packs else None
    if part_bytes is not None and (writes_where_found or not plan.schema.partition_keys):
        packed = _packed(rows, divided, part_bytes)
        if writes_where_found:
            return Shuffled(
                packed, routing, takes_buckets=True, is_packed=True, assignment=assignment
            )
        buckets = BucketShares(plan, _bucket_tasks(bridge, shares), BUCKET_COLUMN)
        repacking = Repacking(assignment, Packing(buckets, part_bytes))
        again = _of_shares(packed.mapInArrow(repacking, PACKETS), buckets)
        return Shuffled(again, routing, takes_buckets=True, is_packed=True)
    found = _with_share(bridge, rows, divided).repartitionById(shares, functions.col(SHARE_COLUMN))
    if writes_where_found:
        return Shuffled(found, routing, takes_buckets=True, assignment=assignment)
    schema = StructType([*rows.schema.fields, StructField(BUCKET_COLUMN, IntegerType())])
    by_bucket = _by_bucket(bridge, map_in_arrow(found, assignment, schema), plan, shares)
    return Shuffled(by_bucket, routing, takes_buckets=True)


def _by_one(bridge: Bridge, rows: DataFrame, routing: Routing, *, packs: bool) -> Shuffled:
    """Bring all rows into one task, which finds their buckets."""
    part_bytes = _part_bytes(bridge, rows) if packs else None
    if part_bytes is None:
        return Shuffled(rows.repartition(1), routing)
    return Shuffled(_packed(rows, OneShare(), part_bytes), routing, is_packed=True)


def _have_own_buckets(options: DynamicBucketOptions) -> bool:
    """Say whether the keys of each share get buckets of their own where none is known yet."""
    return options.assigners == options.channels and options.most_buckets < 0


def _with_share(bridge: Bridge, rows: DataFrame, divided: HashShares) -> DataFrame:
    schema, options = divided.plan.schema, divided.options
    keys = [schema.field(name) for name in schema.trimmed_primary_keys]
    partition = [schema.field(name) for name in schema.partition_keys]
    if not has_expression(keys) or not has_expression(partition):
        target = StructType([*rows.schema.fields, StructField(SHARE_COLUMN, IntegerType())])
        return map_in_arrow(rows, partial(add_shares, divided), target)
    start = _remainder(bridge, partition, options.channels)
    share = _remainder(bridge, keys, options.assigners)
    return rows.withColumn(SHARE_COLUMN, (share + start) % functions.lit(options.channels))


def _remainder(bridge: Bridge, fields: list[DataField], divisor: int) -> Column:
    return functions.abs(hash_of(bridge, fields) % functions.lit(divisor))


def _by_key(
    bridge: Bridge,
    rows: DataFrame,
    table: Table,
    seen: Snapshot | None,
    plan: WritePlan,
    *,
    replaces: bool,
    packs: bool,
) -> Shuffled:
    if plan.options.kind_field is not None:
        raise UnsupportedError(
            f"rowkind.field = {plan.options.kind_field!r} of a table whose primary key lacks a "
            "partition column, written by Spark",
            "write with paimonlab.Table.write",
        )
    definition, store = definition_of(table), store_of(table)
    splits = [] if seen is None else all_splits(definition, store, seen)
    reading = read_plan(
        definition, store, plan.schema, plan.schema.primary_keys, None, snapshot=seen
    )
    reads = KeyReads(tuple(splits), reading, store.file_io)
    snapshot_id = None if replaces else 0 if seen is None else seen.id
    shares = shares_of_keys(bridge, rows, plan, seen)
    if any(name.startswith((BEFORE, LONG_COLUMN)) for name in rows.columns):
        shares = 1  # rows whose buckets another task finds have the columns of the table alone
    if shares == 1:
        routing = partial(keyed, known=reads.all, snapshot_id=snapshot_id)
        return _by_one(bridge, rows, routing, packs=packs)
    has_kinds = KIND_COLUMN in rows.columns
    both = _with_known(bridge, rows, reads)
    keys = [plan.schema.field(name) for name in plan.schema.primary_keys]
    if has_expression(keys):
        both = both.withColumn(SHARE_COLUMN, _remainder(bridge, keys, shares))
    else:
        target = StructType([*both.schema.fields, StructField(SHARE_COLUMN, IntegerType())])
        both = map_in_arrow(both, partial(add_key_shares, keys, shares), target)
    meeting = both.repartitionById(shares, functions.col(SHARE_COLUMN)).sortWithinPartitions(
        functions.col(PARTITION_COLUMN).isNull()
    )
    columns = [column for column in rows.schema.fields if column.name != KIND_COLUMN]
    added = [StructField(KIND_COLUMN, ByteType()), StructField(BUCKET_COLUMN, IntegerType())]
    schema = StructType([*columns, *added])
    arrow = to_arrow_schema(schema, timezone="UTC")
    assignment = KeyAssignment(plan, shares, snapshot_id, arrow, has_kinds)
    by_bucket = _by_bucket(bridge, map_in_arrow(meeting, assignment, schema), plan, shares)
    return Shuffled(
        by_bucket, partial(given, stored=None, alone_since=snapshot_id), takes_buckets=True
    )


def shares_of_keys(bridge: Bridge, rows: DataFrame, plan: WritePlan, seen: Snapshot | None) -> int:
    """Choose how many tasks find the places of keys that may move; parameters as in `shuffled`."""
    known = 0 if seen is None else seen.total_record_count or 0
    return plan.dynamic.assigner_parallelism or _shares_of(bridge, rows, known)


def _with_known(bridge: Bridge, rows: DataFrame, reads: KeyReads) -> DataFrame:
    """Put the keys of the table beside the rows: their other columns are null."""
    place = {
        BUCKET_COLUMN: functions.lit(None).cast(IntegerType()),
        PARTITION_COLUMN: functions.lit(None).cast(BinaryType()),
    }
    new = rows.withColumns(place)
    if not reads.splits:
        return new
    fields = [StructField(field.name, field.dataType) for field in new.schema.fields]
    schema = StructType(fields)
    tasks = min(len(reads.splits), 4 * bridge.spark.sparkContext.defaultParallelism)
    numbers = bridge.spark.range(len(reads.splits), numPartitions=tasks)
    read = partial(reads.rows, schema=to_arrow_schema(schema, timezone="UTC"))
    return new.unionAll(numbers.mapInArrow(read, schema))


def _shares_of(bridge: Bridge, rows: DataFrame, known: int) -> int:
    """Choose how many tasks find buckets: one for so many bytes, or keys, but not more than run."""
    size_bytes = int(rows._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())
    wanted = max(size_bytes // _SHARE_BYTES, known // _SHARE_KEYS) + 1
    return min(wanted, max(bridge.spark.sparkContext.defaultParallelism, 1))
