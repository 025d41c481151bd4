"""Point reads: the newest row of a few keys, found without merging anything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from paimonlab.datafile.layout import KIND_FIELD
from paimonlab.merge.deduplicate import is_add
from paimonlab.read.key_blocks import KeyHits, shared_blocks
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.data_file import DataFileMeta
from paimonlab.spec.fields import VALUE_KIND
from paimonlab.spec.predicate import Predicate
from paimonlab.storage import FileIO

_ORDER = "order"


def newest_rows(
    split: DataSplit,
    files: Sequence[DataFileMeta],
    keys: Predicate,
    plan: ReadPlan,
    file_io: FileIO,
) -> list[pa.RecordBatch] | None:
    """Read the newest rows of keys.

    Parameters
    ----------
    split
        Of a table that keeps the newest row of a key, by its sequence number alone, and has no
        deletion vectors.
    files
        Those of its files that may have such keys.
    keys
        What is looked for, over the trimmed primary key columns; none of them is floating.
    plan
        Columns wanted; its predicate does not matter.
    file_io
        The table's store.

    Returns
    -------
    list of pyarrow.RecordBatch or None
        Of ``plan.arrow_schema``. None: which row is the newest cannot be told from the files
        they are in; the split has to be merged.
    """
    found = (shared_blocks.find(split, file, keys, plan, file_io) for file in files)
    hits = sorted((one for one in found if one), key=lambda one: one.file.max_sequence_number)
    if not all(
        older.file.max_sequence_number < newer.file.min_sequence_number
        for older, newer in pairwise(hits)
    ):
        return None
    return [rows for hit in _newest(hits) if (rows := _read(split, hit, plan, file_io)).num_rows]


def _newest(hits: Sequence[KeyHits]) -> Iterator[KeyHits]:
    """Leave out the rows of keys that a later file has again."""
    if len(hits) <= 1:
        yield from hits
        return
    keys = pa.concat_tables([hit.keys for hit in hits])
    numbered = keys.append_column(_ORDER, pa.array(np.arange(keys.num_rows)))
    newest = numbered.group_by(keys.column_names).aggregate([(_ORDER, "max")])
    is_newest = np.zeros(keys.num_rows, np.bool_)
    is_newest[newest[f"{_ORDER}_max"].to_numpy()] = True
    start = 0
    for hit in hits:
        mask = is_newest[start : start + len(hit.positions)]
        start += len(hit.positions)
        if mask.any():
            yield replace(hit, positions=hit.positions[mask])


def _read(split: DataSplit, hit: KeyHits, plan: ReadPlan, file_io: FileIO) -> pa.RecordBatch:
    fields = list(plan.fields)
    may_delete = hit.file.delete_row_count != 0
    if may_delete:
        fields.append(KIND_FIELD)
    with open_data_file(split, hit.file, plan, file_io) as data:
        rows = data.rows_at(fields, hit.positions)
    if may_delete:
        is_there = is_add(rows.column(VALUE_KIND).to_numpy())
        rows = rows.filter(pa.array(is_there)).select(list(plan.columns))
    return rows
