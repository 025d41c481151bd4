"""Files of a format table: written under hidden names, then given names that readers see.

There is no commit that would make several files appear at once: each appears whole, some of them
before others. `replacing` shows new files in place of others.

Source: apache/paimon@1.4.2 ``org.apache.paimon.table.format.FormatTableWrite``,
``FormatTableCommit``, which deletes first.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.storage import FileIO
from paimonlab.table.format_tables import csv_lines, json_lines
from paimonlab.table.format_tables.folders import Partitioning
from paimonlab.table.format_tables.lines import LineOutput
from paimonlab.table.format_tables.options import FormatOptions, data_fields
from paimonlab.workers import side_by_side
from paimonlab.write.rows import align

_STEP_ROWS = 1 << 16
"""Rows after which the size of a file is looked at."""
_RENAMED_AT_ONCE = 8
_RENAMED_BYTES = 256 << 20
"""Of files that a store copies at a time, each in memory."""


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that is written and not seen yet. Picklable."""

    hidden: str
    path: str
    """That it will have."""
    folder: str
    size_bytes: int
    row_count: int

    @property
    def ending(self) -> str:
        """What the hidden names of all files of the statement end with."""
        return "." + ".".join(self.hidden.rsplit(".", 2)[1:])


class _Output(Protocol):
    @property
    def bytes_written(self) -> int: ...
    def write(self, rows: pa.RecordBatch) -> None: ...
    def close(self) -> int: ...
    def abort(self) -> None: ...


class _Lines:
    """Rows as lines of text."""

    def __init__(
        self, output: LineOutput, schema: TableSchema, options: FormatOptions, table: str
    ) -> None:
        self._output = output
        self._fields = data_fields(schema)
        self._options = options
        self._table = table
        if options.format == "csv" and options.csv.has_header:
            output.write(csv_lines.header(self._fields, options.csv))

    @property
    def bytes_written(self) -> int:
        return self._output.bytes_written

    def write(self, rows: pa.RecordBatch) -> None:
        if not rows.num_rows:
            return
        match self._options.format:
            case "csv":
                data = csv_lines.written(rows, self._fields, self._options.csv, table=self._table)
            case "json":
                data = json_lines.written(rows, self._fields, self._options.json, table=self._table)
            case _:
                ended = self._options.line_delimiter_of_text
                texts = rows.column(self._fields[0].name).fill_null("").to_pylist()
                data = f"{ended.join(texts)}{ended}".encode()
        self._output.write(data)

    def close(self) -> int:
        return self._output.close()

    def abort(self) -> None:
        self._output.abort()


@dataclass(slots=True)
class _Open:
    """The file of a partition that is being written."""

    output: _Output
    hidden: str
    path: str
    row_count: int = 0


