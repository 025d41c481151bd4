"""Columns of Kafka Connect's schemas: which type of Paimon holds them and how values are read.

=====================================  =====================  =====================================
Connect                                Paimon                 written in JSON as
=====================================  =====================  =====================================
int8, int16, int32, int64              TINYINT … BIGINT       number
float, float32; double, float64        FLOAT; DOUBLE          number, or the text NaN, Infinity
boolean; string                        BOOLEAN; STRING        truth value; text
bytes                                  BYTES                  base64
array, map, struct                     STRING                 JSON, kept as its text
connect.data.Decimal(p <= 38, s)       DECIMAL(p, s)          base64 of the unscaled number, number
the same, p > 38                       STRING                 as above
connect.data.Date, time.Date           DATE                   days
connect.data.Timestamp, time.Timestamp TIMESTAMP(3)           milliseconds
time.MicroTimestamp, NanoTimestamp     TIMESTAMP(6), (9)      micro-, nanoseconds
time.ZonedTimestamp                    TIMESTAMP(6), in UTC   ISO text
connect.data.Time, time.Time           TIME(3)                milliseconds
time.MicroTime, NanoTime               TIME(3)                micro-, nanoseconds
data.Bits                              BINARY                 base64, least significant byte first
data.VariableScaleDecimal              STRING                 struct of scale and unscaled value
data.geometry.Point, Geometry          STRING (GeoJSON)       struct of wkb and srid
time.Year, data.Json, Enum, Uuid …     of the base type       of the base type
=====================================  =====================  =====================================

Source: Debezium's documentation of data types; apache/paimon@1.3.1 ``DebeziumSchemaUtils``, whose
FLOAT for ``float64``, text of BYTES and INT for times are not repeated.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.ingest.changes import SourceColumn
from paimonlab.ingest.formats.geometry import geometry_json
from paimonlab.ingest.formats.json_cells import Column
from paimonlab.ingest.formats.text_values import (
    Read,
    bits_reader,
    clock_reader,
    decimal_reader,
    epoch_reader,
    read_base64,
    read_text,
    reader_of,
    zoned_reader,
)
from paimonlab.spec.decoding import ready
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType, with_nullable
from paimonlab.spec.types.text import parse_type

CONNECT = "org.apache.kafka.connect.data."
DEBEZIUM = "io.debezium."
MOST_DIGITS = 38
UNSIGNED_DIGITS = 20
"""Of a Decimal without precision: Debezium writes BIGINT UNSIGNED so."""


class ConnectField(msgspec.Struct, frozen=True):
    """A field of a schema as Connect's JSON converter writes it."""

    type: str = "struct"
    field: str = ""
    optional: bool = False
    name: str | None = None
    parameters: dict[str, str] | None = None
    fields: tuple[ConnectField, ...] = ()
    doc: str | None = None


@dataclass(frozen=True, slots=True)
class ReadColumn:
    """A column of messages: what it is and how its values become Arrow."""

    column: SourceColumn
    read: Read


Rule: TypeAlias = Callable[[Mapping[str, str]], tuple[str, Read]]
"""From a field's parameters to the type's text and how to read it."""


def read_columns(fields: Sequence[ConnectField]) -> dict[str, ReadColumn]:
    """Return the columns of a struct by name.

    Parameters
    ----------
    fields
        Of the schema of ``after`` or ``before``.
    """
    return {field.field: _read_column(field) for field in fields}


def _read_column(field: ConnectField) -> ReadColumn:
    parameters = field.parameters or {}
    text, read = _meaning(field, parameters)
    data_type = with_nullable(parse_type(text), nullable=field.optional)
    said = parameters.get("__debezium.source.column.type") or field.name or field.type
    comment = parameters.get("__debezium.source.column.comment", field.doc)
    column = SourceColumn(name=field.field, type=data_type, source_type=said, comment=comment)
    return ReadColumn(column, read)


def _meaning(field: ConnectField, parameters: Mapping[str, str]) -> tuple[str, Read]:
    rule = _LOGICAL.get(field.name or "")
    if rule is not None:
        return rule(parameters)
    plain = _BASE.get(field.type, "STRING")
    if field.type == "bytes":
        return plain, read_base64
    return plain, read_text if plain == "STRING" else reader_of(parse_type(plain))


_BASE = {
    "int8": "TINYINT",
    "int16": "SMALLINT",
    "int32": "INT",
    "int64": "BIGINT",
    "float": "FLOAT",
    "float32": "FLOAT",
    "double": "DOUBLE",
    "float64": "DOUBLE",
    "boolean": "BOOLEAN",
    "bytes": "BYTES",
}


