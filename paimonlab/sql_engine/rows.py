"""Where the rows of a statement are from: files that DuckDB reads itself, or streams of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import duckdb
import pyarrow as pa
from msgspec import Struct

from paimonlab.arrow_values import decoded
from paimonlab.errors import SchemaError
from paimonlab.read.splits import read_splits
from paimonlab.spec.predicates.predicate import Predicate, all_of
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import DataType
from paimonlab.sql_engine.data_files import MaskedFiles, divided
from paimonlab.sql_engine.kinds import duck_type, is_atomic, kind_of
from paimonlab.sql_engine.merged_columns import merged_columns
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.value import quoted
from paimonlab.table.reading.conditions import bound
from paimonlab.table.reading.scan import Scan

if TYPE_CHECKING:
    from paimonlab.table.format_tables.format_table import FormatTable
    from paimonlab.table.system.system_table import SystemTable

COLUMNS_MEMORY = 256 << 20
"""Of the option ``sql.columns-memory``, unless it says otherwise."""
_PIECE_ROWS = 1 << 17
"""Rows in memory that a thread takes at once."""
_PATTERN = frozenset("*?[]{}")
"""DuckDB reads these in a path as a pattern."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a table."""

    text: str
    """Selects them."""
    name: str = ""
    """Under which DuckDB finds the stream or the bits; empty: there are none."""
    stream: Stream | None = None
    paths: tuple[str, ...] = ()
    """Files that DuckDB opens."""
    bits: bytes | None = field(default=None, repr=False)
    """Which rows of the files count; None: all."""
    label: str = ""
    """What was read, as ``db.t@5``."""
    file_count: int | None = None
    """Files that the stream reads and merges; None: unknown."""
    is_kept: bool = False
    """Whether the rows of the stream were merged before and are in memory."""


class Stream(Struct, frozen=True):
    """Rows as DuckDB asks for them: from the start each time."""

    schema: pa.Schema
    make: Callable[[], pa.RecordBatchReader]

    def __arrow_c_schema__(self) -> Any:
        return self.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.make().cast(self.schema).__arrow_c_stream__()


class Rows(Protocol):
    """A table that can be read."""

    @property
    def fields(self) -> Sequence[tuple[str, DataType]]:
        """Names and types of the columns."""
        ...

    def parts(self, used: Sequence[int], conditions: Sequence[Predicate], name: str) -> list[Part]:
        """Plan the read of some columns, as ``c0``, ``c1`` … in the order of ``used``.

        Parameters
        ----------
        used
            Which columns; empty: rows are only counted.
        conditions
            Rows for which one of them is not true may be left out.
        name
            For streams.
        """
        ...


def _selected(columns: Sequence[tuple[str, DataType]], source: str) -> str:
    """Select columns with the types that expressions of them have."""
    outputs = []
    for column, data_type in columns:
        kind = kind_of(data_type)
        plain = '"' + column.replace('"', '""') + '"'
        if kind is not None and is_atomic(kind):
            outputs.append(f"CAST({plain} AS {duck_type(kind)})")
        else:
            outputs.append(plain)
    return f"SELECT {', '.join(outputs) or '1'} FROM {source}"


def _streamed(
    name: str,
    fields: Sequence[tuple[str, DataType]],
    schema: pa.Schema,
    make: Callable[[], pa.RecordBatchReader],
    *,
    counts: bool,
    label: str,
) -> Part:
    """Make a part of a stream, whose columns are numbered: names may differ in case alone."""
    numbered = pa.schema([field.with_name(f"s{n}") for n, field in enumerate(schema)])

    def renamed() -> pa.RecordBatchReader:
        reader = make()
        batches = (pa.RecordBatch.from_arrays(batch.columns, schema=numbered) for batch in reader)
        return pa.RecordBatchReader.from_batches(numbered, batches)

    columns = [(f"s{n}", data_type) for n, (_, data_type) in enumerate(fields)]
    text = _selected([] if counts else columns, name)
    return Part(text, name, Stream(numbered, renamed), label=label)


