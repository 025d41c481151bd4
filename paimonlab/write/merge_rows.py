"""What a MERGE makes of rows: which belong together, which clause decides, the new rows.

Between target rows, a piece at a time, and source rows, all at once; nothing is read or written
here. Columns of a pair of rows are called ``t.column`` and ``s.column``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, null_filled, numpy_values
from paimonlab.errors import DataError
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.write.expressions.expression import Expression
from paimonlab.write.expressions.join_conditions import JoinCondition
from paimonlab.write.merge_clauses import (
    Action,
    Clause,
    ClauseKind,
    allows_many_source_rows,
    needs_unmatched_source,
    needs_unmatched_target,
)

TARGET, SOURCE = SIDES = ("t", "s")
_Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN, bound to columns."""

    rule: Clause
    condition: Expression | None
    """None: it is about all rows of its kind."""
    values: Mapping[str, Callable[[pa.RecordBatch], pa.Array]] = field(default_factory=dict)
    """By column of the target, for an update or an insert."""


@dataclass(frozen=True, slots=True)
class MergeRules:
    """What a MERGE asks for."""

    table: str
    """Name of the target, for messages."""
    join: JoinCondition
    clauses: Sequence[MergeClause]

    @property
    def rules(self) -> Sequence[Clause]:
        """The clauses, without their columns."""
        return [clause.rule for clause in self.clauses]

    @property
    def touches_unmatched(self) -> bool:
        """Whether target rows without a source row matter."""
        return needs_unmatched_target(self.rules)

    def of_kind(self, kind: ClauseKind) -> Sequence[MergeClause]:
        """Return the clauses about some rows, in order."""
        return [clause for clause in self.clauses if clause.rule.kind is kind]


@dataclass(frozen=True, slots=True)
class Changes:
    """What becomes of some target rows."""

    updated: pa.RecordBatch
    """New rows, with all columns that the target rows had."""
    updated_from: _Places
    """Which target rows they were."""
    deleted: _Places
    """Which target rows go."""


class Merging:
    """One run of a MERGE: takes target rows, and knows in the end what to insert."""

    def __init__(self, rules: MergeRules, source: pa.Table) -> None:
        import polars as pl  # noqa: PLC0415 - slow to import

        self._rules = rules
        self._source = source
        self._is_matched = np.zeros(source.num_rows, np.bool_)
        alone = sided(source, SOURCE)
        keys = [key.right.evaluate(alone) for key in rules.join.keys]
        self._frame, self._names = pl.DataFrame, [f"key {number}" for number in range(len(keys))]
        self._source_keys = self._keyed(keys, "source")

    def changes(self, rows: pa.RecordBatch) -> Changes:
        """Decide what becomes of target rows.

        Parameters
        ----------
        rows
            Target rows that have not come before.

        Raises
        ------
        DataError
            If several source rows would change one of them, or a new value does not fit.
        """
        target, source = self._pairs(rows)
        self._is_matched[source] = True
        pairs = self._together(rows, target, source)
        done = [_decided(self._rules.of_kind(ClauseKind.MATCHED), pairs, target)]
        self._check_once(rows, np.concatenate([places for _, _, places in done[0]] or [_NONE]))
        if self._rules.touches_unmatched:
            is_alone = np.ones(rows.num_rows, np.bool_)
            is_alone[target] = False
            places = np.flatnonzero(is_alone)
            alone = sided(_picked(rows, places), TARGET)
            clauses = self._rules.of_kind(ClauseKind.NOT_MATCHED_BY_SOURCE)
            done.append(_decided(clauses, alone, places))
        return _gathered(rows, [each for part in done for each in part])

    def inserted(self) -> Iterator[pa.RecordBatch]:
        """Make the rows to be inserted, once all target rows were taken."""
        if not needs_unmatched_source(self._rules.rules):
            return
        places = np.flatnonzero(~self._is_matched)
        alone = sided(_picked(self._source, places), SOURCE)
        for clause, rows, _ in _decided(self._rules.of_kind(ClauseKind.NOT_MATCHED), alone, places):
            if rows.num_rows:
                arrays = [values(rows) for values in clause.values.values()]
                yield pa.RecordBatch.from_arrays(arrays, names=list(clause.values))

    def _pairs(self, rows: pa.RecordBatch) -> tuple[_Places, _Places]:
        """Find which target and source rows belong together, by the order of the target."""
        alone = sided(rows, TARGET)
        keys = [key.left.evaluate(alone) for key in self._rules.join.keys]
        found = self._keyed(keys, "target").join(self._source_keys, on=self._names)
        pairs = found.select("target", "source").sort("target", "source")
        target, source = (pairs[side].to_numpy().astype(np.int64) for side in pairs.columns)
        if self._rules.join.rest is None or not len(target):
            return target, source
        is_true = _truths(self._rules.join.rest, self._together(rows, target, source))
        return target[is_true], source[is_true]

    def _keyed(self, keys: Sequence[pa.Array], side: str) -> Any:
        columns = dict(zip(self._names, keys, strict=True))
        return self._frame(pa.table(columns)).with_row_index(side)

    def _together(self, rows: pa.RecordBatch, target: _Places, source: _Places) -> pa.RecordBatch:
        left = sided(_picked(rows, target), TARGET)
        right = sided(_picked(self._source, source), SOURCE)
        return pa.RecordBatch.from_arrays(
            [*left.columns, *right.columns], names=[*left.schema.names, *right.schema.names]
        )

    def _check_once(self, rows: pa.RecordBatch, changed: _Places) -> None:
        places, counts = np.unique(changed, return_counts=True)
        several = places[counts > 1]
        if not len(several) or allows_many_source_rows(self._rules.rules):
            return
        names = [key.column for key in self._rules.join.keys if key.column] or rows.schema.names
        (row,) = rows.select(names).slice(int(several[0]), 1).to_pylist()
        example = ", ".join(f"{name} = {value!r}" for name, value in row.items())
        raise DataError(
            f"{self._rules.table}: several rows of the source match one row of the table "
            f"({example}); let the source have one row for each"
        )


