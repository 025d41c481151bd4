"""Which keys a bucket has lost by its changes, and which it has now.

Where keys move from one partition to another, a commit deletes a key's row in one bucket and writes
one to another. No file says which came last, but only one bucket has the key afterwards. So the
changes of keys that are gone are read first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, no_rows
from paimonlab.datafile.layout import KIND_FIELD
from paimonlab.datafile.masks import Mask
from paimonlab.merge.deduplicate import is_add
from paimonlab.merge.order import as_numpy, sort_keys
from paimonlab.merge.pieces import KeyBatch, KeyColumns, ordered_runs
from paimonlab.merge.sorting import ends_of_groups
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.change_splits import Fate
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.storage import FileIO


def rows_with_fate(split: DataSplit, fate: Fate, plan: ReadPlan, file_io: FileIO) -> list[Mask]:
    """Mark the rows of changes whose key has a fate.

    Parameters
    ----------
    split
        f files of one bucket, each sorted by key, rows of a key in the order of the changes; a
        later file has later changes.
    fate
        `Fate.GONE` or `Fate.PRESENT`.
    plan
        How to read the table; its columns and predicate do not matter.
    file_io
        The table's store.

    Returns
    -------
    list of f (row_count,) bool
        True where the last change of the key deletes its row, or writes one.
    """
    runs = [_LastChanges(split, file, plan, file_io) for file in split.files]
    columns = KeyColumns(
        keys=plan.schema.trimmed_primary_keys, is_position_enough=True, has_deletes=True
    )
    piece_rows = plan.bounds.piece_rows
    batch_rows = max(1, piece_rows // len(runs))
    pieces = ordered_runs([run.batches(batch_rows) for run in runs], columns, piece_rows=piece_rows)
    for piece in pieces:
        members = piece.members
        kinds = as_numpy(piece.rows[KIND_FIELD.name])
        has_fate = is_add(kinds[members.last()]) == (fate is Fate.PRESENT)
        by_row = np.empty(len(kinds), np.bool_)
        by_row[members.positions] = np.repeat(has_fate, members.lengths)
        ends = np.cumsum(piece.counts)[:-1]
        for run, decided in zip(runs, np.split(by_row, ends), strict=True):
            run.decided.append(decided)
    return [run.mask() for run in runs]


class _LastChanges:
    """A file as a sorted run: the last change of each key in it."""

    def __init__(
        self, split: DataSplit, file: DataFileMeta, plan: ReadPlan, file_io: FileIO
    ) -> None:
        self._opened = (split, file, plan, file_io)
        self._names = plan.schema.trimmed_primary_keys
        self._fields = (*(plan.schema.field(name) for name in self._names), KIND_FIELD)
        self._counts: list[npt.NDArray[np.int64]] = []
        self.decided: list[Mask] = []
        """What was decided of the keys, in their order."""

    def batches(self, batch_rows: int) -> Iterator[KeyBatch]:
        """Read the last row of each key, and count how many there are."""
        schema = arrow_schema(self._fields)
        open_key, open_count = no_rows(schema), 0
        split, file, plan, file_io = self._opened
        with open_data_file(split, file, plan, file_io) as data:
            for batch in data.batches(self._fields, batch_rows=batch_rows):
                rows = pa.Table.from_batches([open_key, batch.cast(schema)])
                keys = sort_keys([rows[name] for name in self._names])
                ends = np.flatnonzero(ends_of_groups(keys))
                counts = np.diff(ends, prepend=-1)
                counts[0] += max(0, open_count - 1)
                (whole,) = rows.combine_chunks().to_batches()
                open_key, open_count = whole.slice(int(ends[-1])), int(counts[-1])
                self._counts.append(counts[:-1])
                yield KeyBatch(whole.take(arrow_array(ends[:-1])), is_last=False)
        self._counts.append(np.array([open_count] if open_count else [], np.int64))
        yield KeyBatch(open_key, is_last=True)

    def mask(self) -> Mask:
        """Return what was decided of each row."""
        return np.repeat(np.concatenate(self.decided), np.concatenate(self._counts))
