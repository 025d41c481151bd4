"""What every source yields: rows with their kinds, changes of schemas, and where it may go on.

A source is an ordered log of events. `RowChanges` are columns, not rows: an Arrow batch of one
source table with the kind of each row. A `Boundary` says that what came before it is whole (no
transaction is half read), and from which position the source can be read again. Nothing here reads
or writes anything.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Protocol, TypeAlias, runtime_checkable

import pyarrow as pa

from paimonlab.arrow_values import arrow_scalar
from paimonlab.errors import DataError
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField, DataType
from paimonlab.spec.types.text import UNASSIGNED_ID, format_type

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What JSON can say. Positions are such values, so that every source keeps them in one state."""

KIND_TYPE = pa.int8()
"""Arrow type of the kinds of rows: the numbers of `RowKind`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceColumn:
    """A column of a table of a source."""

    name: str
    """As the source spells it."""
    type: DataType
    """The type of Paimon that holds each value, and whether it may be null."""
    source_type: str | None = None
    """As the source writes it (``bigint(20) unsigned``): the reason shown in a plan."""
    comment: str | None = None
    """None: the source has none, or does not say."""
    default_value: str | None = None
    """Of rows that do not give the column, as Paimon writes defaults; None: none, or unknown."""
    number: int | None = None
    """By which the source knows it, if names do not tell: a column that is dropped and added again
    has another one. None: the source has no numbers."""

    def __str__(self) -> str:
        """Name and type, as Paimon writes them."""
        return f"{self.name} {format_type(self.type)}"


@dataclass(frozen=True, kw_only=True)
class SourceSchema:
    """The columns of a table of a source at one moment."""

    columns: tuple[SourceColumn, ...]
    """In the source's order; no name twice."""
    primary_keys: tuple[str, ...] = ()
    """Columns whose values name a row; () if there is none, or it is unknown."""
    partition_keys: tuple[str, ...] = ()
    """Columns that partition the source itself, if it knows such a thing."""
    comment: str | None = None
    """Of the table."""
    is_partial: bool = False
    """Whether only columns are listed that were seen (JSON without schema): one that is not listed
    was not dropped, and a narrower type says nothing."""
    is_unordered: bool = False
    """Whether rows with an older schema may come after rows with a newer one, as from several
    partitions: what was not seen to be added may have been dropped, or comes from before."""
    refusal: str | None = None
    """Why rows of the table cannot be read, and what to do; columns may then be missing, and no
    rows of this schema come. None: they can."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def arrow_schema(self) -> pa.Schema:
        """The columns in Arrow, as `paimonlab.spec.types.arrow` maps them."""
        return arrow_schema(
            DataField(UNASSIGNED_ID, column.name, column.type) for column in self.columns
        )

    def column(self, name: str) -> SourceColumn | None:
        """Return the column of that name; None if there is none."""
        return next((column for column in self.columns if column.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowChanges:
    """Rows of one source table, in the order of its log.

    An update is ``-U`` with the old and directly after it ``+U`` with the new values, or ``+U``
    alone where the old values are unknown: then the row of that key is replaced, and its key has
    not changed. A delete is ``-D`` with at least the values of the key; other columns may be null.
    """

    table: str
    """``database.table`` as the source spells it; split at the first dot."""
    rows: pa.RecordBatch = field(repr=False)
    """Shape (n, columns of the schema): names, order and types are those of
    ``schema.arrow_schema``; nulls where the source has none. Columns may not be missing."""
    kinds: pa.Array | None = field(default=None, repr=False)
    """int8 of shape (n,), without nulls: the number of each row's `RowKind`. None: all ``+I``."""
    schema: SourceSchema = field(repr=False)
    """Of these rows. Rows of another schema are another batch; the first batch of a new schema
    changes the table, also without a `SourceSchemaChange` before it."""
    positions: pa.Array | None = field(default=None, repr=False)
    """Shape (n,), any type: where each row is in the source, for messages and dead letters. None:
    only the next `Boundary` is known."""
    order: pa.Array | None = field(default=None, repr=False)
    """int64 of shape (n,), never falling: numbers that say which rows of other batches came between
    these in the log, where a source gathers rows of several tables. No two batches have the same
    number; a batch without it, perhaps without rows, comes after those that belong together.
    None: all rows of batches before came earlier. Not with ``unchanged``."""
    metadata: Mapping[str, pa.Array] = field(default_factory=dict, repr=False)
    """What the source knows of each row beside its values, by name (``op_ts``, ``topic``), each of
    shape (n,), of the types of `MetadataSource.metadata_types`."""
    unchanged: Mapping[str, pa.Array] = field(default_factory=dict, repr=False)
    """By column: bool of shape (n,), true where the source does not tell the value since it did not
    change. The row then has null, and gets the value that the row of its key had before. Where an
    update changes the key, it is ``-D`` of the old and directly after it ``+I`` of the new key, and
    both are marked."""

    def __post_init__(self) -> None:
        count = self.rows.num_rows
        if self.rows.schema.names != list(self.schema.names):
            raise DataError(
                f"{self.table}: a source gave columns {self.rows.schema.names}, its schema says "
                f"{list(self.schema.names)}"
            )
        if self.rows.schema.types != self.schema.arrow_schema.types:
            wrong = next(
                f"{given.name!r} as {given.type}, its schema says {wanted.type}"
                for given, wanted in zip(self.rows.schema, self.schema.arrow_schema, strict=True)
                if given.type != wanted.type
            )
            raise DataError(f"{self.table}: a source gave column {wrong}")
        if self.kinds is not None and self.kinds.type != KIND_TYPE:
            raise DataError(f"{self.table}: kinds of rows are {self.kinds.type}, not int8")
        if self.order is not None and (self.unchanged or self.order.type != pa.int64()):
            raise DataError(
                f"{self.table}: the order of rows is int64, and not told of rows with values that "
                "did not change"
            )
        beside = {
            "kinds": self.kinds,
            "positions": self.positions,
            "order": self.order,
            **self.metadata,
            **self.unchanged,
        }
        for name, column in beside.items():
            if column is not None and len(column) != count:
                raise DataError(
                    f"{self.table}: a source gave {count} rows, but {len(column)} {name}"
                )

    @property
    def size_bytes(self) -> int:
        """Memory that the rows take, and what is known of each."""
        beside = [self.kinds, self.positions, self.order, *self.metadata.values()]
        return self.rows.nbytes + sum(column.nbytes for column in beside if column is not None)

    @property
    def is_insert_only(self) -> bool:
        """Whether it is known without a look that all rows are ``+I``."""
        return self.kinds is None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSchemaChange:
    """A table of the source was created, altered or dropped, after what came before."""

    table: str
    """``database.table``."""
    before: SourceSchema | None = field(repr=False)
    """None: the table is new, or the source does not know what it was."""
    after: SourceSchema | None = field(repr=False)
    """None: the table was dropped."""
    position: JsonValue
    """Where the source says so."""
    reason: str
    """The statement, or what showed it (``relation message``); one line, for the log."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Old to new names of columns that the source says were renamed. A rename that is not listed
    is a dropped and an added column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncated:
    """All rows of a table of the source were deleted at once."""

    table: str
    position: JsonValue
    reason: str
    """The statement."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unreadable:
    """What cannot become rows: broken records and values out of range; all arrays of shape (n,)."""

    table: str | None
    """``database.table``; None: not even that is known."""
    errors: pa.Array = field(repr=False)
    """string without nulls: what is wrong with each, and in which column."""
    raw: pa.Array = field(repr=False)
    """binary: each as it arrived; null if it has no such form. Who stores it keeps the first MB."""
    rows: pa.Array | None = field(default=None, repr=False)
    """string: what was readable, as JSON; null where nothing was. None: nothing was."""
    kinds: pa.Array | None = field(default=None, repr=False)
    """int8, as in `RowChanges`; null or None: unknown."""
    positions: pa.Array | None = field(default=None, repr=False)
    """As in `RowChanges`."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.errors)


class Phase(Enum):
    """What a source is doing."""

    SNAPSHOT = "snapshot"
    """It reads the rows that tables have."""
    STREAM = "stream"
    """It reads changes, and there are more at once."""
    CAUGHT_UP = "caught up"
    """It has read all changes there were when it looked."""
    ENDED = "ended"
    """Nothing will ever come again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """All that came before is whole: an epoch may end here, and the source go on from here.

    A source yields one after each transaction (or each few), and at least once a second when there
    is nothing to read: who reads it must be able to stop.
    """

    position: JsonValue
    """`Source.read` goes on after it; equal values mean the same place."""
    phase: Phase
    seen_millis: int | None = None
    """When the source made the newest change before it, epoch milliseconds; None: unknown."""
    behind: int | None = None
    """How much is still to be read, in ``behind_unit``; None: unknown."""
    behind_unit: str = "changes"
    """``bytes``, ``messages``, ``files`` …"""
    is_whole: bool = True
    """Whether no transaction is open. False: of a transaction larger than a source keeps in memory
    a part was read, and the position is in its midst."""
    warnings: tuple[str, ...] = ()
    """What is wrong at the source and does not stop it, each told once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """Nothing came for some seconds: what is waited for, told each second until something comes.

    It may come anywhere, also in the midst of a table or a transaction, and changes nothing.
    """

    what: str
    """In one line: ``rows of public.t, for 7 s: process 71 of app locks it``."""
    is_lost: bool = False
    """Whether the connection is lost and made again; the job has an event of it."""


Event: TypeAlias = RowChanges | SourceSchemaChange | Truncated | Unreadable | Boundary | Waits
"""What a source yields, in the order of its log."""


class Source(Protocol):
    """Where changes come from. Anyone may write one; `paimonlab.ingest` calls it from one thread.

    An object is made without contact to the other system; `tables` and `read` make it. Positions
    are the job's to keep: a source stores nothing.
    """

    @property
    def name(self) -> str:
        """Say what it is in one line without passwords: ``mysql 127.0.0.1:3306``."""
        ...

    def tables(self) -> Mapping[str, SourceSchema]:
        """Return the tables that can be read, by ``database.table``; may be empty.

        Their schemas are those of the rows that come first when reading starts without a position.

        Raises
        ------
        PaimonError
            If the other system cannot be reached, refuses, or lacks a setting; says what to do.
        """
        ...

    def read(self, position: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield what comes after a position, without end unless nothing will ever come again.

        Each batch is bounded in bytes by the source. The iterator never waits longer than a second
        without yielding; closing it (``close()`` of a generator) releases what it has open. It may
        be called again, after the one before was closed.

        Parameters
        ----------
        position
            Of a `Boundary` of this source, or None: from the start, as the source was set up.
        wanted
            Says of ``database.table`` whether it is read; tables that appear later are asked for
            when they do. What is not wanted must not be yielded.

        Raises
        ------
        PaimonError
            If what comes after the position is not there any more, or the other system fails.
        """
        ...

    def acknowledge(self, position: JsonValue) -> None:
        """Take note that all up to a position is committed and will never be asked for again.

        Called between events of `read` and after its end; may do nothing.
        """
        ...

    def close(self) -> None:
        """Release everything; called once, also after errors."""
        ...


