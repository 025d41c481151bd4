"""Folders of CSV or JSON files, as a migration reads them: one table with the columns of all files.

Types are told by the first block of each file, and widened where files differ in numbers. A column
that a file lacks is null there.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa

from paimonlab.catalog.folder_columns import partition_types_of
from paimonlab.catalog.folder_files import FolderFile, partition_files
from paimonlab.errors import DataError, SchemaError, UnsupportedError
from paimonlab.formats.source_files import SourceFile, SourceFormat, format_of, shaped
from paimonlab.spec.external_paths import folder_of, scheme_of
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import parse_type
from paimonlab.storage import FileIO, LocalFileIO

_FORMATS = ("csv", "json")


class TextFolder:
    """A folder of such files, and of folders ``k=v`` of partitions.

    Parameters
    ----------
    folder
        On a local disk, or in the store of ``io``. Names that begin with ``_`` or ``.`` are left
        out.
    io
        The store of the warehouse; None: folders of the local disk alone are read.
    kind
        ``csv`` or ``json``, which all files must be; None: either.
    types
        Of columns by name, as ``{"price": "DECIMAL(10,2)"}``; of others their values tell.
    delimiter
        Between the values of CSV; None: a comma, a tab in ``.tsv`` files.

    Raises
    ------
    UnsupportedError
        If it is in another store, or has files of another kind.
    SchemaError
        If files differ in the type of a column, or there are none.
    DataError
        If a file cannot be read.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        io: FileIO | None = None,
        kind: str | None = None,
        types: Mapping[str, str] | None = None,
        delimiter: str | None = None,
    ) -> None:
        place = os.fspath(folder)
        self._is_local = scheme_of(place) in ("", "file")
        if self._is_local:
            self._folder = folder_of(place if scheme_of(place) else str(Path(place).absolute()))
            io = LocalFileIO()
        else:
            self._folder = place.rstrip("/")
            if io is None or isinstance(io, LocalFileIO):
                raise UnsupportedError(
                    f"migrating files of texts in {place}",
                    "the warehouse is not in that store: copy them to it, or to a local folder",
                )
            io = io.within(self._folder)
        found = sorted(partition_files(io, self._folder, ()), key=lambda one: one[0].path)
        if not found:
            raise SchemaError(f"{self._folder} has no CSV or JSON files")
        self._keys = tuple(key for key, _ in found[0][1])
        self._statuses = [status for status, _ in found]
        self._files = [
            FolderFile(
                path=status.path,
                file_format=_format(status.path),
                partition=tuple(value for _, value in parts),
                size_bytes=status.size_bytes,
                row_count=0,
            )
            for status, parts in found
        ]
        for path, parts in ((status.path, parts) for status, parts in found):
            if tuple(key for key, _ in parts) != self._keys:
                raise SchemaError(f"{path} is in a folder of other partition columns than the rest")
            if kind is not None and _format(path) != kind:
                raise SchemaError(f"{path} is {_format(path)}, not {kind}")
        self._sources = [
            SourceFile(
                one.path,
                _format(one.path),
                delimiter,
                None if self._is_local else _Opening(io, one.path, one.size_bytes),
            )
            for one in self._files
        ]
        given = dict(types or {})
        self._partition_types = partition_types_of(
            self._keys, self._files, {key: given.pop(key) for key in self._keys if key in given}
        )
        self._own = self._columns(given)

    @property
    def name(self) -> str:
        """What it is, for messages."""
        return self._folder

    @property
    def table_id(self) -> str:
        """Names the folder."""
        return f"files {self._folder}"

    @property
    def state(self) -> str:
        """Names the files as they are: their sizes and when they were written.

        Stores say that to the millisecond or, as S3, to the second.
        """
        digest = hashlib.sha256(repr(self.schema).encode())
        for one in self._statuses:
            written = Path(one.path).stat().st_mtime_ns if self._is_local else one.modified_millis
            digest.update(f"{one.path} {one.size_bytes} {written}\n".encode())
        return f"{self.table_id} {digest.hexdigest()[:32]}"

    @property
    def schema(self) -> pa.Schema:
        """Columns of the files, then those of partitions."""
        parts = [pa.field(key, to_arrow(kind)) for key, kind in self._partition_types.items()]
        return pa.schema([*self._own, *parts])

    @property
    def comments(self) -> Mapping[str, str]:
        """None."""
        return {}

    @property
    def partition_keys(self) -> tuple[str, ...]:
        """Those of the names of folders."""
        return self._keys

    def count(self) -> int:
        """Read all files, and count their rows."""
        return sum(
            batch.num_rows for source in self._sources for batch in source.batches(self._own)
        )

    def rows(self) -> pa.RecordBatchReader:
        """Read the rows, file by file."""
        batches = (batch for part in self.parts() for batch in part())
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def parts(self) -> Sequence[Callable[[], Iterator[pa.RecordBatch]]]:
        """Return what reads the rows of each file."""
        kinds, schema = self._partition_types.values(), self.schema
        return [
            partial(
                _rows_of,
                source,
                self._own,
                [
                    _value(text, kind, file.path)
                    for text, kind in zip(file.partition, kinds, strict=True)
                ],
                schema,
            )
            for file, source in zip(self._files, self._sources, strict=True)
        ]

    def _columns(self, types: Mapping[str, str]) -> pa.Schema:
        fields = dict[str, pa.DataType]()
        origins = dict[str, str]()
        for source in self._sources:
            for field in source.schema(null_type=pa.null()):
                if field.name in self._keys:
                    raise UnsupportedError(
                        f"column {field.name!r} in files and in names of folders, as in "
                        f"{source.path}",
                        "rename one of them",
                    )
                before = fields.get(field.name, pa.null())
                origin = origins.setdefault(field.name, source.path)
                fields[field.name] = (
                    field.type
                    if field.name in types
                    else _wider(field.name, before, origin, field.type, source.path)
                )
        for name, text in types.items():
            if name not in fields:
                known = ", ".join((*fields, *self._keys))
                raise SchemaError(f"{self._folder} has no column {name!r}, only {known}")
            fields[name] = to_arrow(parse_type(text))
        return pa.schema(
            (name, pa.string() if pa.types.is_null(kind) else kind) for name, kind in fields.items()
        )


