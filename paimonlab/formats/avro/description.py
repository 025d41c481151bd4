"""What an Avro data file says of itself: its codec, its columns and its blocks of rows."""

from __future__ import annotations

import json
from typing import Any

from paimonlab.formats.avro.container import read_head
from paimonlab.formats.avro.input import AvroInput
from paimonlab.formats.description import ColumnChunk, FileDescription, FilePart, short
from paimonlab.storage import FileIO


def describe_avro(file_io: FileIO, path: str) -> FileDescription:
    """Read the head of the file and of each block; Avro has rows, and no statistics of columns."""
    with file_io.open_input(path) as file:
        data = file.read_buffer()
    with AvroInput(file_io, path) as opened:
        groups = opened.row_groups
    head = read_head(memoryview(data).cast("B"), path)
    codec = head.codec.decode(errors="replace")
    columns = tuple(
        ColumnChunk(
            name=str(field["name"]),
            type_text=short(_type_text(field["type"])),
            encodings=(),
            compression=codec,
            stored_bytes=None,
            plain_bytes=None,
            low=None,
            high=None,
            null_count=None,
            pages=None,
        )
        for field in _record(json.loads(head.schema))["fields"]
    )
    parts = tuple(
        FilePart(
            first_row=group.first_row,
            row_count=group.row_count,
            stored_bytes=group.size_bytes,
            columns=columns,
        )
        for group in groups
    )
    return FileDescription(
        format="avro",
        version="",
        written_by="",
        size_bytes=len(data),
        row_count=sum(group.row_count for group in groups),
        parts=parts,
        properties={"compression": codec},
    )


def _record(schema: Any) -> Any:
    """Take a record out of the union with null that some writers put it into."""
    return next(one for one in schema if one != "null") if isinstance(schema, list) else schema


def _type_text(avro: Any) -> str:
    if isinstance(avro, list):
        return " or ".join(map(_type_text, avro))
    if isinstance(avro, dict):
        return str(avro.get("logicalType") or avro["type"])
    return str(avro)
