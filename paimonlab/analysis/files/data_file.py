"""One data file: what its manifest entry and the file itself say, and some of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from paimonlab.formats.description import ColumnChunk, FileDescription, FilePart
from paimonlab.secrets import hides_secrets, redacted
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.plurals import many

MOST_CHUNKS = 1000
"""Columns of row groups that are shown one by one."""
_PARTS = {"parquet": "row group", "orc": "stripe", "avro": "block group"}


class FileColumn(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A column of a file, or of a part of it."""

    name: str
    type: str
    compression: str
    encodings: tuple[str, ...]
    stored_bytes: int | None
    """None: hidden, or the format does not say."""
    plain_bytes: int | None
    """Before compression."""
    low: str | None
    """The least value; None if it is unknown, not given for whole files, or absent."""
    high: str | None
    nulls: int | None
    pages: int | None
    """None: the format has no pages."""
    checksums: int | None
    """Pages that have one."""
    wrong: int | None
    """Pages whose checksum does not match; None if they were not checked."""


class FilePartNode(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A row group, a stripe or a group of blocks."""

    first_row: int
    rows: int
    stored_bytes: int | None
    columns: tuple[FileColumn, ...]


class FileRows(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Consecutive rows, as the file has them."""

    offset: int
    columns: tuple[str, ...]
    cells: tuple[tuple[str | None, ...], ...]
    """A text for each column of each row; None is NULL."""
    problem: str
    """Why they cannot be read; "" if they can."""


@hides_secrets
class DataFileView(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="file", tag_field="kind"
):
    """A data file."""

    table: str
    snapshot_id: int
    file: str
    partition: str
    bucket: int
    level: int | None
    """None in a table without primary key."""
    schema_id: int
    min_key: str | None
    max_key: str | None
    min_sequence_number: int
    max_sequence_number: int
    format: str
    version: str
    written_by: str
    part_name: str
    """What the format calls its parts."""
    rows: int
    entry_rows: int
    """According to the manifest."""
    bytes: int | None
    entry_bytes: int | None
    part_count: int
    columns: tuple[FileColumn, ...]
    """Over all parts."""
    parts: tuple[FilePartNode, ...]
    """The first ones."""
    properties: tuple[tuple[str, str], ...]
    first_rows: FileRows


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """Where a file is, and what its manifest entry says."""

    snapshot_id: int
    partition: str
    bucket: int
    meta: DataFileMeta
    min_key: str | None
    max_key: str | None


def data_file(
    table: str,
    place: FilePlace,
    description: FileDescription,
    first_rows: FileRows,
    *,
    has_levels: bool,
) -> DataFileView:
    """Put together what is known about a data file.

    Parameters
    ----------
    table
        Its name.
    place
        What the manifest says.
    description
        What the file says.
    first_rows
        Some of its rows.
    has_levels
        Whether the table has a primary key.
    """
    columns = [part.columns for part in description.parts]
    width = len(columns[0]) if columns else 1
    meta = place.meta
    return DataFileView(
        table=table,
        snapshot_id=place.snapshot_id,
        file=meta.file_name,
        partition=place.partition,
        bucket=place.bucket,
        level=meta.level if has_levels else None,
        schema_id=meta.schema_id,
        min_key=place.min_key,
        max_key=place.max_key,
        min_sequence_number=meta.min_sequence_number,
        max_sequence_number=meta.max_sequence_number,
        format=description.format,
        version=description.version,
        written_by=description.written_by,
        part_name=_PARTS[description.format],
        rows=description.row_count,
        entry_rows=meta.row_count,
        bytes=description.size_bytes,
        entry_bytes=meta.file_size_bytes,
        part_count=len(description.parts),
        columns=tuple(_total(chunks) for chunks in zip(*columns, strict=True)),
        parts=tuple(map(_part, description.parts[: max(MOST_CHUNKS // width, 1)])),
        properties=tuple(sorted(redacted(description.properties).items())),
        first_rows=first_rows,
    )


def _part(part: FilePart) -> FilePartNode:
    return FilePartNode(
        first_row=part.first_row,
        rows=part.row_count,
        stored_bytes=part.stored_bytes,
        columns=tuple(_column(chunk) for chunk in part.columns),
    )


def _column(chunk: ColumnChunk) -> FileColumn:
    pages = chunk.pages
    return FileColumn(
        name=chunk.name,
        type=chunk.type_text,
        compression=chunk.compression,
        encodings=chunk.encodings,
        stored_bytes=chunk.stored_bytes,
        plain_bytes=chunk.plain_bytes,
        low=chunk.low,
        high=chunk.high,
        nulls=chunk.null_count,
        pages=None if pages is None else pages.count,
        checksums=None if pages is None else pages.checksum_count,
        wrong=None if pages is None else pages.wrong_count,
    )


def _total(chunks: Sequence[ColumnChunk]) -> FileColumn:
    """Add up a column over the parts; texts of bounds cannot be compared and are left out."""
    columns = [_column(chunk) for chunk in chunks]
    is_single = len(columns) == 1
    return msgspec.structs.replace(
        columns[0],
        encodings=tuple(sorted({name for column in columns for name in column.encodings})),
        compression=", ".join(sorted({column.compression for column in columns})),
        low=columns[0].low if is_single else None,
        high=columns[0].high if is_single else None,
        **{
            name: _sum([getattr(column, name) for column in columns])
            for name in ("stored_bytes", "plain_bytes", "nulls", "pages", "checksums", "wrong")
        },
    )


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def problems(view: DataFileView) -> list[str]:
    """Say where the manifest, the file and its checksums differ."""
    differences = []
    if view.rows != view.entry_rows:
        differences.append(
            f"it has {many(view.rows, 'row')}, the manifest says {view.entry_rows:,}"
        )
    if view.bytes != view.entry_bytes:
        differences.append(f"it has {view.bytes:,} bytes, the manifest says {view.entry_bytes:,}")
    wrong = sum(column.wrong or 0 for column in view.columns)
    if wrong:
        differences.append(f"checksums of {many(wrong, 'page')} do not match their bytes")
    return differences


def checks(view: DataFileView) -> str:
    """Say how many pages have a checksum and whether they match; "" without pages."""
    if not view.columns or any(column.pages is None for column in view.columns):
        return ""
    pages = sum(column.pages or 0 for column in view.columns)
    with_checksum = sum(column.checksums or 0 for column in view.columns)
    text = f"{with_checksum:,} of {pages:,} pages have a checksum"
    if any(column.wrong is None for column in view.columns):
        return f"{text}; the file is too large to compute them here"
    wrong = sum(column.wrong or 0 for column in view.columns)
    return f"{text}, {wrong:,} do not match" if wrong else f"{text}, all match"


def repeatable_file(view: DataFileView) -> DataFileView:
    """Leave out what differs from run to run: the name, bytes, who wrote it."""
    replace = msgspec.structs.replace

    def plain(column: FileColumn) -> FileColumn:
        return replace(column, stored_bytes=None, plain_bytes=None)

    return replace(
        view,
        file="data#1",
        version="",
        written_by="",
        bytes=None,
        entry_bytes=None,
        columns=tuple(map(plain, view.columns)),
        parts=tuple(
            replace(part, stored_bytes=None, columns=tuple(map(plain, part.columns)))
            for part in view.parts
        ),
        properties=(),
    )
