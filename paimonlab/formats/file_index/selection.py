"""Which rows of a file may match a predicate, told by its indexes alone."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
from pyroaring import BitMap

from paimonlab.formats.file_index.bitmap import StoredBitmaps
from paimonlab.formats.file_index.bloom import BloomFilter, value_hashes
from paimonlab.formats.file_index.bsi import BitSlicedIndex
from paimonlab.formats.file_index.container import DamagedIndexError, Indexes
from paimonlab.formats.file_index.range_bitmap import StoredRangeBitmap
from paimonlab.formats.file_index.roaring import all_rows
from paimonlab.formats.file_index.values import Key, ValueForm, form_of, literal_key
from paimonlab.spec.predicates.predicate import (
    AlwaysFalse,
    AlwaysNull,
    And,
    Comparator,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Literal,
    Or,
    Predicate,
)
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataType


class _Rows(Protocol):
    """An index that tells rows."""

    @property
    def row_count(self) -> int: ...

    def equal(self, keys: Sequence[Key]) -> BitMap: ...

    def nulls(self) -> BitMap: ...


def matching_rows(
    predicate: Predicate, indexes: Indexes, types: Mapping[str, DataType], row_count: int
) -> BitMap | None:
    """Find the rows that may match.

    Parameters
    ----------
    predicate
        Over columns of the file.
    indexes
        Indexes of the file, by column and type.
    types
        Types of the columns when the file was written.
    row_count
        Rows of the file.

    Returns
    -------
    pyroaring.BitMap or None
        No other row matches; None: any row may.

    Raises
    ------
    DamagedIndexError
        If an index cannot be read.
    """
    try:
        rows = _Evaluation(indexes, types, row_count).rows(predicate)
    except (struct.error, IndexError) as error:
        raise DamagedIndexError(f"a file index is damaged: {error}") from error
    if rows and rows.max() >= row_count:
        raise DamagedIndexError(f"an index names row {rows.max()} of {row_count:,} rows")
    return rows


class _Evaluation:
    def __init__(self, indexes: Indexes, types: Mapping[str, DataType], row_count: int) -> None:
        self._indexes = indexes
        self._types = types
        self._row_count = row_count
        self._read: dict[tuple[str, str], _Rows] = {}

    def rows(self, predicate: Predicate) -> BitMap | None:
        match predicate:
            case And(parts):
                known = [rows for rows in map(self.rows, parts) if rows is not None]
                return BitMap.intersection(*known) if known else None
            case Or(parts):
                each = [self.rows(part) for part in parts]
                known = [rows for rows in each if rows is not None]
                return BitMap.union(*known) if len(known) == len(each) else None
            case AlwaysFalse() | AlwaysNull():
                return BitMap()
            case Comparison() | In() | IsNull() | IsNotNull():
                return self._leaf(predicate)
        return None

    def _leaf(self, predicate: Comparison | In | IsNull | IsNotNull) -> BitMap | None:
        column = predicate.column
        if column not in self._types:
            return None
        selected: BitMap | None = None
        for kind, data in self._indexes.get(column, {}).items():
            rows = self._told(predicate, kind, data)
            if rows is not None:
                selected = rows if selected is None else selected & rows
        return selected

    def _told(
        self, predicate: Comparison | In | IsNull | IsNotNull, kind: str, data: bytes | None
    ) -> BitMap | None:
        """Ask one index."""
        if data is None:  # nothing was indexed
            return None if isinstance(predicate, IsNull) else BitMap()
        data_type = self._types[predicate.column]
        form = form_of(data_type, kind) if kind in _READERS else None
        if form is None:
            return None
        if kind == "bloom-filter":
            return _by_bloom(predicate, data, data_type)
        key = (predicate.column, kind)
        if key not in self._read:
            index = _READERS[kind](data, form)
            if index.row_count != self._row_count:
                raise DamagedIndexError(
                    f"the index {kind} of {predicate.column} is of {index.row_count:,} rows, "
                    f"the file has {self._row_count:,}"
                )
            self._read[key] = index
        return self._by_rows(predicate, self._read[key], form, data_type)

    def _by_rows(  # noqa: PLR0911 - one return a case
        self,
        predicate: Comparison | In | IsNull | IsNotNull,
        index: _Rows,
        form: ValueForm,
        data_type: DataType,
    ) -> BitMap | None:
        match predicate:
            case IsNull():
                return index.nulls()
            case IsNotNull():
                return self._without(index.nulls())
            case In(_, literals):
                return index.equal([key for one in literals for key in _keys(one, form, data_type)])
            case Comparison(_, Comparator.EQ, literal):
                return index.equal(_keys(literal, form, data_type))
            case Comparison(_, Comparator.NE, literal):
                others = self._without(index.nulls())
                if form.is_float or form.is_cut:  # NaN is not equal to itself
                    return others
                return others - index.equal(_keys(literal, form, data_type))
            case Comparison(_, comparator, literal):
                return _range(comparator, literal, index, form, data_type)

    def _without(self, rows: BitMap) -> BitMap:
        return all_rows(self._row_count) - rows


def _read_bsi(data: bytes, form: ValueForm) -> BitSlicedIndex:
    del form
    return BitSlicedIndex.decode(data)


_READERS: Mapping[str, Callable[[bytes, ValueForm], _Rows]] = {
    "bloom-filter": StoredBitmaps.read,  # asked in another way
    "bitmap": StoredBitmaps.read,
    "bsi": _read_bsi,
    "range-bitmap": StoredRangeBitmap.read,
}


def _by_bloom(
    predicate: Comparison | In | IsNull | IsNotNull, data: bytes, data_type: DataType
) -> BitMap | None:
    match predicate:
        case Comparison(_, Comparator.EQ, literal):
            literals: Sequence[Literal] = [literal]
        case In(_, literals):
            pass
        case _:
            return None
    values = [value for one in literals for value in _spellings(one)]
    hashes = value_hashes(pa.array(values, to_arrow(data_type)), data_type)
    return None if BloomFilter.decode(data).may_have(hashes).any() else BitMap()


def _spellings(literal: Literal) -> list[object]:
    """Return all values that are equal to a literal: zero has two."""
    is_zero = isinstance(literal.value, float) and literal.value == 0
    return [0.0, -0.0] if is_zero else [literal.value]


def _keys(literal: Literal, form: ValueForm, data_type: DataType) -> list[Key]:
    if not form.is_float:
        return [literal_key(literal.value, data_type)]
    return [literal_key(value, data_type) for value in _spellings(literal)]


def _range(
    comparator: Comparator, literal: Literal, index: _Rows, form: ValueForm, data_type: DataType
) -> BitMap | None:
    """Ask for a range; one that is a little too wide is fine."""
    if not isinstance(index, BitSlicedIndex | StoredRangeBitmap):
        return None
    keys = _keys(literal, form, data_type)
    is_wide = form.is_float or form.is_cut or any(isinstance(key, bytes) for key in keys)
    match comparator:
        case Comparator.GE:
            return index.between(min(keys), None)
        case Comparator.LE:
            return index.between(None, max(keys))
    within = (
        index.between(min(keys), None)
        if comparator is Comparator.GT
        else index.between(None, max(keys))
    )
    return within if is_wide else within - index.equal(keys)


def mask_of(rows: BitMap, row_count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Turn rows of a file into a mask: (row_count,) bool."""
    mask = np.zeros(row_count, np.bool_)
    mask[np.array(rows.to_array(), np.int64)] = True
    return mask
