"""Spark's definitions and changes of tables as ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.jvm.bridge import Bridge
from paimonlab.spark.values.defaults import default_text
from paimonlab.spark.values.types import fields_from_spark, from_spark
from paimonlab.spec.external_paths import NO_PLACES
from paimonlab.spec.format_table import FILE_FORMAT, FORMAT_TABLE, FORMATS, TYPE
from paimonlab.spec.schema.definition import Schema
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetOption,
    UpdateColumnComment,
    UpdateColumnDefault,
    UpdateColumnNullability,
    UpdateColumnType,
    UpdateComment,
)
from paimonlab.spec.types.data_types import DataField, with_nullable

PROVIDER = "paimon"
COMMENT = "comment"
_OPTION_PREFIX = "option."
_SET_BY_SPARK = frozenset({"owner", "is_managed_location", "table_type"})
_OF_CSV = {
    "sep": "csv.field-delimiter",
    "delimiter": "csv.field-delimiter",
    "nullValue": "csv.null-literal",
}
"""Names that options of Spark's own CSV tables have, and which are Paimon's; Java's connector
takes the first and does not read it."""
_LOCATION, _EXTERNAL, _PATH = "location", "external", "path"
_NO_OPTION = {_LOCATION: "LOCATION", _EXTERNAL: "CREATE EXTERNAL TABLE", _PATH: "a table path"}


def table_definition(
    bridge: Bridge,
    definition: Any,
    copied: Mapping[str, str] | None = None,
    *,
    takes_places: bool = False,
) -> Schema:
    """Turn the ``TableInfo`` of CREATE TABLE into a definition.

    Parameters
    ----------
    bridge
        The session.
    definition
        What the statement says.
    copied
        Properties that it takes from another table; its own go before them.
    takes_places
        Whether it may say where the table is: LOCATION becomes the option ``path``, and EXTERNAL
        the option ``external``.

    Raises
    ------
    UnsupportedError
        For another provider than paimon, a LOCATION or an external table where that cannot be
        said, a partition transform, a column type or a default that a Paimon table cannot have
        here.
    """
    fields = fields_from_spark(bridge.python_schema(definition.schema()))
    properties = {**(copied or {}), **bridge.texts_of_map(definition.properties())}
    comment = properties.pop(COMMENT, None)
    is_format = properties.get("provider", "").lower() in FORMATS
    of_place = _place(properties) if takes_places or is_format else {}
    return Schema(
        fields=_with_defaults(fields, definition.columns()),
        primary_keys=_primary_key(definition.constraints()),
        partition_keys=[_partition_key(transform) for transform in definition.partitions()],
        options={**table_options(properties), **of_place},
        comment=comment,
    )


def _place(properties: dict[str, str]) -> dict[str, str]:
    """Take where a table is, and whether its files stay, out of the properties."""
    found = {_PATH: properties.pop(_LOCATION, None) or properties.pop(_PATH, None)}
    found[_EXTERNAL] = properties.pop(_EXTERNAL, None)
    return {key: value for key, value in found.items() if value is not None}


def _primary_key(constraints: Iterable[Any]) -> list[str]:
    """Return the columns of PRIMARY KEY; none if there is no such constraint.

    Raises
    ------
    UnsupportedError
        For CHECK, UNIQUE and FOREIGN KEY: nothing would check them.
    """
    names: list[str] = []
    for constraint in constraints:
        if constraint.getClass().getSimpleName() != "PrimaryKey":
            raise UnsupportedError(
                f"the constraint {constraint.toDDL()}", "a Paimon table has PRIMARY KEY (…) only"
            )
        names = [_dotted(column.fieldNames()) for column in constraint.columns()]
    return names


def not_a_format(name: str, options: Mapping[str, object]) -> UnsupportedError:
    """Return the error of a table in another format than Paimon's, where no such tables are kept.

    Parameters
    ----------
    name
        Of the table.
    options
        Its options, as `table_options` made them.
    """
    return UnsupportedError(
        f"USING {options.get(FILE_FORMAT)} for {name}",
        "catalogs of a Hive metastore and of a REST server keep tables of other formats, this one "
        "has Paimon tables only: write USING paimon in SQL, or leave it out; of a data frame or a "
        "stream write .format('paimon') before saveAsTable or toTable, which otherwise make tables "
        "of Spark's default format",
    )


def no_replacement_by_format(name: str, options: Mapping[str, object]) -> UnsupportedError:
    """Return the error of REPLACE TABLE with another format than Paimon's.

    Parameters
    ----------
    name
        Of the table.
    options
        Those of the new definition, as `table_options` made them.
    """
    return UnsupportedError(
        f"REPLACE TABLE {name} USING {options.get(FILE_FORMAT)}",
        "tables of other formats than Paimon's have no snapshots, so that no table is replaced by "
        "one at once: use DROP TABLE, then CREATE TABLE",
    )


def table_options(properties: Mapping[str, str]) -> dict[str, str]:
    """Keep of TBLPROPERTIES and OPTIONS what is a table option; refuse what cannot be one."""
    provider = properties.get("provider", PROVIDER).lower()
    of_format = {TYPE: FORMAT_TABLE, FILE_FORMAT: provider} if provider in FORMATS else {}
    if provider != PROVIDER and not of_format:
        advice = "write USING paimon, or leave it out; format tables are of "
        raise UnsupportedError(f"USING {provider}", advice + ", ".join(FORMATS))
    for key, clause in _NO_OPTION.items():
        if key in properties:
            raise UnsupportedError(clause, NO_PLACES)
    names = {key: one for key, one in _OF_CSV.items() if one not in properties}
    return {
        (names.get(key, key) if provider == "csv" else key): value
        for key, value in properties.items()
        if key != "provider"
        and key not in _SET_BY_SPARK
        # OPTIONS (…) arrive twice: as they are, and with this in front.
        and not key.startswith(_OPTION_PREFIX)
    } | of_format


def copied_properties(of_source: Mapping[str, str], provider: str = PROVIDER) -> dict[str, str]:
    """Return what CREATE TABLE … LIKE takes of the properties of its source.

    Options mean something to tables of one format only; where a table lies is never copied.

    Examples
    --------
    >>> copied_properties({"provider": "paimon", "location": "/t", "bucket": "4"})
    {'bucket': '4'}
    >>> copied_properties({"provider": "parquet", "compression": "zstd", "comment": "old"})
    {'comment': 'old'}
    >>> copied_properties({"provider": "csv", "seq": ";"}, "csv")
    {'seq': ';'}
    """
    is_alike = of_source.get("provider", "").lower() == provider.lower()
    return {
        key: value
        for key, value in of_source.items()
        if key == COMMENT
        or (is_alike and key not in {"provider", *_NO_OPTION} and key not in _SET_BY_SPARK)
    }


def _with_defaults(fields: Sequence[DataField], columns: Iterable[Any]) -> tuple[DataField, ...]:
    return tuple(
        replace(field, default_value=_default(column, field.name))
        for field, column in zip(fields, columns, strict=True)
    )


def _default(column: Any, name: str) -> str | None:
    default = column.defaultValue()
    return None if default is None else default_text(default.getSql(), column=name)


def _partition_key(transform: Any) -> str:
    if transform.name() != "identity":
        raise UnsupportedError(
            f"the partition transform {transform.toString()}", _instead_of(transform)
        )
    return _dotted(transform.references()[0].fieldNames())


def _instead_of(transform: Any) -> str:
    """Say what to write in the place of a partition transform, of Iceberg's or Delta's habit."""
    columns = ",".join(_dotted(one.fieldNames()) for one in transform.references())
    match str(transform.name()):
        case "cluster_by":
            return (
                "CLUSTER BY sorts rows here when they are compacted: TBLPROPERTIES "
                f"('clustering.columns' = '{columns}', 'clustering.incremental' = 'true')"
            )
        case "bucket":
            count = str(transform.toString()).removeprefix("bucket(").partition(",")[0]
            return f"TBLPROPERTIES ('bucket' = '{count}', 'bucket-key' = '{columns}')"
        case _:
            return f"add a column with the value and partition by it; {columns} stays as it is"


def schema_changes(bridge: Bridge, changes: Iterable[Any]) -> list[SchemaChange]:
    """Turn the ``TableChange`` objects of one ALTER TABLE into schema changes.

    Raises
    ------
    UnsupportedError
        For a change that has no Paimon side (constraints, clustering).
    """
    return [ours for change in changes for ours in _changes(bridge, change)]


def check_no_replacement(table: str, changes: Sequence[SchemaChange]) -> None:
    """Refuse REPLACE COLUMNS, which Spark spells as dropping all columns and adding others.

    Columns that keep their names would lose their values, and all columns of a table cannot be
    dropped, in Java Paimon neither.

    Raises
    ------
    UnsupportedError
        If columns are dropped and others added.
    """
    added = [change.name for change in changes if isinstance(change, AddColumn)]
    if added and any(isinstance(change, DropColumn) for change in changes):
        raise UnsupportedError(
            f"ALTER TABLE {table} REPLACE COLUMNS with {', '.join(added)}",
            "use DROP COLUMN, ADD COLUMN and ALTER COLUMN, which keep the values of the others, or "
            "CREATE OR REPLACE TABLE, which begins anew",
        )


def _changes(bridge: Bridge, change: Any) -> Iterator[SchemaChange]:
    kind = change.getClass().getSimpleName()
    if kind not in _CHANGES:
        if kind == "ClusterBy":
            raise UnsupportedError(
                "ALTER TABLE … CLUSTER BY",
                "OPTIMIZE db.t ZORDER BY (a, b) sorts the rows of an append table; with 'clustering"
                ".incremental' and 'clustering.columns' each compaction does so",
            )
        raise UnsupportedError(f"ALTER TABLE … {kind}", "a Paimon table has no such thing")
    yield from _CHANGES[kind](bridge, change)


def _added(bridge: Bridge, change: Any) -> Iterator[SchemaChange]:
    name = _dotted(change.fieldNames())
    data_type = from_spark(bridge.python_type(change.dataType()), column=name)
    first, after = _position(change.position())
    yield AddColumn(
        name,
        with_nullable(data_type, bool(change.isNullable())),
        comment=change.comment(),
        first=first,
        after=after,
    )
    if (default := _default(change, name)) is not None:
        yield UpdateColumnDefault(name, default)


def _dropped(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    yield DropColumn(_dotted(change.fieldNames()))


def _renamed(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    yield RenameColumn(_dotted(change.fieldNames()), change.newName())


def _retyped(bridge: Bridge, change: Any) -> Iterator[SchemaChange]:
    name = _dotted(change.fieldNames())
    yield UpdateColumnType(name, from_spark(bridge.python_type(change.newDataType()), column=name))


def _nullability(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    yield UpdateColumnNullability(_dotted(change.fieldNames()), bool(change.nullable()))


def _column_comment(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    yield UpdateColumnComment(_dotted(change.fieldNames()), change.newComment())


def _moved(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    first, after = _position(change.position())
    yield MoveColumn(_dotted(change.fieldNames()), first=first, after=after)


def _column_default(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    name = _dotted(change.fieldNames())
    sql = change.newDefaultValue()
    yield UpdateColumnDefault(name, default_text(sql, column=name) if sql else None)


def _option_set(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    if change.property() == COMMENT:
        yield UpdateComment(change.value())
    else:
        for key, value in table_options({change.property(): change.value()}).items():
            yield SetOption(key, value)


def _option_removed(_: Bridge, change: Any) -> Iterator[SchemaChange]:
    yield UpdateComment(None) if change.property() == COMMENT else RemoveOption(change.property())


_CHANGES: dict[str, Callable[[Bridge, Any], Iterator[SchemaChange]]] = {
    "AddColumn": _added,
    "DeleteColumn": _dropped,
    "RenameColumn": _renamed,
    "UpdateColumnType": _retyped,
    "UpdateColumnNullability": _nullability,
    "UpdateColumnComment": _column_comment,
    "UpdateColumnPosition": _moved,
    "UpdateColumnDefaultValue": _column_default,
    "SetProperty": _option_set,
    "RemoveProperty": _option_removed,
}
"""By the simple name of Spark's class."""


def _position(position: Any) -> tuple[bool, str | None]:
    """Return (first, after) of FIRST, AFTER column or neither."""
    if position is None:
        return False, None
    if position.getClass().getSimpleName() == "First":
        return True, None
    return False, str(position.column())


def _dotted(names: Iterable[str]) -> str:
    """Write a nested column as our dotted path."""
    parts = list(names)
    for part in parts:
        if len(parts) > 1 and "." in part:
            raise SchemaError(f"column {parts}: a nested column's name with a dot is ambiguous")
    return ".".join(parts)
