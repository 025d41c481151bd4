"""Which rows were set aside, and whether their keys changed since: kept from when they came.

A row that could not be stored may be mended later. By then the source may have changed it again,
and no file of the table tells: so the keys of rows that were set aside are looked for in all that
comes after them, in the order of the source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.ingest.dead_letters import json_text
from paimonlab.ingest.fitting import BadRow, FittedRows

MOST_LETTERS = 10_000
"""Of one job; of more it is not known whether their keys changed."""


class Letter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row that was set aside."""

    id: str
    """Of its row in the table of dead letters."""
    target: str
    """``database.table`` that it was for."""
    key: str | None = None
    """Values of the key as JSON; None: the table has no key."""
    is_changed: bool = False
    """Whether a later row of its key came, or may have come."""
    is_replayed: bool = False
    is_told: bool = False
    """Whether a later row of its key came with all its values: until then the table does not have
    those that an update leaves out."""


@dataclass(kw_only=True)
class Letters:
    """Rows of a job that were set aside, oldest first."""

    known: list[Letter] = field(default_factory=list)
    """Those before the last boundary of the source."""
    open: list[Letter] = field(default_factory=list)
    """Those after it."""
    has_news: bool = False
    _early: set[tuple[str, str]] = field(default_factory=set)
    """Tables and keys of those that were found as they came, not when they were written, since the
    last epoch: which of two of one key came first is not known between them."""

    def committed(self) -> None:
        """Note that an epoch was written."""
        if not self.open:
            self._early.clear()

    def close(self) -> None:
        """Note that the source came to a boundary."""
        self.known += self.open
        self.open.clear()

    def add(
        self,
        target: str,
        keys: Sequence[str],
        dead: pa.RecordBatch,
        bad: Sequence[BadRow],
        waiting: Sequence[FittedRows],
        *,
        is_open: bool,
        is_late: bool,
    ) -> None:
        """Note rows that a table did not take.

        Parameters
        ----------
        target, keys
            The table, and the columns of its key.
        dead
            The rows as dead letters.
        bad
            The same rows; they say from where on others came after them.
        waiting
            The others.
        is_open
            Whether they came after the last boundary.
        is_late
            Whether they were found when they were written.
        """
        for row, one in zip(dead.to_pylist(), bad, strict=True):
            key = key_of(one.rows.rows, keys)
            is_changed = bool(keys) and (
                key is None
                or one.place is None
                or any(key in _keys(rows.rows, keys) for rows in waiting[one.place :])
            )
            if is_late and key is not None:
                is_changed |= (target, key) in self._early
            elif key is not None:
                self._early.add((target, key))
            self._add(row, target, key, is_changed=is_changed, is_open=is_open)

    def add_placed(
        self,
        target: str,
        keys: Sequence[str],
        row: Mapping[str, Any],
        key: str | None,
        *,
        comes_later: bool,
    ) -> None:
        """Note a row before the last boundary, of which it is known whether others came after it.

        Parameters
        ----------
        target, keys
            The table, and the columns of its key.
        row
            As a dead letter.
        key
            Of the row, as `Letter.key` has it; None: none that can be read.
        comes_later
            Whether a row of its key came after it, with all its values.
        """
        is_changed = bool(keys) and (key is None or comes_later)
        self._add(row, target, key, is_changed=is_changed, is_open=False)
        if comes_later and key is not None:
            self._change(target, key, is_told=True)

    def add_unreadable(self, target: str, keys: Sequence[str], dead: pa.RecordBatch) -> None:
        """Note what a source could not read, after the last boundary; see `add`."""
        for row in dead.to_pylist():
            key = key_of_dead(row, keys)
            is_changed = bool(keys) and key is None
            if key is not None:
                self._early.add((target, key))
            self._add(row, target, key, is_changed=is_changed, is_open=True)

    def _add(
        self,
        row: Mapping[str, Any],
        target: str,
        key: str | None,
        *,
        is_changed: bool,
        is_open: bool,
    ) -> None:
        every = [*self.known, *self.open]
        if len(every) >= MOST_LETTERS:
            return
        if key is not None:
            self._change(target, key)  # of several rows of one key the last one counts
        digest = digest_of(row)
        number = sum(letter.id.startswith(f"{digest}.") for letter in every)
        made = Letter(id=f"{digest}.{number}", target=target, key=key, is_changed=is_changed)
        (self.open if is_open else self.known).append(made)
        self.has_news = True

    def look(self, target: str, keys: Sequence[str], rows: Iterable[FittedRows]) -> None:
        """Note which rows that were set aside are out of date by rows that came now."""
        watched = self.watched(target)
        if not watched:
            return
        for part in rows:
            for key in keys_among(part.rows, keys, watched):
                self._change(target, key)
            for key in keys_among(_whole(part), keys, watched):
                self._change(target, key, is_told=True)

    def watched(self, target: str) -> set[str]:
        """Return the keys of a table that later rows may change."""
        return {
            letter.key
            for letter in (*self.known, *self.open)
            if letter.target == target
            and letter.key is not None
            and not (letter.is_replayed or (letter.is_changed and letter.is_told))
        }

    def changed(self, target: str, keys: Iterable[str]) -> None:
        """Note that later rows of some keys came, with all their values."""
        for key in keys:
            self._change(target, key, is_told=True)

    def untold(self, target: str) -> set[str]:
        """Return the keys of which a table does not have the values that its source has."""
        return {
            letter.key
            for letter in (*self.known, *self.open)
            if letter.target == target
            and letter.key is not None
            and not (letter.is_told or letter.is_replayed)
        }

    def _change(self, target: str, key: str, *, is_told: bool = False) -> None:
        for letters in (self.known, self.open):
            for place, letter in enumerate(letters):
                if letter.target != target or letter.key != key:
                    continue
                if not letter.is_changed or (is_told and not letter.is_told):
                    told = letter.is_told or is_told
                    letters[place] = msgspec.structs.replace(letter, is_changed=True, is_told=told)
                    self.has_news = True

    def by_id(self) -> Mapping[str, Letter]:
        """Return all by id."""
        return {letter.id: letter for letter in self.known}

    def replayed(self, ids: Iterable[str]) -> None:
        """Note that rows were put in."""
        done = set(ids)
        for place, letter in enumerate(self.known):
            if letter.id in done:
                self.known[place] = msgspec.structs.replace(letter, is_replayed=True)
                self.has_news = True


