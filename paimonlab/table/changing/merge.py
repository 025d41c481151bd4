"""The user's object for a merge: clauses one after the other, then ``execute()``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from paimonlab import write
from paimonlab.errors import ColumnNotFoundError, habits
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table import changing
from paimonlab.write.merge_clauses import Action, Clause, ClauseKind

if TYPE_CHECKING:
    from paimonlab.progress import Progress
    from paimonlab.table.changing.merging import RunningMerge
    from paimonlab.table.changing.statement import PlannedChange
    from paimonlab.table.definition import TableDefinition
    from paimonlab.table.store import TableStore


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What a merge did."""

    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    snapshot: Snapshot | None = field(repr=False)
    """None if no row was changed."""


def merge(
    definition: TableDefinition, store: TableStore, source: Any, on: str | Sequence[str]
) -> Merge:
    """Begin a merge; ``on`` is a condition, or the columns of both that are equal."""
    known = definition.schema.field_names
    if isinstance(on, str):
        names = [on] if on in known else []
    else:
        names = list(on)
        for name in names:
            if name not in known:
                raise ColumnNotFoundError(name, definition.name, known)
    if not isinstance(on, str) and not names:
        raise ValueError(f"{definition.name}: a merge needs a column that is equal in both")
    if names:
        quoted = ["`" + name.replace("`", "``") + "`" for name in names]
        on = " AND ".join(f"t.{name} = s.{name}" for name in quoted)
    assert isinstance(on, str), "columns became a condition"
    return Merge(definition, store, source, on)


@dataclass(frozen=True, slots=True)
class _When:
    rule: Clause
    values: Mapping[str, object] | None
    where: str | None


@dataclass(frozen=True, repr=False)
class Merge(habits.FamiliarNames, what="a merge", instead=habits.MERGE):
    """A merge of a source into a table; `Table.merge` begins it, `execute` runs it.

    The first clause of its kind whose condition is true decides about a row: only the last one
    may have no condition. Each method returns a merge with one more clause.
    """

    _definition: TableDefinition
    _store: TableStore
    _source: Any
    _on: str
    _clauses: tuple[_When, ...] = ()

    def __repr__(self) -> str:
        clauses = ", ".join(_said(when.rule) for when in self._clauses) or "no clause yet"
        return f"<paimonlab merge into {self._definition.name}, not executed: {clauses}>"

    @habits.arguments(habits.CLAUSE)
    def when_matched_update(
        self, values: Mapping[str, object] | None = None, *, where: str | None = None
    ) -> Self:
        """Give columns of rows that have a source row new values.

        Parameters
        ----------
        values
            By column: SQL text over ``t.column`` and ``s.column`` (``"t.amount + s.amount"``;
            a text needs its quotes: ``"'new'"``), any other value as it is. None: each column
            that the source has, from there.
        where
            SQL text; only rows for which it is true.
        """
        return self._with(ClauseKind.MATCHED, Action.UPDATE, values, where)

    @habits.arguments(habits.CONDITION)
    def when_matched_delete(self, *, where: str | None = None) -> Self:
        """Delete rows that have a source row; ``where`` as in `when_matched_update`."""
        return self._with(ClauseKind.MATCHED, Action.DELETE, None, where)

    @habits.arguments(habits.CLAUSE)
    def when_not_matched_insert(
        self, values: Mapping[str, object] | None = None, *, where: str | None = None
    ) -> Self:
        """Insert source rows that no row of the table belongs to.

        Parameters
        ----------
        values
            By column: SQL text over ``s.column``, any other value as it is; columns left out
            get their defaults, or null. None: each column that the source has, from there.
        where
            SQL text over ``s.column``; only source rows for which it is true.
        """
        return self._with(ClauseKind.NOT_MATCHED, Action.INSERT, values, where)

    @habits.arguments(habits.CLAUSE)
    def when_not_matched_by_source_update(
        self, values: Mapping[str, object], *, where: str | None = None
    ) -> Self:
        """Give columns of rows that have no source row new values, over ``t.column``."""
        return self._with(ClauseKind.NOT_MATCHED_BY_SOURCE, Action.UPDATE, values, where)

    @habits.arguments(habits.CONDITION)
    def when_not_matched_by_source_delete(self, *, where: str | None = None) -> Self:
        """Delete rows that have no source row; ``where`` is over ``t.column``."""
        return self._with(ClauseKind.NOT_MATCHED_BY_SOURCE, Action.DELETE, None, where)

    def execute(self, *, progress: Progress | None = None) -> MergeResult:
        """Run the merge in one commit; again from the start where others were faster.

        Parameters
        ----------
        progress
            Called with what is done, the total, and the unit: ``progress(3, 10, "files")``.

        Raises
        ------
        DataError
            If several source rows match one row, unless all of them delete it, a value does not
            fit its column, or an updated row would be older than the one that is there.
        ColumnNotFoundError, SchemaError
            If a text cannot be read, or a column of the primary key is given another value.
        UnsupportedError
            If an expression, or the merge engine, is not supported.
        FilesConflictError
            If others changed the same rows again and again.
        """
        running = self._running(progress)
        snapshot = running.run()
        counts = running.counts
        return MergeResult(counts.inserted, counts.updated, counts.deleted, snapshot)

    def planned(self) -> PlannedChange:
        """Count the rows and files that `execute` would change; nothing is written.

        Raises
        ------
        DataError, ColumnNotFoundError, SchemaError, UnsupportedError
            As `execute` does.
        """
        return self._running(None).planned()

    def _running(self, progress: Progress | None) -> RunningMerge:
        if not self._clauses:
            raise ValueError(
                f"{self._definition.name}: a merge needs a clause, such as when_matched_update()"
            )
        return changing.merge_binding.running_merge(
            self._definition,
            self._store,
            self._source_rows(),
            self._on,
            [(when.rule, when.values, when.where) for when in self._clauses],
            progress=progress,
        )

    def _with(
        self,
        kind: ClauseKind,
        action: Action,
        values: Mapping[str, object] | None,
        where: str | None,
    ) -> Self:
        before = [when for when in self._clauses if when.rule.kind is kind]
        if before and not before[-1].rule.has_condition:
            raise ValueError(
                f"{self._definition.name}: only the last {kind.value} may have no where, as it "
                "decides about all rows that are left"
            )
        if values is not None and not isinstance(values, Mapping):
            raise TypeError(
                f"{self._definition.name}: values is a dict, {{'column': 's.column'}}, or left out "
                f"for all columns of the source; got {values!r}"
            )
        for name in values or ():
            if name not in self._definition.schema.field_names:
                names = self._definition.schema.field_names
                raise ColumnNotFoundError(name, self._definition.name, names)
        when = _When(Clause(kind, action, has_condition=where is not None), values, where)
        return replace(self, _clauses=(*self._clauses, when))

    def _source_rows(self) -> pa.Table:
        if hasattr(self._source, "to_arrow") and hasattr(self._source, "plan"):  # a scan
            return self._source.to_arrow()
        schema = self._definition.schema
        given = write.frames.batches_of(
            self._source, schema.field_names, table=self._definition.name, fields=schema.fields
        )
        return write.conversion.with_types_of_tables(given.read_all())


def _said(rule: Clause) -> str:
    return f"{rule.kind.value} {rule.action.value}"