class TableRows(Struct, frozen=True):
    """Rows of a table of the catalog."""

    scan: Scan
    columns_memory: int = COLUMNS_MEMORY
    """Bytes of columns of merged files that are kept."""

    @property
    def fields(self) -> Sequence[tuple[str, DataType]]:
        """Names and types of the columns."""
        return [(field.name, field.type) for field in self.scan.schema.fields]

    def parts(self, used: Sequence[int], conditions: Sequence[Predicate], name: str) -> list[Part]:
        """Let DuckDB open plain files; merge the rest here."""
        counts = not used
        fields = [self.fields[index] for index in used or _narrowest(self.fields)]
        fields_of = self.scan.schema.fields
        table = self.scan.definition.name
        predicate = bound(all_of(*conditions), fields_of, table) if conditions else None
        scan = self.scan.narrowed([column for column, _ in fields], predicate)
        at = "none" if scan.snapshot is None else scan.snapshot.id
        label = f"{scan.definition.name}@{at}"
        division = divided(scan, fields, merged_columns(self.columns_memory))
        rest, parts = division.rest, []
        row_count = division.row_count if counts and not conditions else None
        if row_count is not None:
            return [Part(f"SELECT 1 FROM range({row_count})", label=label)]
        if division.plain:
            text = _selected([] if counts else fields, _parquet(division.plain))
            parts.append(Part(text, paths=tuple(division.plain), label=label))
        for number, files in enumerate(division.masked):
            variable = f"{name}_bits{number}"
            source = f"{_parquet(files.paths, numbered=True)} WHERE {_is_set(variable, files)}"
            text = _selected([] if counts else fields, source)
            parts.append(Part(text, variable, paths=files.paths, bits=files.bits, label=label))
        for number, rows in enumerate(division.kept):
            in_pieces = partial(rows.to_reader, max_chunksize=_PIECE_ROWS)
            made = _streamed(
                f"{name}_kept{number}", fields, rows.schema, in_pieces, counts=counts, label=label
            )
            parts.append(replace(made, is_kept=True))

        def make() -> pa.RecordBatchReader:
            if rest is None:
                return scan.to_batches()
            return read_splits(rest, scan.read_plan(), scan.store.file_io)

        if rest is None or rest or not parts:
            schema = scan.arrow_schema
            made = _streamed(name, fields, schema, make, counts=counts, label=label)
            file_count = None if rest is None else sum(len(split.files) for split in rest)
            parts.append(replace(made, file_count=file_count))
        return parts


def _parquet(paths: Sequence[str], *, numbered: bool = False) -> str:
    listed = ", ".join(map(quoted, paths))
    number = ", file_row_number=true" if numbered else ""
    return f"read_parquet([{listed}], hive_partitioning=false, union_by_name=false{number})"


def _is_set(variable: str, files: MaskedFiles) -> str:
    """Write the condition that a row's bit is set."""
    first = f"({list(files.starts)}::BIGINT[])[file_index::BIGINT + 1]"
    return f"get_bit(getvariable('{variable}'), ({first} + file_row_number)::INTEGER) = 1"


def _narrowest(fields: Sequence[tuple[str, DataType]]) -> list[int]:
    """Choose the column that is read when rows are only counted."""
    order = ["BOOLEAN", "TINYINT", "SMALLINT", "INT", "DATE", "BIGINT"]

    def width(index: int) -> int:
        root = getattr(fields[index][1], "root", None)
        return order.index(root.value) if root is not None and root.value in order else len(order)

    usable = [n for n, (_, data_type) in enumerate(fields) if kind_of(data_type) is not None]
    return [min(usable or range(len(fields)), key=width)]


class FormatTableRows(Struct, frozen=True):
    """Rows of a format table, which our reader reads: DuckDB reads other values of some lines."""

    table: FormatTable

    @property
    def fields(self) -> Sequence[tuple[str, DataType]]:
        """Names and types of the columns."""
        return [(field.name, field.type) for field in self.table.schema.fields]

    def parts(self, used: Sequence[int], conditions: Sequence[Predicate], name: str) -> list[Part]:
        """Read the files of partitions that the conditions do not rule out."""
        fields = [self.fields[index] for index in used or _narrowest(self.fields)]
        every, called = self.table.schema.fields, self.table.name
        predicate = bound(all_of(*conditions), every, called) if conditions else None
        scan = self.table.scan([column for column, _ in fields], predicate)
        schema, make = scan.arrow_schema, scan.to_batches
        return [_streamed(name, fields, schema, make, counts=not used, label=called)]