def digest_of(row: Mapping[str, Any]) -> str:
    """Name a row of the table of dead letters by what it says, but for the time."""
    text = json_text({name: value for name, value in row.items() if name != "ts"})
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def key_of(row: pa.RecordBatch, keys: Sequence[str]) -> str | None:
    """Return the key of one row as `Letter.key` has it; None: a column of it is missing."""
    found = _keys(row, keys)
    return next(iter(found), None)


def key_of_dead(row: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return the key of a dead letter that could not be read; None: that is not known either."""
    values = {} if row["row"] is None else _object(row["row"])
    has_key = bool(keys) and all(values.get(name) is not None for name in keys)
    return json_text([values[name] for name in keys]) if has_key else None


def keys_among(rows: pa.RecordBatch, keys: Sequence[str], watched: Collection[str]) -> set[str]:
    """Return which of some keys rows have."""
    wanted = [msgspec.json.decode(key)[0] for key in watched]
    return {*watched} & _keys(_some(rows, keys[0], wanted), keys)


def _whole(part: FittedRows) -> pa.RecordBatch:
    """Return the rows of which all values are told."""
    is_whole = np.ones(part.rows.num_rows, np.bool_)
    for mask in part.unchanged.values():
        is_whole &= ~numpy_values(mask, zero_copy_only=False)
    return part.rows if is_whole.all() else part.rows.filter(arrow_array(is_whole))


def key_text(row: Mapping[str, Any]) -> str:
    """Return the values of a key as `Letter.key` has them."""
    return json_text([*row.values()])


def _keys(rows: pa.RecordBatch, keys: Sequence[str]) -> set[str]:
    """Return the keys of rows as JSON; nothing if a column of the key is missing."""
    if not keys or any(name not in rows.schema.names for name in keys):
        return set()
    return set(map(key_text, rows.select(list(keys)).to_pylist()))


def _some(rows: pa.RecordBatch, name: str, wanted: Sequence[Any]) -> pa.RecordBatch:
    """Return the rows whose column has one of the values, perhaps with others."""
    if name not in rows.schema.names:
        return rows.slice(0, 0)
    column = rows.column(name)
    if pa.types.is_binary(column.type):
        return rows  # their JSON is hexadecimal
    try:
        texts = arrow_array([None if one is None else str(one) for one in wanted], pa.string())
        found = pc.is_in(column, texts.cast(column.type))
    except pa.ArrowException:
        return rows  # values of this type are not written as JSON writes them
    return rows.take(arrow_array(np.flatnonzero(numpy_values(found))))
