"""From files to splits: what has to be read together, and what may be.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.MergeTreeSplitGenerator`` and
``…AppendOnlySplitGenerator``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.entries import codes, group_codes
from paimonlab.scan.key_ranges import sections
from paimonlab.scan.packing import pack
from paimonlab.scan.row_groups import rank_by_row_id
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.data_types import DataType

_META_COLUMNS = (
    "file_name",
    "file_size_bytes",
    "row_count",
    "min_key",
    "max_key",
    "min_sequence_number",
    "max_sequence_number",
    "schema_id",
    "level",
    "creation_time_millis",
    "delete_row_count",
    "file_source",
    "external_path",
    "first_row_id",
    "embedded_file_index",
)
_META_LISTS = ("extra_files", "write_cols")


class Placement(Struct, frozen=True):
    """Where n files go, before any split is made."""

    bucket: npt.NDArray[np.int64]
    """(n,) a number for each bucket of each partition, in the order of first occurrence of
    the partition."""
    unit: npt.NDArray[np.int64]
    """(n,) what cannot be torn apart: a section of overlapping key ranges, or a file."""
    is_raw: npt.NDArray[np.bool_]
    """(n,) whether the unit needs no merging and holds no deletes."""

    def filter(self, keeps: npt.NDArray[np.bool_]) -> Placement:
        """Return the placement of some of the files."""
        return Placement(self.bucket[keeps], self.unit[keeps], self.is_raw[keeps])


def place(
    entries: pa.Table,
    key_types: Sequence[DataType] | None,
    *,
    by_row_id: bool = False,
    has_each_key_once: bool = False,
) -> Placement:
    """Find out which files have to be read together.

    Parameters
    ----------
    entries
        n files that are alive (`ENTRY_SCHEMA`).
    key_types
        Types of the trimmed primary key; None: an append table, whose files are independent.
    by_row_id
        Whether files with the same row ids complete each other (``data-evolution.enabled``).
    has_each_key_once
        Whether the files of a bucket need no merging although their key ranges overlap, if all
        of them were compacted and no row is a delete: deletion vectors, or the merge engine
        first-row, leave each key one row.

    Notes
    -----
    A file that does not say how many deletes it holds may hold some.
    """
    number = np.unique(numpy_values(entries["bucket"]), return_inverse=True)[1].astype(np.int64)
    bucket = group_codes([codes(entries["partition"]), number])
    if by_row_id:
        unit = rank_by_row_id(entries, bucket)
        return Placement(bucket, unit, np.bincount(unit)[unit] == 1)
    if key_types is None or not entries.num_rows:
        return Placement(bucket, _rank_as_written(entries, bucket), np.ones(len(bucket), np.bool_))
    unit = sections(bucket, entries["min_key"], entries["max_key"], key_types)
    is_alone = np.bincount(unit)[unit] == 1
    has_deletes = numpy_values(null_filled(entries["delete_row_count"], 1)) != 0
    if not has_each_key_once:
        return Placement(bucket, unit, is_alone & ~has_deletes)
    must_merge = has_deletes | (numpy_values(entries["level"]) == 0)
    is_ready = ~np.bincount(bucket, must_merge).astype(np.bool_)[bucket]
    # Files of a ready bucket are units of their own, in the order of their keys.
    order = np.lexsort((np.where(is_ready, np.arange(len(unit)), -1), unit))
    is_new = np.diff(unit[order], prepend=-1) != 0
    unit_of_its_own = np.empty_like(unit)
    unit_of_its_own[order] = np.cumsum(is_new | is_ready[order]) - 1
    return Placement(bucket, unit_of_its_own, is_ready | (is_alone & ~has_deletes))


def _rank_as_written(entries: pa.Table, bucket: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    rank = np.empty(len(bucket), np.int64)
    rank[np.lexsort((numpy_values(entries["min_sequence_number"]), bucket))] = np.arange(
        len(bucket)
    )
    return rank


def make_splits(
    entries: pa.Table,
    placement: Placement,
    split: npt.NDArray[np.int64],
    bucket_paths: Callable[[pa.Array, list[int]], Sequence[str]],
    *,
    snapshot_id: int,
    is_append: bool,
    deletion_files: DeletionFiles,
) -> list[DataSplit]:
    """Make splits.

    Parameters
    ----------
    entries, placement
        n files that are alive, and where they go.
    split
        (n,) the number of the split of each, as `split_of_file` says.
    bucket_paths
        Returns the folders of buckets, given the partition and number of each.
    snapshot_id
        The snapshot that the files are from.
    is_append
        Whether their order is that in which they were written.
    deletion_files
        Which of the files have deletion vectors.

    Returns
    -------
    list of DataSplit
        By number.
    """
    if not entries.num_rows:
        return []
    order = _order(entries, placement, split, is_append=is_append)
    firsts = np.flatnonzero(np.diff(split[order], prepend=-1))
    files = file_metas(entries, order)
    heads = entries.take(arrow_array(order[firsts]))
    buckets = heads["bucket"].to_pylist()
    bounds = [*firsts.tolist(), len(files)]
    return [
        DataSplit(
            snapshot_id=snapshot_id,
            partition=partition,
            bucket=bucket,
            total_buckets=total_buckets,
            bucket_path=path,
            files=tuple(files[start:end]),
            raw_convertible=is_raw,
            deletion_files=deletion_files.vectors_of(files[start:end], path),
        )
        for partition, bucket, total_buckets, path, is_raw, start, end in zip(
            heads["partition"].to_pylist(),
            buckets,
            heads["total_buckets"].to_pylist(),
            bucket_paths(heads["partition"].combine_chunks(), buckets),
            placement.is_raw[order[firsts]].tolist(),
            bounds[:-1],
            bounds[1:],
            strict=True,
        )
    ]


def split_of_file(
    entries: pa.Table, placement: Placement, *, target_bytes: int, open_cost_bytes: int
) -> npt.NDArray[np.int64]:
    """Choose the files that are read together, so that splits are of about a size.

    Parameters
    ----------
    entries, placement
        n files that are alive, and where they go.
    target_bytes
        ``source.split.target-size``
    open_cost_bytes
        ``source.split.open-file-cost``: what a unit weighs at least.

    Returns
    -------
    (n,) int64
        The number of the split of each file: from 0, by partition, as they first occur, and
        bucket.
    """
    sizes = np.bincount(placement.unit, numpy_values(entries["file_size_bytes"]))
    unit, first = np.unique(placement.unit, return_index=True)
    # Raw splits keep away from those that merge: they are read much faster.
    merges = ~placement.is_raw[first]
    group = placement.bucket[first] * 2 + merges
    order = np.lexsort((unit, group))
    weights = np.maximum(sizes[unit].astype(np.int64), open_cost_bytes)
    splits = np.empty(unit.size, np.int64)
    splits[order] = pack(group[order], weights[order], target_bytes)
    return splits[np.searchsorted(unit, placement.unit)]


def _order(
    entries: pa.Table, placement: Placement, split: npt.NDArray[np.int64], *, is_append: bool
) -> npt.NDArray[np.int64]:
    """Order files by split, oldest run first; what came into the table first is older."""
    low, high = (numpy_values(entries[f"{end}_sequence_number"]) for end in ("min", "max"))
    if is_append:
        return np.lexsort((low, split))
    level = numpy_values(entries["level"])
    by_key = np.where(placement.is_raw | (level > 0), placement.unit, 0)
    newest_level_last = np.where(placement.is_raw, 0, -level)
    return np.lexsort((low, high, by_key, newest_level_last, split))


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Return Python's values of a column, faster than Arrow does where it is that simple."""
    if column.null_count == len(column):
        return [None] * len(column)
    if pa.types.is_integer(column.type) and not column.null_count:
        return numpy_values(column).tolist()
    return column.to_pylist()


