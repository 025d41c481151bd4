"""The objects of format tables in a Hive metastore. Nothing is asked here.

There is no file with the schema of such a table: the object is all that is known of it, and what
Hive has no word for is refused when a table is made.

Source: apache/paimon@1.4.2 ``HiveCatalog.createHiveFormatTable``,
``HiveTableUtils.tryToFormatSchema``.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from paimonlab.catalog.hive import objects
from paimonlab.catalog.hive.client import Metastore, Struct
from paimonlab.catalog.hive.hive_types import fields_of, from_hive_type, hive_type
from paimonlab.catalog.hive.objects import ObjectOptions
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.format_table import FILE_FORMAT, FORMAT_TABLE, TYPE
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.data_types import DataField, with_nullable
from paimonlab.spec.types.text import format_type

_TABLE_TYPE = "table_type"
_PATH = "path"
_COMMENT = "comment"
_DELIMITER = "csv.field-delimiter"
_OF_SERDE = "field.delim"
_HIVES_DELIMITER = "\x01"
_TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
_TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
_LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_CLASSES: Mapping[str, tuple[str, str, str]] = {
    "csv": (_TEXT_INPUT, _TEXT_OUTPUT, _LAZY),
    "text": (_TEXT_INPUT, _TEXT_OUTPUT, _LAZY),
    "json": (_TEXT_INPUT, _TEXT_OUTPUT, "org.apache.hive.hcatalog.data.JsonSerDe"),
    "parquet": (
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat",
        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe",
    ),
    "orc": (
        "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcOutputFormat",
        "org.apache.hadoop.hive.ql.io.orc.OrcSerde",
    ),
}
"""Input format, output format and serde by format."""


def format_of(table: Struct) -> str | None:
    """Return what the files of a table are; None: no format table's."""
    is_other = objects.is_view(table) or objects.is_paimon(table) or table.sd is None
    if is_other or table.sd.serdeInfo is None:
        return None
    serde = (table.sd.serdeInfo.serializationLib or "").lower()
    for one in ("parquet", "orc"):
        if one in serde:
            return one
    if "Text" not in (table.sd.inputFormat or ""):
        return None
    if "json" in serde:
        return "json"
    return "text" if (table.parameters or {}).get(_TABLE_TYPE) == "TEXT" else "csv"


def is_paimons(table: Struct) -> bool:
    """Whether a format table was made by Paimon, not by Hive or another engine."""
    return format_of(table) is not None and (table.parameters or {}).get(TYPE) == FORMAT_TABLE


def new_format_table(
    metastore: Metastore,
    identifier: Identifier,
    schema: TableSchema,
    *,
    location: str,
    is_external: bool,
    now_seconds: int,
    options: ObjectOptions,
) -> Struct:
    """Return the object of a new format table."""
    file_format = schema.options.get(FILE_FORMAT, "parquet").lower()
    inputs, outputs, serde = _CLASSES[file_format]
    made = objects.new_table(
        metastore,
        identifier,
        schema,
        location=location,
        is_external=is_external,
        now_seconds=now_seconds,
        options=options,
    )
    of_partitions = [schema.field(name) for name in schema.partition_keys]
    others = [field for field in schema.fields if field.name not in schema.partition_keys]
    made.partitionKeys = objects.columns(metastore, of_partitions)
    made.sd.cols = objects.columns(metastore, others)
    made.sd.inputFormat, made.sd.outputFormat = inputs, outputs
    made.sd.serdeInfo.serializationLib = serde
    names = (_DELIMITER, "field-delimiter", "seq")
    delimiter = next((schema.options[key] for key in names if key in schema.options), ",")
    made.sd.serdeInfo.parameters = {_OF_SERDE: delimiter} if file_format == "csv" else {}
    parameters = {
        **schema.options,
        _TABLE_TYPE: file_format.upper(),
        FILE_FORMAT: file_format,
        TYPE: FORMAT_TABLE,
        objects.CHANGED_AT: str(now_seconds),
    }
    if is_external:
        parameters["EXTERNAL"] = "TRUE"
    if schema.comment is not None:
        parameters[_COMMENT] = schema.comment
    made.parameters = parameters
    return made


def schema_of(table: Struct, identifier: Identifier, path: str) -> TableSchema:
    """Return the columns and options of a format table.

    Raises
    ------
    UnsupportedError
        If Hive wrote its lines, or there is no such type of a column here.
    """
    file_format = format_of(table)
    assert file_format is not None, "asked before"
    if file_format in ("csv", "text") and not is_paimons(table):
        raise UnsupportedError(
            f"{identifier.full_name}, a table of lines that Hive wrote,",
            "NULL is \\N there, and nothing is quoted; tables of Parquet, ORC and JSON are read",
        )
    options: dict[str, str] = dict(table.parameters or {})
    comment = options.pop(_COMMENT, None)
    for key in objects.OF_METASTORE:
        options.pop(key, None)
    if file_format == "csv":
        options[_DELIMITER] = (table.sd.serdeInfo.parameters or {}).get(_OF_SERDE, _HIVES_DELIMITER)
    if not is_paimons(table):
        options.setdefault("partition.default-name", "__HIVE_DEFAULT_PARTITION__")
    options |= {_PATH: path, TYPE: FORMAT_TABLE, FILE_FORMAT: file_format}
    keys = [key.name for key in table.partitionKeys or ()]
    every = [*table.sd.cols, *(table.partitionKeys or ())]
    fields = fields_of([(one.name, one.type, one.comment) for one in every])
    return TableSchema(
        id=0,
        fields=fields,
        highest_field_id=len(fields) - 1,
        partition_keys=tuple(keys),
        options=options,
        comment=comment,
        time_millis=(table.createTime or 0) * 1000,
    )


def check_kept(name: str, schema: TableSchema) -> TableSchema:
    """Refuse columns that a metastore would give back as others; partition columns come last.

    Raises
    ------
    SchemaError
        If a name is not in lower case.
    UnsupportedError
        Says what the column would be.
    """
    for field in schema.fields:
        if field.name != field.name.lower():
            raise SchemaError(
                f"{field.name!r} cannot be the name of a column of {name}: a Hive metastore has "
                f"names in lower case, {field.name.lower()!r}"
            )
        _check_kept(name, field)
    keys = schema.partition_keys
    others = [field for field in schema.fields if field.name not in keys]
    ordered = (*others, *(schema.field(key) for key in keys))
    return _with_fields(schema, ordered)


def _with_fields(schema: TableSchema, fields: tuple[DataField, ...]) -> TableSchema:
    numbered = tuple(replace(field, id=number) for number, field in enumerate(fields))
    return TableSchema(
        id=schema.id,
        fields=numbered,
        highest_field_id=schema.highest_field_id,
        partition_keys=schema.partition_keys,
        options=schema.options,
        comment=schema.comment,
        time_millis=schema.time_millis,
    )


def _check_kept(name: str, field: DataField) -> None:
    back = from_hive_type(hive_type(field.type))
    if format_type(back) != format_type(with_nullable(field.type, True)):  # noqa: FBT003
        raise UnsupportedError(
            f"{name}.{field.name}, {format_type(field.type)}, of a format table",
            f"a Hive metastore would give it back as {format_type(back)}",
        )
    if not field.type.nullable:
        raise UnsupportedError(
            f"{name}.{field.name} NOT NULL of a format table", "a Hive metastore does not keep it"
        )
    if field.default_value is not None:
        raise UnsupportedError(
            f"the default of {name}.{field.name} of a format table",
            "a Hive metastore does not keep it",
        )
