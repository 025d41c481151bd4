"""Rows gathered from messages, still JSON, and the columns they become.

A format reads the envelope of each message and says which objects in it are rows of which table.
Here the rows of one table become one batch, in columns.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Raw

from paimonlab.arrow_values import arrow_array
from paimonlab.ingest.changes import (
    KIND_TYPE,
    Event,
    RowChanges,
    SourceColumn,
    SourceSchema,
    SourceSchemaChange,
    Unreadable,
)
from paimonlab.ingest.formats.connect_types import ReadColumn
from paimonlab.ingest.formats.json_cells import Column, JsonText, NotObjectsError, columns_of
from paimonlab.ingest.formats.messages import Messages
from paimonlab.ingest.formats.text_values import read_or_errors, read_text
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.data_types import MAX_LENGTH, AtomicType, TypeRoot

Places = npt.NDArray[np.int64]

NULL = Raw(b"null")
"""Of members of a message that are null, or not there."""

STRING = AtomicType(TypeRoot.VARCHAR, length=MAX_LENGTH)

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = map(int, RowKind)
_UNKNOWN = -1
"""Of a time that a message does not give."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowsOf:
    """Which table rows are of, and what is known of its columns."""

    table: str
    """``database.table``."""
    columns: Mapping[str, ReadColumn] = field(default_factory=dict)
    """By name, in order; a key that is not listed is a STRING."""
    keys: tuple[str, ...] = ()
    """Columns of the primary key, if messages say so."""
    is_partial: bool = True
    """Whether there may be columns that are not listed."""
    old_prefix: str = ""
    """If not empty: keys that begin so hold the old value of an updated column."""
    placeholders: tuple[str, ...] = ()
    """Texts that stand for a value that the source did not tell."""


def _integers() -> array[int]:
    return array("q")


@dataclass(slots=True, eq=False)
class _Rows:
    of: RowsOf
    objects: list[JsonText] = field(default_factory=list)
    kinds: bytearray = field(default_factory=bytearray)
    places: array[int] = field(default_factory=_integers)
    """Which message each row is of."""
    millis: array[int] = field(default_factory=_integers)
    old_rows: list[int] = field(default_factory=list)
    """Rows that have other values in some columns."""
    old_objects: list[JsonText] = field(default_factory=list)
    """Those values."""


class Gathering:
    """Rows and events of one batch of messages, as a format finds them."""

    def __init__(self, messages: Messages) -> None:
        self._messages = messages
        self._parts: list[_Rows | Event] = []
        self._open: dict[str, _Rows] = {}
        self._errors: list[tuple[int, str, str | None]] = []
        self._refused = set[str]()

    def add(self, of: RowsOf, kind: int, row: JsonText, place: int, millis: int = _UNKNOWN) -> None:
        """Add a row.

        Parameters
        ----------
        of
            Rows of one table that are given the same object become one batch.
        kind
            Number of a `RowKind`.
        row
            A valid JSON object.
        place
            Number of the message.
        millis
            When the source changed it, epoch milliseconds.
        """
        rows = self._open.get(of.table)
        if rows is None or rows.of is not of:
            rows = self._begin(of)
        rows.objects.append(row)
        rows.kinds.append(kind)
        rows.places.append(place)
        rows.millis.append(millis)

    def rows_of(self, of: RowsOf) -> tuple[list[JsonText], bytearray, array[int], array[int]]:
        """Return where rows are added: objects, kinds, numbers of messages, times in milliseconds.

        For those who add very many: all four get one member for each row. They are good until
        something else is added.
        """
        rows = self._open.get(of.table)
        if rows is None or rows.of is not of:
            rows = self._begin(of)
        return rows.objects, rows.kinds, rows.places, rows.millis

    def add_old(self, of: RowsOf, row: JsonText, old: JsonText, place: int, millis: int) -> None:
        """Add the old row of an update of which only the values that changed are given."""
        self.add(of, UPDATE_BEFORE, row, place, millis)
        rows = self._open[of.table]
        rows.old_rows.append(len(rows.objects) - 1)
        rows.old_objects.append(old)

    def _begin(self, of: RowsOf) -> _Rows:
        rows = self._open[of.table] = _Rows(of)
        self._parts.append(rows)
        return rows

    def event(self, table: str, event: Event) -> None:
        """Add an event of a table after the rows that were added of it."""
        self._open.pop(table, None)
        self._parts.append(event)

    def refuse(self, table: str, problem: str, place: int) -> None:
        """Note that rows of a table have columns that cannot be read, from a message on."""
        if table in self._refused:
            return
        self._refused.add(table)
        change = SourceSchemaChange(
            table=table,
            before=None,
            after=SourceSchema(columns=(), refusal=problem),
            position=self._messages.position(place),
            reason="as messages say",
        )
        self.event(table, change)

    def unreadable(self, place: int, error: str, table: str | None = None) -> None:
        """Note that a message cannot be read."""
        self._errors.append((place, error, table))

    def events(self) -> Iterator[Event]:
        """Yield the rows as batches, the events, and last what cannot be read."""
        for part in self._parts:
            if isinstance(part, _Rows):
                yield from _Batch(part, self._messages, {}).events()
            else:
                yield part
        if self._errors:
            yield from self._all_unreadable()

    def _all_unreadable(self) -> Iterator[Unreadable]:
        for table in dict.fromkeys(table for _, _, table in self._errors):
            found = [(place, text) for place, text, mine in self._errors if mine == table]
            yield unreadable_messages(self._messages, found, table)


