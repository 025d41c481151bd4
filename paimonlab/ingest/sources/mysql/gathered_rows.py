"""Rows of events that wait until they are many, by table, and the batches they become."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.ingest.changes import Event
from paimonlab.ingest.sources.mysql.batches import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    Batch,
    Kinds,
)
from paimonlab.ingest.sources.mysql.events import DELETES, UPDATES
from paimonlab.ingest.sources.mysql.log_tables import TableRows
from paimonlab.ingest.sources.mysql.log_values import Values, key_numbers
from paimonlab.ingest.sources.mysql.positions import Place, ReadRows
from paimonlab.ingest.sources.mysql.row_images import columns_of, images_of
from paimonlab.ingest.sources.mysql.snapshot import LTZ
from paimonlab.ingest.sources.mysql.spans import Places

_FILE_SHIFT = 40


def order_number(place: Place) -> int:
    """Return a number that rises with places of one server."""
    number, at = place.order
    return number << _FILE_SHIFT | at


@dataclass(slots=True, eq=False)
class Group:
    """Rows of one table and schema, in the order of the log."""

    table: TableRows
    parts: list[bytes] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    seconds: list[int] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    """After each event."""
    transactions: list[int] = field(default_factory=list)

    def add(self, kind: int, data: bytes, seconds: int, place: Place, transaction: int) -> None:
        """Add the rows of an event."""
        self.parts.append(data)
        self.kinds.append(
            UPDATE_BEFORE if kind in UPDATES else DELETE if kind in DELETES else INSERT
        )
        self.seconds.append(seconds)
        self.places.append(place)
        self.transactions.append(transaction)

    def has(self, transaction: int) -> bool:
        """Whether there are rows of a transaction that no other came after."""
        return bool(self.transactions) and self.transactions[-1] == transaction

    def drop(self, transaction: int) -> None:
        """Forget the rows of the last transaction, if it is that one."""
        while self.has(transaction):
            for one in self._lists():
                one.pop()

    def clear(self) -> None:
        """Forget all rows."""
        for one in self._lists():
            one.clear()

    def _lists(self) -> tuple[list[Any], ...]:
        return self.parts, self.kinds, self.seconds, self.places, self.transactions

    def events(self, read: tuple[ReadRows, ...], *, is_ordered: bool = False) -> Iterator[Event]:
        """Yield the rows in columns.

        Parameters
        ----------
        read
            Rows of the table that were read later than where the log is: what it says of them is
            passed over.
        is_ordered
            Whether rows of other tables come with them, which may be between these in the log.
        """
        if not self.parts:
            return
        table = self.table
        images = images_of(self.parts, table.layouts)
        spans = columns_of(images, table.layouts)
        columns = [
            decode(images.memory, where)
            for decode, where in zip(table.decoders, spans, strict=True)
        ]
        kinds = np.array(self.kinds, np.int8)[images.events]
        kinds = np.where(kinds == UPDATE_BEFORE, kinds + (images.numbers & 1), kinds)
        kinds = kinds.astype(np.int8)
        events = images.events
        if len(read) > 1:
            kept, kinds = self._newer(columns, kinds, events, read)
            columns = [_taken(values, kept) for values in columns]
            events = events[kept]
        millis = np.array(self.seconds, np.int64)[events] * 1000
        order = None
        if is_ordered:
            numbers = np.array([order_number(place) for place in self.places], np.int64)
            order = arrow_array(numbers[events])
        places = arrow_array([str(place) for place in self.places], pa.string())
        yield from Batch(
            table=table.name,
            schema=table.schema,
            columns=columns,
            kinds=kinds,
            positions=pa.DictionaryArray.from_arrays(arrow_array(events.astype(np.int32)), places),
            order=order,
            metadata={"op_ts": arrow_array(millis).cast(LTZ)},
        ).events()

    def _newer(
        self, columns: list[Values], kinds: Kinds, events: Places, read: tuple[ReadRows, ...]
    ) -> tuple[Places, Kinds]:
        """Return the rows that are newer than when they were read, and their kinds.

        A row whose key goes from a part that was read later to one that was read before is new
        there.
        """
        schema = self.table.schema
        key = schema.names.index(schema.primary_keys[0])
        bounds = np.array([rows.up_to for rows in read if rows.up_to is not None], np.int64)
        since = np.array([order_number(rows.place) for rows in read], np.int64)
        part = np.searchsorted(bounds, key_numbers(columns[key].array), side="left")
        here = np.array([order_number(place) for place in self.places], np.int64)[events]
        newer = here > since[part]
        found = kinds.copy()
        befores = np.flatnonzero(kinds == UPDATE_BEFORE)
        only_old = befores[newer[befores] & ~newer[befores + 1]]
        only_new = befores[~newer[befores] & newer[befores + 1]] + 1
        found[only_old] = DELETE
        found[only_new] = INSERT
        kept = np.flatnonzero(newer)
        return kept, found[kept]


def _taken(values: Values, kept: Places) -> Values:
    new_places = {old: new for new, old in enumerate(kept.tolist())} if values.errors else {}
    errors = {new_places[row]: text for row, text in values.errors.items() if row in new_places}
    return Values(values.array.take(arrow_array(kept, pa.int64())), errors)


assert UPDATE_AFTER == UPDATE_BEFORE + 1, "the second image of an update is the next kind"
