"""The greatest sequence number of each bucket, from which a writer continues.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.AbstractFileStoreWrite``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.arrow_values import arrow_array, empty_table, numpy_values
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import codes, group_codes
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, FileKind, is_kind
from paimonlab.spec.snapshot import Snapshot

_KEYS = ["partition", "bucket", "total_buckets"]
_NUMBERS = pa.schema([ENTRY_SCHEMA.field(name) for name in (*_KEYS, "max_sequence_number")])
_FEW_ROWS = 64


def restore_sequence_numbers(snapshot: Snapshot | None, manifests: ManifestStore) -> pa.Table:
    """Return the greatest sequence number of every bucket that has files.

    Parameters
    ----------
    snapshot
        None: the table is empty.
    manifests
        The manifests of the table.

    Returns
    -------
    pyarrow.Table
        One row per bucket: ``partition`` (large_binary, serialised BinaryRow), ``bucket``
        (int32), ``total_buckets`` (int32), ``max_sequence_number`` (int64).
    """
    if snapshot is None:
        return empty_table(_NUMBERS)
    return _greatest(live_entries(snapshot, manifests))


def with_changes(known: pa.Table, changes: Sequence[pa.Table]) -> pa.Table:
    """Return what `restore_sequence_numbers` says after commits that only add or compact.

    Parameters
    ----------
    known
        What it said before them.
    changes
        Their entries (`ENTRY_SCHEMA`).
    """
    columns = [*_KEYS, "max_sequence_number"]
    if known.num_rows + sum(table.num_rows for table in changes) <= _FEW_ROWS:
        return _few_with_changes(known, changes)
    added = [table.filter(is_kind(table, FileKind.ADD)) for table in changes]
    together = pa.concat_tables([known, *(table.select(columns) for table in added)])
    return _greatest(together.combine_chunks())


def _few_with_changes(known: pa.Table, changes: Sequence[pa.Table]) -> pa.Table:
    """Do the same value by value, which is faster than columns of a few rows."""
    rows = [*_values(known, _NUMBERS.names)]
    for table in changes:
        entries = _values(table, ["kind", *_NUMBERS.names])
        rows += [tuple(numbers) for kind, *numbers in entries if kind == int(FileKind.ADD)]
    if not rows:
        return empty_table(_NUMBERS)
    greatest = dict[tuple[bytes, int, int], int]()
    for partition, bucket, total_buckets, number in rows:
        slot = partition, bucket, total_buckets
        greatest[slot] = max(number, greatest.get(slot, number))
    partitions = dict.fromkeys(partition for partition, *_ in rows)
    place_of = {partition: place for place, partition in enumerate(partitions)}
    slots = sorted(greatest, key=lambda slot: (place_of[slot[0]], *slot[1:]))
    columns = zip(*((*slot, greatest[slot]) for slot in slots), strict=True)
    return pa.table([*map(arrow_array, columns, _NUMBERS.types)], schema=_NUMBERS)


def _values(table: pa.Table, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table.column(name).to_pylist() for name in names), strict=True)


def _greatest(entries: pa.Table) -> pa.Table:
    order, starts = _buckets(entries)
    if not order.size:
        return entries.select([*_KEYS, "max_sequence_number"])
    greatest = np.maximum.reduceat(numpy_values(entries["max_sequence_number"])[order], starts)
    heads = entries.select(_KEYS).take(arrow_array(order[starts]))
    return heads.append_column("max_sequence_number", arrow_array(greatest))


def _buckets(entries: pa.Table) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Order entries by bucket; return the order, and where in it each bucket starts."""
    numbers = [np.unique(numpy_values(entries[name]), return_inverse=True)[1] for name in _KEYS[1:]]
    of_entry = group_codes([codes(entries["partition"]), *numbers])
    order = np.argsort(of_entry, kind="stable")
    return order, np.flatnonzero(np.diff(of_entry[order], prepend=-1))
