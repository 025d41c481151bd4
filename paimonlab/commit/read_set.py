"""Whether what a commit was derived from has changed: pure functions of what landed since.

Java Paimon 1.3.1 checks nothing of this kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar
from paimonlab.errors import FilesConflictError
from paimonlab.scan.file_totals import distinct
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.manifests.manifest import FileKind, is_kind
from paimonlab.spec.snapshot import CommitKind

Mask = npt.NDArray[np.bool_]
_REDO = "Read the table again and redo this write."


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSet:
    """What the rows of a commit were derived from, which others must not have changed since."""

    snapshot_id: int
    """The snapshot that was read; 0: the table was empty."""
    its_buckets: bool = False
    """The rows of the buckets that the commit writes into."""
    its_partitions: bool = False
    """The rows of the partitions that the commit replaces, and the schema."""
    may_match: Callable[[pa.Table], Mask] | None = None
    """Marks entries of files that may hold rows which would have been read, had they been there:
    (n,) bool of n entries (`ENTRY_SCHEMA`). None: new rows do not matter."""


@dataclass(frozen=True, slots=True)
class Landed:
    """What one commit of others or ours changed."""

    snapshot_id: int
    user: str
    kind: CommitKind
    entries: pa.Table
    """Additions and deletions of data files (`ENTRY_SCHEMA`)."""
    index_partitions: frozenset[bytes] = frozenset()
    """Partitions that got other index files or lost some."""


def check_buckets_unwritten(
    landed: Iterable[Landed], ours: pa.Table, reads: ReadSet, table: str
) -> None:
    """Check that no other commit wrote rows into the buckets of a commit since they were read.

    Parameters
    ----------
    landed
        The commits since.
    ours
        Entries of the commit (`ENTRY_SCHEMA`).
    reads
        What was read.
    table
        For the message.

    Raises
    ------
    FilesConflictError
        If another one did.
    """
    buckets = set(_buckets(ours))
    for commit in _with_other_rows(landed):
        if not buckets.isdisjoint(_buckets(commit.entries)):
            _refuse(commit, reads.snapshot_id, table, "wrote into the same bucket")


def check_none_appended(landed: Iterable[Landed], reads: ReadSet, table: str) -> None:
    """Check that no rows were added that the statement would have read.

    Parameters
    ----------
    landed
        The commits since.
    reads
        What was read; it has a ``may_match``.
    table
        For the message.

    Raises
    ------
    FilesConflictError
        If there may be some.
    """
    assert reads.may_match is not None, "the caller asks only then"
    for commit in _with_other_rows(landed):
        added = commit.entries.filter(is_kind(commit.entries, FileKind.ADD))
        if added.num_rows and reads.may_match(added).any():
            problem = "added rows that may match, and 'write.isolation' = 'serializable' forbids it"
            _refuse(commit, reads.snapshot_id, table, problem)


def check_partitions_unchanged(
    landed: Iterable[Landed],
    covers: Callable[[pa.ChunkedArray], Mask],
    reads: ReadSet,
    table: str,
) -> None:
    """Check that the partitions that a commit replaces still have the rows that were read.

    Parameters
    ----------
    landed
        The commits since.
    covers
        Marks the partitions that are replaced: (n,) bool of n serialised BinaryRows.
    reads
        What was read.
    table
        For the message.

    Raises
    ------
    FilesConflictError
        If rows were added or deleted: they would be lost or reappear.
    """
    for commit in _with_other_rows(landed):
        indexed = pa.chunked_array(
            [arrow_array(sorted(commit.index_partitions), pa.large_binary())]
        )
        if covers(commit.entries["partition"]).any() or covers(indexed).any():
            _refuse(commit, reads.snapshot_id, table, "changed rows that this overwrite replaces")


def check_schema_unchanged(
    added: pa.Table, schema_id: int, reads: ReadSet, table: str, snapshot_id: int
) -> None:
    """Check that files were written with the schema that the table has now.

    Parameters
    ----------
    added
        Additions of the commit (`ENTRY_SCHEMA`).
    schema_id
        The latest schema.
    reads
        What was read.
    table, snapshot_id
        For the message.

    Raises
    ------
    FilesConflictError
        If not: columns added since would lose their values.
    """
    if pc.any(pc.not_equal(added["schema_id"], arrow_scalar(schema_id))).as_py():
        problem = (
            f"its rows were read at snapshot {reads.snapshot_id}, and the schema was changed to "
            f"{schema_id} since. {_REDO}"
        )
        raise FilesConflictError(table, snapshot_id, (), problem)


def check_keys_known(
    landed: Iterable[Landed], partitions: Collection[bytes], *, user: str, since: int, table: str
) -> None:
    """Check that keys are still where the index that gave rows their buckets said.

    Others may add keys to the index, but not rebuild it.

    Parameters
    ----------
    landed
        The commits since.
    partitions
        The partitions that the commit writes to.
    user
        Who commits; what they did before, they know.
    since
        The snapshot of the index.
    table
        For the message.

    Raises
    ------
    FilesConflictError
        If a partition was overwritten: rows of one key might get into two buckets.
    """
    ours = arrow_array(sorted(partitions), pa.large_binary())
    for commit in landed:
        if commit.user == user or commit.kind is not CommitKind.OVERWRITE:
            continue
        gone = commit.entries.filter(is_kind(commit.entries, FileKind.DELETE))
        is_hit = pc.any(pc.is_in(gone["partition"], ours)).as_py()
        if is_hit or not commit.index_partitions.isdisjoint(partitions):
            problem = (
                f"the buckets of its keys were looked up in snapshot {since}, and {commit.user!r} "
                f"overwrote a partition in snapshot {commit.snapshot_id}. Open a new writer and "
                "redo this write."
            )
            raise FilesConflictError(table, commit.snapshot_id, (), problem)


def _with_other_rows(landed: Iterable[Landed]) -> Iterable[Landed]:
    """Leave out compactions, which only move rows to other files."""
    return (commit for commit in landed if commit.kind is not CommitKind.COMPACT)


def _refuse(one: Landed, read_id: int, table: str, what: str) -> None:
    problem = f"its rows were read at snapshot {read_id}, and {one.user!r} {what} since. {_REDO}"
    raise FilesConflictError(table, one.snapshot_id, (), problem)


def _buckets(entries: pa.Table) -> list[BucketKey]:
    """Return the buckets of entries: partition and number, each once."""
    buckets = distinct(entries, ["partition", "bucket"])
    return list(zip(*(column.to_pylist() for column in buckets.columns), strict=True))
