"""Where the pages of a Parquet file are, which rows they hold and what their values lie between.

pyarrow writes page indexes and does not read them. A page is small where a row group is large:
with it a reader decodes some thousand rows instead of a hundred thousand to find one.

Source: https://github.com/apache/parquet-format/blob/master/PageIndex.md
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.formats.parquet.thrift_compact import (
    DamagedThriftError,
    Struct,
    decode,
    structure_expected,
)

_MAGIC = b"PAR1"
_NUMBERS = {"INT32": "<i", "INT64": "<q", "FLOAT": "<f", "DOUBLE": "<d", "BOOLEAN": "<?"}
_SCHEMA, _ROW_GROUPS = 2, 4  # fields of FileMetaData
_REPETITION, _NAME, _CHILDREN = 3, 4, 5  # of SchemaElement
_REPEATED = 2
_COLUMNS = 1  # of RowGroup
_META, _OFFSETS_AT, _OFFSETS_SIZE, _BOUNDS_AT, _BOUNDS_SIZE = 3, 4, 5, 6, 7  # of ColumnChunk
_DATA_AT, _DICTIONARY_AT = 9, 11  # of ColumnMetaData


class PagePlaces(NamedTuple):
    """The p data pages of a column chunk."""

    offsets: npt.NDArray[np.int64]
    """(p,) bytes from the beginning of the file."""
    sizes: npt.NDArray[np.int64]
    """(p,) bytes, headers included."""
    first_rows: npt.NDArray[np.int64]
    """(p,) counted in the row group."""


class PageBounds(NamedTuple):
    """What is known of the values of the p pages of a column chunk."""

    minima: list[bytes | None]
    """As the file stores them; None: the page holds only nulls."""
    maxima: list[bytes | None]
    null_counts: list[int] | None
    """None: unknown."""
    is_null: list[bool]
    """Whether a page holds only nulls."""


class _FlatColumn(NamedTuple):
    """A column that is not nested."""

    leaf: int
    """Its position among all leaves."""
    element: Struct
    """What the schema says of it."""


@dataclass(slots=True)
class PageIndex:
    """The page indexes of one file, decoded when they are asked for and kept."""

    footer: bytes
    """The structure, without length and magic."""
    _meta: Struct | None = None
    _flat: dict[str, _FlatColumn] = field(default_factory=dict)
    _places: dict[tuple[int, int], PagePlaces | None] = field(default_factory=dict)
    _bounds: dict[tuple[int, int], PageBounds | None] = field(default_factory=dict)

    @property
    def meta(self) -> Struct:
        """The whole footer."""
        if self._meta is None:
            with structure_expected():
                meta = decode(self.footer)
                self._flat = _flat_columns(meta[_SCHEMA])
            self._meta = meta
        return self._meta

    def leaf(self, column: str) -> int | None:
        """Return the position of a column that is not nested; None: it is, or is not there."""
        assert self.meta is not None
        flat = self._flat.get(column)
        return None if flat is None else flat.leaf

    def chunk(self, group: int, leaf: int) -> Struct:
        """Return the metadata of a column chunk (``ColumnMetaData``)."""
        column_meta: Struct = self.meta[_ROW_GROUPS][group][_COLUMNS][leaf][_META]
        return column_meta

    def schema_element(self, column: str) -> bytes:
        """Return the element of the schema that describes a column, as it is in the footer."""
        element = self._flat[column].element
        return self.footer[element.start : element.end]

    def places(self, group: int, leaf: int, file: pa.NativeFile) -> PagePlaces | None:
        """Find the pages of a column chunk; None: the file does not say.

        Raises
        ------
        DamagedThriftError
            If what it says is damaged.
        """
        key = (group, leaf)
        if key not in self._places:
            with structure_expected():
                offset_index = self._structure(group, leaf, file, _OFFSETS_AT, _OFFSETS_SIZE)
                self._places[key] = (
                    None if offset_index is None else _places(offset_index, file.size())
                )
        return self._places[key]

    def bounds(self, group: int, leaf: int, file: pa.NativeFile) -> PageBounds | None:
        """Find the bounds of the pages of a column chunk; None: the file does not say."""
        key = (group, leaf)
        if key not in self._bounds:
            with structure_expected():
                column_index = self._structure(group, leaf, file, _BOUNDS_AT, _BOUNDS_SIZE)
                self._bounds[key] = None if column_index is None else _bounds(column_index)
        return self._bounds[key]

    def chunk_start(self, group: int, leaf: int) -> int:
        """Return where a column chunk begins: with its dictionary, if it has one."""
        chunk = self.chunk(group, leaf)
        first_data: int = chunk[_DATA_AT]
        start = min(first_data, chunk.get(_DICTIONARY_AT) or first_data)
        if start < 0:
            raise DamagedThriftError("a column begins before the file does")
        return start

    def _structure(
        self, group: int, leaf: int, file: pa.NativeFile, at_field: int, size_field: int
    ) -> Struct | None:
        chunk = self.meta[_ROW_GROUPS][group][_COLUMNS][leaf]
        at, size = chunk.get(at_field), chunk.get(size_field)
        if not at or not size:
            return None
        if at < 0 or size < 0 or at + size > file.size():
            raise DamagedThriftError("its page index lies outside of it")
        return decode(file.read_at(size, at))


def _flat_columns(elements: Sequence[Struct]) -> dict[str, _FlatColumn]:
    """Find the columns that are not nested in a schema, which is a tree written depth first."""
    flat_columns = {}
    leaf = 0
    inside = 0  # elements to come that are parts of a nested column
    for element in elements[1:]:
        children = element.get(_CHILDREN, 0)
        if not inside and not children and element.get(_REPETITION) != _REPEATED:
            flat_columns[element[_NAME].decode()] = _FlatColumn(leaf, element)
        inside = max(inside - 1, 0) + children
        leaf += not children
    return flat_columns


def read_footer(file: pa.NativeFile, size_bytes: int) -> bytes:
    """Read the structure at the end of a file.

    Raises
    ------
    DamagedThriftError
        If it is missing or damaged.
    """
    tail = file.read_at(8, size_bytes - 8) if size_bytes >= 12 else b""
    if tail[4:] != _MAGIC:
        raise DamagedThriftError("it does not end as Parquet files do")
    length = struct.unpack("<I", tail[:4])[0]
    if length + 12 > size_bytes:
        raise DamagedThriftError("its footer is longer than the file")
    footer: bytes = file.read_at(length, size_bytes - 8 - length)
    return footer


def _places(found: Struct, size_bytes: int) -> PagePlaces:
    places = np.array([(one[1], one[2], one[3]) for one in found[1]], np.int64).reshape(-1, 3)
    offsets, sizes, first_rows = places[:, 0], places[:, 1], places[:, 2]
    ends = np.append(offsets[1:], size_bytes)
    is_sound = (
        len(places) > 0
        and first_rows[0] == 0
        and (np.diff(first_rows) > 0).all()
        and offsets[0] > 0
        and (sizes > 0).all()
        and (offsets + sizes <= ends).all()
    )
    if not is_sound:
        raise DamagedThriftError("its page index is damaged")
    return PagePlaces(offsets, sizes, first_rows)


def _bounds(found: Struct) -> PageBounds:
    is_null = found[1]
    return PageBounds(
        [None if null else value for null, value in zip(is_null, found[2], strict=True)],
        [None if null else value for null, value in zip(is_null, found[3], strict=True)],
        found.get(5),
        is_null,
    )


def unpacked(values: Sequence[bytes | None], physical: str) -> list[object] | None:
    r"""Turn bounds of pages into what pyarrow gives as ``min_raw``; None: they have no order.

    >>> unpacked([b"\x05\x00\x00\x00", None], "INT32")
    [5, None]
    """
    if physical in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"):
        return list(values)
    if physical not in _NUMBERS:
        return None
    form = _NUMBERS[physical]
    try:
        return [None if value is None else struct.unpack(form, value)[0] for value in values]
    except struct.error as error:
        raise DamagedThriftError("the bounds of a page have another length") from error
