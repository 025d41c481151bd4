"""The differences of two snapshots of a table: files, rows, bytes, partitions, schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimonlab.analysis.row_words import BEFORE_MERGING
from paimonlab.analysis.schema_history import SchemaDifference
from paimonlab.analysis.snapshots.file_totals import Sums
from paimonlab.arrow_values import numpy_values
from paimonlab.scan.entries import identities
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.manifests.manifest import IDENTITY_COLUMNS
from paimonlab.spec.snapshot import Snapshot

MOST_FILES = 300
MOST_GROUPS = 300
MOST_PARTITIONS = 200


class DiffSide(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One of the two snapshots."""

    snapshot_id: int
    """0: before the first one."""
    time_millis: int | None
    """Commit time, milliseconds since the epoch; None when times are hidden, or of 0."""
    schema_id: int
    total_record_count: int | None
    """Rows over all live data files before merging."""
    live: Sums
    """Its data files."""


class DiffGroup(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What was added to one level of one bucket, and removed from it."""

    partition: str
    """As ``$files`` writes it; "" in a table without partitions."""
    bucket: int
    level: int | None
    """None in an append table, which has no levels."""
    added: Sums
    removed: Sums


class DiffFile(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A data file that only one of the two has."""

    name: str
    is_added: bool
    partition: str
    bucket: int
    level: int | None
    """None in an append table."""
    row_count: int
    file_bytes: int | None
    """None when bytes are hidden."""


class Diff(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="diff", tag_field="kind"):
    """What changed from one snapshot to another, which may be older."""

    table: str
    before: DiffSide
    after: DiffSide
    added: Sums
    """Files that only ``after`` has."""
    removed: Sums
    """Files that only ``before`` has."""
    kept: Sums
    """Files that both have."""
    groups: tuple[DiffGroup, ...]
    """Those with most bytes; a file that moved to another level is removed and added."""
    group_count: int
    files: tuple[DiffFile, ...]
    """The largest."""
    file_count: int
    partitions_added: tuple[str, ...]
    """The first of those in which only ``after`` has files."""
    partitions_added_count: int
    partitions_removed: tuple[str, ...]
    partitions_removed_count: int
    schema: tuple[SchemaDifference, ...]
    """Columns, keys and options; secrets are hidden."""
    rows_are: str = BEFORE_MERGING
    """What the rows of files are, as `rows_are` says it."""
    has_snapshots: bool = True
    """Whether anything was written to the table."""


def diff(
    table: str,
    snapshots: tuple[Snapshot | None, Snapshot | None],
    files: tuple[pa.Table, pa.Table],
    partitions: Mapping[bytes, str],
    schemas: tuple[int, int],
    schema: Sequence[SchemaDifference],
    *,
    has_levels: bool,
    rows_are: str = BEFORE_MERGING,
    has_snapshots: bool = True,
) -> Diff:
    """Compare two snapshots.

    Parameters
    ----------
    table
        Its name, for the caption.
    snapshots
        Before and after; None: the table before its first snapshot.
    files
        The live files of each, tables of `ENTRY_SCHEMA`.
    partitions
        The text of each partition in ``files``.
    schemas
        Ids of the two schemas.
    schema
        How they differ.
    has_levels
        Whether files have levels: not in an append table.
    rows_are
        What the rows of files are: `paimonlab.analysis.row_words.rows_are`.
    has_snapshots
        Whether anything was written to the table.
    """
    both = pa.concat_tables([_narrow(table) for table in files]).combine_chunks()
    is_after = np.arange(both.num_rows) >= files[0].num_rows
    identity = identities(both)
    is_kept = np.isin(identity, np.intersect1d(identity[is_after], identity[~is_after]))
    added, removed = is_after & ~is_kept, ~is_after & ~is_kept
    columns = _Columns(both)
    changed = np.flatnonzero(~is_kept)
    largest = changed[np.argsort(-columns.file_bytes[changed], kind="stable")][:MOST_FILES]
    groups = _groups(columns, changed, is_after, partitions)
    changed_files = [_file(both, int(row), bool(is_after[row]), partitions) for row in largest]
    if not has_levels:
        groups = [msgspec.structs.replace(group, level=None) for group in groups]
        changed_files = [msgspec.structs.replace(file, level=None) for file in changed_files]
    before, after = (
        _in_order(columns.partitions(side), partitions) for side in (~is_after, is_after)
    )
    gained = [name for name in after if name not in set(before)]
    lost = [name for name in before if name not in set(after)]
    return Diff(
        table=table,
        before=_side(snapshots[0], schemas[0], columns.sums(~is_after)),
        after=_side(snapshots[1], schemas[1], columns.sums(is_after)),
        added=columns.sums(added),
        removed=columns.sums(removed),
        kept=columns.sums(is_after & is_kept),
        groups=tuple(groups[:MOST_GROUPS]),
        group_count=len(groups),
        files=tuple(changed_files),
        file_count=changed.size,
        partitions_added=tuple(gained[:MOST_PARTITIONS]),
        partitions_added_count=len(gained),
        partitions_removed=tuple(lost[:MOST_PARTITIONS]),
        partitions_removed_count=len(lost),
        schema=tuple(schema),
        rows_are=rows_are,
        has_snapshots=has_snapshots,
    )


def _narrow(files: pa.Table) -> pa.Table:
    return files.select([*IDENTITY_COLUMNS, "row_count", "file_size_bytes"])


class _Columns:
    """The numbers of n files as arrays."""

    def __init__(self, files: pa.Table) -> None:
        self.file_bytes: npt.NDArray[np.int64] = numpy_values(files["file_size_bytes"])
        self.row_counts: npt.NDArray[np.int64] = numpy_values(files["row_count"])
        self.buckets: npt.NDArray[np.int32] = numpy_values(files["bucket"])
        self.levels: npt.NDArray[np.int32] = numpy_values(files["level"])
        encoded = files["partition"].combine_chunks().dictionary_encode()
        self.partition_numbers: npt.NDArray[np.int32] = numpy_values(encoded.indices)
        self.names: list[bytes] = encoded.dictionary.to_pylist()

    def sums(self, which: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Sums:
        """Add up some files, chosen by a mask or by their indexes."""
        return Sums(
            file_count=self.file_bytes[which].size,
            row_count=int(self.row_counts[which].sum()),
            file_bytes=int(self.file_bytes[which].sum()),
        )

    def partitions(self, which: npt.NDArray[np.bool_]) -> list[bytes]:
        """Return the partitions that some files are in."""
        return [
            self.names[number]
            for number in distinct_integers(self.partition_numbers[which]).tolist()
        ]


def _in_order(partitions: Sequence[bytes], names: Mapping[bytes, str]) -> list[str]:
    return sorted(names[partition] for partition in partitions)


def _groups(
    columns: _Columns,
    changed: npt.NDArray[np.intp],
    is_after: npt.NDArray[np.bool_],
    partitions: Mapping[bytes, str],
) -> list[DiffGroup]:
    """Add up the changed files of each partition, bucket and level; most bytes first."""
    if not changed.size:
        return []
    keys = np.stack([columns.partition_numbers, columns.buckets, columns.levels])[:, changed]
    distinct, group = np.unique(keys, axis=1, return_inverse=True)
    sides = 2 * group.reshape(-1) + is_after[changed]
    size = 2 * distinct.shape[1]
    counts = np.bincount(sides, minlength=size)
    row_counts, file_bytes = np.zeros(size, np.int64), np.zeros(size, np.int64)
    np.add.at(row_counts, sides, columns.row_counts[changed])
    np.add.at(file_bytes, sides, columns.file_bytes[changed])
    sums = [
        Sums(file_count=count, row_count=rows, file_bytes=total)
        for count, rows, total in zip(
            counts.tolist(), row_counts.tolist(), file_bytes.tolist(), strict=True
        )
    ]
    groups = [
        DiffGroup(
            partition=partitions[columns.names[partition_number]],
            bucket=bucket,
            level=level,
            removed=sums[2 * number],
            added=sums[2 * number + 1],
        )
        for number, (partition_number, bucket, level) in enumerate(distinct.T.tolist())
    ]
    return sorted(groups, key=lambda group: -(group.added.file_bytes + group.removed.file_bytes))


def _side(snapshot: Snapshot | None, schema_id: int, live: Sums) -> DiffSide:
    return DiffSide(
        snapshot_id=snapshot.id if snapshot else 0,
        time_millis=snapshot.time_millis if snapshot else None,
        schema_id=schema_id,
        total_record_count=snapshot.total_record_count if snapshot else 0,
        live=live,
    )


def _file(files: pa.Table, row: int, is_added: bool, partitions: Mapping[bytes, str]) -> DiffFile:  # noqa: FBT001
    file = files.slice(row, 1).to_pylist()[0]
    return DiffFile(
        name=file["file_name"],
        is_added=is_added,
        partition=partitions[file["partition"]],
        bucket=file["bucket"],
        level=file["level"],
        row_count=file["row_count"],
        file_bytes=file["file_size_bytes"],
    )


def repeatable_diff(diff: Diff) -> Diff:
    """Leave out what differs from run to run: times and bytes are hidden, files are numbered."""
    replace = msgspec.structs.replace

    def hidden(sums: Sums) -> Sums:
        return replace(sums, file_bytes=0)

    ordered = sorted(
        diff.files, key=lambda file: (file.partition, file.bucket, file.level or 0, file.row_count)
    )
    sides = [
        replace(side, time_millis=None, live=hidden(side.live))
        for side in (diff.before, diff.after)
    ]
    groups = [
        replace(group, added=hidden(group.added), removed=hidden(group.removed))
        for group in diff.groups
    ]
    return replace(
        diff,
        before=sides[0],
        after=sides[1],
        added=hidden(diff.added),
        removed=hidden(diff.removed),
        kept=hidden(diff.kept),
        groups=tuple(
            sorted(groups, key=lambda group: (group.partition, group.bucket, group.level or 0))
        ),
        files=tuple(
            replace(file, name=f"data#{number}", file_bytes=None)
            for number, file in enumerate(ordered, start=1)
        ),
    )
