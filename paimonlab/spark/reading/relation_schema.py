"""Columns as the relations inside of Spark's plans have them.

There CHAR(n) and VARCHAR(n) are strings whose metadata say what was declared. By that Spark pads
the values of a CHAR(n) with blanks to n characters, and what they are compared with.

Source: apache/spark@v4.3.0 ``CharVarcharUtils`` and ``ApplyCharTypePadding``.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import types as st

from paimonlab.spark.values.quoting import quoted
from paimonlab.spark.values.types import CHAR_VARCHAR_KEY, to_spark
from paimonlab.spec.types.data_types import DataField, DataType, TypeRoot, atoms_in


def relation_schema(fields: Iterable[DataField]) -> st.StructType:
    """Return the columns of a table for a view of it, comments included.

    Raises
    ------
    UnsupportedError
        If Spark has no type for a column; names it.
    """
    return st.StructType([_view_field(field) for field in fields])


def _view_field(field: DataField) -> st.StructField:
    metadata = {} if field.description is None else {"comment": field.description}
    declared = to_spark(field.type, column=field.name)
    plain = to_spark(field.type, column=field.name, plain=True)
    if declared != plain:
        metadata[CHAR_VARCHAR_KEY] = _declaration(declared)
    return st.StructField(field.name, plain, field.type.nullable, metadata)


def scan_schema(fields: Iterable[DataField]) -> st.StructType:
    """Return the columns of a table for a scan of it; see `scan_field`."""
    return st.StructType([scan_field(field.name, field.type, field.type) for field in fields])


def scan_field(name: str, stored: DataType, wanted: DataType) -> st.StructField:
    """Return one column for a scan, whose values of CHAR(n) are padded.

    Nothing is said of VARCHAR(n): Spark would then not push filters on it down.

    Parameters
    ----------
    name
        Name of the column.
    stored
        Type of the values in the files.
    wanted
        Type of the table's column: the same texts in the same places, maybe longer ones.
    """
    metadata = {}
    if _has_char(wanted):
        metadata[CHAR_VARCHAR_KEY] = _declaration(to_spark(wanted, column=name))
    spark_type = to_spark(stored, column=name, plain=True)
    return st.StructField(name, spark_type, stored.nullable, metadata)


def undeclared(schema: st.StructType) -> st.StructType:
    """Return columns for a scan whose values of CHAR(n) come as they are stored."""
    return st.StructType(
        [st.StructField(field.name, field.dataType, field.nullable) for field in schema.fields]
    )


def _has_char(data_type: DataType) -> bool:
    return any(atom.root is TypeRoot.CHAR for atom in atoms_in(data_type))


def _declaration(spark_type: st.DataType) -> str:
    """Write a type as Spark's parser reads it: PySpark does not quote the names of fields."""
    match spark_type:
        case st.ArrayType():
            return f"array<{_declaration(spark_type.elementType)}>"
        case st.MapType():
            key, value = map(_declaration, (spark_type.keyType, spark_type.valueType))
            return f"map<{key},{value}>"
        case st.StructType():
            inner = (f"{quoted(field.name)}:{_declaration(field.dataType)}" for field in spark_type)
            return f"struct<{','.join(inner)}>"
    return spark_type.simpleString()
