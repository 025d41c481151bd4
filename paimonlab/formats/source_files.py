"""CSV, JSON and Parquet files that belong to no table yet, as batches of rows."""

from __future__ import annotations

import csv as texts
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv
from pyarrow import json as arrow_json

from paimonlab.errors import DataError

SourceFormat: TypeAlias = Literal["csv", "json", "parquet"]
_BY_ENDING: Mapping[str, SourceFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""Codecs by the ending of a name."""
_COLUMN_OF_CSV = re.compile(r"In CSV column #(\d+): ")
_WITH_COMMA = r"^[+-]?\d+(,\d+)?$"
_OTHER_NUMBER = r"^[+-]?(\d+|\d{1,3}(([.]\d{3})+|(,\d{3})+|([' ]\d{3})+))([.,]\d+)?$"
_OTHER_DAY = r"^\d{1,2}([./-])\d{1,2}[./-]\d{4}$"
_WRITTEN_DAY = re.compile(r"'\d{1,2}[./-]\d{1,2}[./-]\d{4}")
_PLAIN = {"number": r"^[+-]?\d+([{}]\d+)?$", "day": r"^\d{{4}}-\d{{2}}-\d{{2}}$"}
"""What is read as a number, or a day."""
_MOST = 0.7
_TEXT = pa.string()
DAYS_HINT = (
    "A day is written 2026-01-31; in Python pandas.to_datetime(texts, format='%d.%m.%Y') reads "
    "others, then table.write(frame)"
)
_ARRAY = (
    "it is one JSON array, and rows are read from an object a line, without commas: "
    "pandas.read_json(…).to_json(…, orient='records', lines=True), or in a shell jq -c '.[]'"
)
_BLOCK_BYTES = 8 << 20
"""Of texts, what is read at once, and what types of new tables are told from."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that rows come from."""

    path: str
    format: SourceFormat
    delimiter: str | None = None
    """Of CSV; None: a comma, or a tab where the name ends in ``.tsv``."""
    opens: Callable[[], pa.NativeFile] | None = None
    """Opens it, if it is not a file of a disk."""
    decimal_point: str = "."
    """Of the numbers of CSV."""

    def schema(self, *, null_type: pa.DataType = _TEXT) -> pa.Schema:
        """Return the columns, of texts as their first block looks.

        Parameters
        ----------
        null_type
            The type of a column without values.

        Raises
        ------
        DataError
            If the file cannot be read; names it.
        """
        with self._opened(None) as reader:
            columns = pa.schema([_typed(field, null_type) for field in reader.schema])
        if self.format == "csv" and self.delimiter is None and len(columns) == 1:
            mark = _mark_in(columns.names[0])
            if mark is not None:
                raise DataError(f"{self.path}: {_other_delimiter(columns.names[0], mark)}")
        return columns

    def _first_block(self) -> pa.RecordBatch | None:
        """Return the first rows of CSV; None of other files, and if there are none."""
        if self.format != "csv":
            return None
        with self._opened(None) as reader:
            return next(iter(reader), None)

    def numbers_with_commas(self) -> Sequence[str]:
        """Return the columns of CSV that are texts as their numbers have a comma: 12,50.

        Numbers without a fraction count as well, but not alone; as far as the first block says.
        """
        first = self._first_block()
        if first is None:
            return ()
        texts = [
            (name, column)
            for name, column in zip(first.schema.names, first.columns, strict=True)
            if pa.types.is_string(column.type)
        ]
        return [
            name
            for name, column in texts
            if pc.all(pc.match_substring_regex(column, _WITH_COMMA), min_count=1).as_py()
            and pc.any(pc.match_substring(column, ",")).as_py()
        ]

    def other_texts(self) -> Sequence[tuple[str, str, str]]:
        """Return the columns of CSV that are texts though most values look like numbers or days.

        Each with ``number`` or ``day`` and the first value that is not read as such, as far as the
        first block says: 2.440,71 and n/a among numbers, 31.01.2026 among days.
        """
        first = self._first_block()
        if first is None:
            return ()
        found = []
        for name, column in zip(first.schema.names, first.columns, strict=True):
            values = column.drop_null()
            if not pa.types.is_string(column.type) or not len(values):
                continue
            for what, pattern in (("number", _OTHER_NUMBER), ("day", _OTHER_DAY)):
                alike = pc.match_substring_regex(values, pattern)
                if pc.mean(alike).as_py() < _MOST:
                    continue
                plain = pc.match_substring_regex(values, _PLAIN[what].format(self.decimal_point))
                odd = values.filter(pc.invert(plain))
                found += [(name, what, odd[0].as_py())] if len(odd) else []
        return found

    def batches(
        self, columns: pa.Schema, *, others: Literal["error", "infer"] = "error"
    ) -> Iterator[pa.RecordBatch]:
        """Read the rows.

        Parameters
        ----------
        columns
            Types of columns, by name; the file may have some of them. Texts are read as these,
            or can be cast to them.
        others
            What becomes of columns of JSON that are not among them; those of CSV get a type by
            their values, those of Parquet have one.

        Raises
        ------
        DataError
            If the file cannot be read, or a text is not of the type of its column.
        """
        with self._opened(columns, others) as reader:
            yield from reader

    @contextmanager
    def _opened(
        self, columns: pa.Schema | None, others: Literal["error", "infer"] = "error"
    ) -> Iterator[pa.RecordBatchReader]:
        try:
            if self.format == "parquet":
                given = self.path if self.opens is None else self.opens()
                with pq.ParquetFile(given, memory_map=self.opens is None) as file:
                    batches = file.iter_batches()
                    yield pa.RecordBatchReader.from_batches(file.schema_arrow, batches)
                return
            with (
                self._texts() as given,
                closing(
                    self._csv(given, columns)
                    if self.format == "csv"
                    else self._json(given, columns, others)
                ) as rows,
            ):
                yield rows
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{self.path}: {self._told(str(error))}") from error

    @contextmanager
    def _texts(self) -> Iterator[str | pa.NativeFile]:
        """Give what Arrow reads texts from, decompressed as the name says."""
        if self.opens is None:
            yield self.path
            return
        codec = next((codec for end, codec in _COMPRESSED.items() if self.path.endswith(end)), None)
        with self.opens() as file:
            yield file if codec is None else pa.CompressedInputStream(file, codec)

    def _told(self, problem: str) -> str:
        """Say what Arrow says of a file with the names of columns, and of CSV what to do."""
        if self.format == "parquet":
            return problem
        try:
            with self._texts() as given, _stream(given) as file:
                text = file.read(1 << 16)
            first = text.split(b"\n", 1)[0].decode().strip("\ufeff\r")
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            return problem
        if self.format == "json":
            is_array = text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
            return f"{_ARRAY} {Path(self.path).name} > rows.jsonl" if is_array else problem
        mark = _mark_in(first)
        if self.delimiter is None and mark is not None and first.count(mark) > first.count(","):
            return f"{problem}; {_other_delimiter(first, mark)}"
        place = _COLUMN_OF_CSV.match(problem)
        names = next(texts.reader([first], delimiter=self._between_values), [])
        if place is None or int(place[1]) >= len(names):
            return problem
        said = f"column {names[int(place[1])]!r}: {problem[place.end() :]}"
        return f"{said}. {DAYS_HINT}" if _WRITTEN_DAY.search(problem) else said

    @property
    def _between_values(self) -> str:
        is_tab = Path(_plain_name(self.path)).suffix == ".tsv"
        return self.delimiter or ("\t" if is_tab else ",")

    def _csv(self, given: str | pa.NativeFile, columns: pa.Schema | None) -> csv.CSVStreamingReader:
        return csv.open_csv(
            given,
            read_options=csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=csv.ParseOptions(delimiter=self._between_values, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=columns,
                null_values=[""],
                decimal_point=self.decimal_point,
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def _json(
        self,
        given: str | pa.NativeFile,
        columns: pa.Schema | None,
        others: Literal["error", "infer"],
    ) -> arrow_json.JSONStreamingReader:
        read = arrow_json.ReadOptions(block_size=_BLOCK_BYTES)
        if columns is None:
            return arrow_json.open_json(given, read_options=read)
        schema = pa.schema([_json_type(column) for column in columns])
        return arrow_json.open_json(
            given,
            read_options=read,
            parse_options=arrow_json.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior=others
            ),
        )


def _stream(given: str | pa.NativeFile) -> pa.NativeFile:
    return pa.input_stream(given) if isinstance(given, str) else given


def _mark_in(line: str) -> str | None:
    """Return what seems to separate the names of a line that has no comma."""
    return next((mark for mark in ";\t|" if mark in line), None)


def _other_delimiter(line: str, mark: str) -> str:
    return f"its first line is {line[:60]!r}: give the delimiter {mark!r}"


def format_of(path: str) -> SourceFormat | None:
    """Tell the format by the name; None: the name does not tell.

    Examples
    --------
    >>> format_of("a/b.csv.gz"), format_of("rows.jsonl"), format_of("rows.txt")
    ('csv', 'json', None)
    """
    return _BY_ENDING.get(Path(_plain_name(path)).suffix.lower())


def _plain_name(path: str) -> str:
    for ending in _COMPRESSED:
        path = path.removesuffix(ending)
    return path


def _json_type(field: pa.Field) -> pa.Field:
    """Let Arrow read days and times of day as what they are in JSON: texts."""
    is_text = pa.types.is_date(field.type) or pa.types.is_time(field.type)
    return field.with_type(pa.string()) if is_text else field


def _typed(field: pa.Field, null_type: pa.DataType) -> pa.Field:
    """Give a column without values a type."""
    return field.with_type(null_type) if pa.types.is_null(field.type) else field


def shaped(batch: pa.RecordBatch, schema: pa.Schema, path: str) -> pa.RecordBatch:
    """Give rows of a file these columns; those that it lacks are null.

    Raises
    ------
    DataError
        If a value does not fit the type of its column.
    """
    arrays = []
    for wanted in schema:
        position = batch.schema.get_field_index(wanted.name)
        if position < 0:
            arrays.append(pa.nulls(batch.num_rows, wanted.type))
            continue
        try:
            arrays.append(batch.column(position).cast(wanted.type))
        except pa.ArrowException as error:
            raise DataError(f"{path}: column {wanted.name!r}: {error}") from error
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
