"""What one compaction did, to a table and to its buckets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.analysis.buckets.bucket_lives import Commit
from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.scan.entries import codes, group_codes
from paimonlab.scan.file_times import local_to_epoch
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.table.texts import names_of_partitions

MOST_CHANGES = 20
"""Buckets that are listed for one compaction."""

_Mask = npt.NDArray[np.bool_]


class FileSum(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How much some files contain."""

    files: int
    bytes: int | None
    """None when sizes are hidden."""
    rows: int
    """Before merging."""


class LevelSum(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a level contained before a compaction and after it."""

    level: int
    before: FileSum
    after: FileSum


class BucketChange(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What a compaction did to one bucket; moved files are neither read nor written."""

    partition: str
    bucket: int
    read: FileSum
    written: FileSum
    moved: FileSum


class CompactionRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One snapshot of kind COMPACT."""

    snapshot_id: int
    time_millis: int | None
    commit_user: str
    read: FileSum
    """Files that were rewritten."""
    written: FileSum
    """What they became."""
    moved: FileSum
    """Files that were only given another level."""
    dropped_rows: int
    """Rows read less rows written: replaced, deleted or too old."""
    changelog_rows: int | None
    levels: tuple[LevelSum, ...]
    """Moved files are in both sums of their levels."""
    least_millis: int | None
    """From the first new file, by the clock of the writer, to the commit; None: unknown."""
    bucket_count: int
    buckets: tuple[BucketChange, ...]
    """Those from which most bytes were read."""


def run_of(commit: Commit, schema: TableSchema) -> CompactionRun:
    """Add up what a compaction did."""
    entries, snapshot = commit.entries, commit.snapshot
    bucket = group_codes([codes(entries["partition"]), codes(entries["bucket"])]).tolist()
    names = entries["file_name"].to_pylist()
    is_added = [kind == int(FileKind.ADD) for kind in entries["kind"].to_pylist()]
    times = Counter(zip(bucket, names, strict=True))
    moves = np.array([times[key] == 2 for key in zip(bucket, names, strict=True)], np.bool_)
    added = np.array(is_added, np.bool_)
    read, written, moved = ~moves & ~added, ~moves & added, moves & added
    numbers = np.array(bucket, np.int64)
    changes = []
    for number in range(int(numbers.max()) + 1 if numbers.size else 0):
        here = numbers == number
        changes.append((int(np.flatnonzero(here)[0]), here))
    size = numpy_values(entries["file_size_bytes"])
    changes.sort(key=lambda change: -int(size[change[1] & read].sum()))
    shown = changes[:MOST_CHANGES]
    texts = partitions_of(entries, [row for row, _ in shown], schema)
    sums = _sum(entries, read), _sum(entries, written), _sum(entries, moved)
    return CompactionRun(
        snapshot_id=snapshot.id,
        time_millis=snapshot.time_millis,
        commit_user=snapshot.commit_user,
        read=sums[0],
        written=sums[1],
        moved=sums[2],
        dropped_rows=sums[0].rows - sums[1].rows,
        changelog_rows=snapshot.changelog_record_count,
        levels=tuple(_levels(entries, added)),
        least_millis=_least_millis(entries, written, snapshot.time_millis),
        bucket_count=len(changes),
        buckets=tuple(
            BucketChange(
                partition=text,
                bucket=entries["bucket"][row].as_py(),
                read=_sum(entries, here & read),
                written=_sum(entries, here & written),
                moved=_sum(entries, here & moved),
            )
            for (row, here), text in zip(shown, texts, strict=True)
        ),
    )


def _levels(entries: pa.Table, added: _Mask) -> Iterable[LevelSum]:
    level = numpy_values(entries["level"])
    for number in distinct_integers(level).tolist():
        yield LevelSum(
            level=number,
            before=_sum(entries, (level == number) & ~added),
            after=_sum(entries, (level == number) & added),
        )


def _sum(entries: pa.Table, chosen: _Mask) -> FileSum:
    return FileSum(
        files=int(np.count_nonzero(chosen)),
        bytes=int(numpy_values(entries["file_size_bytes"])[chosen].sum()),
        rows=int(numpy_values(entries["row_count"])[chosen].sum()),
    )


def _least_millis(
    entries: pa.Table,
    written: _Mask,
    commit_millis: int,
) -> int | None:
    times = entries["creation_time_millis"].filter(arrow_array(written)).drop_null()
    if not len(times):
        return None
    elapsed = commit_millis - local_to_epoch(pc.min(times).as_py())
    return elapsed if elapsed >= 0 else None


def partitions_of(entries: pa.Table, rows: Sequence[int], schema: TableSchema) -> list[str]:
    """Name the partitions of some rows of entries; "" without partition columns."""
    taken = entries["partition"].take(arrow_array(rows, pa.int64())).combine_chunks()
    return names_of_partitions(taken, schema)
