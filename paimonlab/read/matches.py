"""Which rows of the files of an append table satisfy a condition, by their positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.datafile.masks import Mask
from paimonlab.datafile.row_conditions import RowCondition, RowLook
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.read.deletions import surviving_rows
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.read.streaming import in_threads
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.data_types import DataField
from paimonlab.storage import FileIO


@dataclass(frozen=True, slots=True)
class FileMatch:
    """The rows of one file that satisfy a condition."""

    split: DataSplit
    """With this file alone, and its deletion vector."""
    matched: DeletionVector
    """Positions of the rows, maybe none; none of them is deleted."""
    alive_count: int
    """Rows of the file that are not deleted."""

    @property
    def file(self) -> DataFileMeta:
        """The file."""
        return self.split.files[0]

    @property
    def is_whole(self) -> bool:
        """Whether all rows that are not deleted satisfy the condition."""
        return self.matched.cardinality == self.alive_count


def find_matches(
    splits: Sequence[DataSplit],
    plan: ReadPlan,
    file_io: FileIO,
    condition: RowCondition | None = None,
) -> Iterator[FileMatch]:
    """Look for rows in the files of splits, several files at a time.

    Parameters
    ----------
    splits
        Splits of an append table.
    plan
        Its predicate is the condition; None: every row.
    file_io
        The table's store.
    condition
        What rows have to satisfy as well; None: nothing.

    Yields
    ------
    FileMatch
        One per file, in any order.
    """
    files = [split.with_files(file.__eq__) for split in splits for file in split.files]
    return in_threads([partial(_match, file, plan, file_io, condition) for file in files])


def _match(
    split: DataSplit, plan: ReadPlan, file_io: FileIO, condition: RowCondition | None
) -> Iterator[FileMatch]:
    yield match_of(split, plan, file_io, condition)


def match_of(
    split: DataSplit, plan: ReadPlan, file_io: FileIO, condition: RowCondition | None = None
) -> FileMatch:
    """Look for rows in the only file of a split, in the calling thread; see `find_matches`."""
    (survivors,) = surviving_rows(split, plan, file_io)
    row_count = split.files[0].row_count
    if plan.predicate is None and condition is None:
        hits = np.ones(row_count, np.bool_) if survivors is None else survivors
    else:
        hits = _hits(split, plan, file_io, survivors, condition)
    matched = DeletionVector.of(np.flatnonzero(hits))
    alive_count = row_count if survivors is None else int(np.count_nonzero(survivors))
    return FileMatch(split, matched, alive_count)


def _hits(
    split: DataSplit,
    plan: ReadPlan,
    file_io: FileIO,
    survivors: Mask | None,
    condition: RowCondition | None,
) -> Mask:
    predicate = plan.predicate
    file = split.files[0]
    look = RowLook(predicate, condition)
    fields = [plan.schema.field(name) for name in sorted(look.columns)]
    hits = np.zeros(file.row_count, np.bool_)
    with open_data_file(split, file, plan, file_io) as data:
        for start, rows in data.positioned(
            fields, predicate=predicate, keep=survivors, batch_rows=plan.bounds.batch_rows
        ):
            part = slice(start, start + rows.num_rows)
            keep = None if survivors is None else survivors[part]
            hits[part] = look.found(rows, keep)
    return hits


def positioned_rows(
    split: DataSplit,
    plan: ReadPlan,
    file_io: FileIO,
    *,
    fields: Sequence[DataField] | None = None,
) -> Iterator[tuple[pa.RecordBatch, npt.NDArray[np.int64]]]:
    """Read the rows of a file that may satisfy the condition of a plan.

    Parameters
    ----------
    split
        Of an append table, with this file alone.
    plan, file_io
        How to read the table; its store.
    fields
        The columns to read; None: all.

    Yields
    ------
    rows : RecordBatch
        n rows that are not deleted; none is empty.
    positions : (n,) int64
        Their positions in the file.
    """
    (survivors,) = surviving_rows(split, plan, file_io)
    with open_data_file(split, split.files[0], plan, file_io) as data:
        for start, rows in data.positioned(
            plan.schema.fields if fields is None else fields,
            predicate=plan.predicate,
            keep=survivors,
            batch_rows=plan.bounds.batch_rows,
        ):
            positions = np.arange(start, start + rows.num_rows, dtype=np.int64)
            if survivors is None:
                yield rows, positions
                continue
            kept = survivors[start : start + rows.num_rows]
            if kept.any():
                yield rows.filter(arrow_array(kept)), positions[kept]


def alive_count(split: DataSplit, plan: ReadPlan, file_io: FileIO) -> int:
    """Count the rows of the only file of a split that are not deleted."""
    (survivors,) = surviving_rows(split, plan, file_io)
    return split.files[0].row_count if survivors is None else int(np.count_nonzero(survivors))


def divided_rows(
    match: FileMatch,
    plan: ReadPlan,
    file_io: FileIO,
    *,
    only_matched: bool = False,
    fields: Sequence[DataField] | None = None,
) -> Iterator[tuple[pa.RecordBatch, Mask]]:
    """Read the rows of a file that are not deleted, in the order of the file.

    Parameters
    ----------
    match
        The file.
    plan, file_io
        How to read the table; its store.
    only_matched
        Leave out the rows that do not satisfy the condition.
    fields
        The columns to read; None: all.

    Yields
    ------
    rows : RecordBatch
        n rows with these columns; none is empty.
    is_matched : (n,) bool
        Whether each satisfies the condition.
    """
    (survivors,) = surviving_rows(match.split, plan, file_io)
    hits = ~match.matched.survivors(match.file.row_count, path=match.file.file_name)
    wanted = hits if only_matched else survivors
    with open_data_file(match.split, match.file, plan, file_io) as data:
        for start, rows in data.positioned(
            plan.schema.fields if fields is None else fields,
            keep=wanted,
            batch_rows=plan.bounds.batch_rows,
        ):
            part = slice(start, start + rows.num_rows)
            if wanted is None:
                yield rows, hits[part]
            elif wanted[part].any():
                yield rows.filter(arrow_array(wanted[part])), hits[part][wanted[part]]