def events_of_columns(
    of: RowsOf,
    columns: dict[str, Column],
    places: list[int],
    messages: Messages,
    errors: dict[int, str],
) -> Iterator[Event]:
    """Yield inserted rows that are columns of texts already.

    Parameters
    ----------
    of
        Which table they are of.
    columns
        By name; each of shape (n,).
    places
        Number of the message of each row.
    messages
        Of one topic.
    errors
        What is wrong with messages that have no row here, by number.
    """
    count = len(places)
    unknown = array("q", [_UNKNOWN]) * count
    rows = _Rows(of, [b""] * count, bytearray(count), array("q", places), unknown)
    yield from _Batch(rows, messages, errors).events_of(columns)


class MessageError(Exception):
    """A message that is JSON, but not what its format says."""

    def __init__(self, problem: str, table: str | None = None) -> None:
        self.table = table
        super().__init__(problem)


class RefusedTableError(Exception):
    """Columns that cannot be read: the table of a message has no rows that could be taken."""

    def __init__(self, table: str, problem: str) -> None:
        self.table = table
        super().__init__(
            f"{table}: {problem}. Give the column's type in columns=, or leave the table out with "
            "excluding="
        )


DECODE_ERRORS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What decoders of JSON raise of a message: keys may be no UTF-8, objects too deep."""

Millis = Annotated[int, msgspec.Meta(ge=-(1 << 51), le=1 << 51)]
"""A time of a message: one that is beyond all calendars is no message of its format."""

Decoded = TypeVar("Decoded")


def gathered(
    messages: Messages,
    decode: Callable[[bytes], Decoded],
    add: Callable[[Gathering, Decoded, int], None],
    what: str,
) -> Iterator[Event]:
    """Read each message that is no tombstone, add its rows, and yield all events.

    Parameters
    ----------
    messages
        Of one topic.
    decode
        Reads one message.
    add
        Adds the rows of one message, of which it is given the number.
    what
        What a message should be, for errors.
    """
    found = Gathering(messages)
    for place, value in enumerate(messages.values):
        if value is None:
            continue
        try:
            add(found, decode(value), place)
        except DECODE_ERRORS as error:
            found.unreadable(place, f"not {what}: {error}")
        except MessageError as error:
            found.unreadable(place, str(error), error.table)
        except RefusedTableError as error:
            found.refuse(error.table, str(error), place)
    yield from found.events()


def unreadable_messages(
    messages: Messages, errors: list[tuple[int, str]], table: str | None
) -> Unreadable:
    """Say which messages of a table cannot be read, each by its number and what is wrong."""
    places = np.array([place for place, _ in errors], np.int64)
    return Unreadable(
        table=table,
        errors=arrow_array([text for _, text in errors], pa.string()),
        raw=arrow_array([messages.values[place] for place, _ in errors], pa.binary()),
        positions=messages.positions(places),
    )


class _Batch:
    """Rows of one table on their way to Arrow."""

    def __init__(self, rows: _Rows, messages: Messages, errors: dict[int, str]) -> None:
        self._rows = rows
        self._of = rows.of
        self._messages = messages
        self._kinds = np.frombuffer(rows.kinds, np.int8)
        self._places = np.frombuffer(rows.places, np.int64)
        self._errors = dict(errors)

    def events(self) -> Iterator[Event]:
        yield from self.events_of(self._columns())

    def events_of(self, columns: dict[str, Column]) -> Iterator[Event]:
        schema, arrays = self._typed(columns)
        if self._errors:
            yield from self._with_errors(schema, arrays)
        else:
            yield self._changes(schema, arrays, slice(None))

    def _columns(self) -> dict[str, Column]:
        rows = self._rows
        try:
            columns = columns_of(rows.objects)
            old = columns_of(rows.old_objects)
        except NotObjectsError:
            self._blank_out(rows.objects, rows.places)
            old_places = [rows.places[row] for row in rows.old_rows]
            self._blank_out(rows.old_objects, old_places)
            columns, old = columns_of(rows.objects), columns_of(rows.old_objects)
        if rows.old_rows:
            columns = _with_old(columns, old, np.array(rows.old_rows, np.int64), len(rows.objects))
        if self._of.old_prefix:
            columns = _without_prefix(columns, self._of.old_prefix, self._kinds)
        return self._told(columns)

    def _told(self, columns: dict[str, Column]) -> dict[str, Column]:
        """Put old values where an update does not tell one; without an old row it is an error."""
        if not self._of.placeholders:
            return columns
        told = b"".join(self._rows.objects)
        if not any(text.encode() in told for text in self._of.placeholders):
            return columns
        result = dict(columns)
        for name, column in columns.items():
            untold = np.isin(column.texts.to_numpy(zero_copy_only=False), self._of.placeholders)
            rows = np.flatnonzero(untold & column.is_string)
            has_old = (self._kinds[rows - 1] == UPDATE_BEFORE) & (rows > 0) & ~untold[rows - 1]
            has_old &= self._kinds[rows] == UPDATE_AFTER
            for row in rows[~has_old]:
                self._errors[int(self._places[row])] = (
                    f"column {name!r}: the source did not tell the value, which the update did not "
                    "change; use REPLICA IDENTITY FULL"
                )
            mended = rows[has_old]
            result[name] = _overlaid(column, column, mended, mended - 1, len(self._kinds))
        return result

    def _blank_out(self, objects: list[JsonText], places: Sequence[int]) -> None:
        """Take away what cannot be read; its messages have an error instead."""
        for row, text in enumerate(objects):
            try:
                columns_of([text])
            except NotObjectsError as error:
                self._errors[places[row]] = str(error)
                objects[row] = b"{}"

    def _typed(self, columns: dict[str, Column]) -> tuple[SourceSchema, list[pa.Array]]:
        count = len(self._rows.objects)
        known = self._of.columns
        if not known:
            self._find_empty(columns, count)
        names = dict.fromkeys([*known, *columns])
        found: list[SourceColumn] = []
        arrays: list[pa.Array] = []
        for name in names:
            plan = known.get(name)
            column = SourceColumn(name=name, type=STRING) if plan is None else plan.column
            found.append(column)
            given = columns.get(name)
            if given is None:
                arrays.append(None)
                continue
            values, errors = read_or_errors(read_text if plan is None else plan.read, given)
            for row, text in errors.items():
                self._errors.setdefault(int(self._places[row]), f"column {name!r}: {text}")
            arrays.append(values)
        schema = SourceSchema(
            columns=tuple(found),
            primary_keys=_keys_in(names, self._of.keys),
            is_partial=self._of.is_partial,
        )
        fields = schema.arrow_schema
        return schema, [
            pa.nulls(count, wanted.type) if values is None else values
            for values, wanted in zip(arrays, fields, strict=True)
        ]

    def _find_empty(self, columns: dict[str, Column], count: int) -> None:
        """Note objects without members: where no column is known, they are no rows."""
        is_empty = np.ones(count, np.bool_)
        for column in columns.values():
            if column.is_given is None:
                return
            is_empty &= ~column.is_given
        for row in np.flatnonzero(is_empty).tolist():
            self._errors.setdefault(int(self._places[row]), "an object without columns")

    def _changes(
        self, schema: SourceSchema, arrays: list[pa.Array], kept: slice | Places
    ) -> RowChanges:
        kinds, places = self._kinds[kept], self._places[kept]
        millis = np.frombuffer(self._rows.millis, np.int64)[kept]
        if not isinstance(kept, slice):
            wanted = arrow_array(kept, pa.int64())
            arrays = [values.take(wanted) for values in arrays]
        unknown = millis == _UNKNOWN
        changed = arrow_array(millis, pa.int64(), mask=unknown if unknown.any() else None)
        return RowChanges(
            table=self._of.table,
            rows=pa.RecordBatch.from_arrays(arrays, schema=schema.arrow_schema),
            kinds=arrow_array(kinds, KIND_TYPE) if kinds.any() else None,
            schema=schema,
            positions=self._messages.positions(places),
            metadata={
                **self._messages.metadata(places),
                "op_ts": changed.cast(pa.timestamp("ms", tz="UTC")),
            },
        )

    def _with_errors(self, schema: SourceSchema, arrays: list[pa.Array]) -> Iterator[Event]:
        """Leave out all rows of the messages that have an error."""
        bad = np.fromiter(self._errors, np.int64, len(self._errors))
        kept = np.flatnonzero(~np.isin(self._places, bad))
        if len(kept):
            yield self._changes(schema, arrays, kept)
        yield unreadable_messages(self._messages, sorted(self._errors.items()), self._of.table)


def _keys_in(names: Collection[str], keys: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a primary key, also if messages write it in another case.

    None if some are not there: part of a key would take different rows for one.
    """
    found = []
    for key in keys:
        alike = [name for name in names if name.lower() == key.lower()]
        if key in names:
            found.append(key)
        elif len(alike) == 1:
            found.append(alike[0])
        else:
            return ()
    return tuple(found)


