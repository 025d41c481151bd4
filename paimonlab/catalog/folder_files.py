"""Folders of Parquet and ORC files: which files, of which partitions, with which columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.formats.foreign_files import footer_of
from paimonlab.spec.partitions.folders import unescape
from paimonlab.storage import FileIO, FileStatus

if TYPE_CHECKING:
    from paimonlab.progress import Progress

_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFile:
    """One file of a folder."""

    path: str
    file_format: str
    """parquet or orc."""
    partition: tuple[str | None, ...]
    """Texts of the values in the names of its folders; None for null."""
    size_bytes: int
    row_count: int
    plain_nanos: tuple[str, ...] = ()
    """Columns of nanoseconds that Paimon has otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """What a folder has."""

    files: tuple[FolderFile, ...]
    """By path."""
    partition_keys: tuple[str, ...]
    schema: pa.Schema
    """Columns of all files."""
    origin: str
    """A file that has them, for messages."""


def read_folder(io: FileIO, folder: str, progress: Progress | None = None) -> Folder:
    """Read which files a folder has, and their footers.

    Parameters
    ----------
    io
        The store that it is in.
    folder
        Absolute.
    progress
        Is called as footers are read.

    Raises
    ------
    SchemaError
        If files differ in their columns, or folders in their partition columns.
    UnsupportedError
        If a file is neither Parquet nor ORC, or a folder is not of partitions.
    CorruptDataError
        If a file is damaged.
    """
    listed = sorted(partition_files(io, folder, ()), key=lambda one: one[0].path)
    keys: tuple[str, ...] | None = None
    schema, origin = pa.schema([]), ""
    files = []
    for number, (status, parts) in enumerate(listed):
        path = status.path
        names = tuple(name for name, _ in parts)
        if keys is None:
            keys = names
        elif keys != names:
            raise SchemaError(
                f"{path} is in a folder of the partition columns {names}, others of {keys}"
            )
        footer = footer_of(io, path)
        found = footer.schema
        if not origin:
            schema, origin = found, path
        elif not found.equals(schema):
            _raise_difference(schema, origin, found, path)
        files.append(
            FolderFile(
                path=path,
                file_format=footer.format,
                partition=tuple(value for _, value in parts),
                size_bytes=status.size_bytes,
                row_count=footer.row_count,
                plain_nanos=footer.plain_nanos,
            )
        )
        if progress is not None:
            progress(number + 1, len(listed), "footers")
    return Folder(files=tuple(files), partition_keys=keys or (), schema=schema, origin=origin)


def joined(
    parts: Iterable[tuple[Folder, tuple[str | None, ...]]], partition_keys: tuple[str, ...]
) -> Folder:
    """Return folders that are one partition each as one.

    Parameters
    ----------
    parts
        Folders without partitions, each with its values; at least one.
    partition_keys
        Names of the values.

    Raises
    ------
    SchemaError
        If files differ in their columns.
    UnsupportedError
        If a folder has partitions below it.
    """
    files = list[FolderFile]()
    first: Folder | None = None
    for folder, values in parts:
        if folder.partition_keys:
            raise UnsupportedError(
                f"partitions in folders below that of a partition, of {folder.origin}",
                "the metastore does not know them",
            )
        if not folder.files:
            continue
        if first is None:
            first = folder
        elif not folder.schema.equals(first.schema):
            _raise_difference(first.schema, first.origin, folder.schema, folder.origin)
        files += [replace(file, partition=values) for file in folder.files]
    if first is None:
        return Folder(files=(), partition_keys=partition_keys, schema=pa.schema([]), origin="")
    return replace(first, files=tuple(files), partition_keys=partition_keys)


Parts = tuple[tuple[str, str | None], ...]


def partition_files(io: FileIO, folder: str, parts: Parts) -> Iterator[tuple[FileStatus, Parts]]:
    """Find the files of a folder and of the folders of partitions below it.

    Yields
    ------
    tuple
        The file, and names and texts of its partition.

    Raises
    ------
    UnsupportedError
        If a folder is not of a partition.
    """
    for status in io.list(folder):
        name = status.path.rstrip("/").rpartition("/")[2]
        if name.startswith(("_", ".")) or status.is_linked:
            continue
        if not status.is_directory:
            yield status, parts
            continue
        key, equals, text = name.partition("=")
        if not equals:
            raise UnsupportedError(
                f"the folder {status.path} in one of files",
                "folders below it must be of partitions, as dt=2026-01-01",
            )
        value = None if text == _HIVE_NULL else unescape(text)
        yield from partition_files(io, status.path, (*parts, (unescape(key), value)))


def _raise_difference(schema: pa.Schema, origin: str, found: pa.Schema, path: str) -> None:
    ours = {field.name: field.type for field in schema}
    theirs = {field.name: field.type for field in found}
    for name in {**ours, **theirs}:
        if ours.get(name) != theirs.get(name):
            raise SchemaError(
                f"column {name!r} is {ours.get(name, 'not there')} in {origin} and "
                f"{theirs.get(name, 'not there')} in {path}; files must have the same columns"
            )
