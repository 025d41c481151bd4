"""Updates and deletes that the rows they are about would win over.

A changed row is written beside the one that is there. Where ``sequence.field`` or a sequence group
says which of two rows is newer, that may be the old one: the statement would change nothing, and
say that it did.

Source: apache/paimon@1.3.1 ``org.apache.paimon.spark.commands.UpdatePaimonTableCommand``, which
writes such rows; ``org.apache.paimon.mergetree.compact.PartialUpdateMergeFunction`` and
``org.apache.paimon.utils.UserDefinedSeqComparator`` for what becomes of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import DataError
from paimonlab.merge.order import sort_keys
from paimonlab.spec.merge_engine import EngineKind, SequenceGroup
from paimonlab.write.write_plan import WritePlan


@dataclass(frozen=True, slots=True)
class LostChanges:
    """Finds changes of rows that a primary-key table would lose."""

    table_name: str
    primary_keys: tuple[str, ...]
    sequence_fields: tuple[str, ...]
    """Of ``sequence.field``."""
    is_descending: bool
    """Whether the smallest of them wins."""
    groups: tuple[SequenceGroup, ...]

    @classmethod
    def of(cls, plan: WritePlan) -> LostChanges:
        """Read what a table says of the order of rows."""
        is_partial = plan.engine.kind is EngineKind.PARTIAL_UPDATE
        options, keys = plan.options, tuple(plan.schema.primary_keys)
        return cls(
            plan.table_name,
            keys,
            options.sequence_fields if keys else (),
            options.sequence_descending,
            plan.engine.groups if is_partial else (),
        )

    def needed(self, assigned: Collection[str]) -> tuple[str, ...]:
        """Return the columns whose values before an update decide whether it is lost.

        Parameters
        ----------
        assigned
            The columns that the update changes.
        """
        ordered = [
            *self.sequence_fields,
            *(name for group in self.groups for name in (*group.sequence_fields, *group.columns)),
        ]
        return tuple(name for name in dict.fromkeys(ordered) if name in assigned)

    def check_updates(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        """Check that new rows win over those that are there.

        Parameters
        ----------
        before
            n rows that are there; columns that it lacks are as in ``after``.
        after
            The same rows as they are written.

        Raises
        ------
        DataError
            Names a row, the column, and both values.
        """
        if self.sequence_fields:
            older = _is_older(before, after, self.sequence_fields, is_descending=self.is_descending)
            if older.any():
                number = int(np.flatnonzero(older)[0])
                raise self._older(before, after, self.sequence_fields, number, "sequence.field")
        for group in self.groups:
            self._check_group(group, before, after)

    def _check_group(
        self, group: SequenceGroup, before: pa.RecordBatch, after: pa.RecordBatch
    ) -> None:
        names = [
            name for name in (*group.sequence_fields, *group.columns) if name in before.schema.names
        ]
        is_ignored = _all_null(after, group.sequence_fields)
        older = _is_older(before, after, group.sequence_fields, is_descending=False)
        lost = np.flatnonzero(is_ignored | older)
        number = _first_difference(before, after, names, lost)
        if number is None:
            return
        option = f"fields.{','.join(group.sequence_fields)}.sequence-group"
        if is_ignored[number]:
            columns = ", ".join(map(repr, group.columns))
            raise DataError(
                f"{self._row(after, number)} {option!r} ignores new values of {columns} in a row "
                f"where {' and '.join(map(repr, group.sequence_fields))} is NULL. Give it a value"
            )
        raise self._older(before, after, group.sequence_fields, number, option)

    def check_deletes(self, rows: pa.RecordBatch) -> None:
        """Check that deletes of rows remove them.

        Raises
        ------
        DataError
            Names a row and the column.
        """
        removing = [group for group in self.groups if group.removes_record]
        if not removing:
            return
        ignored = np.logical_and.reduce(
            [_all_null(rows, group.sequence_fields) for group in removing]
        )
        if not ignored.any():
            return
        number = int(np.flatnonzero(ignored)[0])
        names = [name for group in removing for name in group.sequence_fields]
        raise DataError(
            f"{self._row(rows, number)} "
            "'partial-update.remove-record-on-sequence-group' ignores deletes of a row where "
            f"{' and '.join(map(repr, names))} is NULL. Update it to a value first"
        )

    def _older(
        self,
        before: pa.RecordBatch,
        after: pa.RecordBatch,
        names: Sequence[str],
        number: int,
        option: str,
    ) -> DataError:
        """Make the error of a new row that is older than the one that is there."""
        old = {name: _column(before, after, name)[number].as_py() for name in names}
        new = {name: after.column(name)[number].as_py() for name in names}
        is_least = self.is_descending and option == "sequence.field"
        word, sign = ("smaller", "<=") if is_least else ("greater", ">=")
        return DataError(
            f"{self._row(after, number)} by {option!r} the row with {_said(old)} is newer than one "
            f"with {_said(new)}. Give {names[0]!r} a {word} value, or leave such rows out: in "
            f"a MERGE, WHEN MATCHED AND s.{names[0]} {sign} t.{names[0]}"
        )

    def _row(self, rows: pa.RecordBatch, number: int) -> str:
        """Name a row that would stay as it is."""
        key = {name: rows.column(name)[number].as_py() for name in self.primary_keys}
        return f"{self.table_name}: the row with {_said(key)} would stay as it is:"


def _said(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())


def _column(before: pa.RecordBatch, after: pa.RecordBatch, name: str) -> pa.Array:
    return (before if name in before.schema.names else after).column(name)


def _is_older(
    before: pa.RecordBatch,
    after: pa.RecordBatch,
    names: Sequence[str],
    *,
    is_descending: bool,
) -> npt.NDArray[np.bool_]:
    """(n,) Whether rows come first in the order of some columns, nulls first."""
    count = after.num_rows
    changed = [name for name in names if name in before.schema.names]
    if all(before.column(name).equals(after.column(name)) for name in changed):
        return np.zeros(count, np.bool_)
    columns = [
        pa.chunked_array([_column(before, after, name), after.column(name)]) for name in names
    ]
    codes = sort_keys(columns, is_descending=is_descending)
    older: npt.NDArray[np.bool_] = codes[count:] < codes[:count]
    return older


def _all_null(rows: pa.RecordBatch, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """(n,) Whether all of some columns are null."""
    masks = [numpy_values(rows.column(name).is_null(), zero_copy_only=False) for name in names]
    found: npt.NDArray[np.bool_] = np.logical_and.reduce(masks)
    return found


def _first_difference(
    before: pa.RecordBatch,
    after: pa.RecordBatch,
    names: Sequence[str],
    places: npt.NDArray[np.int64],
) -> int | None:
    """Return the first of some rows that differs in some columns; None: there is none."""
    if not len(places):
        return None
    for name in names:
        old, new = (rows.column(name).take(arrow_array(places)) for rows in (before, after))
        if old.equals(new):
            continue
        for place, one, other in zip(places.tolist(), old, new, strict=True):
            if repr(one.as_py()) != repr(other.as_py()):  # NaN does not equal itself
                return int(place)
    return None
