"""Which bucket the keys of one partition are in, by their hash: arrays instead of a dict.

Source: apache/paimon@1.3.1 ``org.apache.paimon.index.PartitionIndex``, ``BucketAssigner``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from paimonlab.errors import DataError
from paimonlab.merge.sorting import sorted_positions
from paimonlab.spec.binary_row.murmur import hash_words
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.options.table_options import OptionSlice, option_field

_MOST_BUCKETS = 32767
_ARITY_BYTES = 4
_NO_BUCKET = -1
_MORE_KNOWN = 4
"""Of so many times as many known hashes to sort all takes longer than to look for each new one."""

Hashes = npt.NDArray[np.int32]
Buckets = npt.NDArray[np.int32]


class StoredHashes(Protocol):
    """The hashes of a bucket, where some can be found without reading all."""

    @property
    def row_count(self) -> int:
        """How many there are."""

    def all(self) -> Hashes:
        """Read all, ascending."""

    def found(self, hashes: Hashes, asked_count: int) -> npt.NDArray[np.bool_] | None:
        """Tell which hashes there are; None: better read all.

        Parameters
        ----------
        hashes : (n,) int32
            Ascending, no two alike.
        asked_count
            How many were asked for so far, these included.
        """


KnownHashes: TypeAlias = Mapping[int, "Hashes | StoredHashes"]
"""The hashes of each bucket of a partition."""


class DynamicBucketOptions(OptionSlice):
    """The table options that steer dynamic buckets."""

    target_rows: int = option_field("dynamic-bucket.target-row-num", "long", 2_000_000)
    """``dynamic-bucket.target-row-num``: keys of a bucket after which the next one is begun."""
    initial_buckets: int | None = option_field("dynamic-bucket.initial-buckets", "int", None)
    """``dynamic-bucket.initial-buckets``: buckets that a partition begins to fill at once."""
    most_buckets: int = option_field("dynamic-bucket.max-buckets", "int", -1)
    """``dynamic-bucket.max-buckets``: of a partition; -1: as many as there are ids."""
    assigner_parallelism: int | None = option_field(
        "dynamic-bucket.assigner-parallelism", "int", None
    )
    """``dynamic-bucket.assigner-parallelism``: shares that keys are divided into by hash, each
    with buckets of its own."""

    @property
    def channels(self) -> int:
        """Shares that partitions start at, one after the other."""
        return max(self.assigner_parallelism or self.initial_buckets or 1, 1)

    @property
    def assigners(self) -> int:
        """Shares of one partition."""
        assigners = min(self.initial_buckets or self.channels, self.channels)
        if self.most_buckets > 0:
            assigners = min(assigners, self.most_buckets)
        return max(assigners, 1)


def partition_hash(partition: bytes) -> int:
    """Return the hash of a serialised BinaryRow of partition values."""
    words = np.frombuffer(partition, "<u4", offset=_ARITY_BYTES)
    return int(hash_words(words.reshape(1, -1).astype(np.uint32))[0])


def channels_of(
    hashes: Hashes, hash_of_partition: int | npt.NDArray[np.int32], options: DynamicBucketOptions
) -> npt.NDArray[np.int32]:
    """Return the share of keys that each key belongs to, among those of all partitions.

    Parameters
    ----------
    hashes : (n,) int32
        Hashes of the trimmed primary keys.
    hash_of_partition
        `partition_hash` of all keys, or (n,) int32 of each.
    options
        The table's options.

    Returns
    -------
    (n,) int32
        In ``[0, options.channels)``; new keys of a share go to the buckets b with
        ``b % options.assigners == share % options.assigners``.
    """
    share = np.abs(np.fmod(hashes, np.int32(options.assigners)))
    return np.asarray((share + _start(hash_of_partition, options)) % options.channels, np.int32)


def _start(
    hash_of_partition: int | npt.NDArray[np.int32], options: DynamicBucketOptions
) -> npt.NDArray[np.int32]:
    """Say at which share the keys of a partition begin."""
    return np.abs(np.fmod(np.asarray(hash_of_partition, np.int32), np.int32(options.channels)))


def _are_equal(numbers: npt.NDArray[np.int32]) -> bool:
    return not len(numbers) or bool(numbers[0] == numbers.max() == numbers.min())


class KeyHashes:
    """The known hashes of a partition, and where new ones go.

    A hash stays in its bucket. A new one goes to the first bucket that is not full, else to a
    new bucket, else, if no more are allowed, to any.

    Parameters
    ----------
    known
        Hashes of each bucket.
    hash_of_partition
        `partition_hash` of the partition: at which share its keys begin.
    options
        The table's options.
    counts
        Keys of each bucket that new ones may join, where ``known`` has only a share of the
        hashes; None: as many as there are hashes.

    Notes
    -----
    Java counts the buckets of all partitions together when it asks whether there may be one
    more; the option is documented for a partition, and so it is here.
    """

    def __init__(
        self,
        known: KnownHashes,
        hash_of_partition: int,
        options: DynamicBucketOptions,
        counts: Mapping[int, int] | None = None,
    ) -> None:
        self._options = options
        self._hash_of_partition = hash_of_partition
        self._stored: dict[int, StoredHashes] = {}
        loaded: dict[int, Hashes] = {}
        known_counts: dict[int, int] = {}
        for bucket, hashes in known.items():
            if isinstance(hashes, np.ndarray):
                loaded[bucket] = hashes
                known_counts[bucket] = len(hashes)
            else:
                self._stored[bucket] = hashes
                known_counts[bucket] = hashes.row_count
        self._counts = dict(sorted((known_counts if counts is None else counts).items()))
        self._asked_count = 0
        self._hashes, self._buckets = np.zeros(0, np.int32), np.zeros(0, np.int32)
        """All that were loaded or are new, ascending, and the bucket of each."""
        self._load(loaded)
        self._changed: set[int] = set()

    def assign(self, hashes: Hashes) -> Buckets:
        """Return the bucket of each key, and remember those that are new.

        Parameters
        ----------
        hashes : (n,) int32
            Hashes of the trimmed primary keys, in order of arrival.

        Returns
        -------
        (n,) int32

        Raises
        ------
        DataError
            If no bucket id is left.
        """
        only = self._only_bucket(hashes)
        if only is not None:
            return np.full(len(hashes), only, np.int32)
        order, is_last = sorted_positions(hashes)
        ends = np.flatnonzero(is_last)
        unique = hashes[order[ends]]
        buckets = self._stored_buckets(unique)
        slots = np.searchsorted(self._hashes, unique)
        is_known = np.zeros(len(unique), np.bool_)
        inside = slots < len(self._hashes)
        is_known[inside] = self._hashes[slots[inside]] == unique[inside]
        buckets[is_known] = self._buckets[slots[is_known]]
        is_known |= buckets != _NO_BUCKET
        new = np.flatnonzero(~is_known)
        if new.size:
            first = order[np.concatenate([[0], ends[:-1] + 1])]
            arrived = new[np.argsort(first[new])]
            buckets[arrived] = self._new_buckets(unique[arrived])
            self._hashes = np.insert(self._hashes, slots[new], unique[new])
            self._buckets = np.insert(self._buckets, slots[new], buckets[new])
        assigned = np.empty(len(hashes), np.int32)
        assigned[order] = np.repeat(buckets, np.diff(ends, prepend=-1))
        return assigned

    def _only_bucket(self, hashes: Hashes) -> int | None:
        """Return the bucket that all of them go to, and remember them; None: maybe to several.

        For many hashes that takes a third of the time of finding the bucket of each.
        """
        if not len(hashes) or self._stored or _MORE_KNOWN * len(hashes) < len(self._hashes):
            return None
        if not _are_equal(self._buckets):
            return None
        options = self._options
        assigners = channels_of(hashes, self._hash_of_partition, options) % options.assigners
        if not _are_equal(assigners):
            return None
        bucket = next(self._with_room(int(assigners[0])), None)
        if bucket is None or (len(self._buckets) and self._buckets[0] != bucket):
            return None
        if self._counts.get(bucket, 0) + len(hashes) > options.target_rows:
            return None
        every = distinct_integers(np.concatenate([self._hashes, hashes]))
        if len(every) > len(self._hashes):
            self._add(bucket, len(every) - len(self._hashes))
            self._hashes, self._buckets = every, np.full(len(every), bucket, np.int32)
        return bucket

    def take_changed(self) -> Iterator[tuple[int, Hashes]]:
        """Yield the buckets that got new hashes since the last call, with all their hashes."""
        for bucket in sorted(self._changed):
            yield bucket, self._all(bucket)
        self._changed.clear()

    def _all(self, bucket: int) -> Hashes:
        hashes = self._hashes[self._buckets == bucket]
        stored = self._stored.get(bucket)
        if stored is None:
            return hashes
        others = stored.all()
        return np.insert(others, np.searchsorted(others, hashes), hashes)

    def _stored_buckets(self, unique: Hashes) -> Buckets:
        """Find hashes where they are stored; load all of where that does not pay."""
        self._asked_count += len(unique)
        buckets = np.full(len(unique), _NO_BUCKET, np.int32)
        loaded: dict[int, Hashes] = {}
        for bucket, stored in self._stored.items():
            found = stored.found(unique, self._asked_count)
            if found is None:
                loaded[bucket] = stored.all()
            else:
                buckets[found] = bucket
        self._load(loaded)
        return buckets

    def _load(self, loaded: Mapping[int, Hashes]) -> None:
        """Go on with all hashes of some buckets in memory."""
        if not loaded:
            return
        for bucket in loaded:
            self._stored.pop(bucket, None)
        hashes = np.concatenate([self._hashes, *loaded.values()])
        lengths = [len(found) for found in loaded.values()]
        added = np.repeat(np.array(list(loaded), np.int32), lengths)
        order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[order]
        self._buckets = np.concatenate([self._buckets, added])[order]

    def _new_buckets(self, hashes: Hashes) -> Buckets:
        """Assign hashes that were never seen, in order of arrival."""
        options = self._options
        assigner = channels_of(hashes, self._hash_of_partition, options) % options.assigners
        buckets = np.empty(len(hashes), np.int32)
        for assigner_number in np.flatnonzero(np.bincount(assigner)).tolist():
            ours = np.flatnonzero(assigner == assigner_number)
            buckets[ours] = self._filled(assigner_number, hashes[ours])
        return buckets

    def _filled(self, assigner: int, hashes: Hashes) -> Buckets:
        """Fill the buckets of one share up to their target, then new ones, then any."""
        chosen, counts = [], []
        missing = len(hashes)
        for bucket in self._with_room(assigner):
            if not missing:
                break
            taken = min(self._options.target_rows - self._counts.get(bucket, 0), missing)
            self._add(bucket, taken)
            chosen.append(bucket)
            counts.append(taken)
            missing -= taken
        buckets = np.repeat(np.array(chosen, np.int32), counts)
        if not missing:
            return buckets
        own = np.array([bucket for bucket in self._counts if self._is_of(bucket, assigner)])
        if self._options.most_buckets < 0 or not own.size:
            raise DataError(
                f"all {_MOST_BUCKETS} buckets of a partition are full; raise "
                "'dynamic-bucket.target-row-num'"
            )
        overflow = own[np.abs(np.fmod(hashes[-missing:], np.int32(own.size)))].astype(np.int32)
        for bucket, count in zip(*np.unique(overflow, return_counts=True), strict=True):
            self._add(int(bucket), int(count))
        return np.concatenate([buckets, overflow])

    def _with_room(self, assigner: int) -> Iterator[int]:
        target = max(self._options.target_rows, 1)
        for bucket, count in sorted(self._counts.items()):
            if self._is_of(bucket, assigner) and count < target:
                yield bucket
        most = self._options.most_buckets
        for bucket in range(_MOST_BUCKETS if most < 0 else most):
            if self._is_of(bucket, assigner) and bucket not in self._counts:
                yield bucket

    def _is_of(self, bucket: int, assigner: int) -> bool:
        return bucket % self._options.assigners == assigner

    def _add(self, bucket: int, count: int) -> None:
        self._counts[bucket] = self._counts.get(bucket, 0) + count
        self._changed.add(bucket)
