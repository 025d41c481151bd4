"""The objects of a Hive metastore, as Java Paimon makes them. Nothing is asked here.

The schema that counts is in the table's folder; a metastore has a copy for those who only ask it.

Source: apache/paimon@1.4.2 ``HiveCatalog.newHmsTable``, ``updateHmsTable``, ``createView``;
@5dacde5 ``HiveTableUtils.normalizeColumnComment``.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paimonlab.catalog.hive.client import Metastore, Struct, current_user
from paimonlab.catalog.hive.hive_types import fields_of, hive_type
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.options.grammar import parse_boolean
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.view import View

INPUT_FORMAT = "org.apache.paimon.hive.mapred.PaimonInputFormat"
OUTPUT_FORMAT = "org.apache.paimon.hive.mapred.PaimonOutputFormat"
_SERDE = "org.apache.paimon.hive.PaimonSerDe"
_STORAGE_HANDLER = "org.apache.paimon.hive.PaimonStorageHandler"
VIEW = "VIRTUAL_VIEW"
_MANAGED, _EXTERNAL = "MANAGED_TABLE", "EXTERNAL_TABLE"
LOCATION = "paimon_location"
"""The parameter with the folder, where the metastore must not know it."""
CHANGED_AT = "transient_lastDdlTime"
"""The parameter with the second at which an object was made or altered."""
PARTITIONED = "metastore.partitioned-table"
TAG_TO_PARTITION = "metastore.tag-to-partition"
"""Names a column whose values are the tags of the table."""
TAG_PREVIEW = "metastore.tag-to-partition.preview"
_COMMENT = "comment"
_HIVE_PREFIX = "hive."
_ALWAYS = ("partition.expiration-time", "data-file.path-directory")
"""Options that a metastore has also where it does not have all."""
FOR_EVER = 2**31 - 1
_LONGEST_COMMENT = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectOptions:
    """How objects are made."""

    syncs_all: bool
    """``sync-all-properties``: whether they have all options of their tables."""
    hides_locations: bool
    """``location-in-properties``: whether folders are parameters, which Hive does not look at."""


def is_paimon(table: Struct) -> bool:
    """Whether an object is a table of Paimon's."""
    if table.sd is None:
        return False
    return (table.sd.inputFormat, table.sd.outputFormat) == (INPUT_FORMAT, OUTPUT_FORMAT)


def is_view(table: Struct) -> bool:
    """Whether an object is a view."""
    return bool(table.tableType == VIEW)


def is_external(table: Struct) -> bool:
    """Whether the files of a table stay when it is dropped.

    A metastore of Hive 4 makes managed tables that have no transactions external ones, and says
    so (``MetastoreDefaultTransformer``): their files are still the table's.
    """
    said = (table.parameters or {}).get("TRANSLATED_TO_EXTERNAL", "")
    return bool(table.tableType == _EXTERNAL) and said.upper() != "TRUE"


def kind_of(table: Struct) -> str:
    """Say what an object is that is neither a table of Paimon's nor a view."""
    made_by = (table.parameters or {}).get("table_type") or (
        table.sd.inputFormat if table.sd is not None else None
    )
    return made_by or table.tableType or "an unknown kind"


def location_of(of: Struct) -> str | None:
    """Return the folder of a table or a database, as the metastore has it."""
    kept = (of.parameters or {}).get(LOCATION)
    if kept:
        return str(kept)
    location = of.locationUri if hasattr(of, "locationUri") else of.sd.location
    return None if not location else str(location)


OF_METASTORE = (
    *(CHANGED_AT, "last_modified_by", "last_modified_time"),
    *("numFiles", "totalSize"),
)
"""Parameters that a metastore sets by itself."""


def are_alike(one: Struct, other: Struct) -> bool:
    """Whether two objects of one table say the same, but for what the metastore adds."""

    def known(table: Struct) -> tuple[object, ...]:
        parameters = dict(table.parameters or {})
        for key in OF_METASTORE:
            parameters.pop(key, None)
        keys = [(key.name, key.type) for key in table.partitionKeys or ()]
        return parameters, table.sd.cols, keys, table.viewExpandedText, table.tableType

    return known(one) == known(other)


# Tables


