"""Rows -> data files of about the target size, with their statistics."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.datafile.layout import FileColumns
from paimonlab.datafile.written_file import RowFacts, WrittenFile, described
from paimonlab.formats.data_output import STEP_ROWS, DataFormat
from paimonlab.formats.file_index.building import FileIndexBuilder
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.formats.parquet.small_files import EncodedFile
from paimonlab.spec.external_paths import ExternalFolders, folder_of
from paimonlab.spec.manifests.data_file import DataFileMeta, FileSource
from paimonlab.spec.statistics.mode import StatsOptions
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.storage import FileIO, join
from paimonlab.storage.failures import failures_named
from paimonlab.storage.forks import UniqueNames

INDEX_SUFFIX = ".index"
"""What follows the name of a data file in the name of its index file."""

_LEAST_STEP_ROWS = 1000
_FEW_ROWS = 4096
"""Rows of a writer up to which its files are described together with those of others."""


@dataclass(slots=True)
class FileNames:
    """Names of the data files of one writer and bucket."""

    prefix: str = "data-"
    count: int = field(default_factory=lambda: random.getrandbits(16))
    """How many were given, counted from a random number."""
    _names: UniqueNames = field(default_factory=UniqueNames)

    def new(self, extension: str) -> str:
        """Return a name that was never given before."""
        self.count += 1
        return f"{self.prefix}{self._names.next()}.{extension}"


class FileTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Where and how files are written: one bucket of one writer."""

    folder: str
    """Absolute."""
    external: ExternalFolders = msgspec.field(default_factory=ExternalFolders)
    """If there are some, files go there."""
    schema_id: int
    columns: FileColumns
    stats: StatsOptions
    format: DataFormat
    target_file_size_bytes: int
    target_file_rows: int = sys.maxsize
    """Rows at which a new file is begun, however small this one is."""
    indexes: FileIndexOptions = msgspec.field(default_factory=FileIndexOptions)
    names: FileNames = msgspec.field(default_factory=FileNames)
    level: int = 0
    source: FileSource = FileSource.APPEND

    def new_file(self) -> tuple[str, str | None]:
        """Return a new name, and the URI of the file if it is not in the folder."""
        number = self.names.count
        name = self.names.new(self.format.extension)
        if not self.external.folders:
            return name, None
        folder = self.external.folder_for(name, number, random.random())  # noqa: S311
        return name, f"file:{join(folder, name)}"

    def path_of(self, file: DataFileMeta | WrittenFile) -> str:
        """Return where a file that was written for this target is."""
        if file.external_path is not None:
            return folder_of(file.external_path)
        return join(self.folder, file.file_name)

    def sizes_of(self, files: Iterable[DataFileMeta | WrittenFile]) -> dict[str, int]:
        """Return the sizes in bytes of files by path, as `FileIO.sync_files` takes them."""
        return {self.path_of(file): file.file_size_bytes for file in files}

    def paths_of(self, file: DataFileMeta | WrittenFile) -> list[str]:
        """Return where a file and its index are."""
        path = self.path_of(file)
        folder = path.rpartition("/")[0]
        return [path, *(join(folder, name) for name in file.extra_files)]


def write_small_file(
    file_io: FileIO, target: FileTarget, file: EncodedFile, row_count: int, first_number: int
) -> WrittenFile:
    """Write a file that is encoded already.

    Parameters
    ----------
    file_io, target
        Where to write.
    file
        What to write.
    row_count
        Rows of the file; little else is known of them until files are described together.
    first_number
        Sequence number of the first row, in append tables.
    """
    name, external_path = target.new_file()
    path = folder_of(external_path) if external_path else join(target.folder, name)
    with failures_named(path):
        file_io.create(path, file.data)
    facts = RowFacts(target.columns, target.stats, only_counts=True)
    facts.text_bounds = file.text_bounds
    facts.counted(row_count, first_number)
    return WrittenFile(
        file_name=name,
        external_path=external_path,
        file_size_bytes=len(file.data),
        schema_id=target.schema_id,
        level=target.level,
        source=target.source,
        facts=facts,
    )


