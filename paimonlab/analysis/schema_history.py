"""The history of a table's schema: what each version changed, by the ids of fields.

A column never changes its id, so a new name is a rename, not a drop and an addition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from paimonlab.secrets import HIDDEN, hides_secrets, is_secret, without_secrets
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import (
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    MultisetType,
    RowType,
)
from paimonlab.spec.types.text import format_type

Aspect = Literal[
    "column",
    "name",
    "type",
    "nullability",
    "default",
    "comment",
    "order",
    "option",
    "primary key",
    "partition keys",
    "table comment",
]


class SchemaDifference(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing that differs between two schemas."""

    aspect: Aspect
    """``column``: it was added or dropped."""
    name: str
    """The column (``address.street`` within a row) or option; "" for the table."""
    field_id: int | None
    """Of a column."""
    before: str | None
    """None if it did not exist."""
    after: str | None
    """None if it no longer exists."""


class SchemaColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A column, or a field of a row in one."""

    field_id: int
    name: str
    """With the names of what contains it: ``address.street``."""
    depth: int
    """0 for a column."""
    type_text: str
    """Without nullability; fields of rows are columns of their own."""
    is_nullable: bool
    default: str | None
    comment: str | None


class SchemaUse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The snapshots with a schema; their ids follow each other."""

    first_snapshot: int
    last_snapshot: int
    snapshot_count: int


