"""Files of one bucket that hold columns of the same rows.

In a table with data evolution a commit may write some columns of existing rows: its files have the
row ids of the files they complete. Files with the same first row id are read together, a group; all
files of a group have the same rows.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.source.DataEvolutionSplitGenerator``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import numpy_values
from paimonlab.errors import UnsupportedError
from paimonlab.spec.manifests.data_file import DataFileMeta


def rank_by_row_id(entries: pa.Table, bucket: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Give the groups of n files numbers.

    Parameters
    ----------
    entries
        n files that are alive (`ENTRY_SCHEMA`).
    bucket
        (n,) a number for the bucket of each.

    Returns
    -------
    (n,) int64
        Equal in files that are read together; ascending with bucket and row id. A file without
        row ids is alone.

    Raises
    ------
    UnsupportedError
        If row ids of two groups overlap.
    """
    first = numpy_values(entries["first_row_id"].fill_null(-1))
    rows = numpy_values(entries["row_count"])
    order = np.lexsort((np.arange(len(first)), first, bucket))
    ordered, of_bucket = first[order], bucket[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]) | (of_bucket[1:] != of_bucket[:-1])
    is_new |= ordered < 0
    group = np.cumsum(is_new) - 1
    wrong = _wrong_range(ordered, rows[order], of_bucket, np.flatnonzero(is_new), group)
    if wrong is not None:
        raise _overlap(entries["file_name"][int(order[wrong])].as_py())
    ranks = np.empty(len(order), np.int64)
    ranks[order] = group
    return ranks


def _wrong_range(
    first: npt.NDArray[np.int64],
    rows: npt.NDArray[np.int64],
    bucket: npt.NDArray[np.int64],
    starts: npt.NDArray[np.int64],
    group: npt.NDArray[np.int64],
) -> int | None:
    """Return a file that has only some of the rows of its group, or rows of two groups."""
    has_other_rows = np.flatnonzero(rows != rows[starts][group])
    if has_other_rows.size:
        return int(has_other_rows[0])
    ends = first[starts] + rows[starts]
    follows = (first[starts][:-1] >= 0) & (bucket[starts][1:] == bucket[starts][:-1])
    begins_early = np.flatnonzero(follows & (first[starts][1:] < ends[:-1]))
    return int(starts[1:][begins_early[0]]) if begins_early.size else None


def row_groups(files: Sequence[DataFileMeta]) -> list[list[DataFileMeta]]:
    """Gather the files of a split that are read together.

    Returns
    -------
    list of list of DataFileMeta
        By row id; in a group the newest file first, whose columns hide those of older ones.

    Examples
    --------
    >>> def file(name, first, newest):
    ...     return DataFileMeta(file_name=name, file_size_bytes=1, row_count=2, schema_id=0,
    ...         min_sequence_number=newest, max_sequence_number=newest, first_row_id=first)
    >>> files = [file("a", 2, 1), file("b", 0, 2), file("c", 2, 3)]
    >>> [[file.file_name for file in group] for group in row_groups(files)]
    [['b'], ['c', 'a']]
    """
    ordered = sorted(files, key=lambda file: (_first(file), -file.max_sequence_number))
    groups: list[list[DataFileMeta]] = []
    for file in ordered:
        if groups and file.first_row_id is not None and _first(groups[-1][0]) == _first(file):
            groups[-1].append(file)
        else:
            groups.append([file])
    return groups


def _first(file: DataFileMeta) -> int:
    return -1 if file.first_row_id is None else file.first_row_id


def _overlap(file_name: str) -> UnsupportedError:
    return UnsupportedError(
        "data-evolution.enabled = 'true'",
        f"the row ids of {file_name} overlap with those of other files but are not the same; "
        "files that complete each other must have the same rows",
    )
