"""How a table follows the schema of its source: a pure function from schemas to changes.

Rows of one schema are written before rows of the next, so a change can be applied where it stands
in the log. What cannot be followed stops the table, never the rows of others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise
from typing import TypeAlias

from paimonlab.errors import SchemaError
from paimonlab.ingest.changes import SourceColumn, SourceSchema
from paimonlab.ingest.type_words import DECIMALS_STAY, TO_TEXTS
from paimonlab.ingest.wider_types import wider_type
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    RenameColumn,
    SchemaChange,
    UpdateColumnComment,
    UpdateColumnDefault,
    UpdateColumnNullability,
    UpdateColumnType,
    UpdateComment,
    apply_changes,
)
from paimonlab.spec.types.casting import is_wider
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    is_text,
    with_nullable,
)
from paimonlab.spec.types.text import format_type

_FILLED_UP = re.compile(r"(?i)(bit|binary)\((\d+)\)")
"""Types of sources whose values have the length of the type, and change with it."""


class Evolve(Enum):
    """How far a table follows its source."""

    LENIENT = "lenient"
    """It gains columns and wider types. Columns that the source drops or renames are kept, and are
    null in new rows."""
    EXACT = "exact"
    """It also drops and renames columns as the source does."""
    STRICT = "strict"
    """It gains nullable columns and comments; any other change stops it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolution:
    """What a table does about a schema of its source."""

    changes: tuple[SchemaChange, ...] = ()
    """For `Catalog.alter_table`, in order."""
    notes: tuple[str, ...] = ()
    """What the table does not follow, or what differs from the source from here on."""
    refusal: str | None = None
    """Why the table cannot go on, naming columns and types. None: it can."""


class _RefusedError(Exception):
    """Ends the decision."""


def evolution(
    table: TableSchema,
    before: SourceSchema | None,
    after: SourceSchema,
    *,
    mode: Evolve = Evolve.LENIENT,
    renamed: Mapping[str, str] | None = None,
    is_shared: bool = False,
    has_own_key: bool = False,
    mapping: Collection[str] = (),
) -> Evolution:
    """Decide what a table does about the schema that its source has from here on.

    Changes that were made already are not made again, so the same step of the log may come twice.

    Parameters
    ----------
    table
        The schema of the table now.
    before
        That of the source until here; None: unknown, as at the start of a job.
    after
        That of the source from here on.
    mode
        How far the table follows.
    renamed
        Old to new names of columns of which the source says that they were renamed.
    is_shared
        Whether other tables of the source become the same table: then a column that this one
        drops is kept.
    has_own_key
        Whether the table's key was chosen for it, so that the key of the source does not matter.
    mapping
        Words of ``type_mapping`` for tables.

    Examples
    --------
    >>> from paimonlab.spec.schema.definition import Schema, new_table_schema
    >>> from paimonlab.spec.types.text import parse_type
    >>> table = new_table_schema(Schema({"id": "INT"}), time_millis=0)
    >>> after = SourceSchema(columns=(SourceColumn(name="id", type=parse_type("BIGINT")),))
    >>> evolution(table, None, after).changes
    (UpdateColumnType(name='id', type=AtomicType(root=<TypeRoot.BIGINT: 'BIGINT'>, nullable=True, \
length=None, precision=None, scale=None)),)
    """
    step = _Step(
        table=table,
        before=before,
        after=after,
        mode=mode,
        renamed=dict(renamed or {}),
        is_shared=is_shared,
        has_own_key=has_own_key,
        mapping=mapping,
    )
    try:
        step.decide()
        changes = _that_change(table, step.changes)
    except _RefusedError as refusal:
        return Evolution(refusal=str(refusal))
    except SchemaError as error:
        return Evolution(refusal=str(error))
    return Evolution(changes=changes, notes=tuple(step.notes))


def _that_change(table: TableSchema, changes: list[SchemaChange]) -> tuple[SchemaChange, ...]:
    """Return the changes after checking that the format allows them.

    Raises
    ------
    SchemaError
        If it does not.
    """
    if changes:
        apply_changes(table, changes, has_snapshots=True, time_millis=table.time_millis)
    return tuple(changes)


