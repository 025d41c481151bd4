"""How the rows of two states of a bucket differ.

Source: apache/paimon@1.3.1
``org.apache.paimon.table.source.splitread.IncrementalDiffSplitRead``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.datafile.layout import KIND_FIELD
from paimonlab.datafile.reader import Mask
from paimonlab.errors import UnsupportedError
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.order import sort_keys
from paimonlab.read.merged_rows import merged_rows
from paimonlab.read.merging import masks_of, open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.arrow_types import arrow_schema
from paimonlab.spec.binary_row import encode
from paimonlab.spec.data_file import DataFileMeta
from paimonlab.spec.predicate import evaluate
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types import DataField
from paimonlab.storage import FileIO


def read_difference(
    before: DataSplit | None, after: DataSplit | None, plan: ReadPlan, file_io: FileIO
) -> Iterator[tuple[npt.NDArray[np.int8], pa.RecordBatch]]:
    """Compare the rows of two states of a bucket.

    Parameters
    ----------
    before, after
        The files that only one of the states has; None: none.
    plan
        Columns, condition and schemas.
    file_io
        The table's store.

    Yields
    ------
    (k,) int8, pyarrow.RecordBatch
        Kinds and rows: ``-D`` for a key that is gone, the new row for a key that is new or has
        changed in any column; in key order, with at least the columns of the plan.

    Raises
    ------
    UnsupportedError
        If files of an append table are gone: rows that were rewritten cannot be told from new
        ones.

    Notes
    -----
    Both sides are held in memory. As in Java, files that both states have are not looked at: with
    a merge engine that makes rows of several, a row is what the other files alone make of it.
    """
    if not plan.schema.primary_keys:
        raise UnsupportedError(
            "incremental-between-scan-mode = 'diff'",
            f"{plan.table_name} has no primary key, and files of it were rewritten or deleted "
            "between the two snapshots; read both and compare them",
        )
    old = _merged(before, plan, file_io)
    new = _merged(after, plan, file_io)
    positions, kinds = changed(old, new, plan.schema.trimmed_primary_keys, plan.schema.fields)
    rows = pa.concat_tables([old, new]).take(pa.array(positions))
    rows = rows.set_column(
        rows.schema.get_field_index(KIND_FIELD.name), KIND_FIELD.name, pa.array(kinds)
    )
    if plan.predicate is not None and rows.num_rows:
        rows = rows.filter(evaluate(plan.predicate, rows))
    for batch in rows.combine_chunks().to_batches(max_chunksize=plan.bounds.batch_rows):
        if batch.num_rows:
            yield batch.column(KIND_FIELD.name).to_numpy(), batch


def changed(
    old: pa.Table, new: pa.Table, keys: Sequence[str], fields: Sequence[DataField]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
    """Find the rows in which two states differ.

    Parameters
    ----------
    old, new
        n and m rows, every key once in each: ``fields`` and ``_VALUE_KIND``. A row that is a
        delete stands for no row.
    keys
        Names of the key columns.
    fields
        What is compared, bit by bit.

    Returns
    -------
    (k,) int64
        Positions in ``old`` and ``new``, one behind the other, in key order.
    (k,) int8
        Their kinds.
    """
    both = [pa.chunked_array([*old[name].chunks, *new[name].chunks]) for name in keys]
    codes = sort_keys(both) if old.num_rows + new.num_rows else np.empty(0, np.int64)
    order = np.argsort(codes, kind="stable")
    is_pair = codes[order][:-1] == codes[order][1:]
    olds, news = order[:-1][is_pair], order[1:][is_pair]
    kinds = np.concatenate([table[KIND_FIELD.name].to_numpy() for table in (old, new)])
    kinds = kinds.astype(np.int8)
    adds = is_add(kinds)
    same = adds[olds] == adds[news]
    same &= _same_rows(old, new, olds, news - old.num_rows, fields)
    reports = adds.copy()
    reports[olds] = False
    reports[old.num_rows :] = True
    reports[news[same]] = False
    kinds[: old.num_rows] = int(RowKind.DELETE)
    positions = order[reports[order]].astype(np.int64)
    return positions, kinds[positions]


def _same_rows(
    old: pa.Table,
    new: pa.Table,
    olds: npt.NDArray[np.int64],
    news: npt.NDArray[np.int64],
    fields: Sequence[DataField],
) -> npt.NDArray[np.bool_]:
    if not olds.size:
        return np.empty(0, np.bool_)
    types = [field.type for field in fields]
    names = [field.name for field in fields]
    left = encode(old.select(names).take(pa.array(olds)).columns, types)
    right = encode(new.select(names).take(pa.array(news)).columns, types)
    return pc.equal(left, right).to_numpy(zero_copy_only=False)


def _merged(split: DataSplit | None, plan: ReadPlan, file_io: FileIO) -> pa.Table:
    """Read the newest row of every key, deletes included."""
    fields = (*plan.schema.fields, KIND_FIELD)
    schema = arrow_schema(fields)
    if split is None:
        return schema.empty_table()
    kept = replace(plan, columns=plan.schema.field_names, predicate=None, keeps_deletes=True)

    def read_file(file: DataFileMeta, mask: Mask | None) -> Iterator[pa.RecordBatch]:
        with open_data_file(split, file, plan, file_io) as data:
            yield from data.batches(fields, keep=mask, batch_rows=plan.bounds.batch_rows)

    batches: list[pa.RecordBatch] = []
    if plan.engine.selects_rows:
        for file, mask in zip(split.files, masks_of(split, kept, file_io), strict=True):
            batches += read_file(file, mask)
    else:
        batches += merged_rows(split, kept, file_io, read_file, with_kinds=True)
    return pa.Table.from_batches([batch.cast(schema) for batch in batches], schema=schema)
