"""Which files show how two states of a table differ.

The states are compared as readers see them, row by row. What need not be read is decided by whole
sections of overlapping key ranges: where both states have the same files, and the same rows of
them are deleted, merging gives the same rows. Inside of other sections the files that both have
are needed as well: with them the others are merged. (Java leaves them out, so that rows which merge
engines make of several come out wrong, and rows that were written again as they were come out.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.change_splits import (
    ChangeRequest,
    ChangeSplit,
    Fate,
    by_age,
    moves_keys,
    splits_of,
)
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.entries import codes, concat, group_codes, identities, live
from paimonlab.scan.file_totals import distinct
from paimonlab.scan.key_ranges import sections
from paimonlab.scan.live_files import in_real_buckets, manifests_of, read_entries
from paimonlab.scan.pruning import (
    matches_buckets,
    matches_keys,
    matches_manifests,
    matches_partitions,
)
from paimonlab.scan.split import DataSplit
from paimonlab.scan.split_making import place
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.buckets.mode import DYNAMIC
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import DataType

Mask = npt.NDArray[np.bool_]


def state_changes(
    before: Snapshot | None,
    after: Snapshot,
    request: ChangeRequest,
    schemas: SchemaManager,
    manifests: ManifestStore,
) -> list[ChangeSplit]:
    """Find the files that tell in which rows two states of a table differ.

    Parameters
    ----------
    before, after
        The two states; None: before the first snapshot, where there was no row.
    request
        What is to be read.
    schemas, manifests
        The table's schemas and manifests.

    Returns
    -------
    list of ChangeSplit
        One per bucket that may differ, with the files of both states; where keys may change their
        bucket, one per partition. Where they may change their partition, keys that are gone come
        first. Of an append table the files that only one of the states has.
    """
    conditions = Conditions.of(request.predicate, request.schema)
    if conditions.is_impossible:
        return []
    states = [
        _State(
            snapshot.id,
            _live(snapshot, conditions, request, schemas, manifests),
            DeletionFiles.of(
                snapshot, manifests, beside_data=request.options.has_indexes_beside_data
            ),
        )
        for snapshot in (before, after)
        if snapshot is not None
    ]
    if before is None:
        states.insert(0, _State(0, states[0].files.slice(0, 0), DeletionFiles()))
    rescaled = _rescaled(concat([state.files for state in states]))
    old, new = _needed(states, request)
    befores, afters = (_by_bucket(state, request) for state in (old, new))
    splits = [
        ChangeSplit(after=afters.get(bucket), before=befores.get(bucket), is_diff=True)
        for bucket in {**befores, **afters}
    ]
    if not request.schema.primary_keys:
        return splits
    splits = _by_partition(splits, None if request.options.bucket == DYNAMIC else rescaled)
    if not moves_keys(request.schema):
        return splits
    return [replace(split, fate=fate) for fate in (Fate.GONE, Fate.PRESENT) for split in splits]


class _State(Struct, frozen=True):
    """The files of a state."""

    snapshot_id: int
    files: pa.Table
    vectors: DeletionFiles

    def keep(self, mask: Mask) -> _State:
        return _State(self.snapshot_id, self.files.filter(arrow_array(mask)), self.vectors)


def _live(
    snapshot: Snapshot,
    conditions: Conditions,
    request: ChangeRequest,
    schemas: SchemaManager,
    manifests: ManifestStore,
) -> pa.Table:
    """Return the files of a state that may hold a wanted key."""
    metas = manifests_of(snapshot, manifests)
    keeps = matches_manifests(metas, conditions, None, request.schema).tolist()
    kept = [meta for meta, keep in zip(metas, keeps, strict=True) if keep]
    entries = in_real_buckets(concat(read_entries(snapshot, kept, manifests)))
    mask = matches_partitions(entries, conditions, request.schema)
    mask &= matches_buckets(entries, conditions, None, request.schema, schemas)
    alive = live([entries.filter(arrow_array(mask))], referrer=snapshot.file_name)
    mask = matches_keys(alive, conditions, request.schema, schemas)
    if request.skips_level_0:
        mask &= numpy_values(alive["level"]) > 0
    return alive.filter(arrow_array(mask))


def _rescaled(entries: pa.Table) -> frozenset[bytes]:
    """Return the partitions that have another number of buckets in one state than in the other."""
    numbers = distinct(entries, ["partition", "total_buckets"])["partition"].to_pylist()
    return frozenset(one for one, count in Counter(numbers).items() if count > 1)


def _needed(states: Sequence[_State], request: ChangeRequest) -> list[_State]:
    """Leave out the files that cannot make a difference."""
    files = concat([state.files for state in states])
    count = states[0].files.num_rows
    identity = identities(files)
    # The same rows of a file are deleted in both states, as far as is told.
    names = files["file_name"].to_pylist()
    old, new = (state.vectors.found for state in states)
    is_same = np.array([old.get(name) == new.get(name) for name in names], np.bool_)
    is_same &= np.isin(identity, np.intersect1d(identity[:count], identity[count:]))
    needed = ~is_same
    if request.schema.primary_keys and needed.any():
        section = _sections(files, request)
        needed = (np.bincount(section, needed) > 0)[section]
    parts = np.split(needed, [count])
    return [state.keep(mask) for state, mask in zip(states, parts, strict=True)]


def _sections(files: pa.Table, request: ChangeRequest) -> npt.NDArray[np.int64]:
    """Give files of a bucket whose key ranges overlap a number."""
    number = np.unique(numpy_values(files["bucket"]), return_inverse=True)[1].astype(np.int64)
    bucket = group_codes([codes(files["partition"]), number])
    return sections(bucket, files["min_key"], files["max_key"], _key_types(request))


def _key_types(request: ChangeRequest) -> list[DataType]:
    schema = request.schema
    return [schema.field(name).type for name in schema.trimmed_primary_keys]


def _by_bucket(state: _State, request: ChangeRequest) -> dict[BucketKey, DataSplit]:
    files = by_age(state.files)
    is_raw = None
    if request.schema.primary_keys and files.num_rows:
        is_raw = place(
            files, _key_types(request), has_each_key_once=request.options.needs_no_merging
        ).is_raw
    splits: Iterator[DataSplit] = splits_of(
        files, request, state.snapshot_id, vectors=state.vectors, is_raw=is_raw
    )
    return {(split.partition, split.bucket): split for split in splits}


def _by_partition(
    splits: Sequence[ChangeSplit], wanted: frozenset[bytes] | None
) -> list[ChangeSplit]:
    """Put the buckets of each partition together, where it is a wanted one; None: all are."""
    partitions: dict[bytes | BucketKey, list[ChangeSplit]] = {}
    for split in splits:
        side = split.sides[0]
        is_wanted = wanted is None or side.partition in wanted
        key = side.partition if is_wanted else (side.partition, side.bucket)
        partitions.setdefault(key, []).append(split)
    return [replace(first, beside=tuple(others)) for first, *others in partitions.values()]
