"""Point reads: the newest row of a few keys, found without merging anything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from paimonlab.datafile.layout import KIND_FIELD, key_field
from paimonlab.merge.deduplicate import is_add
from paimonlab.read.key_blocks import KeyHits, shared_blocks
from paimonlab.read.lazy_file import LazyFile
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.value_blocks import shared_values
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, columns, rename_columns
from paimonlab.spec.types.system_fields import VALUE_KIND, key_column
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
        Of ``plan.arrow_schema``. None if the files do not show which row is the newest; the
        split has to be merged.
    """
    names = {name: key_column(name) for name in columns(keys)}
    wanted = rename_columns(keys, names)
    fields = tuple(key_field(plan.schema.field(name)) for name in plan.schema.trimmed_primary_keys)
    with ExitStack() as opened:
        lazy = [opened.enter_context(LazyFile(split, file, plan, file_io)) for file in files]
        hits_of_files = (shared_blocks.find(file, fields, wanted) for file in lazy)
        hits = sorted((hit for hit in hits_of_files if hit), key=_newest_number)
        if not all(
            older.file.meta.max_sequence_number < newer.file.meta.min_sequence_number
            for older, newer in pairwise(hits)
        ):
            return None
        return [rows for hit in _newest(hits) for rows in _read(hit, plan) if rows.num_rows]


def _newest_number(hit: KeyHits) -> int:
    return hit.file.meta.max_sequence_number


def _newest(hits: Sequence[KeyHits]) -> Iterator[KeyHits]:
    """Leave out the rows of keys that a later file has again."""
    if len(hits) <= 1:
        yield from hits
        return
    newest_keys = hits[-1].keys
    if newest_keys.num_rows == 1 and all(hit.keys.equals(newest_keys) for hit in hits):
        yield hits[-1]
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


def _read(hit: KeyHits, plan: ReadPlan) -> list[pa.RecordBatch]:
    fields = plan.fields
    if hit.file.meta.delete_row_count == 0:
        return shared_values.rows_at(hit.file, hit.blocks, fields, hit.positions)
    # None: files of old writers do not say.
    hit_rows = shared_values.rows_at(hit.file, hit.blocks, (*fields, KIND_FIELD), hit.positions)
    return [
        rows.filter(pa.array(is_add(rows.column(VALUE_KIND).to_numpy()))).select(list(plan.columns))
        for rows in hit_rows
    ]
