"""The levels of buckets: their files by key, and what each commit did to them.

Keys of every type are placed on one axis: a place is the rank of a key among all smallest and
greatest keys of the files that are shown, so order is kept and distances mean nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import pyarrow as pa

from paimonlab.analysis.buckets.bucket_lives import Commit, Lives, ShownBucket, lives
from paimonlab.analysis.buckets.bucket_totals import bucket_totals, worst
from paimonlab.analysis.compactions.compaction import Call
from paimonlab.analysis.compactions.compaction_calls import calls
from paimonlab.analysis.levels.lsm_files import LsmFile, files_shown, shown_lives
from paimonlab.analysis.levels.lsm_steps import LsmStep, steps
from paimonlab.arrow_values import arrow_array
from paimonlab.compact.strategy import LevelOptions
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.texts import names_of_partitions

MOST_FILES = 900
"""Bars in a view, over all its buckets."""


class LsmBucket(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One bucket now, its files, and the steps that led here."""

    partition: str
    """``dt=2026-01-01``; "" in a table without partitions."""
    bucket: int
    file_count: int
    bytes: int | None
    """None when sizes are hidden."""
    row_count: int
    """Before merging, deletes among them."""
    delete_count: int
    """Rows of kind -U and -D, as far as files say."""
    hidden_count: int | None
    """Rows that deletion vectors hide; None if a vector does not say."""
    level_0_count: int
    run_count: int
    """Sorted runs: what a reader merges, its read amplification."""
    backlog_ratio: float
    """Files of level 0 per ``num-sorted-run.compaction-trigger``."""
    place_count: int
    """Length of the axis that files are placed on."""
    files: tuple[LsmFile, ...]
    """Of all steps; newest run first."""
    steps: tuple[LsmStep, ...]
    """The first one is the state before the changes shown, the last one is now."""
    earlier_count: int
    """Changes of the bucket that were looked at but are not shown: they take too many files."""
    calls: tuple[Call, ...] = ()
    """Calls that compact its partition, or the bucket alone, to copy."""


class Lsm(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="lsm", tag_field="kind"):
    """The levels of the buckets of a table that most need compaction, worst first."""

    table: str
    snapshot_id: int | None
    """The one shown last; None if nothing was written yet."""
    has_levels: bool
    """False in an append table: files are in the order in which rows were written."""
    axis: Literal["keys", "order"]
    """How files are placed: by their keys, or one after the other."""
    compaction_trigger: int
    stop_trigger: int
    level_count: int
    """``num-levels``, level 0 included."""
    target_file_bytes: int
    buckets: tuple[LsmBucket, ...]
    bucket_count: int
    """Of the table, or of what was asked for."""
    snapshot_count: int
    """How many of the newest snapshots were looked at."""
    notes: tuple[str, ...]
    """What else readers should know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LsmSource:
    """What the levels are computed from."""

    table: str
    schema: TableSchema
    snapshot: Snapshot | None
    files: pa.Table
    """The live files of the snapshot in real buckets (`ENTRY_SCHEMA`)."""
    commits: Sequence[Commit]
    """The newest ones up to the snapshot, oldest first, without gaps."""
    vectors: Mapping[BucketKey, Mapping[str, int | None]]
    """Rows that a deletion vector hides, by bucket and data file; None: unknown."""
    levels: LevelOptions
    target_file_bytes: int
    notes: tuple[str, ...] = ()


def lsm(source: LsmSource, *, most_buckets: int) -> Lsm:
    """Lay out the levels of the buckets that most need compaction.

    Parameters
    ----------
    source
        Of the table.
    most_buckets
        How many buckets, at least 1.

    Raises
    ------
    ValueError
        If ``most_buckets`` is less than 1.
    """
    if most_buckets < 1:
        raise ValueError(f"buckets must be at least 1, got {most_buckets}")
    has_levels = bool(source.schema.primary_keys)
    totals = bucket_totals(source.files)
    chosen = worst(totals, most_buckets, has_levels=has_levels).to_pylist()
    rows = arrow_array([total["partition"] for total in chosen], pa.large_binary())
    texts = names_of_partitions(rows, source.schema)
    buckets: list[LsmBucket] = []
    left = MOST_FILES
    for number, (total, text) in enumerate(zip(chosen, texts, strict=True)):
        most = max(left // 2 if number + 1 < len(chosen) else left, 30)
        bucket = _bucket(source, total, text, most)
        left -= len(bucket.files)
        buckets.append(bucket)
    return Lsm(
        table=source.table,
        snapshot_id=None if source.snapshot is None else source.snapshot.id,
        has_levels=has_levels,
        axis="keys" if has_levels else "order",
        compaction_trigger=source.levels.compaction_trigger,
        stop_trigger=source.levels.stop_trigger,
        level_count=source.levels.level_count,
        target_file_bytes=source.target_file_bytes,
        buckets=tuple(buckets),
        bucket_count=totals.num_rows,
        snapshot_count=len(source.commits),
        notes=source.notes,
    )


def _bucket(source: LsmSource, total: Mapping[str, int], partition: str, most: int) -> LsmBucket:
    key = ShownBucket(total["partition"], total["bucket"])  # type: ignore[arg-type]
    vectors = source.vectors.get((key.partition, key.bucket), {})
    history = lives(key, source.files, source.commits)
    shown, earlier = shown_lives(history, most // 2)
    files, place_count = files_shown(shown, source.schema, vectors, most)
    hidden = list(vectors.values())
    trigger = source.levels.compaction_trigger
    return LsmBucket(
        partition=partition,
        bucket=key.bucket,
        file_count=total["files"],
        bytes=total["bytes"],
        row_count=total["rows"],
        delete_count=total["deletes"] or 0,
        hidden_count=None if None in hidden else sum(count or 0 for count in hidden),
        level_0_count=total["level_0"],
        run_count=total["runs"],
        backlog_ratio=round(total["level_0"] / trigger, 3) if source.schema.primary_keys else 0.0,
        place_count=place_count,
        files=files,
        steps=_steps(source, history, shown, earlier),
        earlier_count=earlier,
        calls=calls(source.table, source.schema, key)[-2:],
    )


def _steps(source: LsmSource, history: Lives, shown: Lives, earlier: int) -> tuple[LsmStep, ...]:
    if earlier:
        before: int | None = history.snapshots[earlier - 1].id
    elif source.commits:
        before = source.commits[0].snapshot.id - 1
    else:
        before = None if source.snapshot is None else source.snapshot.id
    return steps(
        shown, source.levels, has_levels=bool(source.schema.primary_keys), before_id=before
    )


def repeatable(value: Lsm) -> Lsm:
    """Leave out what differs from run to run: times and bytes are hidden, files numbered."""
    buckets = []
    number = 0
    names: dict[str, str] = {}
    for bucket in value.buckets:
        order = sorted(bucket.files, key=lambda file: (file.born, file.min_sequence, file.low))
        for file in order:
            if file.name not in names:
                number += 1
                names[file.name] = f"data#{number}"
        files = tuple(
            msgspec.structs.replace(file, name=names[file.name], bytes=None, created_millis=None)
            for file in bucket.files
        )
        shown = tuple(
            msgspec.structs.replace(step, bytes=None, time_millis=None) for step in bucket.steps
        )
        buckets.append(msgspec.structs.replace(bucket, bytes=None, files=files, steps=shown))
    return msgspec.structs.replace(value, buckets=tuple(buckets))
