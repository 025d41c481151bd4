"""Rows that appends added, read when they are asked for: of many files only those of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.analysis.rows.row_changes import reported, reported_of
from paimonlab.scan.change_splits import ChangeSplit, Fate
from paimonlab.scan.changed_files import ChangeKind
from paimonlab.scan.split import DataSplit
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.table.reading.changes import Changes


@dataclass(frozen=True)
class AppendedRows:
    """What appends added to a table, whose files say how many rows that is."""

    changes: Changes
    _sides: Sequence[DataSplit]

    @classmethod
    def of(cls, changes: Changes) -> Self | None:
        """Return the rows of changes; None if more than metadata says which these are."""
        if changes.schema.primary_keys or changes.predicate is not None:
            return None
        if changes.range.kind is not ChangeKind.DELTA:
            return None
        sides = [side for split in changes.splits if (side := _side(split)) is not None]
        return cls(changes, sides) if len(sides) == len(changes.splits) else None

    @property
    def file_count(self) -> int:
        """How many files have them."""
        return sum(len(side.files) for side in self._sides)

    @property
    def row_count(self) -> int:
        """How many there are."""
        return int(self._ends[-1]) if self._ends.size else 0

    def counts(self) -> Counter[BucketKey]:
        """Count the rows of each bucket."""
        counts = Counter[BucketKey]()
        for side in self._sides:
            counts[side.partition, side.bucket] += side.row_count
        return counts

    def rows(self, offset: int, count: int) -> pa.Table:
        """Read some of the rows that `all` reads.

        Parameters
        ----------
        offset
            Rows before them.
        count
            How many, at most.
        """
        starts = self._ends - self._row_counts
        is_read = (self._ends > offset) & (starts < offset + count)
        wanted, place = list[ChangeSplit](), 0
        for side in self._sides:
            keeps = is_read[place : place + len(side.files)]
            place += len(side.files)
            if keeps.any():
                names = {side.files[at].file_name for at in np.flatnonzero(keeps)}
                wanted.append(ChangeSplit(after=_of_files(side, names)))
        first = int(starts[is_read][0]) if is_read.any() else offset
        return reported_of(self.changes, wanted).rows.slice(offset - first, count)

    def parts(self, row_count: int) -> Iterator[pa.Table]:
        """Read whole files, in the order of `all`, and yield about so many rows of them at once.

        Parameters
        ----------
        row_count
            The least rows of each part, but for the last.
        """
        start = 0
        while start < self.row_count:
            wanted = min(start + row_count, self.row_count)
            end = int(self._ends[np.searchsorted(self._ends, wanted)])
            yield self.rows(start, end - start)
            start = end

    @cached_property
    def all(self) -> pa.Table:
        """Read all rows."""
        return reported(self.changes).rows

    @cached_property
    def _row_counts(self) -> npt.NDArray[np.int64]:
        return np.array([file.row_count for side in self._sides for file in side.files], np.int64)

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        return np.cumsum(self._row_counts)


def _of_files(side: DataSplit, names: set[str]) -> DataSplit:
    return side.with_files(lambda file: file.file_name in names)


def _side(split: ChangeSplit) -> DataSplit | None:
    """Return the files of which all rows were added; None if not all rows of files were."""
    side = split.after
    if side is None or side.deletion_files:
        return None
    if split.is_diff or split.is_state or split.before is not None or split.fate is not Fate.ANY:
        return None
    has_parts = any(
        file.first_row_id is not None or file.write_cols is not None for file in side.files
    )
    return None if has_parts else side