def file_metas(entries: pa.Table, order: npt.NDArray[np.int64]) -> list[DataFileMeta]:
    """Make values of entries; without statistics, which have done their work."""
    chosen = entries.select([*_META_COLUMNS, *_META_LISTS]).take(arrow_array(order))
    columns = [_values(chosen[name]) for name in _META_COLUMNS]
    extras = [tuple(names or ()) for names in _values(chosen["extra_files"])]
    written = [None if names is None else tuple(names) for names in _values(chosen["write_cols"])]
    return [
        DataFileMeta(
            file_name=name,
            file_size_bytes=size,
            row_count=rows,
            min_key=min_key,
            max_key=max_key,
            min_sequence_number=low,
            max_sequence_number=high,
            schema_id=schema_id,
            level=level,
            creation_time_millis=created,
            delete_row_count=deletes,
            file_source=source,
            external_path=external_path,
            first_row_id=first_row_id,
            embedded_file_index=index,
            extra_files=extra,
            write_cols=write_cols,
        )
        for (
            name,
            size,
            rows,
            min_key,
            max_key,
            low,
            high,
            schema_id,
            level,
            created,
            deletes,
            source,
            external_path,
            first_row_id,
            index,
        ), extra, write_cols in zip(zip(*columns, strict=True), extras, written, strict=True)
    ]
