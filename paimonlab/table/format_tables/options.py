"""What options say of a format table, and what of them is refused.

Source: apache/paimon@1.4.2 ``org.apache.paimon.CoreOptions.formatTableFileCompression``,
``org.apache.paimon.format.csv.CsvOptions``, ``….json.JsonOptions``, ``….text.TextOptions``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, cast

from paimonlab.errors import SchemaError, UnsupportedError, close_matches
from paimonlab.formats.data_output import DataFormat, DataFormats
from paimonlab.spec.format_table import FILE_FORMAT, FORMATS, TYPE
from paimonlab.spec.options.grammar import parse_boolean, parse_memory_size_bytes
from paimonlab.spec.options.table_options import Options, find_option
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import (
    TEXT_ROOTS,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
)
from paimonlab.spec.types.text import format_type

Mode: TypeAlias = Literal["permissive", "dropmalformed", "failfast"]
"""What becomes of values that cannot be read: nulls, rows that are left out, an error."""

_COMPRESSION = "file.compression"
_OF_COMPRESSION = (_COMPRESSION, "format-table.file.compression", "compression")
"""The first of these that is set counts."""
_DEFAULT_COMPRESSION = {"parquet": "snappy", "orc": "zstd"}
TEXT_CODECS: Mapping[str, str] = {
    "none": "",
    "gzip": "gz",
    "bzip2": "bz2",
    "zstd": "zst",
    "deflate": "deflate",
}
"""What names of files of text end with, by compression."""
_CSV = {
    "csv.field-delimiter": ("field-delimiter", "seq"),
    "csv.line-delimiter": ("lineSep",),
    "csv.quote-character": ("quote",),
    "csv.escape-character": ("escape",),
    "csv.include-header": ("header",),
    "csv.null-literal": ("nullvalue",),
    "csv.mode": ("mode",),
}
"""Other names of options, as Java has them."""
_JSON = {
    "json.ignore-parse-errors": (),
    "json.map-null-key-mode": (),
    "json.map-null-key-literal": (),
    "json.line-delimiter": (),
}
_TEXT: Mapping[str, tuple[str, ...]] = {"text.line-delimiter": ("lineSep",)}
_OF_FORMAT: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "csv": _CSV,
    "json": _JSON,
    "text": _TEXT,
    "parquet": {},
    "orc": {},
}
_OF_ALL = frozenset(
    {
        *(TYPE, FILE_FORMAT, *_OF_COMPRESSION, "path", "external", "EXTERNAL", "owner"),
        *("partition.default-name", "partition.legacy-name", "data-file.prefix"),
        *("target-file-size", "file.block-size", "file.compression.zstd-level"),
        *("format-table.partition-path-only-value", "format-table.implementation"),
        *("format-table.scan.list-parallelism", "format-table.commit-hive-sync-url"),
        *("metastore.partitioned-table", "source.split.target-size", "read.batch-size"),
        *("source.split.open-file-cost", "write.batch-size", "dynamic-partition-overwrite"),
    }
)
_NO_CSV = frozenset({"csv.field-delimiter", "csv.quote-character", "csv.escape-character"})
_SYNC = "format-table.commit-hive-sync-url"


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvOptions:
    """How lines of CSV are written and read."""

    delimiter: str = ","
    line_delimiter: str = "\n"
    quote: str = '"'
    escape: str = "\\"
    has_header: bool = False
    null_literal: str = ""
    mode: Mode = "permissive"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonOptions:
    """How lines of JSON are written and read."""

    line_delimiter: str = "\n"
    ignores_errors: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOptions:
    """What options say of a format table."""

    format: str
    """One of `FORMATS`."""
    compression: str
    prefix: str
    """Of the names of files."""
    target_file_bytes: int
    split_target_bytes: int | None
    """``source.split.target-size``; None: as whoever divides the files says."""
    open_file_cost_bytes: int | None
    """``source.split.open-file-cost``; None: likewise."""
    only_values: bool
    """Whether names of folders are values of partitions alone."""
    partitions: PartitionOptions
    csv: CsvOptions
    json: JsonOptions
    line_delimiter_of_text: str
    data_format: DataFormat | None
    """How Parquet and ORC are written; None: lines of text are."""
    syncs_to: str | None
    """``format-table.commit-hive-sync-url``"""
    is_dynamic: bool
    """``dynamic-partition-overwrite``"""

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Self:
        """Read the options of a table.

        Raises
        ------
        SchemaError
            If a value cannot be read.
        UnsupportedError
            If an option has a value that is not implemented.
        """
        name = options.get(FILE_FORMAT, "parquet").lower()
        if name not in FORMATS:
            raise UnsupportedError(
                f"{FILE_FORMAT} = '{name}' of a format table", f"use {', '.join(FORMATS)}"
            )
        found = [options[key] for key in _OF_COMPRESSION if key in options]
        compression = (found[0] if found else _DEFAULT_COMPRESSION.get(name, "none")).lower()
        typed = Options(
            {
                **{key: value for key, value in options.items() if _is_of_files(key)},
                FILE_FORMAT: name,
                _COMPRESSION: compression,
            }
        )
        is_text = name in ("csv", "json", "text")
        if is_text and compression not in TEXT_CODECS:
            raise UnsupportedError(
                f"file.compression = '{compression}' of files of {name}",
                f"use {', '.join(TEXT_CODECS)}",
            )
        data_format = None if is_text else DataFormats.of(typed).at_level(0)
        return cls(
            format=name,
            compression=compression,
            prefix=options.get("data-file.prefix", "data-"),
            target_file_bytes=parse_memory_size_bytes(options.get("target-file-size", "256 mb")),
            split_target_bytes=_bytes(options, "source.split.target-size"),
            open_file_cost_bytes=_bytes(options, "source.split.open-file-cost"),
            only_values=_boolean(options, "format-table.partition-path-only-value"),
            partitions=typed.slice(PartitionOptions),
            csv=_csv(options) if name == "csv" else CsvOptions(),
            json=_json(options) if name == "json" else JsonOptions(),
            line_delimiter_of_text=_of(options, _TEXT, "text.line-delimiter", "\n"),
            data_format=data_format,
            syncs_to=options.get(_SYNC),
            is_dynamic=_boolean(options, "dynamic-partition-overwrite", default=True),
        )

    @property
    def extension(self) -> str:
        """What names of files end with, without the point before it."""
        if self.data_format is not None:
            return self.data_format.extension
        codec = TEXT_CODECS[self.compression]
        return f"{self.format}.{codec}" if codec else self.format


def _is_of_files(key: str) -> bool:
    spec = find_option(key)
    return (spec is not None and key in _OF_ALL | {"file.suffix.include.compression"}) or (
        key.startswith(("parquet.", "orc."))
    )


def _of(
    options: Mapping[str, str], names: Mapping[str, tuple[str, ...]], key: str, default: str
) -> str:
    return next((options[name] for name in (key, *names[key]) if name in options), default)


def _bytes(options: Mapping[str, str], key: str) -> int | None:
    return parse_memory_size_bytes(options[key]) if key in options else None


def _boolean(options: Mapping[str, str], key: str, *, default: bool = False) -> bool:
    try:
        return parse_boolean(options[key]) if key in options else default
    except ValueError as error:
        raise SchemaError(f"{key} = {options[key]!r}: {error}") from error


def _csv(options: Mapping[str, str]) -> CsvOptions:
    def of(key: str, default: str) -> str:
        return _of(options, _CSV, key, default)

    mode = of("csv.mode", "permissive").lower()
    if mode not in ("permissive", "dropmalformed", "failfast"):
        raise SchemaError(f"csv.mode = {mode!r}: use permissive, dropmalformed or failfast")
    header = of("csv.include-header", "false")
    try:
        has_header = parse_boolean(header)
    except ValueError as error:
        raise SchemaError(f"csv.include-header = {header!r}: {error}") from error
    signs = {
        "csv.field-delimiter": of("csv.field-delimiter", ","),
        "csv.quote-character": of("csv.quote-character", '"'),
        "csv.escape-character": of("csv.escape-character", "\\"),
    }
    for key, sign in signs.items():
        if len(sign) != 1 or not sign.isascii() or sign in "\0\r\n":
            raise UnsupportedError(f"{key} = {sign!r}", "it must be one character of ASCII")
    if len(set(signs.values())) < len(signs):
        said = ", ".join(f"{key} = {sign!r}" for key, sign in signs.items())
        raise SchemaError(f"{said}: they must differ")
    return CsvOptions(
        delimiter=signs["csv.field-delimiter"],
        line_delimiter=_line_delimiter("csv.line-delimiter", of("csv.line-delimiter", "\n")),
        quote=signs["csv.quote-character"],
        escape=signs["csv.escape-character"],
        has_header=has_header,
        null_literal=of("csv.null-literal", ""),
        mode=cast("Mode", mode),
    )


def _json(options: Mapping[str, str]) -> JsonOptions:
    mode = options.get("json.map-null-key-mode", "fail").lower()
    if mode != "fail":
        raise UnsupportedError(f"json.map-null-key-mode = '{mode}'", "keys of maps are never null")
    return JsonOptions(
        line_delimiter=_line_delimiter(
            "json.line-delimiter", options.get("json.line-delimiter", "\n")
        ),
        ignores_errors=_boolean(options, "json.ignore-parse-errors"),
    )


def _line_delimiter(key: str, text: str) -> str:
    if not text:
        raise SchemaError(f"{key} = '': lines must end with something")
    return text


# Checks of new tables


def check_new(name: str, schema: TableSchema) -> FormatOptions:
    """Check that a format table can be made.

    Parameters
    ----------
    name
        Of the table.
    schema
        Its columns, partition keys and options.

    Raises
    ------
    SchemaError
        If the definition is not allowed, or an option is unknown.
    UnsupportedError
        If an option means nothing to a format table, or its files cannot hold a column.
    """
    if schema.primary_keys:
        raise SchemaError(f"{name}: a format table has no primary key")
    options = check_options(name, schema.options)
    if schema.options.get("metastore.partitioned-table", "false").lower() == "true":
        raise UnsupportedError(
            f"metastore.partitioned-table = 'true' of the format table {name}",
            "its partitions are its folders",
        )
    if options.syncs_to is not None:
        raise UnsupportedError(
            f"{_SYNC} = '{options.syncs_to}'", "partitions are not added to another metastore"
        )
    if set(schema.partition_keys) >= set(schema.field_names):
        raise SchemaError(f"{name}: all columns are partition columns; files would have none")
    for field in schema.fields:
        if field.default_value is not None and options.format == "text":
            raise SchemaError(f"{name}.{field.name}: a column of text files has no default")
    check_columns(name, data_fields(schema), options)
    return options


def check_options(name: str, options: Mapping[str, str]) -> FormatOptions:
    """Check the options of a new format table; errors as of `check_new`."""
    read = FormatOptions.of(options)
    for key, value in options.items():
        _check_key(name, key, value, read.format)
    return read


def _check_key(name: str, key: str, value: str, file_format: str) -> None:
    others = {one for names in _OF_FORMAT[file_format].values() for one in names}
    if key == "format-table.implementation" and value.lower() != "paimon":
        raise UnsupportedError(
            f"{key} = '{value}' of the format table {name}", "our reader and writer are used"
        )
    if key in _OF_ALL or key in _OF_FORMAT[file_format] or key in others:
        return
    if key.startswith(f"{file_format}.") and find_option(key) is not None:
        return
    every = {one: kind for kind, of in _OF_FORMAT.items() for one in of}
    if find_option(key) is not None or key in every:
        raise UnsupportedError(
            f"{key} = '{value}' of the format table {name}",
            f"it means nothing to a folder of files of {file_format}",
        )
    known = [*_OF_ALL, *_OF_FORMAT[file_format]]
    raise SchemaError(f"option {key!r} is not known.{close_matches(key, known)}")


def data_fields(schema: TableSchema) -> tuple[DataField, ...]:
    """Return the columns that files have: those that are not of partitions."""
    return tuple(field for field in schema.fields if field.name not in schema.partition_keys)


_NO_TEXT = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB})


def _is_text(data_type: DataType) -> bool:
    """Whether texts, lists and objects can say values of a type."""
    match data_type:
        case ArrayType(element):
            return _is_text(element)
        case MapType(key, value):
            return isinstance(key, AtomicType) and _is_text(key) and _is_text(value)
        case RowType(fields):
            return all(_is_text(one.type) for one in fields)
        case AtomicType():
            return data_type.root not in _NO_TEXT
    return False


def check_columns(name: str, fields: Sequence[DataField], options: FormatOptions) -> None:
    """Check that files can hold columns.

    Raises
    ------
    UnsupportedError
        Names the column.
    """
    if options.data_format is not None:
        options.data_format.check(fields)
        return
    if options.format == "text":
        is_text = isinstance(fields[0].type, AtomicType) and fields[0].type.root in TEXT_ROOTS
        if len(fields) != 1 or not is_text:
            raise UnsupportedError(
                f"columns {', '.join(field.name for field in fields)} of the format table {name}",
                "files of text have one column, a STRING",
            )
        return
    for field in fields:
        is_nested = not isinstance(field.type, AtomicType)
        if (is_nested and options.format == "csv") or not _is_text(field.type):
            raise UnsupportedError(
                f"{name}.{field.name}, {format_type(field.type)}, in files of {options.format}",
                "use parquet" if options.format == "json" else "use json or parquet",
            )
