"""Whether a commit conflicts with the table as it is now: pure functions of manifest entries.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``, conflict checks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.errors import FilesConflictError
from paimonlab.scan.entries import adds_only, codes, concat, group_codes, identities
from paimonlab.scan.key_ranges import first_overlap
from paimonlab.spec.manifests.manifest import FileKind, is_kind
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.types.data_types import DataType


@dataclass(frozen=True, slots=True)
class Base:
    """What a commit is checked against."""

    table: str
    """Name of the table, for messages."""
    snapshot_id: int
    """The snapshot that the commit follows; 0: it is the first."""
    entries: pa.Table
    """Entries of the partitions that the commit touches (`ENTRY_SCHEMA`): of all files that are
    alive in that snapshot, or what changed since the writer looked."""
    is_complete: bool = True
    """Whether these are all files; else those that are not named here were checked before."""


def check_delta(
    delta: pa.Table, base: Base, *, key_types: Sequence[DataType] | None = None
) -> None:
    """Check what a commit adds and deletes.

    Every deleted file must be alive, no added file may be, none may be added twice, and all
    files of a partition must have one number of buckets, unless the old ones are deleted.
    From level 1 on a key is in one file of a level and bucket.

    Parameters
    ----------
    delta
        Entries of the commit (`ENTRY_SCHEMA`).
    base
        What it follows.
    key_types
        Types of the trimmed primary key columns; None without a primary key.

    Raises
    ------
    FilesConflictError
        If there is a conflict.
    """
    if not base.entries.num_rows and delta.num_rows == 1 and adds_only(delta):
        return  # there is nothing that one new file could conflict with
    count = base.entries.num_rows
    both = concat([base.entries, delta])
    identity = identities(both)
    is_added = numpy_values(both["kind"]) == int(FileKind.ADD)
    was_added = is_added[:count]
    alive, gone = identity[:count][was_added], identity[:count][~was_added]
    changed = identity[count:]
    added, deleted = changed[is_added[count:]], changed[~is_added[count:]]
    missing = ~np.isin(deleted, alive) if base.is_complete else np.isin(deleted, gone)
    _check_deleted(deleted[missing], both, identity, base)
    stays = ~np.isin(alive, deleted)
    twice = [_repeated(added), _repeated(deleted), added[np.isin(added, alive[stays])]]
    _check_added(np.concatenate(twice), both, identity, base)
    kept = np.concatenate(
        [np.flatnonzero(was_added)[stays], count + np.flatnonzero(is_added[count:])]
    )
    remaining = both.take(arrow_array(kept))
    check_total_buckets(remaining, base)
    if key_types is not None and added.size:
        check_key_ranges(remaining, added.size, base, key_types)


def without_duplicates(added: pa.Table, base: Base) -> pa.Table:
    """Leave out additions of files that are alive already.

    Parameters
    ----------
    added
        Additions (`ENTRY_SCHEMA`).
    base
        What the commit follows.
    """
    alive = base.entries.filter(is_kind(base.entries, FileKind.ADD))
    identity = identities(concat([alive, added]))
    is_new = ~np.isin(identity[alive.num_rows :], identity[: alive.num_rows])
    return added.filter(arrow_array(is_new))


def _repeated(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    distinct, counts = np.unique(numbers, return_counts=True)
    return distinct[counts > 1]


def check_total_buckets(files: pa.Table, base: Base) -> None:
    """Check that the files of a partition agree in their number of buckets.

    Parameters
    ----------
    files
        Entries of files that are alive together, those of the commit last.
    base
        For the message.

    Raises
    ------
    FilesConflictError
        If a partition has files of two bucket counts: readers would look for rows in the
        wrong bucket.
    """
    # Files of a postponed bucket wait beside those of real buckets.
    files = files.filter(
        pc.not_equal(files["total_buckets"], arrow_scalar(POSTPONE_BUCKET, pa.int32()))
    )
    if not files.num_rows:
        return
    partition = codes(files["partition"])
    totals = numpy_values(files["total_buckets"])
    first = np.unique(partition, return_index=True)[1]
    differs = np.flatnonzero(totals != totals[first][partition])
    if differs.size:
        row = int(differs[-1])
        raise FilesConflictError(
            base.table,
            base.snapshot_id,
            (),
            f"files written for {totals[row]} buckets meet files of {totals[first][partition][row]}"
            " buckets in one partition: the number of buckets was changed. Open the table again "
            "and redo this write; a partition takes a new number of buckets by being overwritten.",
        )


def check_key_ranges(
    files: pa.Table, added: int, base: Base, key_types: Sequence[DataType]
) -> None:
    """Check that from level 1 on no two files of a level and bucket share keys.

    Parameters
    ----------
    files
        Entries of files that are alive together, those of the commit last.
    added
        How many the commit adds; levels that get no file are not looked at.
    base
        For the message.
    key_types
        Types of the trimmed primary key columns.

    Raises
    ------
    FilesConflictError
        If two do: another compaction was faster.
    """
    levels = numpy_values(files["level"])
    bucket_and_level = [
        codes(files["partition"]),
        *(codes(files[name]) for name in ("bucket", "level")),
    ]
    group = group_codes(bucket_and_level)
    ours = group[files.num_rows - added :][levels[files.num_rows - added :] > 0]
    rows = np.flatnonzero(np.isin(group, ours))
    if rows.size < 2:
        return
    chosen = files.take(arrow_array(rows))
    pair = first_overlap(group[rows], chosen["min_key"], chosen["max_key"], key_types)
    if pair is not None:
        names = sorted(chosen["file_name"].take(arrow_array(pair)).to_pylist())
        raise FilesConflictError(
            base.table,
            base.snapshot_id,
            names,
            f"{names[0]} and {names[1]} would hold the same keys in one level: the bucket was "
            "compacted by another commit, too. Compact in one job, and set 'write-only' = 'true' "
            "in the others.",
        )


def _names(
    wanted: npt.NDArray[np.int64], entries: pa.Table, identity: npt.NDArray[np.int64]
) -> list[str]:
    rows = np.flatnonzero(np.isin(identity, wanted))
    return sorted(set(entries["file_name"].take(arrow_array(rows)).to_pylist()))


def _check_deleted(
    missing: npt.NDArray[np.int64], both: pa.Table, identity: npt.NDArray[np.int64], base: Base
) -> None:
    if missing.size:
        raise FilesConflictError(base.table, base.snapshot_id, _names(missing, both, identity))


def _check_added(
    again: npt.NDArray[np.int64], both: pa.Table, identity: npt.NDArray[np.int64], base: Base
) -> None:
    if again.size:
        names = _names(again, both, identity)
        raise FilesConflictError(
            base.table,
            base.snapshot_id,
            names,
            f"the file {names[0]} would be added twice: its messages were committed before, under "
            "another user or identifier, or are given twice.",
        )