_NONE = np.zeros(0, np.int64)


def sided(rows: pa.RecordBatch | pa.Table, side: str) -> pa.RecordBatch:
    """Call columns by their side of a pair."""
    if isinstance(rows, pa.Table):
        rows = _batch(rows)
    return rows.rename_columns([f"{side}.{name}" for name in rows.schema.names])


def _decided(
    clauses: Sequence[MergeClause], rows: pa.RecordBatch, places: _Places
) -> list[tuple[MergeClause, pa.RecordBatch, _Places]]:
    """Give each row to the first clause whose condition is true."""
    decided = []
    is_left = np.ones(rows.num_rows, np.bool_)
    for clause in clauses:
        hit = is_left if clause.condition is None else is_left & _truths(clause.condition, rows)
        is_left = is_left & ~hit
        decided.append((clause, rows.filter(arrow_array(hit)), places[hit]))
    return decided


def _gathered(
    rows: pa.RecordBatch, decided: Sequence[tuple[MergeClause, pa.RecordBatch, _Places]]
) -> Changes:
    updated, updated_from, deleted = [], [_NONE], [_NONE]
    for clause, pairs, places in decided:
        if clause.rule.action is Action.DELETE:
            deleted.append(distinct_integers(places))
        elif len(places):
            arrays = [
                clause.values[name](pairs)
                if name in clause.values
                else pairs.column(f"{TARGET}.{name}")
                for name in rows.schema.names
            ]
            updated.append(pa.RecordBatch.from_arrays(arrays, schema=rows.schema))
            updated_from.append(places)
    new = _batch(pa.Table.from_batches(updated, schema=rows.schema))
    return Changes(new, np.concatenate(updated_from), np.concatenate(deleted))


def _truths(condition: Expression, rows: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    is_true = null_filled(condition.evaluate(rows).cast(pa.bool_()), False)
    return np.asarray(numpy_values(is_true, zero_copy_only=False), np.bool_)


def _picked(rows: pa.RecordBatch | pa.Table, places: _Places) -> pa.RecordBatch:
    return _batch(rows.take(arrow_array(places)))


def _batch(rows: pa.RecordBatch | pa.Table) -> pa.RecordBatch:
    if isinstance(rows, pa.RecordBatch):
        return rows
    arrays = [_array(column) for column in rows.columns]
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)


def _array(column: pa.ChunkedArray) -> pa.Array:
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