def _with_old(
    columns: dict[str, Column], old: dict[str, Column], rows: Places, count: int
) -> dict[str, Column]:
    """Put old values in the place of new ones in some rows, where they are given."""
    result = dict(columns)
    for name, column in old.items():
        given = np.arange(len(rows)) if column.is_given is None else np.flatnonzero(column.is_given)
        new = columns.get(name)
        if new is None:
            nothing = np.zeros(count, np.bool_)
            new = Column(pa.nulls(count, pa.string()), nothing, nothing)
        result[name] = _overlaid(new, column, rows[given], given, count)
    return result


def _overlaid(new: Column, old: Column, rows: Places, given: Places, count: int) -> Column:
    wanted = np.arange(count)
    wanted[rows] = count + given
    texts = pa.concat_arrays([new.texts, old.texts]).take(arrow_array(wanted, pa.int64()))
    is_string = np.concatenate([new.is_string, old.is_string])[wanted]
    is_given = new.is_given
    if is_given is not None:
        is_given = is_given.copy()
        is_given[rows] = True
    return Column(texts, is_string, is_given)


def _without_prefix(
    columns: dict[str, Column], prefix: str, kinds: npt.NDArray[np.int8]
) -> dict[str, Column]:
    """Move old values, which are beside the new ones under a prefix, to the rows before an update.

    Only where a column of the name without the prefix is in the same row, and only in updates: a
    column whose own name begins so keeps its values.
    """
    is_update = (kinds == UPDATE_BEFORE) | (kinds == UPDATE_AFTER)
    result = dict(columns)
    for name, column in columns.items():
        new = columns.get(name.removeprefix(prefix))
        if not name.startswith(prefix) or new is None:
            continue
        every = np.ones(len(kinds), np.bool_)
        is_given = every if column.is_given is None else column.is_given
        moved = is_given & is_update & (every if new.is_given is None else new.is_given)
        rows = np.flatnonzero(moved & (kinds == UPDATE_BEFORE))
        base = result[name.removeprefix(prefix)]
        result[name.removeprefix(prefix)] = _overlaid(base, column, rows, rows, len(kinds))
        left = is_given & ~moved
        if left.any():
            blank = arrow_array(np.arange(len(kinds)), pa.int64(), mask=~left)
            result[name] = Column(column.texts.take(blank), column.is_string & left, left)
        else:
            del result[name]
    return result