def _paths(renamed: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield names that columns get one from the other; those that change places are none.

    Examples
    --------
    >>> list(_paths({"a": "b", "b": "c", "x": "y", "m": "n", "n": "m"}))
    [['a', 'b', 'c'], ['x', 'y']]
    """
    for first in renamed:
        if first not in renamed.values():
            path = [first]
            while path[-1] in renamed:
                path.append(renamed[path[-1]])
            yield path


Path: TypeAlias = str
"""The name of a column, parts of nested ones with dots."""


@dataclass(kw_only=True)
class _Step:
    table: TableSchema
    before: SourceSchema | None
    after: SourceSchema
    mode: Evolve
    renamed: dict[str, str]
    is_shared: bool
    has_own_key: bool
    mapping: Collection[str]
    changes: list[SchemaChange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def decide(self) -> None:
        fields = {field.name: field for field in self.table.fields}
        self._check_key()
        self._check_numbers()
        fields = self._rename(fields)
        for column in self.after.columns:
            there = fields.pop(column.name, None)
            if there is None:
                self._add(column)
            else:
                self._retype(column, there)
        if not self.after.is_partial:
            for there in fields.values():
                if self.after.is_unordered:
                    self._lack(there)
                else:
                    self._drop(there)
        self._comment_table()

    def _check_key(self) -> None:
        """Refuse another key: rows of old and new keys would stand side by side."""
        before, after = self.before, self.after
        if self.has_own_key or before is None or after.is_partial or before.is_partial:
            return
        old = before.primary_keys
        if self.mode is Evolve.EXACT:
            old = tuple(self.renamed.get(name, name) for name in old)
        if old != after.primary_keys:
            raise _RefusedError(
                f"the primary key of the source changed from {_names(before.primary_keys)} to "
                f"{_names(after.primary_keys)}"
            )

    def _check_numbers(self) -> None:
        """Refuse a column that is another one than that of its name before."""
        for column in self.after.columns if self.before is not None else ():
            old = self.before and self.before.column(column.name)
            if not old or None in (old.number, column.number) or old.number == column.number:
                continue
            problem = (
                f"column {column.name!r} is another one in the source than before: it was dropped "
                "and added again, and in which rows is not told"
            )
            if self.mode is not Evolve.LENIENT and not self.is_shared:
                raise _RefusedError(problem)
            self.notes.append(f"{problem}; rows from before keep their values here")

    def _rename(self, fields: dict[str, DataField]) -> dict[str, DataField]:
        """Rename columns in place of the table's, if it follows that far."""
        follows = self.mode is Evolve.EXACT and not self.is_shared
        known = () if self.before is None else self.before.names
        followed = set[str]()
        for path in _paths(self.renamed) if follows else ():
            if path[0] not in self.after.names and {*path[:-1]} <= {*known}:
                followed.update(path[:-1])
                fields = self._rename_along(path, fields, known)
        for old, new in self.renamed.items():
            if old not in followed and old in known and new in known and new in self.after.names:
                problem = (
                    f"column {old!r} has the name {new!r} in the source from here on, which "
                    "another column had"
                )
                if follows or self.mode is Evolve.STRICT:
                    raise _RefusedError(problem)
                self.notes.append(problem)
        if not follows:
            return fields
        for old, new in self.renamed.items():
            is_left = old not in followed and old in fields and new not in fields
            if is_left and new in self.after.names:
                fields = self._renamed(fields, old, new)
        return fields

    def _rename_along(
        self, path: Sequence[str], fields: dict[str, DataField], known: Sequence[str]
    ) -> dict[str, DataField]:
        """Rename columns of which each gets the name that the next one had.

        The first name is in the table until that has happened, and the source has it no more.
        """
        if path[0] not in fields:
            return fields
        last = path[-1]
        if last in fields:
            if last not in known or last in (*self.table.primary_keys, *self.table.partition_keys):
                raise _RefusedError(
                    f"column {path[-2]!r} has the name {last!r} in the source from here on, which "
                    "another column had"
                )
            self.changes.append(DropColumn(last))
            fields = {name: field for name, field in fields.items() if name != last}
        for old, new in reversed([*pairwise(path)]):
            if old in fields and new not in fields:
                fields = self._renamed(fields, old, new)
        return fields

    def _renamed(self, fields: dict[str, DataField], old: str, new: str) -> dict[str, DataField]:
        self.changes.append(RenameColumn(old, new))
        return {new if name == old else name: field for name, field in fields.items()}

    def _add(self, column: SourceColumn) -> None:
        shown = f"column {column.name!r} ({format_type(column.type)})"
        if self.mode is Evolve.STRICT and not column.type.nullable:
            raise _RefusedError(f"the source added {shown}, which is not nullable")
        nullable = with_nullable(column.type, nullable=True)
        self.changes.append(AddColumn(column.name, nullable, column.comment))
        if column.default_value is None:
            return
        if self.mode is Evolve.STRICT:
            raise _RefusedError(f"the source added {shown} with a default")
        self.changes.append(UpdateColumnDefault(column.name, column.default_value))
        self.notes.append(
            f"column {column.name!r} is null in rows from before; in the source they have the "
            f"default {column.default_value!r}"
        )

    def _retype(self, column: SourceColumn, there: DataField) -> None:
        name = column.name
        # Rows whose key is null are refused one by one.
        is_key = there.name in self.table.primary_keys
        if column.type.nullable and not there.type.nullable and not is_key:
            self._strictly_refuse(f"column {name!r} became nullable in the source")
            self.changes.append(UpdateColumnNullability(name, nullable=True))
        self._check_rewritten(column)
        if self._keeps_decimal(column, there):
            return
        try:
            changes = list(self._changes_of_type(column, there))
        except _RefusedError:
            raise _RefusedError(
                f"column {name!r} is {format_type(there.type)}, which cannot become "
                f"{format_type(column.type)} as in the source"
            ) from None
        if changes:
            self._strictly_refuse(
                f"column {name!r} changed from {format_type(there.type)} to "
                f"{format_type(column.type)} in the source"
            )
            self.changes += changes
        else:
            self._note_narrower(column)
        known = self.before and self.before.column(column.name)
        is_new_comment = known.comment != column.comment if known else there.description is None
        if column.comment is not None and is_new_comment and column.comment != there.description:
            self.changes.append(UpdateColumnComment(name, column.comment))

    def _keeps_decimal(self, column: SourceColumn, there: DataField) -> bool:
        """Whether a column is a DECIMAL that is to keep its type, though the source has another."""
        is_decimal = isinstance(there.type, AtomicType) and there.type.root is TypeRoot.DECIMAL
        if not is_decimal or DECIMALS_STAY not in self.mapping or _same(there.type, column.type):
            return False
        known = self.before and self.before.column(column.name)
        if not known or not _same(known.type, column.type):
            self.notes.append(
                f"column {column.name!r} is {format_type(column.type)} in the source and keeps "
                f"{format_type(there.type)}: {DECIMALS_STAY}"
            )
        return True

    def _changes_of_type(self, column: SourceColumn, there: DataField) -> Iterator[SchemaChange]:
        is_key = there.name in (*self.table.primary_keys, *self.table.partition_keys)
        wanted = column.type
        if TO_TEXTS not in self.mapping or is_key or is_text(wanted) == is_text(there.type):
            yield from _widening(column.name, there.type, wanted)
        elif is_text(wanted):
            yield UpdateColumnType(column.name, with_nullable(wanted, nullable=True))

    def _check_rewritten(self, column: SourceColumn) -> None:
        """Refuse a type for which the source makes other values of those that are there."""
        known = self.before and self.before.column(column.name)
        words = {_word(one.source_type) for one in (known, column) if one}
        if known and words == {"timestamp", "datetime"}:
            raise _RefusedError(
                f"column {column.name!r} changed from {known.source_type} to {column.source_type} "
                "in the source, which has taken its values for those of a time zone"
            )
        old, new = (_filled_up(one.source_type) if one else None for one in (known, column))
        if not known or old is None or new is None or old == new:
            return
        if (
            isinstance(column.type, AtomicType)
            and column.type.root is TypeRoot.BINARY
            and _same(known.type, column.type)
        ):
            return  # as many bytes
        raise _RefusedError(
            f"column {column.name!r} changed from {known.source_type} to {column.source_type} in "
            "the source, which has filled up or cut its values"
        )

    def _note_narrower(self, column: SourceColumn) -> None:
        known = self.before and self.before.column(column.name)
        if (
            not known
            or self.after.is_partial
            or self.after.is_unordered
            or _same(known.type, column.type)
        ):
            return
        change = f"from {format_type(known.type)} to {format_type(column.type)}"
        self._strictly_refuse(f"column {column.name!r} changed {change} in the source")
        self.notes.append(
            f"column {column.name!r} changed {change} in the source and keeps its wider type here"
        )

    def _lack(self, there: DataField) -> None:
        """Let rows be without a column, which the source has dropped or not added yet."""
        is_key = there.name in (*self.table.primary_keys, *self.table.partition_keys)
        known = self.before is not None and self.before.column(there.name) is not None
        if known and not is_key and not there.type.nullable and there.default_value is None:
            self._strictly_refuse(f"the source has rows without column {there.name!r}")
            self.changes.append(UpdateColumnNullability(there.name, nullable=True))

    def _drop(self, there: DataField) -> None:
        name = there.name
        known = self.before is not None and self.before.column(name) is not None
        if name in (*self.table.primary_keys, *self.table.partition_keys):
            raise _RefusedError(f"column {name!r} is a key of the table and not in the source")
        if known:
            self._strictly_refuse(f"the source has no column {name!r} any more")
        if known and self.mode is Evolve.EXACT and not self.is_shared:
            self.changes.append(DropColumn(name))
            return
        if known:
            self.notes.append(f"column {name!r} is not in the source any more: null in new rows")
        if not there.type.nullable and there.default_value is None:
            self.changes.append(UpdateColumnNullability(name, nullable=True))

    def _comment_table(self) -> None:
        comment = self.after.comment
        old = self.before.comment if self.before else self.table.comment
        is_new = comment != old if self.before else old is None
        if comment is not None and is_new and comment != self.table.comment:
            self.changes.append(UpdateComment(comment))

    def _strictly_refuse(self, problem: str) -> None:
        if self.mode is Evolve.STRICT:
            raise _RefusedError(problem)


def _word(source_type: str | None) -> str:
    """Return the first word of a type."""
    found = re.match(r"\w+", source_type or "")
    return "" if found is None else found[0].lower()


def _filled_up(source_type: str | None) -> tuple[str, int] | None:
    """Return a type whose values have all of its length, and that; None: it is none."""
    found = _FILLED_UP.match(source_type or "")
    return None if found is None else (found[1].lower(), int(found[2]))


def _widening(path: Path, there: DataType, wanted: DataType) -> Iterator[SchemaChange]:
    """Yield what makes a type hold the values of another; parts of it by dotted paths.

    Raises
    ------
    _RefusedError
        If it cannot.
    """
    match there, wanted:
        case AtomicType(), AtomicType():
            yield from _atomic_widening(path, there, wanted)
        case ArrayType(mine), ArrayType(other):
            yield from _part(f"{path}.element", mine, other)
        case MapType(key, mine), MapType(other_key, other):
            if not _same(key, other_key):
                raise _RefusedError
            yield from _part(f"{path}.value", mine, other)
        case RowType(mine), RowType(other):
            yield from _row_widening(path, mine, other)
        case _:
            if not _same(there, wanted):
                raise _RefusedError


def _atomic_widening(path: Path, there: AtomicType, wanted: AtomicType) -> Iterator[SchemaChange]:
    if is_wider(wanted, there):
        return
    wider = wider_type(there, wanted)
    if wider is None:
        raise _RefusedError
    yield UpdateColumnType(path, with_nullable(wider, nullable=True))


def _row_widening(
    path: Path, there: tuple[DataField, ...], wanted: tuple[DataField, ...]
) -> Iterator[SchemaChange]:
    fields = {one.name: one for one in there}
    for other in wanted:
        inner = fields.pop(other.name, None)
        if inner is None:
            nullable = with_nullable(other.type, nullable=True)
            yield AddColumn(f"{path}.{other.name}", nullable, other.description)
        else:
            yield from _part(f"{path}.{other.name}", inner.type, other.type)
    for inner in fields.values():
        if not inner.type.nullable:
            yield UpdateColumnNullability(f"{path}.{inner.name}", nullable=True)


def _part(path: Path, there: DataType, wanted: DataType) -> Iterator[SchemaChange]:
    if wanted.nullable and not there.nullable:
        yield UpdateColumnNullability(path, nullable=True)
    yield from _widening(path, there, wanted)


def merged(left: SourceSchema, right: SourceSchema) -> SourceSchema | str:
    """Return the schema that has the rows of two tables of a source.

    Columns by name in the order of the first, wider types, nullable where one lacks a column.

    Returns
    -------
    SourceSchema or str
        A text: why there is no such schema.
    """
    if left.primary_keys != right.primary_keys:
        return (
            f"their primary keys differ: {_names(left.primary_keys)} and "
            f"{_names(right.primary_keys)}"
        )
    others = {column.name: column for column in right.columns}
    columns = []
    for column in left.columns:
        other = others.pop(column.name, None)
        found = with_nullable(column.type, nullable=True) if other is None else column.type
        if other is not None and other.type != column.type:
            wider = wider_type(column.type, other.type)
            if wider is None:
                return (
                    f"column {column.name!r} is {format_type(column.type)} in one and "
                    f"{format_type(other.type)} in another"
                )
            found = wider
        columns.append(replace(column, type=found))
    columns += [
        replace(column, type=with_nullable(column.type, nullable=True))
        for column in others.values()
    ]
    return replace(
        left,
        columns=tuple(columns),
        is_partial=left.is_partial or right.is_partial,
        is_unordered=left.is_unordered or right.is_unordered,
    )


def _same(left: DataType, right: DataType) -> bool:
    return with_nullable(left, nullable=True) == with_nullable(right, nullable=True)


def _names(columns: tuple[str, ...]) -> str:
    return f"({', '.join(columns)})" if columns else "none"