@dataclass(frozen=True, slots=True)
class _Opening:
    """Opens a file of a store; picklable."""

    io: FileIO
    path: str
    size_bytes: int

    def __call__(self) -> pa.NativeFile:
        return self.io.open_input(self.path, size_bytes=self.size_bytes)


def _rows_of(
    source: SourceFile, own: pa.Schema, partition: Sequence[pa.Scalar], schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Read the rows of a file, with the values of its partition."""
    for batch in source.batches(own):
        parts = [pa.repeat(value, batch.num_rows) for value in partition]
        yield pa.RecordBatch.from_arrays(
            [*shaped(batch, own, source.path).columns, *parts], schema=schema
        )


def format_by_name(name: str) -> SourceFormat | Literal["orc"] | None:
    """Tell the format of a file of a folder by its name; None: the name does not tell."""
    return "orc" if name.lower().endswith(".orc") else format_of(name)


def _format(path: str) -> SourceFormat:
    kind = format_of(path)
    if format_by_name(path) in ("parquet", "orc"):
        raise UnsupportedError(
            f"the file {path} in a folder of CSV or JSON",
            "of a folder of Parquet or ORC files catalog.migrate_folder makes a table",
        )
    if kind not in _FORMATS:
        raise UnsupportedError(
            f"the file {path} in a folder of CSV or JSON", "its name ends otherwise; move it away"
        )
    return kind


def _wider(
    name: str, before: pa.DataType, origin: str, found: pa.DataType, path: str
) -> pa.DataType:
    """Return a type that has the values of both; a column without values has none yet."""
    if before == found or pa.types.is_null(found):
        return before
    if pa.types.is_null(before):
        return found
    if {before, found} == {pa.int64(), pa.float64()}:
        return pa.float64()
    raise SchemaError(
        f"column {name!r} is {before} in {origin} and {found} in {path}: say which type it has"
    )


def _value(text: str | None, kind: DataType, path: str) -> pa.Scalar:
    try:
        return pa.scalar(text, pa.string()).cast(to_arrow(kind))
    except pa.ArrowException as error:
        raise DataError(f"{path}: the folder's value {text!r}: {error}") from error