@runtime_checkable
class MetadataSource(Protocol):
    """A source that also says what it knows of rows beside their values."""

    @property
    def metadata_types(self) -> Mapping[str, DataType]:
        """Return the types of what `RowChanges.metadata` may have, by name; without contact.

        Columns of these names can be stored (``metadata=`` of jobs). What a batch does not have
        is null.
        """
        ...


@runtime_checkable
class MappingSource(Protocol):
    """A source that was also told what tables take: words of ``type_mapping`` for tables."""

    @property
    def table_mapping(self) -> frozenset[str]:
        """Return those words, of `paimonlab.ingest.type_words.OF_TABLES`; without contact."""
        ...


@runtime_checkable
class RepeatingSource(Protocol):
    """A source of which rows may come twice: as they were read, and by a change meanwhile."""

    @property
    def may_repeat(self) -> bool:
        """Whether they may; then only tables take them in which the later row counts."""
        ...


@runtime_checkable
class SizedSource(Protocol):
    """A source that knows about how many rows its tables have, for progress."""

    def estimated_rows(self, wanted: Callable[[str], bool]) -> int | None:
        """Return about how many rows the wanted tables have together; None: it is unknown.

        Asked for before the rows are read that tables have.

        Raises
        ------
        PaimonError
            If the other system fails.
        """
        ...


