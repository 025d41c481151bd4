"""The rows that changed, as Arrow: each with what it was before and what it is now.

This reads data files: those of the changes, or those of both states of each bucket that differs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, empty_table, numpy_values
from paimonlab.errors import UnsupportedError
from paimonlab.read.changed_rows import ROW_KIND, read_change_split
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.splits import read_split
from paimonlab.scan.change_splits import ChangeSplit
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.predicates.walking import columns as columns_of
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.storage.schemes import store_kind
from paimonlab.storage.together import asked_together
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.read import read_plan
from paimonlab.table.reading.changes import Changes
from paimonlab.table.reading.conditions import bound
from paimonlab.table.table import Table

MARKS = ("+", "-", "~")
_BUCKETS_AT_ONCE = 4
"""Buckets of a table in a store whose states are read together."""
Point: TypeAlias = Mapping[str, Any]
"""What `Table.scan` takes: ``{"snapshot": 3}``; {}: before the first commit."""

_Indexes: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RowChanges:
    """Changed rows, and what was read to find them."""

    rows: pa.Table
    """``mark``, ``kind``, ``bucket``, and the structs ``before`` and ``after``, null where there
    was, or is, no row."""
    file_count: int
    """Data files that were read."""


def reported(changes: Changes) -> RowChanges:
    """Read the changes that files report, and put the two sides of an update together."""
    return reported_of(changes, changes.splits)


def reported_of(changes: Changes, splits: Sequence[ChangeSplit]) -> RowChanges:
    """Read what files of some splits report."""
    plan = changes.read_plan()
    pieces: list[pa.Table] = []
    files: set[str] = set()
    for split in splits:
        side = split.sides[0]
        files |= {file.file_name for part in split.sides for file in part.files}
        batches = list(read_change_split(split, plan, changes.store.file_io))
        if batches:
            rows = pa.Table.from_batches(batches).combine_chunks()
            pieces.append(_paired(rows, side.bucket, changes.schema))
    return RowChanges(_together(pieces, plan.arrow_schema), len(files))


def _paired(rows: pa.Table, bucket: int, schema: TableSchema) -> pa.Table:
    """Put ``-U`` and the ``+U`` of the same key that follows it together."""
    kinds = np.array(rows[ROW_KIND].to_pylist(), "U2")
    values = rows.drop_columns(ROW_KIND)
    is_first = (kinds[:-1] == "-U") & (kinds[1:] == "+U")
    if schema.primary_keys and len(kinds) > 1:
        keys = _keys(values, schema)
        is_first &= numpy_values(pc.equal(keys[1:], keys[:-1]), zero_copy_only=False)
    first = np.flatnonzero(is_first)
    # In -U +U +U the first two are a pair; pairs cannot overlap, as the kinds differ.
    is_second = np.zeros(len(kinds), np.bool_)
    is_second[first + 1] = True
    shown = np.flatnonzero(~is_second)
    is_pair = np.isin(shown, first)
    is_deleted = np.isin(kinds[shown], ["-U", "-D"])
    before = np.where(is_deleted, shown, -1)
    after = np.where(is_pair, shown + 1, np.where(is_deleted, -1, shown))
    labels = np.where(is_pair, "-U/+U", kinds[shown].astype("U5"))
    return _events(values, before, values, after, labels, bucket)


def compared(table: Table, start: Point, end: Point, where: str | None = None) -> RowChanges:
    """Compare two states of a table with a primary key, bucket by bucket.

    Parameters
    ----------
    table
        The table, whose schema the rows have.
    start, end
        The states.
    where
        A condition on columns of the primary key.

    Raises
    ------
    UnsupportedError
        If the table has no primary key, or the condition is about other columns.
    """
    schema = table.schema
    if not schema.primary_keys:
        raise UnsupportedError(
            f"the difference of two states of {table.name}",
            "it has no primary key; mode 'delta' shows the rows that appends added",
        )
    predicate = bound(where, schema.fields, table.name)
    if predicate is not None and not columns_of(predicate) <= set(schema.primary_keys):
        raise UnsupportedError(
            f"where = {where!r}", f"only columns of the key: {', '.join(schema.primary_keys)}"
        )
    questions: list[Callable[[], Any]] = [partial(_splits, table, p) for p in (start, end)]
    *states, latest = asked_together(table.path, [*questions, lambda: table.snapshot])
    names = tuple(schema.field_names)
    plan = read_plan(
        definition_of(table), store_of(table), schema, names, predicate, snapshot=latest
    )
    pieces, file_count = [], 0
    differing = list[tuple[int, list[list[DataSplit]]]]()
    for key in dict.fromkeys((*states[0], *states[1])):
        sides = [state.get(key, []) for state in states]
        if _contents(sides[0]) != _contents(sides[1]):
            differing.append((key[1], sides))
            file_count += sum(len(split.files) for side in sides for split in side)
    # Of a table on a disk one bucket is in memory at a time; a store is asked for several at once.
    at_once = 1 if store_kind(table.path) is None else _BUCKETS_AT_ONCE
    for first in range(0, len(differing), at_once):
        buckets = differing[first : first + at_once]
        reads = [partial(_state, side, plan, table) for _, sides in buckets for side in sides]
        read = asked_together(table.path, reads)
        pieces += [
            _difference(old, new, bucket, schema)
            for (bucket, _), old, new in zip(buckets, read[::2], read[1::2], strict=True)
        ]
    return RowChanges(_together(pieces, plan.arrow_schema), file_count)


def _splits(table: Table, point: Point) -> dict[BucketKey, list[DataSplit]]:
    """Plan a state: the splits of each bucket."""
    splits: dict[BucketKey, list[DataSplit]] = {}
    if point:
        # Without the condition: in old schemas its columns may have other names.
        scan = table.scan(**point)
        for split in scan.plan().splits:
            splits.setdefault((split.partition, split.bucket), []).append(split)
    return splits


def _contents(splits: Sequence[DataSplit]) -> set[object]:
    return {
        (file.file_name, deleted)
        for split in splits
        for file, deleted in zip(
            split.files, split.deletion_files or [None] * len(split.files), strict=True
        )
    }


def _state(splits: Sequence[DataSplit], plan: ReadPlan, table: Table) -> pa.Table:
    batches = [
        batch.select(list(plan.columns))
        for split in splits
        for batch in read_split(split, plan, store_of(table).file_io)
    ]
    return pa.Table.from_batches(batches, schema=plan.arrow_schema).combine_chunks()


def _difference(old: pa.Table, new: pa.Table, bucket: int, schema: TableSchema) -> pa.Table:
    old_keys, new_keys = _keys(old, schema), _keys(new, schema)
    match = pc.index_in(new_keys, value_set=old_keys)
    is_old = numpy_values(match.is_valid(), zero_copy_only=False)
    new_rows = np.flatnonzero(is_old)
    old_rows = numpy_values(match.drop_null()).astype(np.int64)
    types = [field.type for field in schema.fields]
    same = _same(old.take(arrow_array(old_rows)), new.take(arrow_array(new_rows)), types)
    old_rows, new_rows = old_rows[~same], new_rows[~same]
    added_rows = np.flatnonzero(~is_old)
    is_deleted = pc.invert(pc.is_in(old_keys, value_set=new_keys))
    deleted_rows = np.flatnonzero(numpy_values(is_deleted, zero_copy_only=False))
    none = np.int64(-1)
    before = np.concatenate([old_rows, deleted_rows, np.full(len(added_rows), none)])
    after = np.concatenate([new_rows, np.full(len(deleted_rows), none), added_rows])
    labels = np.repeat(["-U/+U", "-D", "+I"], [len(old_rows), len(deleted_rows), len(added_rows)])
    return _events(old, before, new, after, labels, bucket)


def _same(old: pa.Table, new: pa.Table, types: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Compare rows bit by bit: NULL is NULL, NaN is NaN."""
    if not old.num_rows:
        return np.empty(0, np.bool_)
    left, right = encode(old.columns, types), encode(new.columns, types)
    return np.asarray(numpy_values(pc.equal(left, right), zero_copy_only=False), np.bool_)


