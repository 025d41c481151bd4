"""What each change of a column makes of a schema.

Source: apache/paimon@1.3.1 ``org.apache.paimon.schema.SchemaManager#generateTableSchema``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import singledispatch
from itertools import count

from msgspec import structs

from paimonlab.errors import SchemaError
from paimonlab.spec.default_values import check_default
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.schema.change_kinds import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RenameColumn,
    UpdateColumnComment,
    UpdateColumnDefault,
    UpdateColumnNullability,
    UpdateColumnType,
)
from paimonlab.spec.schema.definition import assign_ids, column_type
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.casting import is_castable
from paimonlab.spec.types.data_types import AtomicType, DataField, DataType, with_nullable
from paimonlab.spec.types.field_paths import Fields, edit_at, index_of, split_path
from paimonlab.spec.types.text import format_type


class AlterOptions(OptionSlice):
    """The table options that steer changes of the schema."""

    no_explicit_casts: bool = option_field(
        "disable-explicit-type-casting", "boolean", default=False
    )
    """``disable-explicit-type-casting``: only changes of type that lose nothing."""
    no_new_not_null: bool = option_field(
        "alter-column-null-to-not-null.disabled", "boolean", default=True
    )
    """``alter-column-null-to-not-null.disabled``"""
    add_before_partition: bool = option_field(
        "add-column-before-partition", "boolean", default=False
    )
    """``add-column-before-partition``: where a column without place goes."""


@singledispatch
def change_column(change: object, schema: TableSchema) -> TableSchema:
    """Return the schema after a change of a column.

    Raises
    ------
    ColumnNotFoundError
        If it names a column that does not exist.
    SchemaError
        If the format does not allow it.
    """
    raise TypeError(f"{change!r} does not change a column of {schema!r}")


@change_column.register
def _add(change: AddColumn, schema: TableSchema) -> TableSchema:
    path = split_path((), change.name)
    data_type = column_type(change.name, change.type)
    if not data_type.nullable:
        raise SchemaError(
            f"column {change.name!r}: old rows have null there, so it cannot be NOT NULL"
        )
    ids = count(schema.highest_field_id + 1)
    added = DataField(next(ids), path[-1], assign_ids(data_type, ids), change.comment)
    after = change.after
    is_last = not change.first and after is None and len(path) == 1

    def edit(fields: Fields, name: str) -> Fields:
        _check_free(fields, name)
        index = _index_for_new(schema, fields) if is_last else _place(fields, change.first, after)
        return (*fields[:index], added, *fields[index:])

    fields = edit_at(schema.fields, path, edit)
    return replace(schema, fields=fields, highest_field_id=next(ids) - 1)


def _index_for_new(schema: TableSchema, fields: Fields) -> int:
    if not _options(schema).add_before_partition or not schema.partition_keys:
        return len(fields)
    return min(index_of(fields, key) for key in schema.partition_keys)


def _place(fields: Fields, first: bool, after: str | None) -> int:  # noqa: FBT001
    if first:
        return 0
    return len(fields) if after is None else index_of(fields, after) + 1


@change_column.register
def _drop(change: DropColumn, schema: TableSchema) -> TableSchema:
    path = split_path(schema.fields, change.name)
    _check_no_key(schema, path, "dropped", (*schema.partition_keys, *schema.primary_keys))

    def edit(fields: Fields, name: str) -> Fields:
        index = index_of(fields, name)
        if len(fields) == 1:
            raise SchemaError(f"column {change.name!r} is the only one and cannot be dropped")
        return (*fields[:index], *fields[index + 1 :])

    return replace(schema, fields=edit_at(schema.fields, path, edit))


@change_column.register
def _rename(change: RenameColumn, schema: TableSchema) -> TableSchema:
    path = split_path(schema.fields, change.name)
    _check_no_key(schema, path, "renamed", schema.partition_keys)

    def edit(fields: Fields, name: str) -> Fields:
        index = index_of(fields, name)
        _check_free(fields, change.new_name)
        renamed = structs.replace(fields[index], name=change.new_name)
        return (*fields[:index], renamed, *fields[index + 1 :])

    fields = edit_at(schema.fields, path, edit)
    if len(path) > 1:
        return replace(schema, fields=fields)
    names = {path[0]: change.new_name}
    return replace(
        schema,
        fields=fields,
        primary_keys=tuple(names.get(key, key) for key in schema.primary_keys),
        options=_rename_in_options(schema.options, names),
    )


_NAMING_OPTIONS = frozenset(
    {
        *(
            "bucket-key",
            "upsert-key",
            "sequence.field",
            "partial-update.remove-record-on-sequence-group",
        ),
        *("record-level.time-field", "rowkind.field"),
    }
)
_GROUP = ".sequence-group"


def _rename_in_options(options: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    renamed = {}
    for key, text in options.items():
        value = text
        if key in _NAMING_OPTIONS or (key.startswith("fields.") and key.endswith(_GROUP)):
            value = ",".join(names.get(name, name) for name in text.split(","))
        renamed[_renamed_key(key, names)] = value
    return renamed


def _renamed_key(key: str, names: Mapping[str, str]) -> str:
    if key.startswith("fields.") and key.endswith(_GROUP):
        group = key.removeprefix("fields.").removesuffix(_GROUP).split(",")
        return f"fields.{','.join(names.get(name, name) for name in group)}{_GROUP}"
    for old, new in names.items():
        if key.startswith(f"fields.{old}."):
            return f"fields.{new}.{key.removeprefix(f'fields.{old}.')}"
    return key


@change_column.register
def _retype(change: UpdateColumnType, schema: TableSchema) -> TableSchema:
    path = split_path(schema.fields, change.name)
    keys = (*schema.partition_keys, *schema.primary_keys, *schema.bucket_keys)
    _check_no_key(schema, path, "given another type", keys)
    options = _options(schema)
    wanted = column_type(change.name, change.type)

    def retyped(field: DataField) -> DataField:
        if not is_castable(field.type, wanted, explicitly=not options.no_explicit_casts):
            raise _not_castable(change.name, field.type, wanted, options)
        _check_nullability(change.name, field.type, options, nullable=wanted.nullable)
        nullable = field.type.nullable and wanted.nullable
        return structs.replace(field, type=with_nullable(wanted, nullable))

    return _update(schema, path, retyped)


def _not_castable(
    name: str, source: DataType, target: DataType, options: AlterOptions
) -> SchemaError:
    advice = ""
    if options.no_explicit_casts and is_castable(source, target, explicitly=True):
        advice = ": it could lose values, and 'disable-explicit-type-casting' is set"
    elif not isinstance(source, AtomicType):
        advice = ": change its parts one by one, by dotted names"
    return SchemaError(
        f"column {name!r} cannot change from {format_type(source)} to {format_type(target)}{advice}"
    )


@change_column.register
def _renullable(change: UpdateColumnNullability, schema: TableSchema) -> TableSchema:
    path = split_path(schema.fields, change.name)
    if change.nullable:
        _check_no_key(schema, path, "made nullable", schema.primary_keys)
    options = _options(schema)

    def updated(field: DataField) -> DataField:
        _check_nullability(change.name, field.type, options, nullable=change.nullable)
        return structs.replace(field, type=with_nullable(field.type, change.nullable))

    return _update(schema, path, updated)


def _check_nullability(
    name: str, source: DataType, options: AlterOptions, *, nullable: bool
) -> None:
    if source.nullable and not nullable and options.no_new_not_null:
        raise SchemaError(
            f"column {name!r} may hold nulls and cannot become NOT NULL; if you are sure "
            "that it has none, set 'alter-column-null-to-not-null.disabled' = 'false' first"
        )


@change_column.register
def _comment(change: UpdateColumnComment, schema: TableSchema) -> TableSchema:
    path = split_path(schema.fields, change.name)
    return _update(schema, path, lambda field: structs.replace(field, description=change.comment))


@change_column.register
def _default(change: UpdateColumnDefault, schema: TableSchema) -> TableSchema:
    path = split_path(schema.fields, change.name)

    def updated(field: DataField) -> DataField:
        changed = structs.replace(field, default_value=change.default)
        check_default(changed)
        return changed

    return _update(schema, path, updated)


@change_column.register
def _move(change: MoveColumn, schema: TableSchema) -> TableSchema:
    path = split_path(schema.fields, change.name)
    if change.first == (change.after is not None):
        raise SchemaError(f"column {change.name!r}: give either first or after")
    if change.after == path[-1]:
        raise SchemaError(f"column {change.name!r} cannot be moved after itself")

    def edit(fields: Fields, name: str) -> Fields:
        moved = fields[index_of(fields, name)]
        if change.first and moved is fields[0]:
            raise SchemaError(f"column {change.name!r} is already the first")
        others = tuple(field for field in fields if field is not moved)
        index = _place(others, change.first, change.after)
        return (*others[:index], moved, *others[index:])

    return replace(schema, fields=edit_at(schema.fields, path, edit))


def _update(
    schema: TableSchema, path: tuple[str, ...], updated: Callable[[DataField], DataField]
) -> TableSchema:
    def edit(fields: Fields, name: str) -> Fields:
        index = index_of(fields, name)
        return (*fields[:index], updated(fields[index]), *fields[index + 1 :])

    return replace(schema, fields=edit_at(schema.fields, path, edit))


def _check_free(fields: Fields, name: str) -> None:
    if any(field.name == name for field in fields):
        raise SchemaError(f"column {name!r} already exists")


def _check_no_key(
    schema: TableSchema, path: tuple[str, ...], done: str, keys: tuple[str, ...]
) -> None:
    if len(path) > 1 or path[0] not in keys:
        return
    if path[0] in schema.partition_keys:
        what = "a partition key"
    else:
        what = "part of the primary key" if path[0] in schema.primary_keys else "a bucket key"
    raise SchemaError(f"column {path[0]!r} is {what} and cannot be {done}")


def _options(schema: TableSchema) -> AlterOptions:
    return Options(schema.options).slice(AlterOptions)
