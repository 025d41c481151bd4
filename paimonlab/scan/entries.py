"""Which files are alive: additions and deletions of files cancel each other.

Source: apache/paimon@1.3.1 ``org.apache.paimon.manifest.FileEntry.mergeEntries``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values, one_array
from paimonlab.errors import CorruptMetadataError
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.manifests.manifest import (
    ENTRY_SCHEMA,
    IDENTITY_COLUMNS,
    NO_ENTRIES,
    FileKind,
    is_kind,
)


def concat(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate tables of entries, each column in one chunk."""
    if not tables:
        return NO_ENTRIES
    return pa.concat_tables(tables).combine_chunks()


def fold(tables: Sequence[pa.Table], *, referrer: str = "") -> pa.Table:
    """Cancel additions of files against later deletions.

    Parameters
    ----------
    tables
        Entries (`ENTRY_SCHEMA`) in the order in which they were committed.
    referrer
        Where they come from, for the message.

    Returns
    -------
    pyarrow.Table
        The entries that are left, in order: additions of files that are alive, and deletions
        of files that were added before the first of ``tables``.

    Raises
    ------
    CorruptMetadataError
        If a file is added, or deleted, twice in a row.

    Notes
    -----
    Entries speak of the same file only if all of `IDENTITY_COLUMNS` are equal: a file that
    moves to another level is deleted and added under the same name.
    """
    entries = concat(tables)
    names = codes(entries["file_name"])
    if adds_only(entries) and _count(names) == entries.num_rows:
        return entries
    return entries.filter(arrow_array(_survives(entries, referrer)))


def live(tables: Sequence[pa.Table], *, referrer: str = "") -> pa.Table:
    """Return the files that are alive after all entries of a snapshot.

    Parameters
    ----------
    tables
        All entries of a snapshot, or all those of some partitions and buckets, in order.
    referrer
        Where they come from, for the message.

    Raises
    ------
    CorruptMetadataError
        If a file is deleted that was never added, or added or deleted twice.
    """
    entries = fold(tables, referrer=referrer)
    if not adds_only(entries):
        deleted = entries.filter(is_kind(entries, FileKind.DELETE))
        raise CorruptMetadataError(
            referrer or "manifests",
            f"the file {deleted['file_name'][0].as_py()} is deleted, but was never added",
        )
    return entries


def alive_after(
    entries: pa.Table, deletions: Sequence[pa.Table], *, referrer: str = ""
) -> pa.Table:
    """Return the files that some of a snapshot's entries add and that stay alive.

    Parameters
    ----------
    entries
        Some that follow each other.
    deletions
        All deletions after them.
    referrer
        Where they come from, for the message.

    Returns
    -------
    pyarrow.Table
        What `live` of all entries has of these, in the same order. Deletions of files that were
        added before are taken for right.

    Raises
    ------
    CorruptMetadataError
        If ``entries`` add, or delete, a file twice in a row.
    """
    added = fold([entries], referrer=referrer)
    if not adds_only(added):
        added = added.filter(is_kind(added, FileKind.ADD))
    names = one_array(added["file_name"])
    of_same_name = [
        table.filter(pc.is_in(table["file_name"], value_set=names))
        for table in deletions
        if table.num_rows
    ]
    if not any(table.num_rows for table in of_same_name):
        return added
    identity = identities(concat([added, *of_same_name]))
    is_deleted = np.isin(identity[: added.num_rows], identity[added.num_rows :])
    return added.filter(arrow_array(~is_deleted))


def deletions_of(entries: pa.Table) -> pa.Table:
    """Return the entries that delete files."""
    return entries.filter(is_kind(entries, FileKind.DELETE))


def with_kind(entries: pa.Table, kind: FileKind) -> pa.Table:
    """Return the same entries, all of one kind."""
    kinds = arrow_array(np.full(entries.num_rows, int(kind), np.int32))
    return entries.set_column(0, ENTRY_SCHEMA.field("kind"), kinds)