@runtime_checkable
class RereadableSource(Protocol):
    """A source that can read the rows of some tables anew, while it follows the others."""

    def before_rows(self, position: JsonValue, tables: Collection[str]) -> JsonValue:
        """Return a position from which all rows of some tables come again, then their changes.

        Everything else comes from there as it does from the position that is given. The rows come
        with boundaries of `Phase.SNAPSHOT`; the boundary after the last of them has another phase,
        and no row of another kind comes before it. Of a `PartitionedSource`, `newest` of that
        position is the one after those rows, whatever it is asked, and `parts` between the two have
        those rows and nothing else.

        Parameters
        ----------
        position
            Of a `Boundary` of this source.
        tables
            ``database.table`` of the source; also tables whose rows were never read.

        Raises
        ------
        PaimonError
            If the source was set up in a way that does not allow it, or the other system fails.
        """
        ...


@runtime_checkable
class SampledSource(Protocol):
    """A source that says whether `Source.tables` has all its tables; others do."""

    @property
    def lists_all_tables(self) -> bool:
        """Whether it has; else it has those that the source came upon so far."""
        ...


@runtime_checkable
class PartitionedSource(Protocol):
    """A source whose log has parts that several processes read at the same time.

    It can be pickled. Rows of one key are in one part, or their order does not matter.
    """

    def beginning(self) -> JsonValue:
        """Return the position at which reading begins without one, as the source was set up."""
        ...

    def newest(
        self, position: JsonValue, *, most: int | None = None, until: JsonValue = None
    ) -> JsonValue:
        """Return a position up to which all is there to be read.

        Parameters
        ----------
        position
            Where reading goes on.
        most
            About how many changes there may be in between; None: as many as there are.
        until
            A position that is not passed; None: there is none.

        Raises
        ------
        PaimonError
            If what comes after the position is not there any more, or the other system fails.
        """
        ...

    def parts(self, begin: JsonValue, end: JsonValue) -> Sequence[JsonValue]:
        """Return what is between two positions, as parts; none if they are equal."""
        ...

    def read_part(self, part: JsonValue, wanted: Callable[[str], bool]) -> Iterator[Event]:
        """Yield the rows and events of a part, the same ones each time.

        The only `Boundary` is the last event; its position says nothing.
        """
        ...