def new_table(
    metastore: Metastore,
    identifier: Identifier,
    schema: TableSchema,
    *,
    location: str,
    is_external: bool,
    now_seconds: int,
    options: ObjectOptions,
) -> Struct:
    """Return the object of a new table."""
    parameters = _mirrored(schema, options)
    for key in _ALWAYS:
        if key in schema.options:
            parameters[key] = schema.options[key]
    parameters |= {"table_type": "PAIMON", "storage_handler": _STORAGE_HANDLER}
    parameters[CHANGED_AT] = str(now_seconds)
    if is_external:
        parameters["EXTERNAL"] = "TRUE"
    table = metastore.new(
        "Table",
        tableName=identifier.table,
        dbName=identifier.database,
        owner=current_user(),
        createTime=now_seconds,
        lastAccessTime=now_seconds,
        retention=FOR_EVER,
        partitionKeys=[],
        parameters=parameters,
        tableType=_EXTERNAL if is_external else _MANAGED,
    )
    _describe(metastore, table, schema)
    place(table, location, options)
    return table


def is_made_as(found: Struct, made: Struct) -> bool:
    """Whether an object may be the one that was sent: at that second, by the clock of who sent it.

    The metastore sets ``createTime`` by its own clock, and this parameter only where it is missing.
    """
    times = [(one.parameters or {}).get(CHANGED_AT) for one in (found, made)]
    return times[0] == times[1]


def place(of: Struct, location: str, options: ObjectOptions) -> None:
    """Say in the object of a table, a partition or a database where it is."""
    if options.hides_locations:
        of.parameters = {**(of.parameters or {}), LOCATION: location}
    elif hasattr(of, "locationUri"):
        of.locationUri = location
    else:
        of.sd.location = location


def altered_table(
    metastore: Metastore,
    table: Struct,
    schema: TableSchema,
    *,
    removed: Iterable[str] = (),
    options: ObjectOptions,
) -> Struct:
    """Return the object of a table with another schema."""
    altered = copy.deepcopy(table)
    altered.parameters = {**(altered.parameters or {}), **_mirrored(schema, options)}
    for key in removed:
        altered.parameters.pop(key, None)
    _describe(metastore, altered, schema)
    return altered


def _describe(metastore: Metastore, table: Struct, schema: TableSchema) -> None:
    """Put columns and formats of a schema into an object."""
    descriptor = table.sd if table.sd is not None else metastore.new("StorageDescriptor")
    serde = descriptor.serdeInfo if descriptor.serdeInfo is not None else metastore.new("SerDeInfo")
    descriptor.inputFormat, descriptor.outputFormat = INPUT_FORMAT, OUTPUT_FORMAT
    serde.parameters, serde.serializationLib = {}, _SERDE
    descriptor.serdeInfo = serde
    if has_partitions(schema):
        of_partitions = [schema.field(name) for name in schema.partition_keys]
        table.partitionKeys = [
            _column(metastore, field, field.description) for field in of_partitions
        ]
        others = [field for field in schema.fields if field.name not in schema.partition_keys]
    else:
        others = list(schema.fields)
        column = schema.options.get(TAG_TO_PARTITION)
        if column is not None:
            table.partitionKeys = [metastore.new("FieldSchema", name=column, type="string")]
    descriptor.cols = columns(metastore, others)
    table.sd = descriptor
    if schema.comment is not None:
        table.parameters[_COMMENT] = schema.comment


def has_partitions(schema: TableSchema) -> bool:
    """Whether the metastore knows the partitions of a table."""
    asked = parse_boolean(schema.options.get(PARTITIONED, "false"))
    return bool(asked and schema.partition_keys)


def columns(metastore: Metastore, fields: Iterable[DataField]) -> list[Struct]:
    """Return columns as Hive has them."""
    return [_column(metastore, field, _cut(field.description)) for field in fields]


def _column(metastore: Metastore, field: DataField, comment: str | None) -> Struct:
    return metastore.new(
        "FieldSchema", name=field.name, type=hive_type(field.type), comment=comment
    )


def _cut(comment: str | None) -> str | None:
    r"""Return a comment that a column of a metastore has room for.

    Examples
    --------
    >>> _cut("a\r\nb"), len(_cut("x" * 300)), _cut("x" * 300)[-4:]
    ('a  b', 255, 'x...')
    """
    if comment is None:
        return None
    line = re.sub(r"[\r\n]", " ", comment)
    return line if len(line) <= _LONGEST_COMMENT else line[: _LONGEST_COMMENT - 3] + "..."