@hides_secrets
class SchemaVersion(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One schema of a table."""

    id: int
    time_millis: int | None
    """Milliseconds since the epoch; None when times are hidden."""
    differences: tuple[SchemaDifference, ...]
    """From the previous schema; () for the first."""
    columns: tuple[SchemaColumn, ...]
    primary_keys: tuple[str, ...]
    partition_keys: tuple[str, ...]
    comment: str | None
    options: dict[str, str]
    """Secrets are hidden."""
    used_by: SchemaUse | None
    """None if no existing snapshot does."""


class SchemaHistory(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="schemas", tag_field="kind"
):
    """The schemas of a table, oldest first."""

    table: str
    versions: tuple[SchemaVersion, ...]


def schema_history(
    table: str, schemas: Iterable[TableSchema], snapshots: Iterable[Snapshot]
) -> SchemaHistory:
    """Say what each version of a schema changed.

    Parameters
    ----------
    table
        Its name, for the caption.
    schemas, snapshots
        In any order.
    """
    ordered = sorted(schemas, key=lambda schema: schema.id)
    used: dict[int, list[int]] = {}
    for snapshot in snapshots:
        used.setdefault(snapshot.schema_id, []).append(snapshot.id)
    changes = [(), *(differences(before, after) for before, after in pairwise(ordered))]
    return SchemaHistory(
        table=table,
        versions=tuple(
            _version(schema, tuple(changed), used.get(schema.id, ()))
            for schema, changed in zip(ordered, changes, strict=False)
        ),
    )


def _version(
    schema: TableSchema, changed: tuple[SchemaDifference, ...], used: Sequence[int]
) -> SchemaVersion:
    use = None
    if used:
        use = SchemaUse(first_snapshot=min(used), last_snapshot=max(used), snapshot_count=len(used))
    return SchemaVersion(
        id=schema.id,
        time_millis=schema.time_millis,
        differences=changed,
        columns=columns(schema),
        primary_keys=schema.primary_keys,
        partition_keys=schema.partition_keys,
        comment=schema.comment,
        options={key: _option(key, value) for key, value in sorted(schema.options.items())},
        used_by=use,
    )


def columns(schema: TableSchema) -> tuple[SchemaColumn, ...]:
    """List the columns of a schema, and below each the fields of the rows in it."""
    return tuple(column for _, column in _walk(schema.fields))


_Path: TypeAlias = tuple[int | str, ...]
"""Ids of fields, with what leads from one to the next."""


def _walk(
    fields: Iterable[DataField], path: _Path = (), prefix: str = "", depth: int = 0
) -> Iterator[tuple[_Path, SchemaColumn]]:
    for field in fields:
        field_path = (*path, field.id)
        name = f"{prefix}{field.name}"
        yield (
            field_path,
            SchemaColumn(
                field_id=field.id,
                name=name,
                depth=depth,
                type_text=format_type(_shallow(replace(field.type, nullable=True))),
                is_nullable=field.type.nullable,
                default=field.default_value,
                comment=field.description,
            ),
        )
        for route, fields_below in _rows_in(field.type):
            between = "".join(f"{word}." for word in route)
            yield from _walk(fields_below, (*field_path, *route), f"{name}.{between}", depth + 1)


def _rows_in(data_type: DataType) -> Iterator[tuple[tuple[str, ...], tuple[DataField, ...]]]:
    """Find the outermost rows in a type, and the way to them."""
    match data_type:
        case RowType(fields):
            yield (), fields
        case ArrayType(element) | MultisetType(element):
            for route, fields in _rows_in(element):
                yield ("element", *route), fields
        case MapType(key, value):
            for word, part in (("key", key), ("value", value)):
                for route, fields in _rows_in(part):
                    yield (word, *route), fields


def _shallow(data_type: DataType) -> DataType:
    """Leave out the fields of rows."""
    match data_type:
        case RowType():
            return replace(data_type, fields=())
        case ArrayType(element) | MultisetType(element):
            return replace(data_type, element=_shallow(element))
        case MapType(key, value):
            return replace(data_type, key=_shallow(key), value=_shallow(value))
        case AtomicType():
            return data_type


def differences(before: TableSchema, after: TableSchema) -> list[SchemaDifference]:
    """List what differs between two schemas of a table, columns by their ids.

    Columns come first, in the order of ``after``; those that were dropped follow; then the
    keys, the comment and the options. Values of secret options are hidden.
    """
    return [
        *_column_differences(dict(_walk(before.fields)), dict(_walk(after.fields))),
        *_order(before, after),
        *_of_table("primary key", _joined(before.primary_keys), _joined(after.primary_keys)),
        *_of_table("partition keys", _joined(before.partition_keys), _joined(after.partition_keys)),
        *_of_table("table comment", before.comment, after.comment),
        *_option_differences(before.options, after.options),
    ]


def _column_differences(
    old: Mapping[_Path, SchemaColumn], new: Mapping[_Path, SchemaColumn]
) -> Iterator[SchemaDifference]:
    for path, column in new.items():
        previous = old.get(path)
        if previous is not None:
            yield from _of_column(previous, column)
        else:
            yield _difference("column", column, None, column_text(column))
    for path, column in old.items():
        if path not in new:
            yield _difference("column", column, column_text(column), None)


def column_text(column: SchemaColumn) -> str:
    """Write what a column is, without its name, as in SQL."""
    parts = [column.type_text if column.is_nullable else f"{column.type_text} NOT NULL"]
    if column.default is not None:
        parts.append(f"DEFAULT {column.default}")
    if column.comment is not None:
        parts.append("COMMENT '" + column.comment.replace("'", "''") + "'")
    return " ".join(parts)


def _of_column(old: SchemaColumn, new: SchemaColumn) -> Iterator[SchemaDifference]:
    pairs: tuple[tuple[Aspect, str | None, str | None], ...] = (
        ("name", old.name.rpartition(".")[2], new.name.rpartition(".")[2]),
        ("type", old.type_text, new.type_text),
        ("nullability", _nullability(old), _nullability(new)),
        ("default", old.default, new.default),
        ("comment", old.comment, new.comment),
    )
    for aspect, before, after in pairs:
        if before != after:
            yield _difference(aspect, new, before, after)


def _nullability(column: SchemaColumn) -> str:
    return "nullable" if column.is_nullable else "NOT NULL"


def _difference(
    aspect: Aspect, column: SchemaColumn, before: str | None, after: str | None
) -> SchemaDifference:
    return SchemaDifference(
        aspect=aspect, name=column.name, field_id=column.field_id, before=before, after=after
    )


def _order(before: TableSchema, after: TableSchema) -> Iterator[SchemaDifference]:
    """Report another order of the columns that both have, by their new names."""
    names = {field.id: field.name for field in after.fields}
    old = [field.id for field in before.fields if field.id in names]
    shared = set(old)
    new = [field.id for field in after.fields if field.id in shared]
    if old != new:
        texts = [", ".join(names[id] for id in ids) for ids in (old, new)]
        yield from _of_table("order", *texts)


def _of_table(aspect: Aspect, before: str | None, after: str | None) -> Iterator[SchemaDifference]:
    if before != after:
        yield SchemaDifference(aspect=aspect, name="", field_id=None, before=before, after=after)


def _joined(names: Sequence[str]) -> str | None:
    return ", ".join(names) or None


def _option_differences(
    old: Mapping[str, str], new: Mapping[str, str]
) -> Iterator[SchemaDifference]:
    for key in sorted({*old, *new}):
        values = [options.get(key) for options in (old, new)]
        if values[0] != values[1]:
            before, after = (None if value is None else _option(key, value) for value in values)
            yield SchemaDifference(
                aspect="option", name=key, field_id=None, before=before, after=after
            )


def _option(key: str, value: str) -> str:
    return HIDDEN if is_secret(key) else without_secrets(value)


def repeatable_schemas(history: SchemaHistory) -> SchemaHistory:
    """Leave out the times, which differ from run to run."""
    versions = [msgspec.structs.replace(version, time_millis=None) for version in history.versions]
    return msgspec.structs.replace(history, versions=tuple(versions))
