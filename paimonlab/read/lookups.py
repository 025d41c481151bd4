"""Point reads: the newest row of a few keys, found without merging anything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from math import prod

import numpy as np
import pyarrow as pa
import pyarrow.types as pt
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.datafile.layout import KIND_FIELD, key_field
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.order import sort_keys
from paimonlab.merge.sorting import ends_of_groups
from paimonlab.read.key_blocks import KeyHits, shared_blocks
from paimonlab.read.lazy_file import LazyFile
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.value_blocks import shared_values
from paimonlab.scan.split import DataSplit
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.predicates.predicate import (
    Predicate,
    allowed_values,
    columns,
    evaluate,
    rename_columns,
)
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import VALUE_KIND, key_column
from paimonlab.storage import FileIO

_MOST_CANDIDATES = 4 << 20
"""Rows whose keys are looked at one block after the other: about as many fit into memory."""
_SMALL_FILE_BLOCKS = 4
"""A file of so many blocks costs the same however it is read."""
_MOST_ROWS = 2_000
"""Rows that are read one by one; of more of them files are read from one end to the other."""


def keeps_newest(plan: ReadPlan) -> bool:
    """Whether a key's newest row, by sequence number, is the row of the key."""
    schema = plan.schema
    key_types = [to_arrow(schema.field(name).type) for name in schema.trimmed_primary_keys]
    return (
        plan.engine == MergeEngine()
        and not plan.options.sequence_fields
        and not plan.keeps_deletes
        and not any(pt.is_floating(key_type) for key_type in key_types)
        and bool(key_types)
    )


def few_rows(
    split: DataSplit, keys: Predicate | None, plan: ReadPlan, file_io: FileIO
) -> list[pa.RecordBatch] | None:
    """Read the rows of a split if a condition on keys leaves few of them.

    Parameters
    ----------
    split
        Any split.
    keys
        The part of the plan's predicate over the trimmed primary key columns; None: there is none.
    plan
        Columns wanted and the whole predicate, within the partition.
    file_io
        The table's store.

    Returns
    -------
    list of pyarrow.RecordBatch or None
        Of ``plan.arrow_schema``, none empty. None if the split has to be merged, or is better
        merged as a whole.
    """
    if keys is None or split.raw_convertible or any(split.deletion_files):
        return None
    if not keeps_newest(plan):
        return None
    asked = replace(plan, columns=tuple(field.name for field in plan.fields_to_read))
    batches = newest_rows(split, split.files, keys, asked, file_io, is_bounded=True)
    if batches is None or plan.predicate == keys:
        return batches and [batch.select(list(plan.columns)) for batch in batches]
    assert plan.predicate is not None, "keys are a part of it"
    found = []
    for batch in batches:
        is_true = null_filled(evaluate(plan.predicate, batch), False)
        kept = batch.filter(is_true).select(list(plan.columns))
        if kept.num_rows:
            found.append(kept)
    return found


def rules_out_most(split: DataSplit, keys: Predicate, plan: ReadPlan, file_io: FileIO) -> bool:
    """Whether a condition on keys leaves less than half of the rows of a split to be looked at.

    Where it leaves more of a quarter of them, that is taken for all.
    """
    fields, wanted = _key_fields(plan), _of_copies(keys)
    all_rows = sum(file.row_count for file in split.files)
    rows = left = 0
    for file in split.files:
        with LazyFile(split, file, plan, file_io) as lazy:
            left += shared_blocks.candidate_rows(lazy, fields, wanted)
        rows += file.row_count
        if 2 * left > (rows if 4 * rows >= all_rows else all_rows):
            return False
    return True


