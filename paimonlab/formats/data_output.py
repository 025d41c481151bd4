"""What data files are written as: the format, compression and names that options choose.

Source: apache/paimon@1.3.1 ``org.apache.paimon.io.KeyValueFileWriterFactory``,
``org.apache.paimon.io.DataFilePathFactory``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import pyarrow as pa
from msgspec import structs

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.formats import avro, orc  # few tables have more than one
from paimonlab.formats.avro.options import AvroOptions
from paimonlab.formats.orc.options import OrcOptions
from paimonlab.formats.parquet.file_shape import FileShape
from paimonlab.formats.parquet.options import ParquetOptions
from paimonlab.formats.parquet.small_files import SmallFiles
from paimonlab.formats.parquet.writer import ParquetWriter
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO

WRITABLE = ("parquet", "orc", "avro")
"""Formats of data files that can be written."""
STEP_ROWS = 1 << 17
"""Rows after which the size of a file is looked at: those of a Parquet row group."""
_NAMED_CODECS = {"zstd": "zst", "gzip": "gz", "bzip2": "bz2", "none": ""}
"""What stands for a compression in names of files, where it is not its own name."""


class DataOutput(Protocol):
    """A data file of any format that is being written."""

    def write(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Append rows; columns are found by name and may be cast without loss."""

    @property
    def bytes_written(self) -> int:
        """About how large the file would be if it were closed now."""

    def settle(self) -> None:
        """Wait for what is still being encoded: its size is known then, its memory free."""

    def close(self) -> int:
        """Finish the file; returns its size in bytes."""

    def abort(self) -> None:
        """Stop writing; the caller deletes what was written."""


@dataclass(frozen=True, slots=True)
class DataFormat:
    """How the files of one level, or those of a changelog, are written."""

    name: str
    """parquet, orc or avro."""
    options: ParquetOptions | OrcOptions | AvroOptions
    extension: str
    """What names of files end with, without the point before it."""
    shape: FileShape | None = None
    """What Parquet files that are written at once share; None: each finds it out."""

    def fitted_to(
        self,
        fields: Sequence[DataField],
        samples: Sequence[pa.Table],
        constant: Sequence[str] = (),
    ) -> Self:
        """Return the format for files that are written at once, told by rows of some of them.

        Parameters
        ----------
        fields
            The physical columns, in file order.
        samples
            Rows of some files.
        constant
            Columns of one value in each file.
        """
        if not isinstance(self.options, ParquetOptions):
            return self
        return replace(self, shape=FileShape.of(fields, samples, self.options, constant))

    def shape_is(self, schema: pa.Schema) -> bool:
        """Whether rows of a schema are as files that share a shape have them."""
        return self.shape is not None and schema.equals(self.shape.schema)

    def small_files(self) -> SmallFiles | None:
        """Return what encodes small files that share a shape; None: they are written one by one."""
        if not isinstance(self.options, ParquetOptions) or self.shape is None:
            return None
        if self.shape.repetitive is None or self.shape.has_nanos:
            return None
        return SmallFiles(self.options, self.shape)

    def as_in_files(self, rows: pa.Table) -> pa.Table:
        """Return rows of many files as each file has them, if that needs no cast."""
        return rows if self.shape is None else self.shape.named(rows)

    def open_output(
        self, file_io: FileIO, path: str, fields: Sequence[DataField], *, threads: int = 1
    ) -> DataOutput:
        """Begin a file.

        Parameters
        ----------
        file_io, path
            Where to write; the file must not exist.
        fields
            The physical columns, in file order.
        threads
            How many may encode it, where the format can be encoded in parts: Parquet.

        Raises
        ------
        UnsupportedError
            If files of the format cannot hold a column.
        """
        match self.options:
            case ParquetOptions():
                return ParquetWriter(
                    *(file_io, path, fields, self.options),
                    threads=threads,
                    shape=self.shape,
                )
            case OrcOptions():
                return orc.OrcWriter(file_io, path, fields, self.options)
            case AvroOptions():
                return avro.AvroWriter(file_io, path, fields, self.options)

    def check(self, fields: Sequence[DataField]) -> None:
        """Check, before anything is written, that files with these columns can be.

        Raises
        ------
        UnsupportedError
            If files of the format cannot hold a column, or do not know the compression.
        """
        match self.options:
            case ParquetOptions():
                _ = self.options.codec
            case OrcOptions():
                _ = self.options.codec
                orc.check_fields(fields)
            case AvroOptions():
                avro.compressor(self.options.compression, self.options.zstd_level)
                avro.record_schema(fields)