class DataFileWriter:
    """Writes rows to files of one bucket, beginning a new one at the target size.

    Rows of a primary-key table come sorted by key, one row per key; then all files together
    are one sorted run.

    Parameters
    ----------
    file_io, target
        Where and how to write.
    threads
        How many may encode a file: more than one where no other files are written at once.
    only_counts
        Whether rows are only counted, since their table is there when the files are described:
        see `described_slices`.
    """

    def __init__(
        self, file_io: FileIO, target: FileTarget, *, threads: int = 1, only_counts: bool = False
    ) -> None:
        self._file_io = file_io
        self._target = target
        self._threads = threads
        self._only_counts = only_counts
        self._open: _OpenFile | None = None
        self._files: list[WrittenFile] = []
        self._rows = 0

    def write(self, rows: pa.RecordBatch | pa.Table, first_sequence_number: int = 0) -> None:
        """Append rows.

        Parameters
        ----------
        rows
            The physical columns of the file.
        first_sequence_number
            Sequence number of the first row, in append tables; primary-key rows carry theirs.
        """
        step = self._step_rows(rows)
        self._rows += rows.num_rows
        start = 0
        while start < rows.num_rows:
            if self._open is None:
                self._open = _OpenFile(
                    self._file_io, self._target, self._threads, only_counts=self._only_counts
                )
            piece = rows.slice(start, min(step, self._open.free_rows))
            self._open.write(piece, first_sequence_number + start)
            start += piece.num_rows
            if self._open.is_full():
                self._finish()

    def settle(self) -> None:
        """Wait until rows that are being encoded are in the file, and out of memory."""
        if self._open is not None:
            self._open.settle()

    def _step_rows(self, rows: pa.RecordBatch | pa.Table) -> int:
        """Rows after which the size of the file is looked at: fewer when files are small."""
        if rows.num_rows <= _LEAST_STEP_ROWS:
            return _LEAST_STEP_ROWS
        most_bytes = self._target.target_file_size_bytes
        if rows.get_total_buffer_size() <= most_bytes:  # no less than that of the rows, quickly
            return STEP_ROWS
        row_bytes = max(rows.nbytes // max(rows.num_rows, 1), 1)
        by_bytes = most_bytes // row_bytes
        return max(min(by_bytes, STEP_ROWS), _LEAST_STEP_ROWS)

    def close(self) -> list[DataFileMeta]:
        """Finish the last file and describe all of them, durable on disk, in writing order."""
        self.finish()
        # An index beside its file was durable when it was written.
        self._file_io.sync_files(self._target.sizes_of(self._files))
        return described(self._files)

    def finish(self) -> None:
        """Finish the last file; none is durable before it is synced: see `FileTarget.sizes_of`.

        What is known of the files holds a few rows, to be `described` with those of other writers.
        """
        if self._open is not None:
            self._finish()

    @property
    def files(self) -> Sequence[WrittenFile]:
        """The finished files."""
        return self._files

    @property
    def paths(self) -> list[str]:
        """Absolute paths of the finished files and their indexes."""
        return [path for file in self._files for path in self._target.paths_of(file)]

    def abort(self) -> None:
        """Delete everything written."""
        if self._open is not None:
            self._open.abort()
            self._open = None
        for path in self.paths:
            self._file_io.delete(path)
        self._files.clear()

    def _finish(self) -> None:
        assert self._open is not None, "no open file"
        file = self._open.close()
        if self._rows > _FEW_ROWS and not self._only_counts:
            file.facts.reduce()  # a few rows would keep all of them in memory
        self._files.append(file)
        self._open = None


class _OpenFile:
    """One file that is being written, and what is known of its rows so far."""

    def __init__(
        self, file_io: FileIO, target: FileTarget, threads: int, *, only_counts: bool
    ) -> None:
        self._target = target
        self._name, self._external_path = target.new_file()
        external = self._external_path
        self._path = folder_of(external) if external else join(target.folder, self._name)
        self._file_io = file_io
        physical = target.columns.physical
        with failures_named(self._path):
            self._writer = target.format.open_output(file_io, self._path, physical, threads=threads)
        columns = target.columns
        self._rows = RowFacts(columns, target.stats, only_counts=only_counts)
        self._indexes = FileIndexBuilder(columns.values, target.indexes)
        self._trimmed = _trimmed_columns(columns.values, target)

    def settle(self) -> None:
        with failures_named(self._path):
            self._writer.settle()

    def is_full(self) -> bool:
        """Whether the next rows go to another file."""
        if not self.free_rows:
            return True
        if self._writer.bytes_written < self._target.target_file_size_bytes:
            return False
        self.settle()  # what is being encoded may be smaller than it seems
        return self._writer.bytes_written >= self._target.target_file_size_bytes

    @property
    def free_rows(self) -> int:
        """How many rows it takes yet."""
        return self._target.target_file_rows - self._rows.count

    def write(self, rows: pa.RecordBatch | pa.Table, first_sequence_number: int) -> None:
        with failures_named(self._path):
            self._writer.write(rows)
        self._rows.add(rows, first_sequence_number)
        self._indexes.add(_without_blanks(rows, self._trimmed))

    def close(self) -> WrittenFile:
        with failures_named(self._path):
            size = self._writer.close()
        embedded_index, extra_files = self._write_indexes()
        return WrittenFile(
            file_name=self._name,
            external_path=self._external_path,
            file_size_bytes=size,
            schema_id=self._target.schema_id,
            level=self._target.level,
            source=self._target.source,
            facts=self._rows,
            embedded_index=embedded_index,
            extra_files=extra_files,
        )

    def _write_indexes(self) -> tuple[bytes | None, tuple[str, ...]]:
        """Make the file's indexes; returns them, or the name of the file they are in."""
        options = self._target.indexes
        if not options.indexes:
            return None, ()
        data = self._indexes.finish()
        if len(data) <= options.in_manifest_threshold:
            return data, ()
        self._file_io.write(self._path + INDEX_SUFFIX, data)
        return None, (self._name + INDEX_SUFFIX,)

    def abort(self) -> None:
        self._writer.abort()
        self._file_io.delete(self._path)
        self._file_io.delete(self._path + INDEX_SUFFIX)


def _trimmed_columns(fields: Sequence[DataField], target: FileTarget) -> list[str]:
    """Name the indexed columns whose values lose blanks at their end by being written."""
    if target.format.name != "orc":
        return []
    indexed = {spec.column for spec in target.indexes.indexes}
    return [
        field.name
        for field in fields
        if field.name in indexed
        and isinstance(field.type, AtomicType)
        and field.type.root is TypeRoot.CHAR
    ]


def _without_blanks(rows: pa.RecordBatch | pa.Table, names: list[str]) -> Any:
    """Make columns what they will be when they are read."""
    for name in names:
        column_index = rows.schema.get_field_index(name)
        trimmed = pc.utf8_rtrim(rows.column(name), characters=" ")
        rows = rows.set_column(column_index, rows.schema.field(column_index), trimmed)
    return rows