def newest_rows(
    split: DataSplit,
    files: Sequence[DataFileMeta],
    keys: Predicate,
    plan: ReadPlan,
    file_io: FileIO,
    *,
    is_bounded: bool = False,
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
    is_bounded
        Whether to give up where many rows would be looked at or read.

    Returns
    -------
    list of pyarrow.RecordBatch or None
        Of ``plan.arrow_schema``. None if the files do not show which row is the newest, or there
        are too many; the split has to be merged.
    """
    fields, wanted = _key_fields(plan), _of_copies(keys)
    newest_first = sorted(files, key=_newest_number, reverse=True)
    most_keys = _most_keys(wanted, fields) if _is_in_order(newest_first) else None
    with ExitStack() as opened:
        lazy = [opened.enter_context(LazyFile(split, file, plan, file_io)) for file in newest_first]
        found = _hits(lazy, fields, wanted, most_keys, is_bounded=is_bounded)
        if found is None or not _is_in_order([hit.file.meta for hit in found]):
            return None
        hits = found[::-1]
        newest = list(_newest(hits))
        if is_bounded and not _is_worth_it(newest):
            return None
        return [rows for hit in newest for rows in _read(hit, plan) if rows.num_rows]


def _key_fields(plan: ReadPlan) -> tuple[DataField, ...]:
    return tuple(key_field(plan.schema.field(name)) for name in plan.schema.trimmed_primary_keys)


def _of_copies(keys: Predicate) -> Predicate:
    return rename_columns(keys, {name: key_column(name) for name in columns(keys)})


def _is_in_order(newest_first: Sequence[DataFileMeta]) -> bool:
    """Whether all rows of each file are newer than those of the next."""
    return all(
        older.max_sequence_number < newer.min_sequence_number
        for newer, older in pairwise(newest_first)
    )


def _most_keys(wanted: Predicate, fields: Sequence[DataField]) -> int | None:
    """Return how many keys may be wanted, at most; None: it is not said."""
    allowed = [allowed_values(wanted, field.name) for field in fields]
    said = [len(values) for values in allowed if values is not None]
    return prod(said) if len(said) == len(allowed) else None


def _hits(
    newest_first: Sequence[LazyFile],
    fields: tuple[DataField, ...],
    wanted: Predicate,
    most_keys: int | None,
    *,
    is_bounded: bool,
) -> list[KeyHits] | None:
    """Find keys in files, until all that may be wanted are found.

    Parameters
    ----------
    newest_first
        The files.
    fields, wanted
        All key copies, and a condition on them.
    most_keys
        How many keys may be wanted, where all rows of a file are newer than those of the next;
        None: all files are looked at.
    is_bounded
        Whether to give up where many rows would be looked at or read.

    Returns
    -------
    list of KeyHits or None
        In the order of the files. None if that is bounded and there are too many.
    """
    candidates = 0
    # What is in few rows is found out by looking, file by file until it is too much.
    is_large = sum(file.meta.row_count for file in newest_first) > _MOST_CANDIDATES
    for file in newest_first if is_bounded and is_large else ():
        candidates += shared_blocks.candidate_rows(file, fields, wanted)
        if candidates > _MOST_CANDIDATES:
            return None
    hits: list[KeyHits] = []
    found = 0
    missing = most_keys
    for file in newest_first:
        most_rows = _MOST_ROWS - found if is_bounded else None
        hit = shared_blocks.find(file, fields, wanted, most_rows=most_rows)
        if hit is None:
            continue
        hits.append(hit)
        found += len(hit.positions)
        if is_bounded and found > _MOST_ROWS:
            return None
        if missing is not None and most_keys is not None:
            missing -= len(hit.positions)
            if missing <= 0:
                missing = most_keys - _key_count(hits)
                if missing <= 0:
                    break
    return hits


def _key_count(hits: Sequence[KeyHits]) -> int:
    codes = sort_keys(pa.concat_tables([hit.keys for hit in hits]).columns)
    return len(np.unique(codes, return_index=True)[0])  # without it, numpy.ma is imported


def _is_worth_it(hits: Sequence[KeyHits]) -> bool:
    """Whether most blocks of the large files among them have no row that is wanted."""
    large = [hit for hit in hits if len(hit.blocks.starts) > _SMALL_FILE_BLOCKS]
    with_rows = sum(
        len(distinct_integers(np.searchsorted(hit.blocks.starts, hit.positions, side="right")))
        for hit in large
    )
    return 2 * with_rows <= sum(len(hit.blocks.starts) for hit in large)


def _newest_number(file: DataFileMeta) -> int:
    return file.max_sequence_number


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
    codes = sort_keys(keys.columns)
    order = np.argsort(codes, kind="stable")
    is_newest = np.zeros(keys.num_rows, np.bool_)
    is_newest[order] = ends_of_groups(codes[order])
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
        rows.filter(arrow_array(is_add(numpy_values(rows.column(VALUE_KIND))))).select(
            list(plan.columns)
        )
        for rows in hit_rows
    ]
