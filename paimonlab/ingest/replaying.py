"""Rows that were set aside and are put in later, mended, unless their keys changed since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import time
from typing import Any

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.catalog import Catalog
from paimonlab.errors import DataError
from paimonlab.ingest import dead_letters
from paimonlab.ingest.changes import KIND_TYPE, RowChanges, SourceSchema
from paimonlab.ingest.fitting import BadRow, FittedRows, fitted, sorted_out
from paimonlab.ingest.job_tables import JobTables
from paimonlab.ingest.letters import Letter, digest_of
from paimonlab.ingest.targets import Target
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.arrow import to_arrow

_SHOWN_ERRORS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A row that could not be stored, as it is in the table of dead letters."""

    source_table: str
    """``database.table`` of the source."""
    position: str | None
    """Where it is in the source, as JSON."""
    kind: str
    """``+I``, ``-U``, ``+U`` or ``-D``."""
    error: str
    row: Mapping[str, Any] | None
    """Values by column, as JSON has them; None: the record could not be read."""
    raw: bytes | None = field(repr=False)
    """The first MB of it as it arrived; None: it has no such form."""


Mend = Callable[[DeadLetter], Mapping[str, Any] | None]
"""Returns the values that a row should have, or None: it is left aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What became of rows that had been set aside."""

    rows: int
    """Put in."""
    changed: int
    """Left aside: their keys changed since, or may have."""
    bad: int
    """Left aside: they still cannot be stored, or were not mended."""
    errors: tuple[str, ...] = ()
    """Of the first of those."""

    def __str__(self) -> str:
        """Say it in one line."""
        first = f": {self.errors[0]}" if self.errors else ""
        return (
            f"{self.rows:,} rows put in, {self.changed:,} left aside as their keys changed since, "
            f"{self.bad:,} that cannot be stored{first}"
        )


@dataclass(kw_only=True)
class Replay:
    """Lets mended rows wait for the next epoch of a job."""

    job: str
    catalog: Catalog
    tables: JobTables
    mend: Mend | None = None
    ids: list[str] = field(default_factory=list)
    """Of the rows that wait."""
    _changed: int = 0
    _bad: int = 0
    _errors: list[str] = field(default_factory=list)

    def run(self) -> Replayed:
        """Look at all rows that are aside, oldest first, and let those wait that can be stored."""
        for letter, dead in self._letters():
            if letter.is_changed:
                self._changed += 1
                continue
            try:
                self._take(letter, dead)
            except (DataError, pa.ArrowException, ValueError, TypeError) as error:
                self._refuse(dead, str(error))
        return Replayed(
            rows=len(self.ids),
            changed=self._changed,
            bad=self._bad,
            errors=tuple(self._errors),
        )

    def _letters(self) -> Iterator[tuple[Letter, DeadLetter]]:
        """Yield what is aside, and was not put in before."""
        name = dead_letters.table_of(self.tables.rules.into, self.job)
        if not self.catalog.has_table(name):
            return
        rows = self.catalog.table(name).scan().to_arrow().sort_by("ts").to_pylist()
        known = {letter.id: letter for letter in self.tables.letters.known}
        seen: Counter[str] = Counter()
        for row in rows:
            digest = digest_of(row)
            letter = known.get(f"{digest}.{seen[digest]}")
            seen[digest] += 1
            if letter is None:  # it is not known what came after it
                self._changed += 1
            elif not letter.is_replayed:
                yield letter, _letter_of(row)

    def _take(self, letter: Letter, dead: DeadLetter) -> None:
        target = self.tables.targets.get(letter.target)
        if target is None or target.stopped is not None:
            self._refuse(dead, f"{letter.target} takes no rows")
            return
        values = dead.row if self.mend is None else self.mend(dead)
        if values is None:
            self._refuse(dead, "it could not be read, or was not mended")
            return
        schema = self.tables.schema_of(dead.source_table)
        if schema is None:
            self._refuse(dead, f"{dead.source_table} is not known")
            return
        start = len(target.open)
        _, bad = target.take(fitted(_changes(dead, values, schema, target)))
        bad = [*bad, *_refused(target.open[start:], target)]
        if bad:
            del target.open[start:]
            self._refuse(dead, bad[0].error)
        else:
            self.ids.append(letter.id)

    def _refuse(self, dead: DeadLetter, problem: str) -> None:
        self._bad += 1
        if len(self._errors) < _SHOWN_ERRORS:
            self._errors.append(f"{dead.source_table}: {problem}")


def _letter_of(row: Mapping[str, Any]) -> DeadLetter:
    values = None if row["row"] is None else msgspec.json.decode(row["row"])
    return DeadLetter(
        source_table=row["source_table"] or "",
        position=row["position"],
        kind=row["kind"] or SYMBOLS[0],
        error=row["error"],
        row=values if isinstance(values, dict) else None,
        raw=row["raw"],
    )


def _refused(parts: Sequence[FittedRows], target: Target) -> list[BadRow]:
    """Return the rows that the table does not take."""
    return [
        one
        for rows in parts
        for one in sorted_out(rows, target.table.schema, target.name)
        if isinstance(one, BadRow)
    ]


def _changes(
    dead: DeadLetter, values: Mapping[str, Any], schema: SourceSchema, target: Target
) -> RowChanges:
    """Make one row of a source of what JSON says of it."""
    added = {*(column.name for column in target.added.computed)}
    metadata = {column.name: column for column in target.added.metadata}
    unknown = [name for name in values if name not in {*schema.names, *added, *metadata}]
    if unknown:
        raise DataError(f"it has column {unknown[0]!r}, which the source has not")
    fields = schema.arrow_schema
    columns = [_array(values.get(field.name), field.type) for field in fields]
    return RowChanges(
        table=dead.source_table,
        rows=pa.RecordBatch.from_arrays(columns, schema=fields),
        kinds=arrow_array([SYMBOLS.index(dead.kind)], pa.int64()).cast(KIND_TYPE),
        schema=schema,
        positions=arrow_array([dead.position], pa.string()),
        metadata={
            column.of: _array(values.get(name), to_arrow(column.type))
            for name, column in metadata.items()
            if name in values
        },
    )


def _array(value: Any, kind: pa.DataType) -> pa.Array:
    """Make an array of one value that JSON has, or Python."""
    if isinstance(value, str) and not pa.types.is_string(kind):
        if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
            return pa.array([bytes.fromhex(value)], kind)
        if pa.types.is_time(kind):
            return pa.array([time.fromisoformat(value)], kind)
        if not pa.types.is_nested(kind):
            return arrow_array([value], pa.string()).cast(kind)
    return pa.array([value], kind)
