"""In which rows two states of some buckets differ, in bounded memory.

What readers of either state see comes as streams in the order of the keys; the streams of both
are brought together key by key, piece by piece. A row of a file that readers of both states see
is not looked at: it is the same row. So of ``deduplicate`` only keys are read, and the values of
rows that came or went.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, no_rows, numpy_values
from paimonlab.datafile.layout import KIND_FIELD
from paimonlab.datafile.masks import Mask
from paimonlab.errors import UnsupportedError
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.pieces import KeyBatch, KeyColumns, OrderedRows, ordered_runs
from paimonlab.merge.sections import sections
from paimonlab.read.merged_rows import merged_rows, row_bytes
from paimonlab.read.merging import key_predicate, masks_of, open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.change_splits import ChangeSplit, Fate
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.predicates.predicate import evaluate
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

_Lane: TypeAlias = Callable[[int], Iterator[pa.RecordBatch]]
"""Reads rows in key order, each key once, about so many at once."""


def read_difference(
    split: ChangeSplit, plan: ReadPlan, file_io: FileIO
) -> Iterator[tuple[npt.NDArray[np.int8], pa.RecordBatch]]:
    """Compare the rows of two states of some buckets.

    Parameters
    ----------
    split
        The buckets, with the files of both states that are not the same in whole sections.
    plan
        Columns, condition and schemas.
    file_io
        The table's store.

    Yields
    ------
    (k,) int8, pyarrow.RecordBatch
        Kinds and rows: ``-D`` with the old row for a key that is gone, the new row for a key that
        is new or has changed in any column; in key order, with at least the columns of the plan.

    Raises
    ------
    UnsupportedError
        If files of an append table are gone: rewritten rows cannot be told from new ones.
    """
    if not plan.schema.primary_keys:
        raise UnsupportedError(
            "incremental-between-scan-mode = 'diff'",
            f"{plan.table_name} has no primary key, and files of it were rewritten or deleted "
            "between the two snapshots; read both and compare them",
        )
    whole = replace(plan, columns=_columns(plan, split.fate))
    lanes = [_lanes(bucket, whole, file_io) for bucket in split.buckets]
    old, new = ([lane for sides in lanes for lane in sides[number]] for number in (0, 1))
    if not old and not new:
        return
    schema = arrow_schema((*whole.fields, KIND_FIELD))
    piece_rows = _piece_rows(split, plan)
    batch_rows = max(1, piece_rows // len([*old, *new]))
    runs = [_as_run(lane(batch_rows), schema) for lane in (*old, *new)]
    columns = KeyColumns(
        keys=plan.schema.trimmed_primary_keys, is_position_enough=True, has_deletes=False
    )
    for piece in ordered_runs(runs, columns, piece_rows=piece_rows):
        old_count = sum(piece.counts[: len(old)])
        positions, kinds = changed(piece, old_count, plan.schema.fields, split.fate)
        yield from _reported(piece.rows, positions, kinds, plan)


def changed(
    piece: OrderedRows, old_count: int, fields: Sequence[DataField], fate: Fate = Fate.ANY
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
    """Find the rows in which two states differ.

    Parameters
    ----------
    piece
        Rows with ``fields`` and ``_VALUE_KIND``: each key at most once in either state.
    old_count
        How many of the rows are of the old state; they come first.
    fields
        What is compared, bit by bit; nothing is for `Fate.GONE`.
    fate
        Which keys count.

    Returns
    -------
    (k,) int64
        Positions of rows, in key order.
    (k,) int8
        Their kinds.
    """
    members = piece.members
    last = members.last()
    is_gone = last < old_count
    if fate is Fate.GONE:
        reports = is_gone
    else:
        reports = np.ones(len(last), np.bool_) if fate is Fate.ANY else ~is_gone
        is_pair = members.lengths > 1
        reports[is_pair] = ~_same_rows(piece.rows, members.first()[is_pair], last[is_pair], fields)
    positions = last[reports]
    kinds = numpy_values(piece.rows[KIND_FIELD.name])[positions].astype(np.int8)
    kinds[is_gone[reports]] = int(RowKind.DELETE)
    return positions, kinds


def _columns(plan: ReadPlan, fate: Fate) -> tuple[str, ...]:
    """Choose the columns to read: values do not matter for keys that are gone."""
    if fate is not Fate.GONE:
        return plan.schema.field_names
    wanted = {*plan.schema.trimmed_primary_keys, *(field.name for field in plan.fields_to_read)}
    return tuple(name for name in plan.schema.field_names if name in wanted)


def _same_rows(
    rows: pa.Table,
    olds: npt.NDArray[np.int64],
    news: npt.NDArray[np.int64],
    fields: Sequence[DataField],
) -> npt.NDArray[np.bool_]:
    if not olds.size:
        return np.empty(0, np.bool_)
    types = [field.type for field in fields]
    values = rows.select([field.name for field in fields])
    left, right = (encode(values.take(arrow_array(one)).columns, types) for one in (olds, news))
    return np.asarray(numpy_values(pc.equal(left, right), zero_copy_only=False), np.bool_)


def _reported(
    rows: pa.Table,
    positions: npt.NDArray[np.int64],
    kinds: npt.NDArray[np.int8],
    plan: ReadPlan,
) -> Iterator[tuple[npt.NDArray[np.int8], pa.RecordBatch]]:
    names = [field.name for field in plan.fields_to_read]
    changes = rows.select(names).take(arrow_array(positions))
    changes = changes.append_column(KIND_FIELD.name, arrow_array(kinds))
    if plan.predicate is not None and changes.num_rows:
        changes = changes.filter(evaluate(plan.predicate, changes))
    for batch in changes.combine_chunks().to_batches(max_chunksize=plan.bounds.batch_rows):
        if batch.num_rows:
            yield numpy_values(batch.column(KIND_FIELD.name)), batch


def _piece_rows(split: ChangeSplit, plan: ReadPlan) -> int:
    """Choose how many rows of all lanes to hold at once."""
    bounds = plan.bounds
    widest = max(1, *(row_bytes(side) for side in split.sides))
    return max(1, min(bounds.piece_rows, bounds.piece_bytes // widest))


def _lanes(split: ChangeSplit, plan: ReadPlan, file_io: FileIO) -> tuple[list[_Lane], list[_Lane]]:
    """Return both states of a bucket as streams, without rows that are known to be the same."""
    before, after = (_visible(side, plan, file_io) for side in (split.before, split.after))
    if before is not None and after is not None:
        for name in before.keys() & after.keys():
            old, new = before[name], after[name]
            before[name], after[name] = _without(old, new), _without(new, old)
    return (
        _lanes_of(split.before, before, plan, file_io),
        _lanes_of(split.after, after, plan, file_io),
    )


def _visible(
    side: DataSplit | None, plan: ReadPlan, file_io: FileIO
) -> dict[str, Mask | None] | None:
    """Find the rows of each file, by its name, that readers see; None: they see merged rows."""
    if side is None:
        return {}
    if not side.raw_convertible and not plan.engine.selects_rows:
        return None
    masks = masks_of(side, plan, file_io, predicate=key_predicate(plan))
    return {file.file_name: mask for file, mask in zip(side.files, masks, strict=True)}


def _without(mask: Mask | None, other: Mask | None) -> Mask:
    """Leave out the rows of a file that readers of the other state see as well; None if all are."""
    if other is None:
        return np.zeros(0, np.bool_)
    return ~other if mask is None else mask & ~other


def _lanes_of(
    side: DataSplit | None,
    visible: dict[str, Mask | None] | None,
    plan: ReadPlan,
    file_io: FileIO,
) -> list[_Lane]:
    if side is None:
        return []
    if visible is None:
        return [partial(_merged, side, plan, file_io)]
    wanted = side.with_files(lambda file: _any(visible[file.file_name]))
    types = [plan.schema.field(name).type for name in plan.schema.trimmed_primary_keys]
    lanes: list[list[DataFileMeta]] = []
    for section in sections(wanted.files, types):
        for number, run in enumerate(section.runs):
            if number == len(lanes):
                lanes.append([])
            lanes[number] += [wanted.files[position] for position in run]
    return [partial(_selected, side, files, visible, plan, file_io) for files in lanes]


def _any(mask: Mask | None) -> bool:
    return mask is None or bool(mask.any())


def _selected(
    side: DataSplit,
    files: Sequence[DataFileMeta],
    visible: Mapping[str, Mask | None],
    plan: ReadPlan,
    file_io: FileIO,
    batch_rows: int,
) -> Iterator[pa.RecordBatch]:
    """Read rows of files whose key ranges follow each other."""
    for file in files:
        with open_data_file(side, file, plan, file_io) as data:
            yield from data.batches(
                (*plan.fields, KIND_FIELD), keep=visible[file.file_name], batch_rows=batch_rows
            )


def _merged(
    side: DataSplit, plan: ReadPlan, file_io: FileIO, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    """Read rows that become of several."""

    def read_file(file: DataFileMeta, mask: Mask | None) -> Iterator[pa.RecordBatch]:
        return _selected(side, [file], {file.file_name: mask}, plan, file_io, batch_rows)

    for rows in merged_rows(side, plan, file_io, read_file, with_kinds=True):
        is_there = is_add(numpy_values(rows.column(KIND_FIELD.name)))
        yield rows if is_there.all() else rows.filter(arrow_array(is_there))


def _as_run(batches: Iterable[pa.RecordBatch], schema: pa.Schema) -> Iterator[KeyBatch]:
    for batch in batches:
        yield KeyBatch(batch.cast(schema), is_last=False)
    yield KeyBatch(no_rows(schema), is_last=True)
