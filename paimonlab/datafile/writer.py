"""Rows -> data files of about the target size, with their statistics."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.datafile.layout import FileColumns
from paimonlab.formats.data_output import STEP_ROWS, DataFormat
from paimonlab.formats.file_index.building import FileIndexBuilder
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.external_paths import ExternalFolders, folder_of
from paimonlab.spec.manifests.data_file import EMPTY_ROW, DataFileMeta, FileSource
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.statistics.columns import StatsCollector
from paimonlab.spec.statistics.mode import StatsMode, StatsOptions
from paimonlab.spec.types.data_types import AtomicType, DataField, TypeRoot
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND
from paimonlab.storage import FileIO, join
from paimonlab.storage.failures import failures_named
from paimonlab.storage.forks import UniqueNames

INDEX_SUFFIX = ".index"
"""What follows the name of a data file in the name of its index file."""

_LEAST_STEP_ROWS = 1000
_KEY_MODE = StatsMode.parse("truncate(128)")  # whatever the table's options say


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTarget:
    """Where and how files are written: one bucket of one writer."""

    folder: str
    """Absolute."""
    external: ExternalFolders = field(default_factory=ExternalFolders)
    """If there are some, files go there."""
    schema_id: int
    columns: FileColumns
    stats: StatsOptions
    format: DataFormat
    target_file_size_bytes: int
    target_file_rows: int = sys.maxsize
    """Rows at which a new file is begun, however small this one is."""
    indexes: FileIndexOptions = field(default_factory=FileIndexOptions)
    names: FileNames = field(default_factory=FileNames)
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

    def path_of(self, file: DataFileMeta) -> str:
        """Return where a file that was written for this target is."""
        if file.external_path is not None:
            return folder_of(file.external_path)
        return join(self.folder, file.file_name)

    def paths_of(self, file: DataFileMeta) -> list[str]:
        """Return where a file and its index are."""
        path = self.path_of(file)
        folder = path.rpartition("/")[0]
        return [path, *(join(folder, name) for name in file.extra_files)]


class DataFileWriter:
    """Writes rows to files of one bucket, beginning a new one at the target size.

    Rows of a primary-key table come sorted by key, one row per key; then all files together
    are one sorted run.
    """

    def __init__(self, file_io: FileIO, target: FileTarget) -> None:
        self._file_io = file_io
        self._target = target
        self._open: _OpenFile | None = None
        self._files: list[DataFileMeta] = []

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
        start = 0
        while start < rows.num_rows:
            if self._open is None:
                self._open = _OpenFile(self._file_io, self._target)
            piece = rows.slice(start, min(step, self._open.free_rows))
            self._open.write(piece, first_sequence_number + start)
            start += piece.num_rows
            is_full = self._open.bytes_written >= self._target.target_file_size_bytes
            if is_full or not self._open.free_rows:
                self._finish()

    def _step_rows(self, rows: pa.RecordBatch | pa.Table) -> int:
        """Rows after which the size of the file is looked at: fewer when files are small."""
        row_bytes = max(rows.nbytes // max(rows.num_rows, 1), 1)
        by_bytes = self._target.target_file_size_bytes // row_bytes
        return max(min(by_bytes, STEP_ROWS), _LEAST_STEP_ROWS)

    def close(self) -> list[DataFileMeta]:
        """Finish the last file and describe all of them, durable on disk, in writing order."""
        if self._open is not None:
            self._finish()
        # An index beside its file was durable when it was written.
        sizes = {self._target.path_of(file): file.file_size_bytes for file in self._files}
        self._file_io.sync_files(sizes)
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
        self._files.append(self._open.close())
        self._open = None


class _OpenFile:
    """One file that is being written, and what is known of its rows so far."""

    def __init__(self, file_io: FileIO, target: FileTarget) -> None:
        self._target = target
        self._name, self._external_path = target.new_file()
        self._path = folder_of(self._external_path or join(target.folder, self._name))
        self._file_io = file_io
        physical = target.columns.physical
        with failures_named(self._path):
            self._writer = target.format.open_output(file_io, self._path, physical)
        columns = target.columns
        self._values = StatsCollector(columns.values, target.stats.modes)
        self._keys = StatsCollector(columns.keys, [_KEY_MODE] * len(columns.keys))
        self._rows = _RowFacts(target.columns)
        self._indexes = FileIndexBuilder(columns.values, target.indexes)
        self._trimmed = _trimmed_columns(columns.values, target)

    @property
    def bytes_written(self) -> int:
        return self._writer.bytes_written

    @property
    def free_rows(self) -> int:
        """How many rows it takes yet."""
        return self._target.target_file_rows - self._rows.count

    def write(self, rows: pa.RecordBatch | pa.Table, first_sequence_number: int) -> None:
        with failures_named(self._path):
            self._writer.write(rows)
        self._values.add(rows)
        if self._target.columns.keys:
            self._keys.add(rows)
        self._rows.add(rows, first_sequence_number)
        self._indexes.add(_without_blanks(rows, self._trimmed))

    def close(self) -> DataFileMeta:
        with failures_named(self._path):
            size = self._writer.close()
        value_stats, value_stats_cols = self._values.finish(dense=self._target.stats.dense)
        key_stats, _ = self._keys.finish(dense=False)
        embedded_index, extra_files = self._write_indexes()
        return DataFileMeta(
            file_name=self._name,
            file_size_bytes=size,
            row_count=self._rows.count,
            min_key=self._rows.min_key,
            max_key=self._rows.max_key,
            key_stats=key_stats,
            value_stats=value_stats,
            value_stats_cols=value_stats_cols,
            min_sequence_number=self._rows.min_sequence_number,
            max_sequence_number=self._rows.max_sequence_number,
            schema_id=self._target.schema_id,
            level=self._target.level,
            creation_time_millis=local_time_millis(),
            delete_row_count=self._rows.deleted,
            file_source=int(self._target.source),
            external_path=self._external_path,
            embedded_file_index=embedded_index,
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


class _RowFacts:
    """What metadata says of the rows of a file besides statistics."""

    def __init__(self, columns: FileColumns) -> None:
        self._columns = columns
        self._serialise: Callable[[pa.RecordBatch | pa.Table], bytes] = self._key_of
        self.count = 0
        self.deleted = 0
        self.min_sequence_number = 2**63 - 1
        self.max_sequence_number = -(2**63)
        self.min_key = self.max_key = EMPTY_ROW

    def add(self, rows: pa.RecordBatch | pa.Table, first_sequence_number: int) -> None:
        if self._columns.keys:
            sequence = _numbers(rows, SEQUENCE_NUMBER)
            low, high = int(sequence.min()), int(sequence.max())
            self.deleted += _retract_count(rows)
            if self.count == 0:
                self.min_key = self._serialise(rows.slice(0, 1))
            self.max_key = self._serialise(rows.slice(rows.num_rows - 1, 1))
        else:
            low, high = first_sequence_number, first_sequence_number + rows.num_rows - 1
        self.min_sequence_number = min(self.min_sequence_number, low)
        self.max_sequence_number = max(self.max_sequence_number, high)
        self.count += rows.num_rows

    def _key_of(self, row: pa.RecordBatch | pa.Table) -> bytes:
        keys = self._columns.keys
        columns = [row.column(key.name) for key in keys]
        key: bytes = encode(columns, [key.type for key in keys])[0].as_py()
        return key


def _numbers(rows: pa.RecordBatch | pa.Table, column: str) -> npt.NDArray[np.int64]:
    numbers: npt.NDArray[np.int64] = rows.column(column).to_numpy()
    return numbers


def _retract_count(rows: pa.RecordBatch | pa.Table) -> int:
    kinds = rows.column(VALUE_KIND)
    retracts = pa.array([RowKind.UPDATE_BEFORE, RowKind.DELETE], pa.int8())
    count: int = pc.sum(pc.is_in(kinds, retracts)).as_py() or 0
    return count


def local_time_millis() -> int:
    """Local wall clock in milliseconds, counted as if it were UTC, as manifests have it."""
    now = time.time()
    offset = datetime.fromtimestamp(now).astimezone().utcoffset()
    assert offset is not None, "an aware datetime has an offset"
    return int((now + offset.total_seconds()) * 1000)
