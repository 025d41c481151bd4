"""Rows together with where they are: their file, and their position in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.datafile.masks import Mask
from paimonlab.read.merging import key_predicate, masks_of, open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.row_groups import group_splits, needs_no_columns_of_others, read_row_group
from paimonlab.read.splits import read_split, within_partition
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import evaluate
from paimonlab.storage import FileIO


class PlacedRows(NamedTuple):
    """Rows of one file, or rows that are in no file."""

    file: DataFileMeta | None
    """None: they are put together from several files."""
    positions: npt.NDArray[np.int64] | None
    """(n,) in the file; None as ``file``."""
    rows: pa.RecordBatch
    """n rows of the columns of the plan; if it has none, only their number means anything."""


def has_places(split: DataSplit, plan: ReadPlan) -> bool:
    """Say whether each row of a split is a row of one file, as it is there."""
    if plan.options.data_evolution:
        groups = group_splits(split, plan.table_name)
        return all(needs_no_columns_of_others(group, plan) for group in groups)
    return split.raw_convertible or plan.engine.selects_rows


def placed_rows(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> Iterator[PlacedRows]:
    """Read one split in the calling thread, as `read_split` does.

    Parameters
    ----------
    split
        What to read.
    plan, file_io
        Columns, condition and schemas; the table's store.

    Yields
    ------
    PlacedRows
        None empty.
    """
    wanted = within_partition(split, plan)
    if wanted is None:
        return
    if plan.options.data_evolution:
        for group in group_splits(split, plan.table_name):
            if needs_no_columns_of_others(group, wanted):
                yield from _of_file(group, group.files[0], None, wanted, file_io)
            else:
                for rows in read_row_group(group, wanted, file_io):
                    yield PlacedRows(None, None, rows)
    elif not has_places(split, wanted):
        for rows in read_split(split, wanted, file_io):
            yield PlacedRows(None, None, rows)
    else:
        masks = masks_of(split, wanted, file_io, predicate=key_predicate(wanted))
        for file, mask in zip(split.files, masks, strict=True):
            yield from _of_file(split, file, mask, wanted, file_io)


def _of_file(
    split: DataSplit, file: DataFileMeta, mask: Mask | None, plan: ReadPlan, file_io: FileIO
) -> Iterator[PlacedRows]:
    with open_data_file(split, file, plan, file_io) as data:
        for start, rows in data.positioned(
            plan.fields_to_read,
            predicate=plan.predicate,
            keep=mask,
            batch_rows=plan.bounds.batch_rows,
        ):
            is_kept = np.ones(rows.num_rows, np.bool_)
            if mask is not None:
                is_kept &= mask[start : start + rows.num_rows]
            if plan.predicate is not None:
                is_true = null_filled(evaluate(plan.predicate, rows), False)
                is_kept &= numpy_values(is_true, zero_copy_only=False)
            positions = start + np.flatnonzero(is_kept)
            if not positions.size:
                continue
            wanted = rows.select(list(plan.columns))
            if wanted.num_columns and positions.size < rows.num_rows:
                wanted = wanted.filter(arrow_array(is_kept))
            yield PlacedRows(file, positions, wanted)
