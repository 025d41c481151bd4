"""What changed for the keys of a compaction: rows before and after, as changelog rows.

Source: apache/paimon@1.3.1
``org.apache.paimon.mergetree.compact.LookupChangelogMergeFunctionWrapper``,
``…FullChangelogMergeFunctionWrapper``, ``org.apache.paimon.utils.ValueEqualiserSupplier``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.groups import Mask, Positions
from paimonlab.merge.order import as_numpy, one_array
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import VALUE_KIND


class ChangelogOptions(OptionSlice):
    """The table options that say what a compaction reports."""

    producer: str = option_field("changelog-producer", "enum", "none")
    """``changelog-producer``"""
    leaves_out_same: bool = option_field(
        "changelog-producer.row-deduplicate", "boolean", default=False
    )
    """``changelog-producer.row-deduplicate``: rows that did not change are not reported."""
    ignored_fields: tuple[str, ...] = option_field(
        "changelog-producer.row-deduplicate-ignore-fields", "list", ()
    )
    """``changelog-producer.row-deduplicate-ignore-fields``: columns that may differ."""

    def compared(self, schema: TableSchema) -> tuple[DataField, ...] | None:
        """Return the columns that tell whether a row changed; None: every update counts."""
        if not self.leaves_out_same:
            return None
        return tuple(field for field in schema.fields if field.name not in self.ignored_fields)


class ChangelogWriter(Protocol):
    """Takes changelog rows."""

    def write(self, rows: pa.Table) -> None:
        """Append rows with the columns of data files."""
        ...

    def close(self) -> Sequence[DataFileMeta]:
        """Finish, and return the files."""
        ...

    def abort(self) -> None:
        """Delete what was written."""
        ...


class NoChangelog:
    """Forgets changelog rows."""

    def write(self, rows: pa.Table) -> None:
        """Do nothing."""

    def close(self) -> Sequence[DataFileMeta]:
        """Return no file."""
        return ()

    def abort(self) -> None:
        """Do nothing."""


def changelog(
    before: pa.Table,
    before_at: Positions,
    after: pa.Table,
    *,
    concerned: Mask,
    compared: Sequence[DataField] | None = None,
) -> pa.Table:
    """Report what became of keys.

    Parameters
    ----------
    before
        n rows with the columns of data files.
    before_at : (g,) int64
        Position in ``before`` of the row that a reader knew of each key; -1: none. A delete
        counts as none.
    after
        g rows with the same columns: the row of each key now, a delete if it has none.
    concerned : (g,) bool
        Which keys are reported at all.
    compared
        Columns of which one has to differ for an update; None: every update counts.

    Returns
    -------
    pyarrow.Table
        In the order of the keys: ``+I``, ``-D``, or ``-U`` followed by ``+U``; with the values
        and sequence numbers of the rows given.
    """
    had = before_at >= 0
    had[had] = is_add(as_numpy(before[VALUE_KIND])[before_at[had]])
    has = is_add(as_numpy(after[VALUE_KIND]))
    inserted, deleted, updated = ~had & has & concerned, had & ~has & concerned, had & has
    updated &= concerned
    if compared is not None and updated.any():
        old = before.take(arrow_array(before_at[updated]))
        updated[updated] = differing(old, after.filter(arrow_array(updated)), compared)
    gone, came = deleted | updated, inserted | updated
    kinds = np.concatenate(
        [
            np.where(updated[gone], RowKind.UPDATE_BEFORE, RowKind.DELETE),
            np.where(updated[came], RowKind.UPDATE_AFTER, RowKind.INSERT),
        ]
    ).astype(np.int8)
    rows = pa.concat_tables(
        [
            before.take(arrow_array(before_at[gone])),
            after.filter(arrow_array(came)).cast(before.schema),
        ]
    )
    # Of a key the row before comes first, as concatenation has it.
    order = np.argsort(np.concatenate([np.flatnonzero(gone), np.flatnonzero(came)]), kind="stable")
    return with_kinds(rows.take(arrow_array(order)), kinds[order])


def with_kinds(rows: pa.Table, kinds: npt.NDArray[np.int8]) -> pa.Table:
    """Give rows other kinds."""
    column_index = rows.schema.get_field_index(VALUE_KIND)
    return rows.set_column(
        column_index, rows.schema.field(column_index), arrow_array(kinds, pa.int8())
    )


def differing(left: pa.Table, right: pa.Table, columns: Sequence[DataField]) -> Mask:
    """Mark the rows that differ in a column; nulls equal each other, NaN equals nothing."""
    differs = np.zeros(left.num_rows, np.bool_)
    for column in columns:
        one, other = left[column.name], right[column.name]
        if pa.types.is_nested(one.type):
            one, other = (
                pa.chunked_array([encode([side], [column.type])]) for side in (one, other)
            )
        unequal = pc.not_equal(one, other)
        one_is_null = pc.xor(pc.is_null(one), pc.is_null(other))
        differs |= as_mask(pc.coalesce(unequal, one_is_null))
    return differs


def as_mask(values: pa.Array | pa.ChunkedArray) -> Mask:
    """Return booleans without nulls as numpy has them."""
    mask: Mask = numpy_values(one_array(values), zero_copy_only=False)
    return mask
