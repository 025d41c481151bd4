"""Which files of a bucket the last commits added and removed.

State 0 is the bucket before the first of these commits, state k the bucket after the k-th one;
a file is alive in the states ``born <= state < died``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, arrow_scalar, numpy_values
from paimonlab.scan.entries import concat
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.snapshot import Snapshot

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Commit:
    """A snapshot and what it changed."""

    snapshot: Snapshot
    entries: pa.Table
    """Of `ENTRY_SCHEMA`, those of the delta manifests."""


@dataclass(frozen=True, slots=True)
class ShownBucket:
    """A bucket of a table."""

    partition: bytes
    """Serialised BinaryRow of the partition values."""
    bucket: int

    def entries(self, table: pa.Table) -> pa.Table:
        """Return the rows of this bucket."""
        is_here = pc.and_(
            pc.equal(table["bucket"], arrow_scalar(self.bucket, pa.int32())),
            pc.equal(table["partition"], arrow_scalar(self.partition, pa.large_binary())),
        )
        return table.filter(is_here)


@dataclass(frozen=True, slots=True)
class Lives:
    """The n files that a bucket has or had, and the commits that changed it."""

    files: pa.Table
    """Of `ENTRY_SCHEMA`, one row per file and level."""
    born: Places
    """First state with the file; 0 if it existed before."""
    died: Places
    """First state without the file; one more than the last state if it is still alive."""
    snapshots: tuple[Snapshot, ...]
    """Those that changed the bucket, oldest first: the k-th leads to state k."""

    @property
    def last(self) -> int:
        """The state that the bucket is in now."""
        return len(self.snapshots)

    def alive(self, state: int) -> Places:
        """Return the places of the files of a state."""
        return np.flatnonzero((self.born <= state) & (self.died > state))

    def since(self, state: int) -> Lives:
        """Forget what happened before a state, which becomes state 0."""
        is_known = np.flatnonzero(self.died > state)
        return Lives(
            self.files.take(arrow_array(is_known)),
            np.maximum(self.born[is_known] - state, 0),
            self.died[is_known] - state,
            self.snapshots[state:],
        )


def lives(key: ShownBucket, live: pa.Table, commits: Sequence[Commit]) -> Lives:
    """Follow the files of a bucket through commits.

    Parameters
    ----------
    key
        The bucket.
    live
        The files that are alive after the last commit, of any buckets (`ENTRY_SCHEMA`).
    commits
        Without gaps, oldest first.
    """
    touched = [
        (commit.snapshot, entries)
        for commit in commits
        if (entries := key.entries(commit.entries)).num_rows
    ]
    parts = [key.entries(live), *(entries for _, entries in touched)]
    everything = concat([part.cast(parts[0].schema) for part in parts])
    states = np.repeat(np.arange(len(parts)), [part.num_rows for part in parts])
    after_all = len(touched) + 1
    born: list[int] = []
    died: list[int] = []
    rows: list[int] = []
    alive: dict[tuple[str, int], int] = {}

    def begin(identity: tuple[str, int], row: int, state: int) -> None:
        alive[identity] = len(rows)
        rows.append(row)
        born.append(state)
        died.append(after_all)

    identities = list(
        zip(everything["file_name"].to_pylist(), everything["level"].to_pylist(), strict=True)
    )
    is_added = (numpy_values(everything["kind"]) == int(FileKind.ADD)).tolist()
    count = parts[0].num_rows
    for row in range(count, everything.num_rows):
        identity, state = identities[row], int(states[row])
        if is_added[row]:
            begin(identity, row, state)
            continue
        if identity not in alive:
            begin(identity, row, 0)
        died[alive.pop(identity)] = state
    for row in range(count):  # live files that no commit refers to existed before
        if identities[row] not in alive:
            begin(identities[row], row, 0)
    return Lives(
        everything.take(arrow_array(rows, pa.int64())),
        np.array(born, np.int64),
        np.array(died, np.int64),
        tuple(snapshot for snapshot, _ in touched),
    )
