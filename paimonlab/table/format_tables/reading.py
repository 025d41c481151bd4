"""Rows of the files of a format table.

Source: apache/paimon@1.4.2 ``org.apache.paimon.table.format.FormatReadBuilder``; Parquet and ORC
files are read by the names of their columns, whoever wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from paimonlab.errors import CorruptDataError
from paimonlab.formats.foreign_columns import columns_of
from paimonlab.spec.predicates.predicate import Predicate, columns, evaluate
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO
from paimonlab.table.format_tables import csv_lines, json_lines
from paimonlab.table.format_tables.lines import blocks
from paimonlab.table.format_tables.options import FormatOptions

_BATCH_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class FileToRead:
    """A file, and the values of the partition it is in. Picklable."""

    path: str
    size_bytes: int
    partition: tuple[pa.Scalar, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRead:
    """All that reading a file takes, picklable."""

    table: str
    fields: tuple[DataField, ...]
    """All columns of the table."""
    partition_keys: tuple[str, ...]
    columns: tuple[str, ...]
    """Names of those that are wanted."""
    predicate: Predicate | None
    """Bound to ``fields``."""
    options: FormatOptions

    @property
    def schema(self) -> pa.Schema:
        """Names and types of what is read."""
        types = {field.name: to_arrow(field.type) for field in self.fields}
        return pa.schema([(name, types[name]) for name in self.columns])

    def batches(self, file_io: FileIO, file: FileToRead) -> Iterator[pa.RecordBatch]:
        """Read a file, without rows for which the condition is not true.

        Raises
        ------
        CorruptDataError
            If the file is missing, damaged, or has what cannot be read as its column.
        """
        used = set() if self.predicate is None else columns(self.predicate)
        own = [field for field in self.fields if field.name not in self.partition_keys]
        wanted = [field for field in own if field.name in {*self.columns, *used}]
        try:
            for rows in self._tables(file_io, file, own, wanted):
                whole = self._with_partition(rows, file)
                if self.predicate is not None:
                    whole = whole.filter(evaluate(self.predicate, whole))
                yield from self._selected(whole)
        except FileNotFoundError as error:
            raise CorruptDataError(file.path, "the file is missing; it was listed") from error

    def _selected(self, rows: pa.Table) -> Iterator[pa.RecordBatch]:
        if not self.columns:
            yield _without_columns(rows.num_rows)
            return
        for batch in rows.select(list(self.columns)).to_batches(max_chunksize=_BATCH_ROWS):
            if batch.num_rows:
                yield batch

    def _with_partition(self, rows: pa.Table, file: FileToRead) -> pa.Table:
        types = {field.name: to_arrow(field.type) for field in self.fields}
        count = rows.num_rows
        for key, value in zip(self.partition_keys, file.partition, strict=True):
            rows = rows.append_column(pa.field(key, types[key]), pa.repeat(value, count))
        return rows

    def _tables(
        self,
        file_io: FileIO,
        file: FileToRead,
        own: Sequence[DataField],
        wanted: Sequence[DataField],
    ) -> Iterator[pa.Table]:
        match self.options.format:
            case "parquet" | "orc":
                yield from columns_of(file_io, file.path, wanted, batch_rows=_BATCH_ROWS)
            case "csv":
                yield from self._csv(file_io, file, own, wanted)
            case "json":
                delimiter = self.options.json.line_delimiter
                for block in blocks(file_io, file.path, delimiter):
                    yield json_lines.read_rows(block, wanted, self.options.json, path=file.path)
            case _:
                for block in blocks(file_io, file.path, self.options.line_delimiter_of_text):
                    yield _text(block, wanted)

    def _csv(
        self,
        file_io: FileIO,
        file: FileToRead,
        own: Sequence[DataField],
        wanted: Sequence[DataField],
    ) -> Iterator[pa.Table]:
        csv = self.options.csv
        is_header = csv.has_header
        names = [field.name for field in wanted]
        for block in blocks(file_io, file.path, csv.line_delimiter):
            lines = _without_first(block) if is_header else block
            is_header = False
            yield csv_lines.read_rows(lines, own, names, csv, path=file.path)


def _without_columns(count: int) -> pa.RecordBatch:
    """Return rows of which nothing is wanted but how many there are."""
    rows = pa.StructArray.from_buffers(pa.struct([]), count, [None])
    return pa.RecordBatch.from_struct_array(rows)


def _without_first(block: bytes | list[bytes]) -> bytes | list[bytes]:
    return block[block.index(b"\n") + 1 :] if isinstance(block, bytes) else block[1:]


def _text(block: bytes | list[bytes], wanted: Sequence[DataField]) -> pa.Table:
    lines = block.split(b"\n")[:-1] if isinstance(block, bytes) else block
    if not wanted:
        return pa.table({"": pa.nulls(len(lines))})
    texts = pa.array([line.decode("utf-8", "replace") for line in lines], pa.string())
    return pa.table({wanted[0].name: texts})
