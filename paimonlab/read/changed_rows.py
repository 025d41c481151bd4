"""Splits of changes -> rows with their kinds.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.MergeFileSplitRead`` (no merge reader)
and ``org.apache.paimon.table.source.splitread.IncrementalDiffSplitRead``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.datafile.layout import KIND_FIELD
from paimonlab.datafile.masks import Mask
from paimonlab.read.difference import read_difference
from paimonlab.read.fates import rows_with_fate
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import limited, read_split, within_partition
from paimonlab.read.streaming import in_threads
from paimonlab.scan.change_splits import ChangeSplit, Fate
from paimonlab.scan.split import DataSplit
from paimonlab.spec.row_kind import SYMBOLS, RowKind
from paimonlab.storage import FileIO

ROW_KIND = "rowkind"
"""Name of the first column of changes: ``+I``, ``-U``, ``+U`` or ``-D``."""


def change_schema(plan: ReadPlan) -> pa.Schema:
    """Names and types of changes: ``rowkind``, then the columns of the plan."""
    kind = pa.field(ROW_KIND, pa.string(), nullable=False)
    return pa.schema([kind, *plan.arrow_schema])


def read_changes(
    splits: Sequence[ChangeSplit],
    plan: ReadPlan,
    file_io: FileIO,
    *,
    threads: int | None = None,
) -> pa.RecordBatchReader:
    """Stream changes in bounded memory.

    Parameters
    ----------
    splits
        As found by `paimonlab.scan.changed_files`.
    plan
        Columns, condition and schemas.
    file_io
        The table's store.
    threads
        How many splits are read at once; None: one per CPU. With 1 the changes of a bucket
        come in the order of their commits.

    Returns
    -------
    pyarrow.RecordBatchReader
        Of `change_schema`.
    """
    sources: list[Callable[[], Iterable[pa.RecordBatch]]] = [
        partial(read_change_split, split, plan, file_io) for split in splits
    ]
    batches = in_threads(
        sources, threads=threads or os.cpu_count() or 1, size_of=lambda batch: batch.nbytes
    )
    return pa.RecordBatchReader.from_batches(change_schema(plan), batches)


def read_change_split(
    split: ChangeSplit, plan: ReadPlan, file_io: FileIO
) -> Iterator[pa.RecordBatch]:
    """Read the changes of one split in the calling thread.

    Yields
    ------
    pyarrow.RecordBatch
        Of `change_schema`, none empty; the rows of a file in its order.
    """
    schema = change_schema(plan)
    for kinds, rows in _kinds_and_rows(split, plan, file_io):
        symbols = arrow_array(SYMBOLS, pa.string()).take(arrow_array(kinds))
        columns = [rows.column(name) for name in plan.columns]
        yield pa.RecordBatch.from_arrays([symbols, *columns], schema=schema)


def read_inserts(
    splits: Sequence[ChangeSplit],
    plan: ReadPlan,
    file_io: FileIO,
    *,
    limit: int | None = None,
) -> pa.RecordBatchReader:
    """Stream the new rows of changes alone, as a batch query sees them.

    ``-U`` and ``-D`` are left out, because rows without a kind cannot take anything away. In a
    difference that is all there is of keys that are gone.
    """

    def inserts(split: ChangeSplit) -> Iterator[pa.RecordBatch]:
        for kinds, rows in _kinds_and_rows(split, plan, file_io):
            keeps = (kinds == RowKind.INSERT) | (kinds == RowKind.UPDATE_AFTER)
            if keeps.any():
                yield rows.filter(arrow_array(keeps)).select(list(plan.columns))

    some = [split for split in splits if not (split.is_diff and split.fate is Fate.GONE)]
    batches = in_threads(
        [partial(inserts, split) for split in some], size_of=lambda batch: batch.nbytes
    )
    if limit is not None:
        batches = limited(batches, limit)
    return pa.RecordBatchReader.from_batches(plan.arrow_schema, batches)


def _kinds_and_rows(
    split: ChangeSplit, plan: ReadPlan, file_io: FileIO
) -> Iterator[tuple[npt.NDArray[np.int8], pa.RecordBatch]]:
    if split.is_state:
        yield from _states(split, plan, file_io)
    elif split.is_diff and (plan.schema.primary_keys or split.before is not None):
        wanted = within_partition(split.sides[0], plan)
        if wanted is not None:
            yield from read_difference(split, wanted, file_io)
    elif split.after is not None:
        yield from _unmerged(split.after, split.fate, plan, file_io)


def _states(
    split: ChangeSplit, plan: ReadPlan, file_io: FileIO
) -> Iterator[tuple[npt.NDArray[np.int8], pa.RecordBatch]]:
    for kind, side in ((RowKind.DELETE, split.before), (RowKind.INSERT, split.after)):
        if side is not None:
            for rows in read_split(side, plan, file_io):
                yield np.full(rows.num_rows, int(kind), np.int8), rows


def _unmerged(
    split: DataSplit, fate: Fate, plan: ReadPlan, file_io: FileIO
) -> Iterator[tuple[npt.NDArray[np.int8], pa.RecordBatch]]:
    if not plan.schema.primary_keys:
        for rows in read_split(replace(split, raw_convertible=True), plan, file_io):
            yield np.full(rows.num_rows, int(RowKind.INSERT), np.int8), rows
        return
    wanted = within_partition(split, plan)
    if wanted is None:
        return
    fields = (*wanted.fields_to_read, KIND_FIELD)
    masks: list[Mask | None] = [None] * len(split.files)
    if fate is not Fate.ANY:
        masks = [*rows_with_fate(split, fate, wanted, file_io)]
    for file, mask in zip(split.files, masks, strict=True):
        if mask is not None and not mask.any():
            continue
        with open_data_file(split, file, wanted, file_io) as data:
            for rows in data.batches(
                fields,
                predicate=wanted.predicate,
                keep=mask,
                batch_rows=wanted.bounds.batch_rows,
            ):
                yield numpy_values(rows.column(KIND_FIELD.name)), rows
