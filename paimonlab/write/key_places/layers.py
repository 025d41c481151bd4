"""Sorted keys, each with the number of the place where it is: searched, and merged in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table, numpy_values, one_array
from paimonlab.merge.order import sort_keys
from paimonlab.merge.sorting import sorted_positions
from paimonlab.read.lookup_stores.key_search import find_in, find_keys, find_ranks
from paimonlab.read.lookup_stores.store_file import StoredBatch, StoreFile
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import to_arrow
from paimonlab.spec.types.data_types import DataField, DataType

PLACE = "place"
"""Column of the number of the place, int32."""
NOWHERE = -1
"""The place of a key that is not in the table."""
PLACES_SCHEMA = pa.schema([pa.field(PLACE, pa.int32(), nullable=False)])

Ints = npt.NDArray[np.int64]
_BITS = {pa.float32(): np.int32, pa.float64(): np.int64}


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """The columns of the primary key, as layers have them."""

    fields: tuple[DataField, ...]

    @classmethod
    def of(cls, schema: TableSchema) -> Self:
        """Return those of a table."""
        return cls(tuple(schema.field(name) for name in schema.primary_keys))

    @property
    def types(self) -> tuple[DataType, ...]:
        """Types of the columns."""
        return tuple(field.type for field in self.fields)

    @property
    def schema(self) -> pa.Schema:
        """Names and types in layers; numbers with a fraction are there by their bits."""
        kinds = [to_arrow(field.type) for field in self.fields]
        stored = [pa.from_numpy_dtype(_BITS[kind]) if kind in _BITS else kind for kind in kinds]
        return pa.schema([(f"key_{number}", kind) for number, kind in enumerate(stored)])

    def select(self, rows: pa.Table | pa.RecordBatch) -> pa.Table:
        """Take the keys out of rows."""
        schema = self.schema
        columns = [
            _searchable(one_array(rows.column(field.name)), kind)
            for field, kind in zip(self.fields, schema.types, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=schema)


def _searchable(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if column.type not in _BITS:
        return column if column.type == kind else column.cast(kind)
    numbers = numpy_values(column) + numpy_values(column).dtype.type(0)  # -0.0 equals 0.0
    numbers[np.isnan(numbers)] = np.nan
    return arrow_array(numbers.view(_BITS[column.type]))


class KeyLayer(Protocol):
    """Keys, no two alike, ascending."""

    @property
    def row_count(self) -> int:
        """How many there are."""

    @property
    def keys(self) -> Sequence[StoredBatch]:
        """The keys alone."""

    def find(self, asked: pa.Table) -> tuple[Ints, Ints]:
        """Find sorted keys: which were found, and the place of each."""

    def slice(self, start: int, stop: int) -> pa.Table:
        """Return keys and places of rows that follow one another."""


@dataclass(frozen=True, slots=True)
class HeldLayer:
    """A layer in memory."""

    rows: pa.Table
    """In one chunk: keys, then `PLACE`."""

    @property
    def row_count(self) -> int:
        """How many keys there are."""
        return self.rows.num_rows

    @property
    def keys(self) -> Sequence[StoredBatch]:
        """The keys alone."""
        batches = self.rows.drop_columns([PLACE]).to_batches()
        assert len(batches) <= 1, "layers in memory are in one chunk"
        return [StoredBatch(0, batch) for batch in batches]

    def find(self, asked: pa.Table) -> tuple[Ints, Ints]:
        """Find sorted keys: which were found, and the place of each."""
        found, positions = find_keys(self.keys, asked)
        return found, numpy_values(self.rows[PLACE])[positions].astype(np.int64)

    def slice(self, start: int, stop: int) -> pa.Table:
        """Return keys and places of rows that follow one another."""
        return self.rows.slice(start, stop - start)


@dataclass(frozen=True, slots=True)
class StoredLayer:
    """A layer in a file that is mapped."""

    name: str
    store: StoreFile

    @property
    def row_count(self) -> int:
        """How many keys there are."""
        return sum(batch.rows.num_rows for batch in self.store.keys)

    @property
    def keys(self) -> Sequence[StoredBatch]:
        """The keys alone."""
        return self.store.keys

    def find(self, asked: pa.Table) -> tuple[Ints, Ints]:
        """Find sorted keys: which were found, and the place of each."""
        found, positions = find_in(self.store, asked)
        rows = self.store.rows_at(positions)
        return found, numpy_values(rows[PLACE]).astype(np.int64)

    def slice(self, start: int, stop: int) -> pa.Table:
        """Return keys and places of rows that follow one another."""
        schema = pa.schema([*self.store.keys[0].rows.schema, *PLACES_SCHEMA])
        pieces = [piece.cast(schema) for piece in self.store.rows_between(start, stop)]
        return pa.concat_tables([empty_table(schema), *pieces])


def placed(keys: pa.Table, places: Ints | int) -> pa.Table:
    """Add the place of each key, or the one of all."""
    column = np.full(keys.num_rows, places, np.int32)
    return keys.append_column(PLACES_SCHEMA.field(PLACE), arrow_array(column))


@dataclass(frozen=True, slots=True)
class DistinctKeys:
    """The keys of n rows."""

    keys: pa.Table
    """u keys, ascending, no two alike."""
    number_of: Ints
    """(n,) which of them each row has."""
    first_rows: Ints
    """(u,) the first row of each."""
    order: Ints
    """(n,) the rows by their keys; those of one key stay in their order."""
    is_first: npt.NDArray[np.bool_]
    """(n,) whether the row at that place of ``order`` is the first of its key."""


def distinct(keys: pa.Table) -> DistinctKeys:
    """Sort keys and number them."""
    codes = sort_keys(keys.columns)
    order, is_last = sorted_positions(codes)
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = is_last[:-1]
    first_rows, number_of = order[is_first], np.empty(len(order), np.int64)
    number_of[order] = np.cumsum(is_first) - 1
    return DistinctKeys(keys.take(arrow_array(first_rows)), number_of, first_rows, order, is_first)


@dataclass(frozen=True, slots=True)
class MergedPiece:
    """The keys of a range, sorted."""

    rows: pa.Table
    """In one chunk: keys, then `PLACE`."""
    repeated_count: int
    """How many keys an older layer had as well."""


def merged(
    layers: Sequence[KeyLayer], most_rows: int, *, drops_nowhere: bool
) -> Iterator[MergedPiece]:
    """Merge layers, the places of newer ones before those of older ones.

    Parameters
    ----------
    layers
        At least one, the oldest first.
    most_rows
        How many rows of all of them are in memory at once.
    drops_nowhere
        Whether keys that are nowhere are left out: no older layer has them.

    Yields
    ------
    MergedPiece
        One range of keys after the other.
    """
    for ranges in _ranges(layers, most_rows):
        pieces = [
            layer.slice(start, stop)
            for layer, (start, stop) in zip(layers, ranges, strict=True)
            if start < stop
        ]
        if pieces:
            yield newest(pa.concat_tables(pieces), drops_nowhere=drops_nowhere)


def newest(rows: pa.Table, *, drops_nowhere: bool = False) -> MergedPiece:
    """Sort keys and keep the last place of each.

    Parameters
    ----------
    rows
        Keys and `PLACE`, what is older before what is newer.
    drops_nowhere
        Whether keys that are nowhere are left out.
    """
    rows = rows.combine_chunks()
    codes = sort_keys(rows.drop_columns([PLACE]).columns)
    order = np.argsort(codes, kind="stable")
    ordered = codes[order]
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = ordered[1:] != ordered[:-1]
    chosen = order[is_last]
    if drops_nowhere:
        chosen = chosen[numpy_values(rows[PLACE])[chosen] != NOWHERE]
    taken = rows.take(arrow_array(chosen)).combine_chunks()
    return MergedPiece(taken, len(order) - int(np.count_nonzero(is_last)))


def _ranges(layers: Sequence[KeyLayer], most_rows: int) -> Iterator[list[tuple[int, int]]]:
    """Divide layers by keys, so that together they have few rows in each range."""
    step = max(most_rows // len(layers), 1)
    samples = [
        key
        for layer in layers
        for start in range(step, layer.row_count, step)
        for key in [layer.slice(start, start + 1).drop_columns([PLACE])]
    ]
    counts = [layer.row_count for layer in layers]
    cuts = np.zeros((0, len(layers)), np.int64)
    if samples:
        together = pa.concat_tables(samples)
        asked = newest(placed(together, NOWHERE)).rows.drop_columns([PLACE])
        cuts = np.stack([find_ranks(layer.keys, asked) for layer in layers], axis=1)
    start = np.zeros(len(layers), np.int64)
    for cut, following in zip(cuts, [*cuts, np.array(counts)][1:], strict=True):
        if int((following - start).sum()) > most_rows:
            yield list(zip(start.tolist(), cut.tolist(), strict=True))
            start = cut
    yield list(zip(start.tolist(), counts, strict=True))
