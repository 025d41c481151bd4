"""Few records of an Avro file -> values, or Arrow columns; fastavro decodes them one by one.

polars decodes columns, which pays for many: it takes 0.1 s to import, and its threads take longer
to start than some dozens of records to decode.
"""

from __future__ import annotations

import functools
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import uuid4

import fastavro
import numpy as np
import pyarrow as pa
from msgspec import Struct

from paimonlab import arrow_values
from paimonlab.errors import CorruptMetadataError
from paimonlab.formats.avro.blocks import Block
from paimonlab.interrupts import interrupts_held_back


def records_of(schema: bytes, blocks: Sequence[Block], path: str) -> list[dict[str, Any]]:
    """Decode records as dicts by field name.

    Parameters
    ----------
    schema
        The schema of a record, as JSON.
    blocks
        Decompressed.
    path
        Only for messages.

    Raises
    ------
    CorruptMetadataError
        If they are damaged.
    """
    parsed = _parsed(schema, path)
    with interrupts_held_back():  # fastavro makes a SystemError of one
        return [record for block in blocks for record, _ in _decoded(block, parsed, path)]


def records_after(
    schema: bytes, block: Block, path: str, *, start: int, count: int
) -> list[tuple[dict[str, Any], int]]:
    """Decode the records of a block from some byte on, before which it has some.

    Parameters
    ----------
    schema, block, path
        As of `records_of`.
    start
        Where the first one begins.
    count
        How many are before it.

    Returns
    -------
    list
        Each record, and where it ends.

    Raises
    ------
    CorruptMetadataError
        If they are damaged.
    """
    parsed = _parsed(schema, path)
    with interrupts_held_back():
        return list(_decoded(block, parsed, path, start=start, count=count))


def _parsed(schema: bytes, path: str) -> Any:
    try:
        return _parse(schema)
    except Exception as error:
        raise CorruptMetadataError(path, f"damaged Avro schema: {error!r}") from error


@functools.lru_cache(maxsize=64)
def _parse(schema: bytes) -> Any:
    return fastavro.parse_schema(json.loads(schema))


def _decoded(
    block: Block, parsed: Any, path: str, *, start: int = 0, count: int = 0
) -> Iterator[tuple[dict[str, Any], int]]:
    stream = io.BytesIO(block.data)
    stream.seek(start)
    for _ in range(count, block.record_count):
        try:
            record = fastavro.schemaless_reader(stream, parsed, None)
        except Exception as error:
            raise CorruptMetadataError(path, f"damaged Avro records: {error!r}") from error
        if not isinstance(record, dict):
            raise CorruptMetadataError(path, "its Avro values are not records")
        yield record, stream.tell()
    if stream.tell() != len(block.data):
        raise CorruptMetadataError(path, "damaged Avro records: bytes are left over")


class Marker(Struct, frozen=True):
    """A record that no file has."""

    data: bytes
    place: tuple[str, ...]
    """The field that tells it from others, from the outside in."""
    text: str
    """The value of that field."""


def marker_of(schema: bytes, block: Block, path: str) -> Marker | None:
    """Make a record that no file has, of the first one of a block.

    Returns
    -------
    Marker or None
        None: records have no text that could be another one. Parameters and errors are those of
        `records_of`.
    """
    parsed = _parsed(schema, path)
    with interrupts_held_back():
        record, _ = next(_decoded(block, parsed, path))
    place = _first_text(record)
    if place is None:
        return None
    inner = record
    for name in place[:-1]:
        inner = inner[name]
    text = inner[place[-1]] = uuid4().hex
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, parsed, record)
    return Marker(stream.getvalue(), place, text)


def _first_text(record: dict[str, Any]) -> tuple[str, ...] | None:
    for name, value in record.items():
        if isinstance(value, str):
            return (name,)
        if isinstance(value, dict) and (place := _first_text(value)):
            return (name, *place)
    return None