class SystemTableRows(Struct, frozen=True):
    """Rows of a system table."""

    table: SystemTable
    name: str

    @property
    def fields(self) -> Sequence[tuple[str, DataType]]:
        """Names and types of the columns."""
        return [(field.name, from_arrow(field.type)) for field in self.table.arrow_schema]

    def parts(self, used: Sequence[int], conditions: Sequence[Predicate], name: str) -> list[Part]:
        """Compute the rows."""
        del conditions  # they are evaluated by DuckDB
        counts = not used
        fields = [self.fields[index] for index in used or [0]]
        schema = pa.schema([self.table.arrow_schema.field(column) for column, _ in fields])
        rows = self.table.scan([column for column, _ in fields]).to_arrow().select(schema.names)
        return [
            _streamed(name, fields, rows.schema, rows.to_reader, counts=counts, label=self.name)
        ]


class FrameRows(Struct, frozen=True):
    """Rows of a data frame."""

    rows: pa.Table
    name: str
    fields: Sequence[tuple[str, DataType]] = ()

    @classmethod
    def of(cls, frame: Any, name: str) -> FrameRows:
        """Take pandas, polars, Arrow, or whatever else speaks Arrow."""
        if hasattr(frame, "__arrow_c_stream__"):
            rows = pa.table(frame)
        elif hasattr(frame, "collect") and hasattr(frame, "lazy"):
            rows = frame.collect().to_arrow()
        else:
            rows = pa.Table.from_pandas(frame, preserve_index=False)
        decoded = [_decoded(column) for column in rows.columns]
        rows = pa.table(decoded, names=[str(column) for column in rows.column_names])
        if len(set(rows.column_names)) < rows.num_columns:
            raise SchemaError(f"{name} has two columns of one name")
        fields = [(column.name, from_arrow(column.type)) for column in rows.schema]
        return cls(rows, name, fields)

    def parts(self, used: Sequence[int], conditions: Sequence[Predicate], name: str) -> list[Part]:
        """Stream the rows."""
        del conditions
        rows = self.rows.select(list(used or [0]))
        fields = [self.fields[index] for index in used or [0]]
        return [
            _streamed(name, fields, rows.schema, rows.to_reader, counts=not used, label=self.name)
        ]


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if pa.types.is_dictionary(kind):
        made = [decoded(chunk) for chunk in column.chunks]
        return _decoded(pa.chunked_array(made) if made else column.cast(pa.string()))
    if pa.types.is_large_string(kind) or kind == pa.string_view():
        return column.cast(pa.string())
    if pa.types.is_large_binary(kind) or kind == pa.binary_view():
        return column.cast(pa.binary())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_timestamp(kind) and kind.unit in ("ns", "s"):
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    return column


_READERS = {
    ".csv": "read_csv({}, hive_partitioning=false)",
    ".json": "read_json({}, hive_partitioning=false)",
    ".parquet": "read_parquet([{}], hive_partitioning=false)",
}


class FileRows(Struct, frozen=True):
    """Rows of a file that the statement names."""

    path: str
    source: str
    fields: Sequence[tuple[str, DataType]]

    @classmethod
    def of(cls, path: Path) -> FileRows:
        """Look at the columns of a file."""
        if _PATTERN & set(str(path)):
            raise NotTranslatedError(f"a file with one of {''.join(sorted(_PATTERN))} in its name")
        reader = _READERS.get(path.suffix.lower())
        if reader is None:
            raise NotTranslatedError(f"a file of the kind {path.suffix or 'without suffix'}")
        source = reader.format(quoted(str(path)))
        with duckdb.connect(
            config={"temp_directory": "", "python_enable_replacements": "false"}
        ) as look:
            schema = look.sql(f"SELECT * FROM {source} LIMIT 0").to_arrow_table().schema
        return cls(str(path), source, [(one.name, from_arrow(one.type)) for one in schema])

    def parts(self, used: Sequence[int], conditions: Sequence[Predicate], name: str) -> list[Part]:
        """Let DuckDB read the file."""
        del conditions, name
        text = _selected([self.fields[index] for index in used], self.source)
        return [Part(text, paths=(self.path,), label=Path(self.path).name)]
