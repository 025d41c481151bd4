"""Rows of the same key, found and put into the order in which they came to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.merge.order import Keys
from paimonlab.merge.sorting import sorted_positions

Positions = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NONE = -1
"""The position of a row that is not there."""


def by_age(keys: Keys, sequences: Sequence[Keys]) -> tuple[Positions, Mask]:
    """Sort rows by key and age.

    Parameters
    ----------
    keys : (n,)
        Codes of the keys (`sort_keys`); sorted runs one after the other sort fastest.
    sequences
        (n,) each: what decides among rows of one key, most significant first; where all are
        equal the later row is the newer one.

    Returns
    -------
    order : (n,) int64
        Positions of the rows.
    is_last : (n,) bool
        Whether the row at that place of ``order`` is the newest of its key.
    """
    order, is_last = sorted_positions(keys)
    if not sequences or is_last.all():
        return order, is_last
    # Only keys with more than one row need to look at their sequences.
    is_contested = ~(is_last & np.concatenate([[True], is_last[:-1]]))
    contested = order[is_contested]
    groups = np.cumsum(is_last)[is_contested] - is_last[is_contested]
    rank = np.lexsort([*(sequence[contested] for sequence in reversed(sequences)), groups])
    # lexsort is stable and groups are adjacent already, so positions keep their group.
    order[is_contested] = contested[rank]
    return order, is_last


class Members(Struct, frozen=True):
    """Rows that take part in something, group by group."""

    positions: Positions
    """(m,) of the rows in their columns: the groups one after the other, oldest row first."""
    lengths: Positions
    """(g,) how many rows each group has, 0 among them."""
    is_retract: Mask | None = None
    """(m,) whether a row takes something away; None: no row does."""

    @classmethod
    def of(cls, keys: Keys, sequences: Sequence[Keys] = ()) -> Self:
        """Group rows by key, in the order of the keys; see `by_age`."""
        order, is_last = by_age(keys, sequences)
        ends = np.flatnonzero(is_last) + 1
        return cls(order, np.diff(ends, prepend=0))

    @property
    def group_count(self) -> int:
        """How many groups there are, empty ones included."""
        return len(self.lengths)

    @property
    def ends(self) -> Positions:
        """(g,) place after the last row of each group in `positions`."""
        return np.cumsum(self.lengths)

    @property
    def starts(self) -> Positions:
        """(g,) place of the first row of each group in `positions`."""
        return self.ends - self.lengths

    @property
    def groups(self) -> Positions:
        """(m,) the group of each row."""
        return np.repeat(np.arange(self.group_count), self.lengths)

    def keep(self, mask: Mask) -> Self:
        """Leave rows out.

        Parameters
        ----------
        mask : (m,)
            Which rows stay.
        """
        if mask.all():
            return self
        retract = None if self.is_retract is None else self.is_retract[mask]
        return replace(
            self,
            positions=self.positions[mask],
            lengths=self.counts(mask),
            is_retract=retract,
        )

    def counts(self, mask: Mask) -> Positions:
        """Count the rows of each group that a (m,) mask marks."""
        totals = np.concatenate([[0], np.cumsum(mask, dtype=np.int64)])
        ends = self.ends
        return totals[ends] - totals[ends - self.lengths]

    def without_retracts(self) -> Self:
        """Leave the rows out that take something away."""
        if self.is_retract is None:
            return self
        return replace(self.keep(~self.is_retract), is_retract=None)

    def place_of_last(self, mask: Mask) -> Positions:
        """Return (g,) the place in `positions` of each group's last marked row, or `NONE`."""
        places = np.where(mask, np.arange(len(mask)), NONE)
        latest = np.maximum.accumulate(places) if len(places) else places
        ends = self.ends
        starts = ends - self.lengths
        last_rows = np.full(self.group_count, NONE, np.int64)
        filled = self.lengths > 0
        last_rows[filled] = latest[ends[filled] - 1]
        last_rows[last_rows < starts] = NONE
        return last_rows

    def last(self) -> Positions:
        """Return (g,) the position of each group's newest row, or `NONE`."""
        if self.lengths.all():
            return self.positions[self.ends - 1]
        return self._at(self.ends - 1)

    def first(self) -> Positions:
        """Return (g,) the position of each group's oldest row, or `NONE`."""
        return self._at(self.starts)

    def _at(self, places: Positions) -> Positions:
        rows = np.full(self.group_count, NONE, np.int64)
        filled = self.lengths > 0
        rows[filled] = self.positions[places[filled]]
        return rows