def columns_of(schema: bytes, blocks: Sequence[Block], path: str) -> pa.Table | None:
    """Decode records as Arrow columns.

    Returns
    -------
    pyarrow.Table or None
        One column a field, records as structs, all of the large types; None: a type is none of
        those that metadata has. Parameters and errors are those of `records_of`.
    """
    try:
        columns = _columns(schema)
    except Exception as error:
        raise CorruptMetadataError(path, f"damaged Avro schema: {error!r}") from error
    if columns is None:
        return None
    names, makers, plain_schema = columns
    records = records_of(plain_schema, blocks, path)
    try:
        arrays = [
            make([record[name] for record in records])
            for name, make in zip(names, makers, strict=True)
        ]
    except (pa.ArrowException, OverflowError) as error:
        raise CorruptMetadataError(path, f"damaged Avro records: {error}") from error
    return pa.table(arrays, names=names)


Make = Callable[[Sequence[Any]], pa.Array]
"""Values of a type -> an array."""


@functools.lru_cache(maxsize=64)
def _columns(schema: bytes) -> tuple[list[str], list[Make], bytes] | None:
    """Say how each field becomes a column, and the schema without logical types.

    fastavro would make values of Python of those, whose numbers are what is wanted.
    """
    record = json.loads(schema)
    makers = [_maker(field["type"]) for field in record["fields"]]
    known = [make for make in makers if make is not None]
    if len(known) < len(makers):
        return None
    return [field["name"] for field in record["fields"]], known, json.dumps(_plain(record)).encode()


def _plain(avro: Any) -> Any:
    if isinstance(avro, list):
        return [_plain(branch) for branch in avro]
    if isinstance(avro, dict):
        return {key: _plain(value) for key, value in avro.items() if key != "logicalType"}
    return avro


_TYPES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "bytes": pa.large_binary(),
    "string": pa.large_string(),
}
_TIMES = {"timestamp-millis": pa.timestamp("ms"), "timestamp-micros": pa.timestamp("us")}


def _maker(avro: Any) -> Make | None:
    """Return what makes an array of values of a type; None: not one that metadata has."""
    if isinstance(avro, list):
        branches = [branch for branch in avro if branch != "null"]
        return _maker(branches[0]) if len(branches) == 1 else None
    if isinstance(avro, str):
        type_ = _TYPES.get(avro)
        return (
            None if type_ is None else functools.partial(arrow_values.arrow_array, arrow_type=type_)
        )
    if avro["type"] == "record":
        return _record_maker(avro["fields"])
    if avro["type"] == "array":
        items = _maker(avro["items"])
        return None if items is None else functools.partial(_lists, make_items=items)
    time_type = _TIMES.get(avro.get("logicalType", ""))
    if time_type is not None and avro["type"] == "long":
        return lambda values: arrow_values.arrow_array(values, pa.int64()).view(time_type)
    return None if "logicalType" in avro else _maker(avro["type"])


def _record_maker(fields: Sequence[dict[str, Any]]) -> Make | None:
    names = [field["name"] for field in fields]
    makers = [_maker(field["type"]) for field in fields]
    known = [make for make in makers if make is not None]
    if len(known) < len(makers):
        return None

    def structs(values: Sequence[Any]) -> pa.Array:
        children = [
            make([None if value is None else value[name] for value in values])
            for name, make in zip(names, known, strict=True)
        ]
        missing = np.fromiter((value is None for value in values), np.bool_, len(values))
        mask = arrow_values.arrow_array(missing) if missing.any() else None
        return pa.StructArray.from_arrays(children, names, mask=mask)

    return structs


def _lists(values: Sequence[Any], *, make_items: Make) -> pa.Array:
    items = make_items([item for value in values for item in value or ()])
    ends = np.cumsum([0, *(len(value or ()) for value in values)], dtype=np.int64)
    missing = np.fromiter((value is None for value in values), np.bool_, len(values))
    mask = arrow_values.arrow_array(missing) if missing.any() else None
    return pa.LargeListArray.from_arrays(arrow_values.arrow_array(ends), items, mask=mask)
