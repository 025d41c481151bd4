"""Tables that a job writes to: rows that wait for their epoch, and the files they become."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table
from paimonlab.errors import DataError
from paimonlab.ingest.added_columns import AddedColumns
from paimonlab.ingest.changes import SourceSchema
from paimonlab.ingest.epochs import Stopped
from paimonlab.ingest.fitting import (
    BadRow,
    FittedRows,
    sorted_out,
    with_texts,
    with_values_in_deletes,
)
from paimonlab.ingest.letters import key_text
from paimonlab.ingest.log_order import in_log_order
from paimonlab.ingest.marking import kept, marked
from paimonlab.ingest.unchanged import filled, has_unchanged
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.schema.schema_changes import DropColumn, RenameColumn, SchemaChange
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.plans.write import write_plan
from paimonlab.table.table import Table
from paimonlab.table.writing.writers import Writer
from paimonlab.write.folders import delete_files


def moved(rows: FittedRows, change: RenameColumn | DropColumn) -> FittedRows:
    """Return rows as a table takes them after a column was renamed or dropped."""
    match change:
        case RenameColumn(old, new):
            return rows.renamed(old, new)
        case DropColumn(name):
            return rows.without(name)


class RefusedRowsError(Exception):
    """Some rows are not taken by a table; the others wait to be written again."""

    def __init__(self, bad: list[BadRow]) -> None:
        self.bad = bad
        super().__init__(f"{len(bad)} rows")


@dataclass(kw_only=True)
class Target:
    """A table of a job while the job runs."""

    name: str
    """``database.table``."""
    table: Table
    sources: list[str]
    """``database.table`` of the source."""
    has_own_key: bool = False
    added: AddedColumns = field(default_factory=AddedColumns)
    """What its rows have beside the columns of the source."""
    waiting: list[FittedRows] = field(default_factory=list)
    """Rows before the last boundary of the source."""
    open: list[FittedRows] = field(default_factory=list)
    """Rows after it."""
    writer: Writer | None = None
    """Has rows of a transaction that is too large to wait in memory."""
    written_rows: int = 0
    """Rows that it has."""
    stopped: Stopped | None = None
    skipped: int = 0
    rows: int = 0
    """Committed in this run."""
    snapshot_id: int | None = None
    replaces: bool = False
    """Whether the rows that wait are all that the table is to have."""
    accepted: set[SourceSchema] = field(default_factory=set)
    """Schemas of the source whose rows the table takes as it is now."""
    untold: Callable[[], Collection[str]] = tuple
    """Says of which keys rows were set aside whose values no later row told."""
    moved: list[RenameColumn | DropColumn] = field(default_factory=list)
    """How columns were renamed and dropped in this run, in order."""

    @property
    def has_rows(self) -> bool:
        """Whether rows wait for the next epoch."""
        return bool(self.waiting) or self.writer is not None or self.replaces

    @property
    def waiting_rows(self) -> int:
        """How many rows wait for the next epoch."""
        return self.written_rows + sum(rows.rows.num_rows for rows in self.waiting)

    @property
    def open_rows(self) -> int:
        """How many rows came after the last boundary."""
        return sum(rows.rows.num_rows for rows in self.open)

    def take(self, rows: FittedRows) -> tuple[int, list[BadRow]]:
        """Let rows wait that come after the last boundary, with what is added to them.

        Returns
        -------
        int
            How many bytes of them wait.
        list of BadRow
            Rows for which a column cannot be computed; they do not wait.
        """
        size_bytes, bad = 0, []
        for part in self.added.rows(rows, self.name):
            if isinstance(part, BadRow):
                # Rows that are not there yet may have come before it: those before are not known.
                place = len(self.open) if rows.changes.order is None else 0
                bad.append(replace(part, place=place))
            else:
                if mark := self.added.mark:
                    part = marked(part, mark, self.table.primary_keys)  # noqa: PLW2901
                self.open.append(part)
                size_bytes += part.size_bytes
        return size_bytes, bad

    def close(self) -> None:
        """Note that the source came to a boundary."""
        self.waiting += self._in_log_order()
        self.open.clear()

    def altered(self, table: Table, changes: Iterable[SchemaChange]) -> None:
        """Take another schema of the table; rows that wait get the new names of columns."""
        self.table = table
        self.accepted.clear()
        for change in changes:
            if isinstance(change, RenameColumn | DropColumn):
                self.moved.append(change)
                self.open = [moved(rows, change) for rows in self.open]

    def prepare(self, user: str, identifier: int) -> list[CommitMessage]:
        """Write the rows that wait, and describe their files.

        Raises
        ------
        RefusedRowsError
            If the table does not take some rows: these do not wait any more.
        """
        self.table.refresh()
        self._fill(self.waiting)
        with self._writing(user) as writer:
            for rows in self.waiting:
                writer.write(self._given(rows), row_kinds=rows.kind_column)
            messages = writer.prepare_commit(identifier)
        self.waiting.clear()
        self.writer, self.written_rows = None, 0
        return messages

    def spill(self, user: str) -> None:
        """Write rows that are after the last boundary: they take too much memory.

        Raises
        ------
        RefusedRowsError
            If the table does not take some rows: these do not wait any more.
        """
        if self.writer is None:
            self.table.refresh()
        self.open = self._in_log_order()
        self._fill(self.open)
        bad = self._sort_out(self.open)
        if bad:
            raise RefusedRowsError(bad)
        if self.writer is None:
            self.writer = self._new_writer(user)
        for rows in self.open:
            self.writer.write(self._given(rows), row_kinds=rows.kind_column)
            self.written_rows += rows.rows.num_rows
        self.open.clear()

    def _in_log_order(self) -> list[FittedRows]:
        fields = self.table.schema.fields
        return in_log_order(
            self.open, [field.name for field in fields if field.default_value is not None]
        )

    def abort(self) -> None:
        """Drop everything that is not committed."""
        self.waiting.clear()
        self.open.clear()
        if self.writer is not None:
            self.writer.abort()
        self.writer, self.written_rows, self.replaces = None, 0, False

    def drop(self, messages: Sequence[CommitMessage]) -> None:
        """Delete files that will not be committed."""
        definition, store = definition_of(self.table), store_of(self.table)
        delete_files(messages, write_plan(definition, store.layout), store.file_io)

    def _new_writer(self, user: str) -> Writer:
        return self.table.new_writer(user, replaces=self.replaces)

    def _fill(self, waiting: list[FittedRows]) -> None:
        """Give rows the values that the source did not tell since they did not change.

        Raises
        ------
        RefusedRowsError
            If there are none for some rows: these do not wait any more.
        """
        if not has_unchanged(waiting):
            return
        waiting[:], bad = filled(waiting, self.table.schema, self.name, self._looked_up)
        if bad:
            raise RefusedRowsError(bad)

    def _looked_up(self, keys: pa.Table, columns: list[str]) -> pa.Table:
        if self.writer is not None:
            raise DataError(
                f"{self.name}: a transaction larger than max_bytes leaves out values that did not "
                "change: give more memory, or let the source log whole rows"
            )
        if self.table.snapshot is None or self.replaces:
            return empty_table(pa.schema([self.table.arrow_schema.field(name) for name in columns]))
        if untold := self.untold():
            names = list(self.table.primary_keys)
            known = [key_text(row) not in untold for row in keys.select(names).to_pylist()]
            keys = keys.filter(arrow_array(known, pa.bool_()))
        return self.table.lookup(keys, columns=columns)

    def _given(self, rows: FittedRows) -> pa.RecordBatch:
        filled_rows = self._filled(rows)
        return kept(filled_rows) if self.added.mark else filled_rows.rows

    def _filled(self, rows: FittedRows) -> FittedRows:
        has_key = bool(self.table.primary_keys)
        if self.added.takes_texts:
            rows = with_texts(rows, self.table.schema)
        return with_values_in_deletes(rows, self.table.schema) if has_key else rows

    @contextmanager
    def _writing(self, user: str) -> Iterator[Writer]:
        """Give a writer; if it refuses rows, find out which.

        A writer that has taken rows of an open transaction cannot begin again, so it is given
        only rows that were looked at before.
        """
        if self.writer is not None and (bad := self._sort_out(self.waiting)):
            raise RefusedRowsError(bad)
        writer = self.writer or self._new_writer(user)
        try:
            yield writer
        except DataError as error:
            if self.writer is not None:
                raise
            writer.abort()
            bad = self._sort_out(self.waiting)
            if not bad:
                raise
            raise RefusedRowsError(bad) from error
        except BaseException:
            if self.writer is None:
                writer.abort()
            raise

    def _sort_out(self, waiting: list[FittedRows]) -> list[BadRow]:
        """Take rows that the table refuses out of those that wait."""
        bad: list[BadRow] = []
        good: list[FittedRows] = []
        for rows in waiting:
            for part in sorted_out(self._filled(rows), self.table.schema, self.name):
                if isinstance(part, BadRow):
                    bad.append(replace(part, place=len(good)))
                else:
                    good.append(part)
        waiting[:] = good
        return bad