def _mirrored(schema: TableSchema, options: ObjectOptions) -> dict[str, str]:
    """Return the parameters that follow the schema."""
    if not options.syncs_all:
        return {
            key.removeprefix(_HIVE_PREFIX): value
            for key, value in schema.options.items()
            if key.startswith(_HIVE_PREFIX)
        }
    lists = {
        "primary-key": schema.primary_keys,
        "partition": schema.partition_keys,
        "bucket-key": schema.bucket_keys,
    }
    return {**schema.options, **{key: ",".join(of) for key, of in lists.items() if of}}


# Partitions


def new_partition(
    metastore: Metastore,
    table: Struct,
    values: list[str],
    *,
    location: str,
    now_seconds: int,
    options: ObjectOptions,
) -> Struct:
    """Return the object of a partition of a table."""
    partition = metastore.new(
        "Partition",
        values=values,
        dbName=table.dbName,
        tableName=table.tableName,
        createTime=now_seconds,
        lastAccessTime=now_seconds,
        sd=copy.copy(table.sd),
    )
    place(partition, location, options)
    return partition


# Views


def new_view(metastore: Metastore, identifier: Identifier, view: View, now_seconds: int) -> Struct:
    """Return the object of a new view."""
    serde = metastore.new(
        "SerDeInfo",
        serializationLib="org.apache.hadoop.hive.serde2.MetadataTypedColumnsetSerDe",
        parameters={"serialization.format": "1"},
    )
    descriptor = metastore.new(
        "StorageDescriptor",
        cols=columns(metastore, view.fields),
        inputFormat="org.apache.hadoop.mapred.SequenceFileInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveSequenceFileOutputFormat",
        compressed=False,
        numBuckets=-1,
        serdeInfo=serde,
        bucketCols=[],
        sortCols=[],
        parameters={},
    )
    made = altered_view(
        metastore,
        metastore.new(
            "Table",
            tableName=identifier.table,
            dbName=identifier.database,
            createTime=now_seconds,
            lastAccessTime=0,
            retention=0,
            sd=descriptor,
            partitionKeys=[],
            parameters={},
            tableType=VIEW,
        ),
        view,
    )
    made.parameters = {**made.parameters, CHANGED_AT: str(now_seconds)}
    return made


def altered_view(metastore: Metastore, table: Struct, view: View) -> Struct:
    """Return the object of a view with another definition."""
    altered = copy.deepcopy(table)
    altered.parameters = dict(view.options)
    if view.comment is not None:
        altered.parameters[_COMMENT] = view.comment
    altered.viewOriginalText = altered.viewExpandedText = view.query
    altered.sd.cols = columns(metastore, view.fields)
    return altered


def view_of(table: Struct) -> View:
    """Return what a view is.

    Raises
    ------
    UnsupportedError
        If a column has a type that there is not here.
    """
    options: dict[str, str] = dict(table.parameters or {})
    comment = options.pop(_COMMENT, None)
    options.pop(CHANGED_AT, None)  # the metastore's own
    return View(
        fields=fields_of([(one.name, one.type, one.comment) for one in table.sd.cols]),
        query=table.viewExpandedText or table.viewOriginalText or "",
        comment=comment,
        options=options,
    )


# Databases

_OF_DATABASE: Mapping[str, str] = {
    "comment": "description",
    "owner": "ownerName",
    "location": "locationUri",
}
"""Options of databases that are fields of the object."""


def database_of(metastore: Metastore, name: str, options: Mapping[str, str]) -> Struct:
    """Return the object of a database."""
    fields = {field: options.get(key) for key, field in _OF_DATABASE.items()}
    others = {key: value for key, value in options.items() if key not in _OF_DATABASE}
    return metastore.new("Database", name=name, parameters=others, **fields)


def options_of(database: Struct) -> dict[str, str]:
    """Return what is kept of a database."""
    fields = {key: getattr(database, field) for key, field in _OF_DATABASE.items()}
    return {
        **(database.parameters or {}),
        **{key: value for key, value in fields.items() if value is not None},
    }
