"""The files that are alive in one state after the other: what differs is counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.scan.entries import adds_only, concat
from paimonlab.spec.manifests.manifest import IDENTITY_COLUMNS, FileKind, ManifestFileMeta

Identity = tuple[object, ...]
Group = tuple[bytes, int, int]
"""Partition, bucket and level."""


@dataclass(slots=True)
class FileState:
    """Which files are alive; those of level 1 on with their smallest and greatest key."""

    manifests: Mapping[str, ManifestFileMeta] = field(default_factory=dict)
    """Those that the state consists of, by name."""
    rows: dict[Identity, int] = field(default_factory=dict)
    """By file: how many rows it has."""
    row_count: int = 0
    deep: defaultdict[Group, dict[str, tuple[bytes, bytes]]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def move(
        self,
        manifests: Mapping[str, ManifestFileMeta],
        removed: Sequence[pa.Table],
        added: Sequence[pa.Table],
    ) -> Moved | None:
        """Go on to another state.

        Parameters
        ----------
        manifests
            Those that it consists of, by name.
        removed, added
            Entries of the manifests that only this state has, and that only the other has.

        Returns
        -------
        Moved or None
            What is different; None: a file would be alive twice, or less than never. Then nothing
            is known of the state.
        """
        entries = concat([*removed, *added])
        if not removed and adds_only(entries):
            return self._grown(manifests, entries)
        lost = sum(table.num_rows for table in removed)
        balance: defaultdict[Identity, int] = defaultdict(int)
        last: dict[Identity, int] = {}
        rows = [*_rows(entries)]
        for number, (identity, kind, _) in enumerate(rows):
            is_more = (kind == FileKind.ADD) == (number >= lost)
            balance[identity] += 1 if is_more else -1
            if kind == FileKind.ADD or identity not in last:
                last[identity] = number
        changed = {identity: count for identity, count in balance.items() if count}
        if any(count not in (1, -1) for count in changed.values()):
            return None
        if any((identity in self.rows) == (count == 1) for identity, count in changed.items()):
            return None
        for identity, count in changed.items():
            rows_of_file = rows[last[identity]][2]
            self.row_count += count * rows_of_file
            if count == 1:
                self.rows[identity] = rows_of_file
            else:
                del self.rows[identity]
        self.manifests = manifests
        places = [last[identity] for identity in changed]
        chosen = entries.take(arrow_array(places, pa.int64())) if places else entries.slice(0, 0)
        return self._moved(chosen, [*changed.values()])

    def _grown(self, manifests: Mapping[str, ManifestFileMeta], entries: pa.Table) -> Moved | None:
        """Go on to a state that has more files, and misses none."""
        rows = {identity: row_count for identity, _, row_count in _rows(entries)}
        if len(rows) < entries.num_rows or not self.rows.keys().isdisjoint(rows):
            return None
        self.rows |= rows
        self.row_count += sum(rows.values())
        self.manifests = manifests
        return self._moved(entries, [1] * len(rows))

    def _moved(self, changed: pa.Table, signs: Sequence[int]) -> Moved:
        names = ["partition", "bucket", "level", "file_name", "min_key", "max_key"]
        groups = set[Group]()
        is_deep = numpy_values(changed["level"]) >= 1
        values: Iterable[tuple[Any, ...]] = ()
        if is_deep.any():
            chosen = changed.select(names).filter(arrow_array(is_deep))
            columns = [column.to_pylist() for column in chosen.columns]
            values = zip(*columns, compress(signs, is_deep.tolist()), strict=True)
        for partition, bucket, level, name, low, high, sign in values:
            group = (partition, bucket, level)
            if sign == 1:
                self.deep[group][name] = (low, high)
                groups.add(group)
            else:
                self.deep[group].pop(name, None)
        if -1 in signs:
            changed = changed.filter(arrow_array([sign == 1 for sign in signs], pa.bool_()))
        return Moved(changed, {group: self.deep[group] for group in groups})


@dataclass(frozen=True, slots=True)
class Moved:
    """What one state has that the one before had not."""

    added: pa.Table
    """Additions of its files (`ENTRY_SCHEMA`)."""
    deep: Mapping[Group, Mapping[str, tuple[bytes, bytes]]]
    """Levels from 1 on of buckets that files were added to: keys of all of their files."""


def unseen(entries: pa.Table, seen: Collection[str]) -> pa.Table:
    """Return the entries of files whose names are not among some."""
    is_new = [name not in seen for name in entries["file_name"].to_pylist()]
    return entries if all(is_new) else entries.filter(arrow_array(is_new, pa.bool_()))


def _rows(entries: pa.Table) -> Iterator[tuple[Identity, int, int]]:
    identities = zip(*map(_values, (entries[name] for name in IDENTITY_COLUMNS)), strict=True)
    kinds, row_counts = (numpy_values(entries[name]).tolist() for name in ("kind", "row_count"))
    return zip(identities, kinds, row_counts, strict=True)


def _values(column: pa.ChunkedArray) -> Sequence[object]:
    if not pa.types.is_large_list(column.type):
        return cast("list[object]", column.to_pylist())
    if not column.null_count and not pc.max(pc.list_value_length(column)).as_py():
        return [()] * len(column)  # as it mostly is, and lists take long to become Python's
    return [None if value is None else tuple(value) for value in column.to_pylist()]
