"""Making the indexes of a data file while it is written."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.errors import DataError
from paimonlab.formats.file_index import container
from paimonlab.formats.file_index.bitmap import BLOCK_BYTES, BitmapIndex
from paimonlab.formats.file_index.bloom import BloomFilter, value_hashes
from paimonlab.formats.file_index.bsi import BitSlicedIndex
from paimonlab.formats.file_index.options import FileIndexOptions, IndexSpec
from paimonlab.formats.file_index.range_bitmap import RangeBitmap
from paimonlab.formats.file_index.values import distinct, form_of, index_numbers
from paimonlab.spec.options.grammar import parse_memory_size_bytes
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField, DataType, MapType

_ITEMS = 1_000_000
_FPP = 0.1


class FileIndexBuilder:
    """Takes the rows of one file, then makes its indexes.

    The indexed columns are held in memory until then: a file is as large as
    ``target-file-size`` at most.
    """

    def __init__(self, fields: Sequence[DataField], options: FileIndexOptions) -> None:
        self._options = options
        self._types = {field.name: field.type for field in fields}
        names = sorted({spec.column for spec in options.indexes})
        self._columns: dict[str, list[pa.Array]] = {name: [] for name in names}

    def add(self, rows: pa.RecordBatch | pa.Table) -> None:
        """Take rows of the file, in its order."""
        for name, pieces in self._columns.items():
            column = rows.column(name)
            pieces.extend(column.chunks if isinstance(column, pa.ChunkedArray) else [column])

    def finish(self) -> bytes:
        """Return the container of all indexes.

        Raises
        ------
        DataError
            If a value cannot be indexed.
        """
        indexes: dict[str, dict[str, bytes | None]] = {}
        for spec in self._options.indexes:
            data_type = self._types[spec.column]
            column = pa.chunked_array(self._columns[spec.column], to_arrow(data_type))
            if spec.map_key is not None:
                assert isinstance(data_type, MapType), "checked with the options"
                column = _values_of_key(column, spec.map_key, to_arrow(data_type.value))
                data_type = data_type.value
            is_empty = spec.map_key is not None and not len(column)  # nulls count as rows
            data = None if is_empty else _index(spec, column, data_type)
            indexes.setdefault(spec.name, {})[spec.kind] = data
        return container.encode(indexes)


def _values_of_key(column: pa.ChunkedArray, key: str, value_type: pa.DataType) -> pa.ChunkedArray:
    """Take the value of a key out of each MAP; null where the key is missing."""
    if not len(column):
        return pa.chunked_array([], value_type)
    return pa.chunked_array(
        [pc.map_lookup(chunk, key, "first").cast(value_type) for chunk in column.chunks], value_type
    )


def _index(spec: IndexSpec, column: pa.ChunkedArray, data_type: DataType) -> bytes:
    form = form_of(data_type, spec.kind)
    assert form is not None, "checked with the options"
    settings = spec.settings
    try:
        match spec.kind:
            case "bloom-filter":
                items = int(settings.get("items", _ITEMS))
                fpp = float(settings.get("fpp", _FPP))
                return BloomFilter.of(
                    value_hashes(column, data_type), items=items, fpp=fpp
                ).encode()
            case "bitmap":
                size = parse_memory_size_bytes(settings.get("index-block-size", f"{BLOCK_BYTES} b"))
                index = BitmapIndex.of(distinct(column, data_type))
                version = int(settings.get("version", 2))
                return index.encode(form, version=version, block_bytes=size)
            case "bsi":
                array = column.combine_chunks()
                is_valid = array.is_valid().to_numpy(zero_copy_only=False)
                numbers = index_numbers(array.drop_null(), data_type)
                return BitSlicedIndex.of(numbers, is_valid.nonzero()[0], len(column)).encode()
        chunk = settings.get("chunk-size")
        chunk_bytes = None if chunk is None else parse_memory_size_bytes(chunk)
        return RangeBitmap.of(distinct(column, data_type)).encode(form, chunk_bytes=chunk_bytes)
    except ValueError as error:
        raise DataError(f"column {spec.name}, index {spec.kind}: {error}") from error