def _by_level(texts: Mapping[str, str]) -> dict[int, str]:
    if not all(level.isdecimal() for level in texts):
        raise ValueError("levels are numbers")
    return {int(level): text for level, text in texts.items()}


class _Choice(OptionSlice):
    name: str = option_field("file.format", "enum", "parquet")
    """``file.format``"""
    name_by_level: dict[int, str] = option_field(
        "file.format.per.level", "map", {}, parse=_by_level
    )
    """``file.format.per.level``"""
    compression: str | None = option_field("file.compression", "string", None)
    """``file.compression``; None: zstd, where that is of use."""
    compression_by_level: dict[int, str] = option_field(
        "file.compression.per.level", "map", {}, parse=_by_level
    )
    """``file.compression.per.level``"""
    names_compression: bool = option_field(
        "file.suffix.include.compression", "boolean", default=False
    )
    """``file.suffix.include.compression``"""
    changelog_producer: str = option_field("changelog-producer", "enum", "none")
    """``changelog-producer``"""
    changelog_name: str | None = option_field("changelog-file.format", "enum", None)
    """``changelog-file.format``"""
    changelog_compression: str | None = option_field("changelog-file.compression", "string", None)
    """``changelog-file.compression``"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFormats:
    """How all files of a table are written."""

    choice: _Choice
    parquet: ParquetOptions
    orc: OrcOptions
    avro: AvroOptions

    @classmethod
    def of(cls, options: Options, *, has_keys: bool = False) -> Self:
        """Read the options of a table.

        Parameters
        ----------
        options
            Of the table.
        has_keys
            Whether the table has a primary key.

        Raises
        ------
        SchemaError
            If a value cannot be read.
        """
        return cls(
            choice=options.slice(_Choice),
            parquet=structs.replace(options.slice(ParquetOptions), has_keys=has_keys),
            orc=options.slice(OrcOptions),
            avro=options.slice(AvroOptions),
        )

    def at_level(self, level: int) -> DataFormat:
        """How files of a level are written; 0 in append tables.

        Raises
        ------
        UnsupportedError
            If the option names a format that is not implemented.
        """
        name = self.choice.name_by_level.get(level)
        compression = self.choice.compression_by_level.get(level, self.choice.compression)
        if name is None:
            return self._format("file.format", self.choice.name, compression)
        return self._format("file.format.per.level", name.lower(), compression)

    def of_changelog(self, level: int) -> DataFormat:
        """How changelog files are written; what no option says is as in files of the level.

        Raises
        ------
        UnsupportedError
            If the option names a format that is not implemented.
        """
        data = self.at_level(level)
        compression = self.choice.changelog_compression or data.options.compression
        name = self.choice.changelog_name or data.name
        return self._format("changelog-file.format", name.lower(), compression)

    def check(self, fields: Sequence[DataField]) -> None:
        """Check, before anything is written, that files of all levels can be.

        Raises
        ------
        UnsupportedError
            As `DataFormat.check`.
        SchemaError
            If an option names a column that does not exist.
        """
        levels = {0, *self.choice.name_by_level, *self.choice.compression_by_level}
        for level in sorted(levels):
            self.at_level(level).check(fields)
        if self.choice.changelog_producer != "none":
            self.of_changelog(0).check(fields)
        names = {field.name for field in fields}
        named = [("orc.bloom.filter.columns", name) for name in self.orc.bloom_filter_columns]
        named += [
            (f"parquet.enable.dictionary#{name}", name) for name in self.parquet.dictionary_of
        ]
        for key, name in named:
            if name not in names:
                raise SchemaError(f"option {key!r}: no such column {name!r}")

    def _format(self, key: str, name: str, compression: str | None) -> DataFormat:
        if name not in WRITABLE:
            raise UnsupportedError(f"{key} = '{name}'", f"use {', '.join(WRITABLE)}")
        options: ParquetOptions | OrcOptions | AvroOptions
        if name == "parquet":
            options = structs.replace(self.parquet, compression=compression)
        else:
            other = self.orc if name == "orc" else self.avro
            options = structs.replace(other, compression=compression or "zstd")
        return DataFormat(name, options, f"{self._named_codec}{name}")

    @property
    def _named_codec(self) -> str:
        """What names of files have before the format: always that of ``file.compression``."""
        if not self.choice.names_compression:
            return ""
        codec = self.choice.compression or "zstd"
        codec = _NAMED_CODECS.get(codec.lower(), codec)
        return f"{codec}." if codec else ""
