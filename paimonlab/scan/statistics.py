"""Statistics of many files at once, as columns of the read schema.

Files carry statistics over the columns of the schema they were written with; columns find
each other by field id.

Source: apache/paimon@1.3.1 ``org.apache.paimon.stats.SimpleStatsEvolution``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, arrow_scalar, null_filled
from paimonlab.errors import ColumnNotFoundError
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.entries import codes, group_codes, list_codes
from paimonlab.spec.binary_row import rows as binary_row
from paimonlab.spec.predicates.predicate import ColumnStats
from paimonlab.spec.schema.row_tracking import TRACKING_COLUMNS, TRACKING_FIELDS, with_tracking
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, TypeRoot, with_nullable
from paimonlab.spec.types.system_fields import ROW_ID

Kind: TypeAlias = Literal["key_stats", "value_stats"]

_INTEGERS = (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT)
_BLANK_END = r"(?s) *([\x00-\x1f].*)?\z"
"""The end of a least CHAR that another value may lack: statistics of ORC files count the blanks
at the end, which are not read, so that "a" may be less than a minimum of "a\\t" or "a "."""
_OF_GROUPS = (
    *("file_name", "row_count", "schema_id", "value_stats_cols", "write_cols"),
    "first_row_id",
)
"""Columns of entries that say what the statistics of files are over, and which ids rows have."""
_GROWING = (TypeRoot.VARCHAR, TypeRoot.VARBINARY)
_NO_NUMBER = arrow_scalar(None, pa.int64())


def column_stats(
    entries: pa.Table,
    kind: Kind,
    names: Collection[str],
    schema: TableSchema,
    schemas: SchemaManager,
) -> dict[str, ColumnStats]:
    """Gather statistics of n files.

    Parameters
    ----------
    entries
        n entries of `ENTRY_SCHEMA`.
    kind
        ``key_stats`` are over the primary key columns, ``value_stats`` over all.
    names
        Columns of ``schema`` that are wanted.
    schema
        The read schema.
    schemas
        Finds the schemas of the files.

    Returns
    -------
    dict of `ColumnStats`
        By name. Unknown (null): what the file has no statistics of, or of a type whose values
        the read schema orders differently. A column that the file is older than is all null.
    """
    fields = [schema.field(name) for name in names]
    ids = frozenset(field.id for field in fields)
    groups = [replace(group, wanted=ids) for group in _groups(entries, kind, schemas)]
    order = np.concatenate([group.rows for group in groups] or [np.empty(0, np.int64)])
    back = arrow_array(np.argsort(order, kind="stable"))
    stats_of_groups = [[group.column(field) for field in fields] for group in groups]
    return {
        field.name: _joined([columns[position] for columns in stats_of_groups], back, field)
        for position, field in enumerate(fields)
    }


class _Group(Struct, frozen=True, dict=True):
    """Files whose statistics are over the same columns."""

    rows: npt.NDArray[np.int64]
    """Which of the entries they are."""
    row_count: pa.Array
    file_schema: TableSchema
    stats_fields: Sequence[DataField] | None
    """The columns that the statistics cover; None if unknown."""
    min_values: pa.Array
    max_values: pa.Array
    null_counts: pa.Array
    first_row_id: pa.Array
    """Null: the metadata of the file give its rows no ids."""
    may_hold_ids: bool
    """Whether there may be a column of ids in the files."""
    path: str
    """One of the files, for messages."""
    wanted: frozenset[int] = frozenset()
    """Ids of the columns that are asked for."""

    def column(self, field: DataField) -> ColumnStats:
        """Return the statistics of one column of the read schema."""
        if field.name == ROW_ID:
            return self._row_ids(field)
        if field.name in TRACKING_COLUMNS:
            return self._unknown(field)  # where a file has no value, the reader makes one
        old = next((known for known in self.file_schema.fields if known.id == field.id), None)
        if old is None:
            nothing = pa.nulls(len(self.rows), to_arrow(field.type))
            return ColumnStats(nothing, nothing, self.row_count, self.row_count)
        ids = [known.id for known in self.stats_fields or ()]
        if field.id not in ids:
            return self._unknown(field)
        if not keeps_order(old.type, field.type):
            return self._nulls(ids.index(field.id), old, field)
        return self._known(ids.index(field.id), field)

    @cached_property
    def _types(self) -> list[DataType]:
        return [stored.type for stored in self.stats_fields or ()]

    @cached_property
    def _lows(self) -> dict[int, pa.Array]:
        """The least values of wanted columns, by position: they are decoded together."""
        return self._decoded(self.min_values)

    @cached_property
    def _highs(self) -> dict[int, pa.Array]:
        """The greatest values of wanted columns, by position."""
        return self._decoded(self.max_values)

    def _decoded(self, rows: pa.Array) -> dict[int, pa.Array]:
        stored = enumerate(self.stats_fields or ())
        wanted = [position for position, field in stored if field.id in self.wanted]
        arrays = binary_row.decode(rows, self._types, is_lenient=True, wanted=wanted)
        return dict(zip(wanted, arrays, strict=True))

    def _known(self, position: int, field: DataField) -> ColumnStats:
        target = to_arrow(field.type)
        low = self._lows[position]
        known = self._types[position]
        if isinstance(known, AtomicType) and known.root is TypeRoot.CHAR:
            low = pc.replace_substring_regex(low, _BLANK_END, "")
        return ColumnStats(
            low.cast(target),
            self._highs[position].cast(target),
            _element(self.null_counts, position, len(self._types)),
            self.row_count,
        )

    def _row_ids(self, field: DataField) -> ColumnStats:
        """Return which ids rows have: those of their places, or those that are stored.

        Where a file with ids in its metadata has a column of them as well, places count for rows
        whose value is null.
        """
        if not self.may_hold_ids:
            last = pc.subtract(pc.add(self.first_row_id, self.row_count), arrow_scalar(1))
            none = pc.if_else(self.first_row_id.is_valid(), arrow_scalar(0), _NO_NUMBER)
            return ColumnStats(self.first_row_id, last, none, self.row_count)
        ids = [known.id for known in self.stats_fields or ()]
        if field.id not in ids:
            return self._unknown(field)
        stored = self._known(ids.index(field.id), field)
        has_all = pc.equal(stored.null_count, arrow_scalar(0))
        is_known = pc.or_(self.first_row_id.is_null(), null_filled(has_all, False))
        low, high, nulls = (
            pc.if_else(is_known, values, _NO_NUMBER)
            for values in (stored.min, stored.max, stored.null_count)
        )
        return ColumnStats(low, high, nulls, self.row_count)

    def _nulls(self, position: int, old: DataField, field: DataField) -> ColumnStats:
        """Keep how many nulls there are where values changed inside of them only."""
        unknown = self._unknown(field)
        if isinstance(old.type, AtomicType) or type(old.type) is not type(field.type):
            return unknown
        return unknown._replace(
            null_count=_element(self.null_counts, position, len(self.stats_fields or ()))
        )

    def _unknown(self, field: DataField) -> ColumnStats:
        nothing = pa.nulls(len(self.rows), to_arrow(field.type))
        return ColumnStats(nothing, nothing, pa.nulls(len(self.rows), pa.int64()), self.row_count)


def keeps_order(old: DataType, new: DataType) -> bool:
    """Whether a cast keeps values, and so minimum and maximum.

    Examples
    --------
    >>> keeps_order(AtomicType(TypeRoot.INT), AtomicType(TypeRoot.BIGINT))
    True
    >>> keeps_order(AtomicType(TypeRoot.INT), AtomicType(TypeRoot.VARCHAR, length=9))
    False
    """
    old, new = with_nullable(old, True), with_nullable(new, True)  # noqa: FBT003
    if old == new:
        return True
    if not isinstance(old, AtomicType) or not isinstance(new, AtomicType):
        return False
    if old.root in _INTEGERS and new.root in _INTEGERS:
        return _INTEGERS.index(old.root) <= _INTEGERS.index(new.root)
    if old.root in _GROWING and old.root is new.root:
        return (old.length or 1) <= (new.length or 1)
    return (old.root, new.root) == (TypeRoot.FLOAT, TypeRoot.DOUBLE)


def _groups(entries: pa.Table, kind: Kind, schemas: SchemaManager) -> Iterator[_Group]:
    keys = [codes(entries["schema_id"])]
    if kind == "value_stats":
        lists = (entries["value_stats_cols"], entries["write_cols"])
        keys += [list_codes(names) for names in lists]
        keys.append(
            codes(pc.binary_slice(entries["value_stats_min_values"], 0, binary_row.ARITY_BYTES))
        )
    of_row = group_codes(keys)
    order = np.argsort(of_row, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(of_row[order])) + 1):
        if rows.size:
            yield _group(rows, entries, kind, schemas)


def _group(
    rows: npt.NDArray[np.int64], entries: pa.Table, kind: Kind, schemas: SchemaManager
) -> _Group:
    parts = [f"{kind}_{part}" for part in ("min_values", "max_values", "null_counts")]
    ours = entries.select([*_OF_GROUPS, *parts])
    if rows.size < entries.num_rows:
        ours = ours.take(arrow_array(rows))
    ours = ours.combine_chunks()
    file_schema = schemas.get(ours["schema_id"][0].as_py())
    low, high, nulls = (ours[part].combine_chunks() for part in parts)
    return _Group(
        rows=rows,
        row_count=ours["row_count"].combine_chunks(),
        file_schema=file_schema,
        stats_fields=_stats_fields(ours, kind, file_schema),
        min_values=low,
        max_values=high,
        null_counts=nulls,
        first_row_id=ours["first_row_id"].combine_chunks(),
        may_hold_ids=kind != "value_stats" or _may_hold_ids(ours, file_schema),
        path=f"statistics of {ours['file_name'][0].as_py()} and its like",
    )


def _may_hold_ids(entries: pa.Table, file_schema: TableSchema) -> bool:
    """Say whether files whose statistics are over the same columns may have a column of ids.

    Metadata name it, but for those that versions of Java before 1.4 wrote: there statistics of all
    columns have one for it.
    """
    written = entries["write_cols"][0].as_py()
    if written is not None:
        return ROW_ID in written
    if entries["value_stats_cols"][0].as_py() is not None:
        return True
    arity = binary_row.arity_of(entries["value_stats_min_values"][0].as_py())
    return arity != len(file_schema.fields)


def _stats_fields(
    entries: pa.Table, kind: Kind, file_schema: TableSchema
) -> Sequence[DataField] | None:
    if kind == "key_stats":
        return [file_schema.field(name) for name in file_schema.trimmed_primary_keys]
    names = entries["value_stats_cols"][0].as_py()
    if names is None:
        names = entries["write_cols"][0].as_py()
    if names is None:
        # Updated rows of a table with row tracking are written with their ids after them.
        arity = binary_row.arity_of(entries["value_stats_min_values"][0].as_py())
        known = (*file_schema.fields, *TRACKING_FIELDS)
        is_tracked = len(file_schema.fields) < arity <= len(known)
        return known[:arity] if is_tracked else file_schema.fields
    tracked = with_tracking(file_schema)
    try:
        return [tracked.field(name) for name in names]
    except ColumnNotFoundError:
        return None


def _element(lists: pa.Array, position: int, length: int) -> pa.Array:
    """Return one count of every list; null unless all lists have the length.

    A count below 0 is unknown: Java writes -1 where a Parquet file, for its long values, has none.
    """
    lengths = pc.list_value_length(lists)
    if lists.null_count or not pc.all(pc.equal(lengths, arrow_scalar(length))).as_py():
        return pa.nulls(len(lists), pa.int64())
    picked = np.arange(len(lists)) * length + position
    counts = pc.list_flatten(lists).take(arrow_array(picked))
    is_known = pc.greater_equal(counts, arrow_scalar(0))
    if pc.all(is_known).as_py() is not False:
        return counts
    return pc.if_else(is_known, counts, arrow_scalar(None, pa.int64()))


def _joined(parts: Sequence[ColumnStats], back: pa.Array, field: DataField) -> ColumnStats:
    """Put the files of all groups back into the order of the entries."""
    types = (to_arrow(field.type), to_arrow(field.type), pa.int64(), pa.int64())
    arrays = (
        pa.chunked_array([part[position] for part in parts], type_)
        for position, type_ in enumerate(types)
    )
    return ColumnStats(*(array.take(back).combine_chunks() for array in arrays))
