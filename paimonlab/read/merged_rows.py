"""Rows of a split whose merge engine makes new rows.

Keys and the columns wanted of all runs are read and merged piece by piece, so that memory does
not grow with the split. A condition on values looks at merged rows only; one on keys leaves rows
out before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.layout import KIND_FIELD
from paimonlab.datafile.masks import Mask
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.key_rows import Merged
from paimonlab.merge.pieces import merged_runs
from paimonlab.merge.sections import Section
from paimonlab.read.deletions import surviving_rows
from paimonlab.read.merging import SplitMerger, key_predicate
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import evaluate
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.storage import FileIO

_COMPRESSION = 3
"""How many bytes in memory a byte of a file becomes, about."""


def merged_rows(
    split: DataSplit,
    plan: ReadPlan,
    file_io: FileIO,
    read_file: Callable[[DataFileMeta, Mask | None], Iterable[pa.RecordBatch]],
    *,
    with_kinds: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Read a split.

    Parameters
    ----------
    split
        Files of a primary-key table.
    plan, file_io
        How to read the table; its store.
    read_file
        Reads the rows of one file that a mask keeps.
    with_kinds
        Whether to add the column ``_VALUE_KIND`` at the end; ``read_file`` must read it.

    Yields
    ------
    pyarrow.RecordBatch
        Of ``plan.arrow_schema``, none empty.
    """
    survivors = surviving_rows(split, plan, file_io)
    merger = SplitMerger(split, plan, file_io, key_predicate(plan), survivors)
    for section in merger.sections():
        if len(section.positions) == 1:
            position = section.positions[0]
            yield from read_file(split.files[position], merger.alone(position))
        else:
            yield from _merged(merger, section, with_kinds=with_kinds)


def _merged(merger: SplitMerger, section: Section, *, with_kinds: bool) -> Iterator[pa.RecordBatch]:
    plan = merger.plan
    names = [field.name for field in plan.fields_to_read if field.name != VALUE_KIND]
    # Without a column there would be no number of rows.
    values = names or [plan.schema.trimmed_primary_keys[0]]
    columns = replace(
        merger.key_columns(section),
        values=tuple(values),
        has_deletes=any(
            merger.split.files[position].delete_row_count != 0 for position in section.positions
        ),
        required=frozenset(field.name for field in plan.schema.fields if not field.type.nullable),
    )
    batch_rows = merger.batch_rows(len(section.runs), row_bytes(merger.split))
    runs = merger.runs(section, columns, batch_rows)
    for merged in merged_runs(
        [run.batches() for run in runs], columns, piece_rows=batch_rows * len(runs)
    ):
        for run in runs:
            run.forget()
        rows = _with_kinds(merged, plan) if with_kinds else _visible(merged, plan)
        if rows.num_rows:
            yield rows


def row_bytes(split: DataSplit) -> int:
    """Estimate how many bytes a row of a split takes in memory."""
    return _COMPRESSION * split.size_bytes // max(1, split.row_count)


def _with_kinds(merged: Merged, plan: ReadPlan) -> pa.RecordBatch:
    """Return merged rows and their kinds, deletes among them."""
    rows = pa.RecordBatch.from_arrays(list(merged.columns.values()), names=list(merged.columns))
    rows = rows.select(list(plan.columns)).cast(arrow_schema(plan.fields))
    kinds = np.zeros(rows.num_rows, np.int8) if merged.kinds is None else merged.kinds
    return rows.append_column(KIND_FIELD.name, arrow_array(kinds, pa.int8()))


def _visible(merged: Merged, plan: ReadPlan) -> pa.RecordBatch:
    """Leave out the keys that are gone and those for which the condition is not true."""
    rows = pa.RecordBatch.from_arrays(list(merged.columns.values()), names=list(merged.columns))
    if VALUE_KIND in plan.columns:
        kinds = np.zeros(len(rows), np.int8) if merged.kinds is None else merged.kinds
        rows = rows.append_column(VALUE_KIND, arrow_array(kinds, pa.int8()))
    if merged.kinds is not None and not plan.keeps_deletes:
        rows = rows.filter(arrow_array(is_add(merged.kinds)))
    if plan.predicate is not None and rows.num_rows:
        rows = rows.filter(evaluate(plan.predicate, rows))
    rows = rows.select(list(plan.columns))
    return rows.cast(arrow_schema(plan.fields)) if plan.columns else rows
