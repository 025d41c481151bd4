"""Files that say what changed, put together into splits."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.entries import codes, group_codes
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.packing import pack
from paimonlab.scan.pruning import partition_fields
from paimonlab.scan.split import DataSplit
from paimonlab.scan.split_making import file_metas
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.table_schema import TableSchema


class Fate(Enum):
    """What becomes of a key in its bucket, by what changed."""

    ANY = "any"
    GONE = "gone"
    """The last change takes its row away."""
    PRESENT = "present"
    """The last change puts a row."""


class ChangeSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Files of one bucket that say what changed.

    Without ``is_diff`` and ``is_state`` every row of ``after`` is a change of the kind that it
    has itself.
    """

    after: DataSplit | None
    """None: no file was added."""
    before: DataSplit | None = None
    """Files that are gone; only in a difference, or if ``is_state``."""
    is_diff: bool = False
    """Whether the rows of ``before`` and ``after`` are merged and compared."""
    is_state: bool = False
    """Whether the rows of each side are merged: those of ``before`` are gone, those of ``after``
    are new."""
    beside: tuple[ChangeSplit, ...] = ()
    """In a difference: other buckets of the partition, between which keys may have moved; they are
    compared together with this one."""
    fate: Fate = Fate.ANY
    """Only the changes of keys with this fate are read. Where keys move from one partition to
    another, those that are gone are read first, of all buckets."""

    @property
    def buckets(self) -> tuple[ChangeSplit, ...]:
        """Return the split itself and those beside it."""
        return (self, *self.beside)

    @property
    def sides(self) -> tuple[DataSplit, ...]:
        """Return the files on both sides of all buckets."""
        both = (side for bucket in self.buckets for side in (bucket.before, bucket.after))
        return tuple(side for side in both if side is not None)


class ChangeRequest(Struct, frozen=True, kw_only=True):
    """Which changes are wanted."""

    schema: TableSchema
    """The schema of the result."""
    predicate: Predicate | None = None
    """Bound to ``schema``."""
    options: ScanOptions
    skips_level_0: bool = False
    """Whether a batch reader of the table leaves out files of level 0."""
    created_since_millis: int | None = None
    """Only files made at or after this time count, epoch milliseconds; None: all."""


def moves_keys(schema: TableSchema) -> bool:
    """Whether a key may move from one partition to another."""
    return bool(schema.primary_keys) and not {*schema.partition_keys} <= {*schema.primary_keys}


def splits_of(
    entries: pa.Table,
    request: ChangeRequest,
    snapshot_id: int,
    *,
    target_bytes: int | None = None,
    vectors: DeletionFiles | None = None,
    is_raw: npt.NDArray[np.bool_] | None = None,
) -> Iterator[DataSplit]:
    """Put the files of each bucket into one split, or into several of about a size.

    Parameters
    ----------
    entries
        The files (`ENTRY_SCHEMA`); those of a bucket stay in their order.
    request
        What is to be read.
    snapshot_id
        The snapshot that the files are from.
    target_bytes
        Target size of a split; None: one split per bucket.
    vectors
        Which rows are deleted; None: no rows are.
    is_raw : (n,) bool or None
        Which files need no merging; None if unknown.
    """
    if not entries.num_rows:
        return
    order, starts = _grouped(entries, request.options, target_bytes)
    files = file_metas(entries, order)
    heads = entries.take(arrow_array(order[starts]))
    buckets = heads["bucket"].to_pylist()
    paths = bucket_paths(
        heads["partition"].combine_chunks(),
        buckets,
        partition_fields(request.schema),
        request.options.partition,
    )
    bounds = [*starts.tolist(), len(files)]
    raw = np.zeros(len(starts), np.bool_)
    if is_raw is not None:
        raw = np.logical_and.reduceat(is_raw[order], starts)
    for number, partition in enumerate(heads["partition"].to_pylist()):
        own = files[bounds[number] : bounds[number + 1]]
        yield DataSplit(
            snapshot_id=snapshot_id,
            partition=partition,
            bucket=buckets[number],
            total_buckets=heads["total_buckets"][number].as_py(),
            bucket_path=paths[number],
            files=tuple(own),
            raw_convertible=bool(raw[number]),
            deletion_files=() if vectors is None else vectors.vectors_of(own, paths[number]),
        )


def by_age(entries: pa.Table) -> pa.Table:
    """Order files as a merge wants them: deeper levels, then smaller sequence numbers, first."""
    low, high = (numpy_values(entries[f"{end}_sequence_number"]) for end in ("min", "max"))
    return entries.take(arrow_array(np.lexsort((low, high, -numpy_values(entries["level"])))))


def _grouped(
    entries: pa.Table, options: ScanOptions, target_bytes: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Order entries by bucket, within it as they are, and say where each split starts."""
    bucket = group_codes([codes(entries["partition"]), codes(entries["bucket"])])
    order = np.argsort(bucket, kind="stable")
    split = bucket[order]
    if target_bytes is not None:
        sizes = numpy_values(entries["file_size_bytes"])[order]
        weights = np.maximum(sizes, options.open_file_cost_bytes).astype(np.int64)
        split = pack(split, weights, target_bytes)
    return order, np.flatnonzero(np.diff(split, prepend=-1))
