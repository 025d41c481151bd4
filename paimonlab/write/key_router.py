"""Routing rows whose key may move from one partition to another.

The primary key lacks a partition column, so each key is in one partition at any time. Which one
is asked of what is known of the table before the first row, and of the rows routed since.

Source: apache/paimon@1.3.1 ``org.apache.paimon.crosspartition.GlobalIndexAssigner`` and the
existing processors beside it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import UnsupportedError
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.row_kind import RowKind
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.write.buckets import Group, grouped, partition_codes
from paimonlab.write.key_places.layers import NOWHERE, DistinctKeys, Ints, distinct
from paimonlab.write.key_places.places import KnownPlaces, Places
from paimonlab.write.routing import BucketIndexes
from paimonlab.write.write_plan import WritePlan


class KeyRouter:
    """Routes by the place where each key is.

    The merge engine decides what happens when a key arrives with another partition:
    ``deduplicate`` deletes the old row and writes the new one; ``partial-update`` and
    ``aggregation`` write to the old partition; ``first-row`` leaves the new row out.

    Parameters
    ----------
    plan
        How to write to the table.
    known
        Returns where the keys of the table are; called before the first row. It is changed.
    snapshot_id
        The snapshot they are of; 0: the table is empty; None: it does not matter.
    share
        Number of the share of all keys that is routed here and how many shares there are; new
        keys of share a of n go to buckets b with ``b % n == a``.

    Notes
    -----
    Keys that move away lower the count of their bucket only after the current rows, not row by
    row as in Java; that can only change which bucket a new key gets.
    """

    remembers = True
    must_be_alone = True

    def __init__(
        self,
        plan: WritePlan,
        known: Callable[[], KnownPlaces],
        *,
        snapshot_id: int | None,
        share: tuple[int, int] = (0, 1),
    ) -> None:
        if plan.options.merge_engine == "deduplicate" and plan.options.ignore_delete:
            raise UnsupportedError(
                "ignore-delete = 'true' with keys that may move across partitions",
                "the row in a key's old partition is deleted, which readers would ignore: give "
                "the primary key all partition columns, or unset it",
            )
        self.checked_snapshot_id = snapshot_id
        self.index_snapshot_id = None
        self._plan = plan
        self._schema = plan.schema
        self._load = known
        self._share, self._shares = share
        self._known: KnownPlaces | None = None
        self._partitions: dict[bytes, int] = {}
        self._counts: defaultdict[int, dict[int, int]] = defaultdict(dict)
        self._partition_of: list[int] = []
        self._bucket_of: list[int] = []

    def prepare_commit(self) -> BucketIndexes:
        """Return nothing: the index is not stored."""
        return {}

    def route(self, rows: pa.Table) -> tuple[pa.Table, list[Group]]:
        """Return the rows and the deletes of moved keys, each with its bucket."""
        known = self._loaded()
        codes, partitions = partition_codes(rows, self._schema)
        partition = np.array([self._number(one) for one in partitions], np.int64)[codes]
        found = distinct(known.keys.columns.select(rows))
        place = known.keys.find(found.keys)
        old_partition, old_bucket = self._buckets_at(place, known.places)
        if self._plan.options.merge_engine == "deduplicate":
            routed = self._moved(found, partition, old_partition, old_bucket)
        else:
            routed = self._kept(found, partition, old_partition, old_bucket)
        self._remember(found.keys, place, routed, known)
        return self._rows(rows, routed), self._groups(routed)

    def _loaded(self) -> KnownPlaces:
        if self._known is None:
            self._known = self._load()
            places = self._known.places
            for (partition, bucket), count in zip(places.buckets, places.counts, strict=True):
                self._add(self._number(partition), bucket, count)
        return self._known

    def _buckets_at(self, place: Ints, places: Places) -> tuple[Ints, Ints]:
        """Return the numbers of the partitions and the buckets of places; of none: -1."""
        for partition, bucket in places.buckets[len(self._bucket_of) :]:
            self._partition_of.append(self._number(partition))
            self._bucket_of.append(bucket)
        if not self._bucket_of:
            return place, place  # all of them are nowhere
        # What comes last is where the place -1 looks.
        partition_of = np.array([*self._partition_of, NOWHERE], np.int64)
        return partition_of[place], np.array([*self._bucket_of, NOWHERE], np.int64)[place]

    def _number(self, partition: bytes) -> int:
        return self._partitions.setdefault(partition, len(self._partitions))

    def _add(self, partition: int, bucket: int, count: int) -> None:
        counts = self._counts[partition]
        counts[bucket] = counts.get(bucket, 0) + count

    def _moved(
        self, found: DistinctKeys, partition: Ints, old_partition: Ints, old_bucket: Ints
    ) -> _Routed:
        """Send each row to its partition; delete the row in its old partition."""
        if len(found.first_rows) == len(partition):
            return self._moved_once(found, partition, old_partition, old_bucket)
        order, is_first = found.order, found.is_first
        sorted_key, here = np.cumsum(is_first) - 1, partition[order]
        before = np.where(is_first, old_partition[sorted_key], np.roll(here, 1))
        is_start = is_first | (before != here)
        # A stay: rows of one key that follow each other in one partition.
        starts, stay_of = np.flatnonzero(is_start), np.cumsum(is_start) - 1
        bucket = old_bucket[sorted_key[starts]]
        is_new = before[starts] != here[starts]
        arrival = order[starts]
        stay_from = np.full(len(order), NOWHERE, np.int64)
        stay_from[arrival[is_new]] = np.flatnonzero(is_new)
        new = stay_from[stay_from != NOWHERE]  # in order of arrival
        bucket[new] = self._new_buckets(here[starts[new]])
        left = np.flatnonzero(is_new & (before[starts] != NOWHERE))
        left_bucket = np.where(
            is_first[starts[left]], old_bucket[sorted_key[starts[left]]], bucket[left - 1]
        )
        self._forget(before[starts[left]], left_bucket)
        row_bucket = np.empty(len(order), np.int64)
        row_bucket[order] = bucket[stay_of]
        ends = np.flatnonzero(np.append(is_first[1:], True))
        return _Routed.with_deletes(
            partition,
            row_bucket,
            deletes=(arrival[left], before[starts[left]], left_bucket),
            last=(here[ends], bucket[stay_of[ends]]),
        )

    def _moved_once(
        self, found: DistinctKeys, partition: Ints, old_partition: Ints, old_bucket: Ints
    ) -> _Routed:
        """Do the same for rows of which no two have one key, in their order."""
        if old_partition.max(initial=NOWHERE) == NOWHERE:  # all keys are new
            before = bucket = np.full(len(partition), NOWHERE, np.int64)
        else:
            before, bucket = old_partition[found.number_of], old_bucket[found.number_of]
        is_new = before != partition
        left = np.flatnonzero(is_new & (before != NOWHERE))
        left_bucket = bucket[left]
        bucket = bucket.copy()
        bucket[is_new] = self._new_buckets(partition[is_new])
        self._forget(before[left], left_bucket)
        return _Routed.with_deletes(
            partition,
            bucket,
            deletes=(left, before[left], left_bucket),
            last=(partition[found.first_rows], bucket[found.first_rows]),
        )

    def _kept(
        self, found: DistinctKeys, partition: Ints, old_partition: Ints, old_bucket: Ints
    ) -> _Routed:
        """Send every row to the partition that first had its key."""
        key, first = found.number_of, found.first_rows
        home = np.where(old_partition == NOWHERE, partition[first], old_partition)
        bucket = old_bucket.copy()
        new = np.flatnonzero(old_partition == NOWHERE)
        new = new[np.argsort(first[new])]
        bucket[new] = self._new_buckets(home[new])
        source = np.arange(len(key))
        if self._plan.options.merge_engine == "first-row":
            source = np.flatnonzero(partition == home[key])
        goes = home[key[source]]
        return _Routed(
            source=source,
            partition=goes,
            bucket=bucket[key[source]],
            is_rewritten=goes != partition[source],
            is_delete=np.zeros(len(source), np.bool_),
            last_partition=home,
            last_bucket=bucket,
        )

    def _new_buckets(self, partition: Ints) -> Ints:
        """Find buckets for new keys of partitions, given in order of arrival."""
        buckets = np.empty(len(partition), np.int64)
        for partition_code in np.flatnonzero(np.bincount(partition)).tolist():
            ours = np.flatnonzero(partition == partition_code)
            buckets[ours] = self._filled(partition_code, len(ours))
        return buckets

    def _filled(self, partition: int, missing: int) -> Ints:
        target = max(self._plan.dynamic.target_rows, 1)
        counts = self._counts[partition]
        chosen, numbers = [], []
        ours = [bucket for bucket in sorted(counts) if bucket % self._shares == self._share]
        for bucket in [*ours, *self._free(counts, missing // target + 1)]:
            taken = min(target - counts.get(bucket, 0), missing)
            if taken > 0:
                counts[bucket] = counts.get(bucket, 0) + taken
                chosen.append(bucket)
                numbers.append(taken)
                missing -= taken
        return np.repeat(np.array(chosen, np.int64), numbers)

    def _free(self, counts: dict[int, int], wanted: int) -> list[int]:
        last = (len(counts) + wanted) * self._shares
        ours = range(self._share, last, self._shares)
        return [bucket for bucket in ours if bucket not in counts][:wanted]

    def _forget(self, partition: Ints, bucket: Ints) -> None:
        buckets, which = _distinct_buckets(partition, bucket)
        for (one, of), count in zip(buckets, np.bincount(which).tolist(), strict=True):
            self._add(one, of, -count)

    def _remember(self, keys: pa.Table, place: Ints, routed: _Routed, known: KnownPlaces) -> None:
        """Take note of where keys are now that were at places."""
        names = list(self._partitions)
        buckets, which = _distinct_buckets(routed.last_partition, routed.last_bucket)
        numbers = [known.places.number(names[part], bucket) for part, bucket in buckets]
        now = np.array(numbers, np.int64)[which]
        differs = np.flatnonzero(now != place)
        if len(differs):
            known.keys.put(keys.take(arrow_array(differs)), now[differs])

    def _rows(self, rows: pa.Table, routed: _Routed) -> pa.Table:
        if len(routed.source) == rows.num_rows and not routed.is_rewritten.any():
            return rows
        taken = rows.take(arrow_array(routed.source))
        fields = [self._schema.field(name) for name in self._schema.partition_keys]
        partitions = arrow_array(list(self._partitions), pa.large_binary())
        values = decode(partitions, [field.type for field in fields])
        which = np.where(routed.is_rewritten, len(taken) + routed.partition, np.arange(len(taken)))
        for field, value in zip(fields, values, strict=True):
            position = taken.schema.get_field_index(field.name)
            column = taken.column(position)
            both = pa.chunked_array([*column.chunks, value.cast(column.type)], column.type)
            arrow_field = taken.schema.field(position)
            taken = taken.set_column(position, arrow_field, both.take(arrow_array(which)))
        kinds = numpy_values(taken.column(VALUE_KIND))
        kinds = np.where(routed.is_delete, np.int8(RowKind.DELETE), kinds)
        position = taken.schema.get_field_index(VALUE_KIND)
        return taken.set_column(position, taken.schema.field(position), arrow_array(kinds))

    def _groups(self, routed: _Routed) -> list[Group]:
        return list(
            grouped(routed.partition, list(self._partitions), routed.bucket.astype(np.int32))
        )


def _distinct_buckets(
    partition: Ints, bucket: Ints
) -> tuple[list[tuple[int, int]], npt.NDArray[np.int32]]:
    """Return the different ones of n buckets, in order of appearance, and which each is."""
    width = int(bucket.max(initial=0)) + 1
    found = pc.dictionary_encode(arrow_array(partition * width + bucket))
    buckets = [divmod(code, width) for code in found.dictionary.to_pylist()]
    return buckets, numpy_values(found.indices)


@dataclass(frozen=True, slots=True)
class _Routed:
    """m rows to write, made of n that came, and where u distinct keys are now."""

    source: Ints
    """(m,) positions among the rows that came, ascending."""
    partition: Ints
    """(m,) numbers."""
    bucket: Ints
    is_rewritten: npt.NDArray[np.bool_]
    """(m,) whether the row goes to another partition than it says."""
    is_delete: npt.NDArray[np.bool_]
    """(m,) whether the row only deletes its key from the old partition."""
    last_partition: Ints
    """(u,)"""
    last_bucket: Ints

    @classmethod
    def with_deletes(
        cls,
        partition: Ints,
        bucket: Ints,
        *,
        deletes: tuple[Ints, Ints, Ints],
        last: tuple[Ints, Ints],
    ) -> _Routed:
        """Put a delete before each row that moves its key; ``deletes`` may have any order."""
        order = np.argsort(deletes[0])
        position, old_partition, old_bucket = (values[order] for values in deletes)
        source = np.arange(len(partition))
        if not len(position):
            nothing = np.zeros(len(partition), np.bool_)
            return cls(source, partition, bucket, nothing, nothing, *last)
        source = np.insert(source, position, position)
        is_delete = np.zeros(len(source), np.bool_)
        is_delete[position + np.arange(len(position))] = True
        partition, bucket = partition[source], bucket[source]
        partition[is_delete], bucket[is_delete] = old_partition, old_bucket
        return cls(source, partition, bucket, is_delete, is_delete, *last)