def _keys(rows: pa.Table, schema: TableSchema) -> pa.LargeBinaryArray:
    names = schema.primary_keys
    return encode([rows[name] for name in names], [schema.field(name).type for name in names])


def _events(
    old: pa.Table,
    before: _Indexes,
    new: pa.Table,
    after: _Indexes,
    labels: npt.NDArray[np.str_],
    bucket: int,
) -> pa.Table:
    """Put sides together; index -1 is no row."""
    marks = np.where(before < 0, "+", np.where(after < 0, "-", "~"))
    return pa.table(
        {
            "mark": arrow_array(marks.tolist(), pa.string()),
            "kind": arrow_array(labels.tolist(), pa.string()),
            "bucket": arrow_array(np.full(len(marks), bucket), pa.int32()),
            "before": _structs(old, before),
            "after": _structs(new, after),
        }
    )


def _structs(rows: pa.Table, indexes: _Indexes) -> pa.StructArray:
    is_none = indexes < 0
    taken = rows.take(arrow_array(indexes, mask=is_none))
    fields = [pa.field(field.name, field.type) for field in rows.schema]
    arrays = [column.combine_chunks() for column in taken.columns]
    flat = [array.chunk(0) if isinstance(array, pa.ChunkedArray) else array for array in arrays]
    return pa.StructArray.from_arrays(flat, fields=fields, mask=arrow_array(is_none))


def _together(pieces: Sequence[pa.Table], columns: pa.Schema) -> pa.Table:
    struct = pa.struct([pa.field(field.name, field.type) for field in columns])
    schema = pa.schema(
        [
            ("mark", pa.string()),
            ("kind", pa.string()),
            ("bucket", pa.int32()),
            ("before", struct),
            ("after", struct),
        ]
    )
    return pa.concat_tables([empty_table(schema), *pieces])


def flattened(rows: pa.Table) -> pa.Table:
    """Give every side of every column a column of its own: ``before.a``, ``after.a``."""
    columns = {name: rows[name] for name in ("mark", "kind", "bucket")}
    for side in ("before", "after"):
        struct = rows[side].combine_chunks()
        for number, field in enumerate(struct.type):
            columns[f"{side}.{field.name}"] = pc.struct_field(struct, [number])
    return pa.table(list(columns.values()), names=list(columns))
