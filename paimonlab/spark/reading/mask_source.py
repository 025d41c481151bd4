"""Where masks come from: the cache, the driver, or a Spark job if there are many rows."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from pyspark.sql import SparkSession

from paimonlab.arrow_values import arrow_row
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import winner_masks
from paimonlab.scan.split import DataSplit
from paimonlab.spark.reading.mask_cache import MaskCache
from paimonlab.spark.reading.masks import FileMask, pack
from paimonlab.spark.shipping import ship
from paimonlab.storage import FileIO

DRIVER_ROWS_KEY = "spark.paimonlab.masks.driver-rows"
"""Setting of a Spark session: masks over more rows than this are computed by a Spark job."""
DEFAULT_DRIVER_ROWS = 50_000_000

_CACHE = MaskCache()
_RESULT = pa.schema([("split", pa.int32()), ("masks", pa.binary())])

SplitMasks = tuple[FileMask, ...]
"""One mask a file of a split, in the order of its files."""


def masks_of(
    spark: SparkSession, splits: Sequence[DataSplit], plan: ReadPlan, file_io: FileIO
) -> list[SplitMasks]:
    """Return the masks of the files of each split.

    Parameters
    ----------
    spark
        The session, for its settings and for the job.
    splits
        Splits with overlapping files.
    plan
        How to read the table; its columns and predicate do not matter.
    file_io
        The table's store.
    """
    masks_of_splits = [_CACHE.get(plan.table_path, split) for split in splits]
    missing = [index for index, masks in enumerate(masks_of_splits) if masks is None]
    if missing:
        computed = _compute(spark, [splits[index] for index in missing], plan, file_io)
        for index, masks in zip(missing, computed, strict=True):
            _CACHE.put(plan.table_path, splits[index], masks)
            masks_of_splits[index] = masks
    return [masks for masks in masks_of_splits if masks is not None]


def is_cached(table_path: str, split: DataSplit) -> bool:
    """Say whether the masks of a split need no reading."""
    return _CACHE.get(table_path, split) is not None


def _compute(
    spark: SparkSession, splits: Sequence[DataSplit], plan: ReadPlan, file_io: FileIO
) -> list[SplitMasks]:
    limit = int(spark.conf.get(DRIVER_ROWS_KEY, None) or DEFAULT_DRIVER_ROWS)
    if sum(split.row_count for split in splits) > limit:
        return _by_job(spark, splits, plan, file_io)

    def one(split: DataSplit) -> SplitMasks:
        return split_masks(split, plan, file_io)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(one, splits))


def split_masks(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> SplitMasks:
    """Compute the masks of one split, here."""
    return tuple(pack(mask) for mask in winner_masks(split, plan, file_io))


def _by_job(
    spark: SparkSession, splits: Sequence[DataSplit], plan: ReadPlan, file_io: FileIO
) -> list[SplitMasks]:
    def on_executor(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                masks = [(m.bits, m.is_empty) for m in split_masks(splits[number], plan, file_io)]
                yield arrow_row(_RESULT, number, pickle.dumps(masks))

    ship(spark.sparkContext)
    tasks = min(len(splits), 4 * spark.sparkContext.defaultParallelism)
    numbers = spark.range(len(splits), numPartitions=tasks).selectExpr("cast(id as int) id")
    rows = numbers.mapInArrow(on_executor, "split int, masks binary").collect()
    by_number = {row["split"]: pickle.loads(row["masks"]) for row in rows}  # noqa: S301 - ours
    return [
        tuple(FileMask(bits, is_empty) for bits, is_empty in by_number[number])
        for number in range(len(splits))
    ]
