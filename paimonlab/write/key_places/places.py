"""Where keys are: layers of what is known, searched from the newest to the oldest.

A layer that is not a good deal larger than the next newer one is merged with it, so there are few
however many commits there were, and each key is copied a few times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import DataError
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.write.key_places.layers import (
    NOWHERE,
    PLACE,
    HeldLayer,
    Ints,
    KeyColumns,
    KeyLayer,
    StoredLayer,
    distinct,
    merged,
    newest,
    placed,
)

_GROWTH = 4
"""A layer with fewer times the rows of the next newer one is merged with it."""
_SORTING = 6
"""Sorting rows takes this many times their bytes."""
_UNBOUNDED = 1 << 62
_SAMPLE_ROWS = 1 << 10
"""Rows that say how large one is."""

Keeper: TypeAlias = Callable[[Callable[[], Iterator[pa.Table]]], StoredLayer | None]
"""Writes rows, sorted keys with `PLACE`, to a file; None if it cannot be kept."""


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """Keys that are in one bucket."""

    partition: bytes
    """Serialised BinaryRow."""
    bucket: int
    keys: pa.Table
    """The primary key columns, one row per key."""


@dataclass(slots=True)
class Places:
    """Buckets of partitions, by number, and how many keys each has."""

    buckets: list[BucketKey] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    _numbers: dict[BucketKey, int] = field(init=False)

    def __post_init__(self) -> None:
        self._numbers = {bucket: number for number, bucket in enumerate(self.buckets)}

    def number(self, partition: bytes, bucket: int) -> int:
        """Return the number of a bucket; a new one if it has none."""
        key = (partition, bucket)
        if key not in self._numbers:
            self._numbers[key] = len(self.buckets)
            self.buckets.append(key)
            self.counts.append(0)
        return self._numbers[key]

    def add(self, numbers: Ints, sign: int = 1) -> None:
        """Count keys that came to buckets, or left them if ``sign`` is -1; `NOWHERE` is none."""
        found, counts = np.unique(numbers[numbers != NOWHERE], return_counts=True)
        for number, count in zip(found.tolist(), counts.tolist(), strict=True):
            self.counts[number] += sign * count


class KeyPlaces:
    """The number of the place of each key.

    Parameters
    ----------
    columns
        The key columns.
    most_bytes
        What layers in memory may have together, and what merging takes.
    keep
        Writes layers to files; None, or if it cannot: they stay in memory.
    layers
        What is known, the oldest first.
    """

    def __init__(
        self,
        columns: KeyColumns,
        most_bytes: int,
        keep: Keeper | None = None,
        layers: Sequence[KeyLayer] = (),
    ) -> None:
        self.columns = columns
        self._most_bytes = most_bytes
        self._keep = keep
        self.layers: list[KeyLayer] = [*layers]
        """The oldest first."""

    def find(self, keys: pa.Table) -> Ints:
        """Find keys.

        Parameters
        ----------
        keys
            n keys as `KeyColumns.select` returns them, ascending, no two alike.

        Returns
        -------
        (n,) int64
            `NOWHERE`: the key is not in the table.
        """
        places = np.full(keys.num_rows, NOWHERE, np.int64)
        left, asked = np.arange(keys.num_rows), keys
        for layer in reversed(self.layers):
            if not len(left):
                break
            found, at = layer.find(asked)
            if len(found):
                places[left[found]] = at
                left = np.delete(left, found)
                asked = keys.take(arrow_array(left))
        return places

    def put(self, keys: pa.Table, places: Ints) -> None:
        """Remember where keys are, given as `find` takes them; `NOWHERE`: in no bucket."""
        self.layers.append(HeldLayer(placed(keys, places).combine_chunks()))
        self._merge(lambda layer: isinstance(layer, HeldLayer), self._held)
        if sum(layer.rows.nbytes for layer in self._in_memory()) > self._most_bytes // 2:
            self.settle()

    def settle(self) -> None:
        """Write what is in memory to files, as far as they can be kept."""
        held = self._in_memory()
        if self._keep is None or not held:
            return
        first = len(self.layers) - len(held)
        stored = self._stored(held, is_oldest=first == 0)
        if stored is not None:
            self.layers[first:] = _with_keys(stored)
            self._merge(lambda layer: isinstance(layer, StoredLayer), self._stored)

    def _in_memory(self) -> list[HeldLayer]:
        """Return the newest layers, those in memory, the oldest of them first."""
        held: list[HeldLayer] = []
        for layer in reversed(self.layers):
            if not isinstance(layer, HeldLayer):
                break
            held.insert(0, layer)
        return held

    def _merge(
        self,
        is_ours: Callable[[KeyLayer], bool],
        join: Callable[[Sequence[KeyLayer], bool], KeyLayer | None],
    ) -> None:
        """Merge the newest layers of a kind as long as they are of about one size."""
        if not self.layers:
            return
        count = 1
        rows = self.layers[-1].row_count
        while (
            count < len(self.layers)
            and is_ours(self.layers[-count - 1])
            and self.layers[-count - 1].row_count < _GROWTH * rows
        ):
            count += 1
            rows += self.layers[-count].row_count
        if count > 1:
            joined = join(self.layers[-count:], count == len(self.layers))
            if joined is not None:
                self.layers[-count:] = _with_keys(joined)

    def _held(self, layers: Sequence[KeyLayer], is_oldest: bool) -> KeyLayer:  # noqa: FBT001
        tables = [layer.slice(0, layer.row_count) for layer in layers]
        return HeldLayer(newest(pa.concat_tables(tables), drops_nowhere=is_oldest).rows)

    def _stored(self, layers: Sequence[KeyLayer], is_oldest: bool) -> KeyLayer | None:  # noqa: FBT001
        assert self._keep is not None, "there is no file without what writes it"

        def rows() -> Iterator[pa.Table]:
            for piece in merged(layers, self.piece_rows(layers), drops_nowhere=is_oldest):
                if piece.rows.num_rows:
                    yield piece.rows

        return self._keep(rows)

    def piece_rows(self, layers: Sequence[KeyLayer]) -> int:
        """Say how many rows are merged at once: sorting them takes several times their size."""
        some = layers[0].slice(0, _SAMPLE_ROWS)
        row_bytes = max(some.nbytes // max(some.num_rows, 1), 1)
        return max(self._most_bytes // (_SORTING * row_bytes), 1 << 10)


def _with_keys(layer: KeyLayer) -> list[KeyLayer]:
    """Return a layer; none if all its keys were nowhere and nothing older has them."""
    return [layer] if layer.row_count else []


@dataclass(frozen=True, slots=True)
class KnownPlaces:
    """The keys of a table and the buckets where they are."""

    keys: KeyPlaces
    places: Places

    @classmethod
    def nothing(
        cls, columns: KeyColumns, most_bytes: int, keep: Keeper | None = None
    ) -> KnownPlaces:
        """Return what is known of an empty table."""
        return cls(KeyPlaces(columns, most_bytes, keep), Places())


def collected(
    known: Iterable[KnownKeys],
    columns: KeyColumns,
    *,
    table: str,
    most_bytes: int,
    keep: Keeper | None = None,
) -> KnownPlaces:
    """Put together where all keys of a table are.

    Parameters
    ----------
    known
        The keys of each bucket, in pieces.
    columns
        The key columns.
    table
        Its name, for messages.
    most_bytes, keep
        As `KeyPlaces` takes them.

    Raises
    ------
    DataError
        If a key is in several places.
    """
    found = KnownPlaces.nothing(columns, most_bytes, keep)
    held: list[pa.Table] = []
    held_bytes = 0
    runs: list[KeyLayer] = []

    def end_run(*, is_only: bool) -> None:
        nonlocal held, held_bytes
        piece = newest(pa.concat_tables(held))
        held, held_bytes = [], 0
        if piece.repeated_count:
            raise _in_several(table)
        stored = None
        if keep is not None and not is_only:
            stored = keep(lambda: iter(piece.rows.to_batches()))
        runs.append(HeldLayer(piece.rows) if stored is None else stored)

    for some in known:
        number = found.places.number(some.partition, some.bucket)
        found.places.counts[number] += some.keys.num_rows
        rows = placed(columns.select(some.keys), number)
        held.append(rows)
        held_bytes += rows.nbytes
        if keep is not None and held_bytes > most_bytes // _SORTING:
            end_run(is_only=False)
    if held:
        end_run(is_only=not runs)
    if len(runs) > 1:
        found.keys.layers.append(_joined(runs, found.keys, table, keep))
    else:
        found.keys.layers.extend(runs)
    return found


def collected_in_memory(
    known: Iterable[KnownKeys], schema: TableSchema, *, table: str
) -> KnownPlaces:
    """Put together where keys are, as `collected` does, all of it in memory."""
    return collected(known, KeyColumns.of(schema), table=table, most_bytes=_UNBOUNDED)


def _joined(runs: Sequence[KeyLayer], keys: KeyPlaces, table: str, keep: Keeper | None) -> KeyLayer:
    """Merge runs that have no key in common."""

    def rows() -> Iterator[pa.Table]:
        for piece in merged(runs, keys.piece_rows(runs), drops_nowhere=True):
            if piece.repeated_count:
                raise _in_several(table)
            if piece.rows.num_rows:
                yield piece.rows

    stored = None if keep is None else keep(rows)
    return HeldLayer(pa.concat_tables(rows()).combine_chunks()) if stored is None else stored


def moved(found: KnownPlaces, rows: pa.Table, adds: npt.NDArray[np.bool_], *, table: str) -> None:
    """Take note of what a commit did.

    Parameters
    ----------
    found
        What was known before it; changed.
    rows
        Keys and `PLACE` of the rows it wrote, those of a bucket in their order.
    adds : (n,) bool
        Whether a row is put there, not deleted.
    table
        Its name, for messages.

    Raises
    ------
    DataError
        If a key is in several places afterwards.
    """
    found_keys = distinct(rows.drop_columns([PLACE]))
    keys = found_keys.keys
    before = found.keys.find(keys)
    was = np.flatnonzero(before != NOWHERE)
    key = np.concatenate([was, found_keys.number_of])
    place = np.concatenate([before[was], numpy_values(rows[PLACE]).astype(np.int64)])
    is_put = np.concatenate([np.ones(len(was), np.bool_), adds])
    order = np.lexsort((place, key))  # stable: what is newer comes later
    key, place, is_put = key[order], place[order], is_put[order]
    is_last = np.ones(len(order), np.bool_)
    is_last[:-1] = (key[1:] != key[:-1]) | (place[1:] != place[:-1])
    stays = np.flatnonzero(is_last & is_put)
    after = np.full(keys.num_rows, NOWHERE, np.int64)
    after[key[stays]] = place[stays]
    if len(distinct_integers(key[stays])) < len(stays):
        raise _in_several(table)
    found.keys.put(keys, after)
    found.places.add(before, -1)
    found.places.add(after)


def _in_several(table: str) -> DataError:
    return DataError(
        f"{table}: a key has rows in several partitions, so it cannot be told which of them new "
        "rows replace. Several jobs must have written to it at once"
    )
