"""Rows of files as rows of a table, and what is wrong with each.

A file is read once to count its rows and errors, and once more to write its rows.

Source: apache/paimon@5dacde5 ``CopyIntoDataFrameBuilder``, ``CopyIntoCastValidator``; here a
conversion fails as in Spark's ANSI mode, and CHAR, VARCHAR and NOT NULL are checked for each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession, functions
from pyspark.sql import types as st

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.values.types import to_spark
from paimonlab.spec.sql_text.copy_syntax import CopyFormat
from paimonlab.spec.types.data_types import MAX_LENGTH, AtomicType, DataField, TypeRoot
from paimonlab.table.copying.formats import TextRules
from paimonlab.table.copying.loading import SHOWN, FileCounts

_FILE, _ERROR, _CORRUPT, _NUMBER = "file", "error", "corrupt", "c"
_NESTED = (st.ArrayType, st.MapType, st.StructType, st.VariantType)


@dataclass(frozen=True, slots=True)
class CheckedRows:
    """Rows of files with the columns ``c0``, ``c1``, …, the file's name, and what is wrong."""

    frame: DataFrame
    columns: tuple[str, ...]
    """The names that ``c0``, ``c1``, … have in the table."""

    def counts(self) -> dict[str, FileCounts]:
        """Count rows and errors by the file's name; files without rows are left out."""
        found = self.frame.groupBy(_FILE).agg(
            functions.count(functions.lit(1)),
            functions.count(_ERROR),
            functions.first(_ERROR, ignorenulls=True),
        )
        return {unquote(row[0]): FileCounts(*row) for row in found.collect()}

    def good(self, but_of: Sequence[str]) -> DataFrame:
        """Return the rows that can be loaded, with the names of the table.

        Parameters
        ----------
        but_of
            Files to leave out, as Spark spells them.
        """
        rows = self.frame.where(functions.col(_ERROR).isNull())
        if but_of:
            rows = rows.where(~functions.col(_FILE).isin(list(but_of)))
        return rows.select(
            *(
                functions.col(f"{_NUMBER}{index}").alias(name)
                for index, name in enumerate(self.columns)
            )
        )


def checked_rows(
    spark: SparkSession,
    paths: Sequence[str],
    fields: Sequence[DataField],
    kind: CopyFormat,
    options: Mapping[str, str],
    texts: TextRules,
) -> CheckedRows:
    """Read files.

    Parameters
    ----------
    spark
        The session.
    paths
        Of the files, at least one.
    fields
        The columns of the table that the files have: in their order in CSV, by their names else.
    kind
        What the files are.
    options
        Of Spark's reader.
    texts
        Of CSV and JSON.

    Raises
    ------
    UnsupportedError
        If a column has a type that such files cannot have.
    SchemaError
        If columns of a Parquet file differ in upper and lower case only.
    """
    types = [to_spark(field.type, column=field.name, plain=True) for field in fields]
    if kind is CopyFormat.PARQUET:
        read = spark.read.options(mergeSchema="true", **options).parquet(*paths)
        sources = [_column_named(read, field.name) for field in fields]
        corrupt = functions.lit(None).cast("string")
    else:
        schema = _text_schema(fields, types, kind)
        marked = {
            "columnNameOfCorruptRecord": schema.names[-1],
            "columnPruning": "false",
            "mode": "PERMISSIVE",
        }
        reader = spark.read.schema(schema).options(**options, **marked)
        read = reader.csv(list(paths)) if kind is CopyFormat.CSV else reader.json(list(paths))
        sources = [_text(functions.col(quoted(name)), schema[name], texts) for name in schema.names]
        corrupt = sources.pop()
    raw = read.select(
        read.metadataColumn("_metadata").getField("file_name").alias(_FILE),
        corrupt.alias(_CORRUPT),
        *(source.alias(f"{_NUMBER}{index}") for index, source in enumerate(sources)),
    )
    found = [
        _checked(functions.col(f"{_NUMBER}{index}"), raw.schema[index + 2].dataType, field, wanted)
        for index, (field, wanted) in enumerate(zip(fields, types, strict=True))
    ]
    malformed = functions.concat(
        functions.lit("malformed record: "), functions.substring(_CORRUPT, 1, SHOWN)
    )
    errors = [malformed, *(error for _, checks in found for error in checks)]
    frame = raw.select(
        functions.col(_FILE),
        functions.coalesce(*errors).alias(_ERROR),
        *(value.alias(f"{_NUMBER}{index}") for index, (value, _) in enumerate(found)),
    )
    return CheckedRows(frame, tuple(field.name for field in fields))


def _text_schema(
    fields: Sequence[DataField], types: Sequence[st.DataType], kind: CopyFormat
) -> st.StructType:
    """Return the columns of CSV or JSON files, and last one for records that are malformed."""
    schema = st.StructType()
    for index, (field, wanted) in enumerate(zip(fields, types, strict=True)):
        is_nested = isinstance(wanted, _NESTED)
        if is_nested and kind is CopyFormat.CSV:
            raise UnsupportedError(
                f"column {field.name!r} of type {wanted.simpleString()} in COPY INTO from CSV",
                "name the other columns: COPY INTO t (a, b) FROM …; or load JSON or Parquet",
            )
        name = f"_c{index}" if kind is CopyFormat.CSV else field.name
        schema = schema.add(name, wanted if is_nested else st.StringType())
    corrupt = "_corrupt_record"
    while corrupt in schema.names:
        corrupt = f"_{corrupt}"
    return schema.add(corrupt, st.StringType())


def _text(column: Column, field: st.StructField, texts: TextRules) -> Column:
    if not texts.null_texts or field.dataType != st.StringType():
        return column
    return functions.when(~column.isin(list(texts.null_texts)), column)


def _column_named(read: DataFrame, name: str) -> Column:
    found = [column for column in read.columns if column.lower() == name.lower()]
    if len(found) > 1:
        raise SchemaError(f"COPY INTO: the files have the columns {', '.join(found)}; rename them")
    return functions.col(quoted(found[0])) if found else functions.lit(None)


def _checked(
    column: Column, found: st.DataType, field: DataField, wanted: st.DataType
) -> tuple[Column, list[Column]]:
    """Return a column as its type, and for each check a text that is null if it holds."""
    value, checks = column, []
    if found != wanted:
        value = column.try_cast(wanted)
        shown = functions.substring(column.try_cast("string"), 1, SHOWN)
        failed = _said(field, shown, f"cannot be converted to {wanted.simpleString().upper()}")
        checks.append(functions.when(column.isNotNull() & value.isNull(), failed))
    is_short = isinstance(field.type, AtomicType) and field.type.root in {
        TypeRoot.CHAR,
        TypeRoot.VARCHAR,
    }
    if is_short and isinstance(field.type, AtomicType) and field.type.length != MAX_LENGTH:
        length = field.type.length or 0
        too_long = functions.length(functions.rtrim(value)) > length
        shown = functions.substring(value, 1, SHOWN)
        said = _said(field, shown, f"is longer than {length} characters")
        checks.append(functions.when(too_long, said))
    if not field.type.nullable:
        said = functions.lit(f"column {field.name!r}: NULL in a column that is NOT NULL")
        checks.append(functions.when(column.isNull(), said))
    return value, checks


def _said(field: DataField, shown: Column, problem: str) -> Column:
    return functions.concat(
        functions.lit(f"column {field.name!r}: '"),
        functions.coalesce(shown, functions.lit("?")),
        functions.lit(f"' {problem}"),
    )