def _decimal(parameters: Mapping[str, str]) -> tuple[str, Read]:
    scale = int(parameters.get("scale", "0"))
    given = parameters.get("connect.decimal.precision")
    precision = int(given) if given else (UNSIGNED_DIGITS if scale == 0 else MOST_DIGITS)
    if precision > MOST_DIGITS or not 0 <= scale <= precision:
        return "STRING", _unscaled_text(scale)
    text = f"DECIMAL({precision}, {scale})"
    data_type = parse_type(text)
    return text, decimal_reader(data_type)  # type: ignore[arg-type]


def _unscaled_text(scale: int) -> Read:
    """Spell decimals that are too long for DECIMAL."""

    def spell(text: str) -> str:
        return spelled(base64.b64decode(text, validate=True), scale)

    def read(column: Column) -> pa.Array:
        cells = zip(column.texts.to_pylist(), column.is_string, strict=True)
        found = [spell(text) if text is not None and quoted else text for text, quoted in cells]
        return arrow_array(found, pa.string())

    return read


def spelled(unscaled: bytes, scale: int) -> str:
    """Spell a decimal without exponent.

    Examples
    --------
    >>> spelled(bytes.fromhex("01f4"), 2)
    '5.00'
    """
    number = int.from_bytes(unscaled, "big", signed=True)
    digits = tuple(map(int, str(abs(number))))
    return format(Decimal((int(number < 0), digits, -scale)), "f")


class _Scaled(msgspec.Struct):
    scale: int
    value: str


class _Shape(msgspec.Struct):
    wkb: str
    srid: int | None = None


def _read_variable_decimal(column: Column) -> pa.Array:
    decoder = msgspec.json.Decoder(ready(_Scaled))

    def spell(text: str) -> str:
        found = decoder.decode(text)
        return spelled(base64.b64decode(found.value, validate=True), found.scale)

    found = [None if text is None else spell(text) for text in column.texts.to_pylist()]
    return arrow_array(found, pa.string())


def _read_geometry(column: Column) -> pa.Array:
    decoder = msgspec.json.Decoder(ready(_Shape))

    def one(text: str) -> str:
        found = decoder.decode(text)
        return geometry_json(base64.b64decode(found.wkb, validate=True), found.srid or 0)

    shapes = [None if text is None else one(text) for text in column.texts.to_pylist()]
    return arrow_array(shapes, pa.string())


def _epoch(text: str) -> Rule:
    return lambda _: (text, epoch_reader(to_arrow(parse_type(text))))


def _clock(per_milli: int) -> Rule:
    return lambda _: ("TIME(3)", clock_reader(per_milli))


def _zoned(_parameters: Mapping[str, str]) -> tuple[str, Read]:
    return "TIMESTAMP(6)", zoned_reader(pa.timestamp("us"))


def _bits(parameters: Mapping[str, str]) -> tuple[str, Read]:
    length = (int(parameters.get("length", "1")) + 7) // 8
    return f"BINARY({length})", bits_reader(length)


_LOGICAL: dict[str, Rule] = {
    f"{CONNECT}Decimal": _decimal,
    f"{CONNECT}Date": _epoch("DATE"),
    f"{CONNECT}Time": _clock(1),
    f"{CONNECT}Timestamp": _epoch("TIMESTAMP(3)"),
    f"{DEBEZIUM}time.Date": _epoch("DATE"),
    f"{DEBEZIUM}time.Time": _clock(1),
    f"{DEBEZIUM}time.MicroTime": _clock(1_000),
    f"{DEBEZIUM}time.NanoTime": _clock(1_000_000),
    f"{DEBEZIUM}time.Timestamp": _epoch("TIMESTAMP(3)"),
    f"{DEBEZIUM}time.MicroTimestamp": _epoch("TIMESTAMP(6)"),
    f"{DEBEZIUM}time.NanoTimestamp": _epoch("TIMESTAMP(9)"),
    f"{DEBEZIUM}time.ZonedTimestamp": _zoned,
    f"{DEBEZIUM}data.Bits": _bits,
    f"{DEBEZIUM}data.VariableScaleDecimal": lambda _: ("STRING", _read_variable_decimal),
    f"{DEBEZIUM}data.geometry.Point": lambda _: ("STRING", _read_geometry),
    f"{DEBEZIUM}data.geometry.Geometry": lambda _: ("STRING", _read_geometry),
}


def declared_columns(types: Mapping[str, DataType]) -> dict[str, ReadColumn]:
    """Return columns whose types a user declared.

    Raises
    ------
    UnsupportedError
        For types that have no text form.
    """
    return {
        name: ReadColumn(
            SourceColumn(name=name, type=kind, source_type="declared"), reader_of(kind)
        )
        for name, kind in types.items()
    }