@runtime_checkable
class WideningSource(Protocol):
    """A source that can be told of more tables after it was made."""

    def include(self, pattern: str) -> None:
        """Offer tables, too, whose whole ``database.table`` matches a regular expression.

        It may be told the same once more.
        """
        ...


@runtime_checkable
class RemindedSource(Protocol):
    """A source whose log tells what becomes of columns, not which there were before."""

    def remind(self, schemas: Mapping[str, SourceSchema]) -> None:
        """Take the schemas that tables have where reading goes on, before each `read`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Something that a source has at the other system for its job, which keeps data there."""

    what: str
    """``replication slot lake``."""
    where: str
    """The system, without passwords."""
    by_hand: str
    """The statement that deletes it."""


@runtime_checkable
class HoldingSource(Protocol):
    """A source that has something at the other system, which is to go with the job."""

    @property
    def address(self) -> Mapping[str, JsonValue]:
        """Return words from which it can be made again: those of a source in a file of a job.

        Passwords are named, not told. They are kept in the notes of the job; without any only a
        job that has its source can delete what this one holds.
        """
        ...

    def holds(self) -> Sequence[Held]:
        """Return what it has there, or will have; without contact."""
        ...

    def held(self) -> Sequence[Held]:
        """Return what of that is there.

        Raises
        ------
        PaimonError
            If the other system fails.
        """
        ...

    def drop(self) -> Mapping[str, str]:
        """Delete it; what is gone already is no error.

        Returns
        -------
        Mapping
            What is still there, by `Held.what`, and why: rights are missing.

        Raises
        ------
        PaimonError
            If the other system fails, or something is in use.
        """
        ...


def no_rows(table: str, schema: SourceSchema) -> RowChanges:
    """Return a batch without rows, for when nothing else can be said: no boundary may come."""
    fields = schema.arrow_schema
    arrays = [pa.nulls(0, field.type) for field in fields]
    return RowChanges(
        table=table, rows=pa.RecordBatch.from_arrays(arrays, schema=fields), schema=schema
    )


def kinds_of(kind: RowKind, count: int) -> pa.Array:
    """Make the kinds of rows that are all of one kind.

    Examples
    --------
    >>> kinds_of(RowKind.DELETE, 2).to_pylist()
    [3, 3]
    """
    return pa.repeat(arrow_scalar(int(kind), KIND_TYPE), count)