def without_stats_of_deleted(entries: pa.Table) -> pa.Table:
    """Return the same entries, those of deleted files without statistics of their values."""
    is_deleted = is_kind(entries, FileKind.DELETE).combine_chunks()
    if not pc.any(is_deleted).as_py():
        return entries
    blank = {
        "value_stats_min_values": arrow_scalar(EMPTY_ROW, pa.large_binary()),
        "value_stats_max_values": arrow_scalar(EMPTY_ROW, pa.large_binary()),
        "value_stats_null_counts": arrow_scalar([], pa.large_list(pa.int64())),
        "value_stats_cols": arrow_scalar([], pa.large_list(pa.large_string())),
    }
    for name, value in blank.items():
        index = entries.schema.get_field_index(name)
        column = pc.if_else(is_deleted, value, entries[name].combine_chunks())
        entries = entries.set_column(index, entries.schema.field(index), column)
    return entries


def codes(column: pa.ChunkedArray | pa.Array) -> npt.NDArray[np.int64]:
    """Give each distinct value of a column a number, in the order in which they first occur.

    Parameters
    ----------
    column
        n values; null is a value of its own.

    Returns
    -------
    (n,) int64
        From 0.
    """
    encoded = pc.dictionary_encode(one_array(column), null_encoding="encode")
    return numpy_values(encoded.indices, zero_copy_only=False).astype(np.int64)


def group_codes(columns: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    """Give each distinct row of several columns of codes a number, ascending with the codes.

    The codes of each column are numbers from 0, without gaps.
    """
    combined = columns[0]
    for column in columns[1:]:
        if column.size and column.max() > 0:
            # The product stays below n * n: both sides are numbered from 0 without gaps.
            wide = combined * (column.max() + 1) + column
            combined = np.unique(wide, return_inverse=True)[1].astype(np.int64)
    return combined


def adds_only(entries: pa.Table) -> bool:
    """Whether no entry deletes a file."""
    return not numpy_values(entries["kind"]).any()  # ADD is 0


def _count(numbers: npt.NDArray[np.int64]) -> int:
    return int(numbers.max()) + 1 if numbers.size else 0


def identities(entries: pa.Table) -> npt.NDArray[np.int64]:
    """Give each distinct file that n entries speak of a number: (n,) int64, without gaps."""
    columns = [entries[name] for name in IDENTITY_COLUMNS]
    return group_codes(
        [list_codes(column) if _is_list(column) else codes(column) for column in columns]
    )


def _is_list(column: pa.ChunkedArray) -> bool:
    return bool(pa.types.is_large_list(column.type))


def list_codes(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    """Give each distinct value of a column of lists of texts a number; null is a value."""
    if not pc.any(pc.greater(pc.list_value_length(column), arrow_scalar(0))).as_py():
        return codes(column.is_null())
    # There is no kernel for large lists.
    joined = pc.binary_join(column.cast(pa.list_(pa.string())), arrow_scalar("\0"))
    return codes(joined)


def _survives(entries: pa.Table, referrer: str) -> npt.NDArray[np.bool_]:
    """Mark what is left of each file: its first entry if a deletion, its last if an addition."""
    identity = identities(entries)
    is_added = numpy_values(entries["kind"]) == int(FileKind.ADD)
    order = np.argsort(identity, kind="stable")
    of_file, added = identity[order], is_added[order]
    is_first = np.ones(order.size, np.bool_)
    is_first[1:] = of_file[1:] != of_file[:-1]
    repeats = ~is_first[1:] & (added[1:] == added[:-1])
    if repeats.any():
        raise _twice(entries, int(order[1:][repeats][0]), referrer)
    is_last = np.roll(is_first, -1)
    survives = np.zeros(order.size, np.bool_)
    survives[order] = np.where(added, is_last, is_first)
    return survives


def _twice(entries: pa.Table, row: int, referrer: str) -> CorruptMetadataError:
    name = entries["file_name"][row].as_py()
    what = "added" if entries["kind"][row].as_py() == int(FileKind.ADD) else "deleted"
    return CorruptMetadataError(referrer or "manifests", f"the file {name} is {what} twice")