@dataclass(slots=True, kw_only=True)
class FormatWriter:
    """Writes rows to hidden files, one of each partition at a time; a context manager."""

    table: str
    schema: TableSchema
    partitioning: Partitioning
    file_io: FileIO
    job: str = field(default_factory=lambda: uuid.uuid4().hex)
    """What the hidden names of all writers of one statement have in common."""
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))
    _open: dict[str, _Open] = field(default_factory=dict)
    _staged: list[StagedFile] = field(default_factory=list)
    _count: int = 0
    _rows: int = 0

    def another(self) -> FormatWriter:
        """Return a writer of the same statement, for another task or another attempt."""
        return FormatWriter(
            table=self.table,
            schema=self.schema,
            partitioning=self.partitioning,
            file_io=self.file_io,
            job=self.job,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.abort()

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows, which have the columns of the table by name.

        Raises
        ------
        DataError
            If they do not fit the table.
        """
        rows = align(batch, self.schema, table=self.table, first_row=self._rows)
        rows = rows.select(list(self.schema.field_names))
        self._rows += rows.num_rows
        for folder, part in self._parts(rows):
            self._write(folder, part)

    def _parts(self, rows: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
        names = [one.name for one in data_fields(self.schema)]
        keys = self.schema.partition_keys
        if not keys:
            yield self.partitioning.root, rows
            return
        numbers, values = _groups([rows.column(key) for key in keys])
        texts = self.partitioning.texts_of(values)
        own = rows.select(names)
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(np.bincount(numbers, minlength=len(texts)))
        for text, first, end in zip(texts, [0, *ends[:-1]], ends, strict=True):
            yield self.partitioning.folder_of(text), own.take(arrow_array(order[first:end]))

    def _write(self, folder: str, rows: pa.RecordBatch) -> None:
        for first in range(0, rows.num_rows, _STEP_ROWS):
            part = rows.slice(first, _STEP_ROWS)
            opened = self._open.get(folder) or self._opened(folder)
            opened.output.write(part)
            opened.row_count += part.num_rows
            if opened.output.bytes_written >= self.partitioning.options.target_file_bytes:
                self._close(folder)

    def _opened(self, folder: str) -> _Open:
        options = self.partitioning.options
        name = f"{options.prefix}{self._id}-{self._count}.{options.extension}"
        self._count += 1
        hidden = f"{folder}/.{name}.{self.job}.tmp"
        output: _Output
        if options.data_format is not None:
            output = options.data_format.open_output(self.file_io, hidden, data_fields(self.schema))
        else:
            lines = LineOutput(self.file_io, hidden, options.compression)
            output = _Lines(lines, self.schema, options, self.table)
        self._open[folder] = _Open(output, hidden, f"{folder}/{name}")
        return self._open[folder]

    def _close(self, folder: str) -> None:
        opened = self._open[folder]
        size = opened.output.close()
        del self._open[folder]
        self._staged.append(StagedFile(opened.hidden, opened.path, folder, size, opened.row_count))

    def staged(self) -> list[StagedFile]:
        """Finish all files; they are durable, and not seen yet."""
        for folder in list(self._open):
            self._close(folder)
        self.file_io.sync_files({one.hidden: one.size_bytes for one in self._staged})
        return list(self._staged)

    def abort(self) -> None:
        """Delete what was written."""
        for opened in self._open.values():
            opened.output.abort()
        discard(
            self.file_io,
            [*(one.hidden for one in self._open.values()), *(one.hidden for one in self._staged)],
            {*self._open, *(one.folder for one in self._staged)},
            self.partitioning.root,
        )
        self._open.clear()
        self._staged.clear()


def _groups(keys: Sequence[pa.Array]) -> tuple[np.ndarray, list[pa.Array]]:
    """Return which group each row is in, and the values of each group."""
    numbers = np.zeros(len(keys[0]), dtype=np.int64)
    for key in keys:
        encoded = key.dictionary_encode(null_encoding="encode")
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        numbers = numbers * (len(encoded.dictionary) + 1) + codes
        _, numbers = np.unique(numbers, return_inverse=True)
    _, first = np.unique(numbers, return_index=True)
    return numbers, [key.take(arrow_array(first)) for key in keys]


def discard(file_io: FileIO, paths: Iterable[str], folders: Iterable[str], root: str) -> None:
    """Delete files, and folders of partitions that are empty then."""
    for path in paths:
        file_io.delete(path)
    for folder in folders:
        below = folder
        while below.startswith(f"{root}/") and file_io.delete_empty_directory(below):
            below = below.rpartition("/")[0]


def remove_hidden(file_io: FileIO, folder: str, job: str) -> None:
    """Delete the hidden files of a statement, whichever attempts of its tasks wrote them."""
    for one in file_io.list(folder):
        path = one.path.rstrip("/")
        if one.is_directory:
            remove_hidden(file_io, path, job)
            file_io.delete_empty_directory(path)
        elif path.endswith(f".{job}.tmp"):
            file_io.delete(path)


def remove_attempts(file_io: FileIO, staged: Sequence[StagedFile]) -> None:
    """Delete what other attempts of the tasks that wrote ``staged`` left beside these files."""
    for folder in {one.folder for one in staged}:
        ends = {one.ending for one in staged if one.folder == folder}
        for one in file_io.list(folder):
            if not one.is_directory and one.path.endswith(tuple(ends)):
                file_io.delete(one.path)


def publish(file_io: FileIO, staged: Sequence[StagedFile], root: str) -> None:
    """Give files the names by which readers see them; if that fails none of them stays.

    Several at a time, since a store copies each: one after the other they would wait for it.
    """
    largest = max((one.size_bytes for one in staged), default=0)
    threads = max(min(_RENAMED_AT_ONCE, _RENAMED_BYTES // max(largest, 1)), 1)
    try:
        side_by_side(lambda one: file_io.rename(one.hidden, one.path), staged, threads=threads)
    except BaseException:
        # One that failed may be visible too: a store can do what it gives no answer to.
        every = [path for one in staged for path in (one.path, one.hidden)]
        discard(file_io, every, {one.folder for one in staged}, root)
        raise


def delete(file_io: FileIO, paths: Sequence[str]) -> None:
    """Delete files.

    Raises
    ------
    OSError, CorruptMetadataError
        The first reason why one could not be.
    """
    failed = file_io.delete_files(paths)
    for path, error in failed.items():
        if isinstance(error, OSError):
            raise error
        raise CorruptMetadataError(path, str(error)) from error
