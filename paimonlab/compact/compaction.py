"""One compaction of one bucket: from its live files to what a commit changes.

What is compacted is picked by pure functions (`paimonlab.compact.strategy`,
`paimonlab.compact.tasks`); here it is done.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.MergeTreeCompactManager``.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.changelog import ChangelogOptions
from paimonlab.compact.keyed_rows import keyed_rows
from paimonlab.compact.levels import level_count, level_runs
from paimonlab.compact.merging import Merging
from paimonlab.compact.record_expiry import RecordExpiry, RecordExpiryOptions
from paimonlab.compact.rewriting import rewrite
from paimonlab.compact.strategy import PickMemory, StrategyOptions, next_unit
from paimonlab.compact.tasks import Step, TaskOptions, Upgrade, drops_deletes, steps
from paimonlab.compact.units import CompactIncrement, CompactUnit
from paimonlab.compact.universal import pick_full
from paimonlab.compact.upgrading import UpgradeKind
from paimonlab.datafile.index_files import IndexFileOptions, write_deletion_vectors
from paimonlab.datafile.vector_upkeep import changed_vectors
from paimonlab.formats.deletion_vectors import DeletionVector
from paimonlab.read.deletions import read_deletion_vectors
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.deletion_files import deletion_file
from paimonlab.scan.split import DeletionFile
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import DeletionVectorRange, IndexManifestEntry
from paimonlab.storage import FileIO, join

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactPlan:
    """What compacting buckets of a table takes, as one value."""

    read: ReadPlan
    strategy: StrategyOptions
    tasks: TaskOptions
    expiry: RecordExpiryOptions
    index_files: IndexFileOptions
    changelog: ChangelogOptions

    def is_outdated_by(self, files: Iterable[DataFileMeta]) -> bool:
        """Whether files have a newer schema than this plan, so that columns would be lost."""
        return any(file.schema_id > self.read.schema.id for file in files)

    def expiry_at(self, now: datetime) -> RecordExpiry | None:
        """Return which rows are too old at a given time; None if rows live for ever."""
        return RecordExpiry.of(
            self.expiry,
            self.read.schema,
            table=self.read.table_name,
            now_seconds=int(now.timestamp()),
        )


@dataclass(frozen=True, slots=True)
class Picked:
    """What is going to be compacted in a bucket."""

    unit: CompactUnit
    steps: tuple[Step, ...]


def pick_unit(
    bucket: BucketFiles,
    plan: CompactPlan,
    *,
    now: datetime,
    memory: PickMemory | None = None,
    full: bool = False,
) -> tuple[Picked | None, PickMemory]:
    """Choose what to compact in a bucket.

    Parameters
    ----------
    bucket
        Its live files.
    plan
        How to compact the table.
    now
        The current time, for expired rows, the optimization interval and off-peak hours.
    memory
        The result of the last pick for this bucket; None if there is none.
    full
        Whether everything goes to the highest level.

    Returns
    -------
    Picked or None
        None when there is nothing to do.
    PickMemory
        For the next pick.
    """
    runs = level_runs(bucket.files)
    memory = memory or PickMemory()
    max_level = level_count(bucket.files, plan.strategy.levels.level_count) - 1
    expired = _expired(bucket, plan, now)
    unit: CompactUnit | None
    if full:
        unit = pick_full(
            runs,
            max_level=max_level,
            to_rewrite={*bucket.vectors, *expired},
            rewrites_all=plan.tasks.rewrites_all,
        )
    else:
        unit, memory = next_unit(runs, plan.strategy, memory, max_level=max_level, now=now)
    if unit is None:
        return None, memory
    types = [plan.read.schema.field(name).type for name in plan.read.schema.trimmed_primary_keys]
    has_vectors = plan.strategy.levels.deletion_vectors
    work = steps(
        unit,
        types,
        plan.tasks,
        max_level=max_level,
        drop_deletes=drops_deletes(unit, runs, has_vectors=has_vectors),
        expired=expired,
    )
    return (Picked(unit, tuple(work)) if work else None), memory


def _expired(bucket: BucketFiles, plan: CompactPlan, now: datetime) -> set[str]:
    expiry = plan.expiry_at(now)
    if expiry is None:
        return set()
    return {
        file.file_name
        for file in bucket.files
        if expiry.has_old_rows(file, plan.read.schema_of(file))
    }


def compact(
    picked: Picked, bucket: BucketFiles, plan: CompactPlan, file_io: FileIO, *, now: datetime
) -> CompactIncrement:
    """Do what was picked.

    Parameters
    ----------
    picked
        What is compacted.
    bucket
        The bucket that it was picked from.
    plan, file_io
        How to compact the table; its store.
    now
        The time by which rows are too old.

    Returns
    -------
    CompactIncrement
        Its files are durable; on an error they are deleted.

    Raises
    ------
    SnapshotExpiredError
        If others replaced the files meanwhile and they expired.
    """
    assert not plan.is_outdated_by(picked.unit.files), "newer columns would be lost"
    expiry = plan.expiry_at(now)
    merging = Merging(
        bucket=bucket,
        compacted=frozenset(file.file_name for file in picked.unit.files),
        plan=plan.read,
        levels=plan.strategy.levels,
        changelog=plan.changelog,
        file_io=file_io,
        expiry=expiry,
    )
    work = _Work(picked, bucket, plan, file_io, expiry, merging)
    done: list[CompactIncrement] = []
    try:
        for step in picked.steps:
            done.append(work.taken(step))  # noqa: PERF401 - what is done so far is deleted on errors
        increment = CompactIncrement.merge(done)
        new, deleted = work.indexes(increment)
    except BaseException:
        delete_outputs(CompactIncrement.merge(done), bucket, file_io)
        raise
    return replace(increment, new_indexes=new, deleted_indexes=deleted)


def delete_outputs(increment: CompactIncrement, bucket: BucketFiles, file_io: FileIO) -> None:
    """Delete the files that a compaction wrote and no commit will name."""
    moved = {file.file_name for file in increment.before}
    for file in increment.after:
        if file.file_name not in moved:
            for path in bucket.targets(file.level).paths_of(file):
                file_io.delete(path)
    for file in increment.changelog:
        for path in bucket.changelog_targets(file.level).paths_of(file):
            file_io.delete(path)
    for index in increment.new_indexes:
        file_io.delete(join(bucket.index_folder, index.file_name))


@dataclass(frozen=True, slots=True)
class _Work:
    """One compaction of one bucket."""

    picked: Picked
    bucket: BucketFiles
    plan: CompactPlan
    file_io: FileIO
    expiry: RecordExpiry | None
    merging: Merging

    def taken(self, step: Step) -> CompactIncrement:
        """Take a step."""
        if isinstance(step, Upgrade):
            return self._upgraded(step.file, step.output_level)
        return self._rewritten(step.files, step.output_level, drop_deletes=step.drop_deletes)

    def _upgraded(self, file: DataFileMeta, output_level: int) -> CompactIncrement:
        kind = self.merging.upgrade(file, output_level)
        if kind is UpgradeKind.REWRITTEN:
            drop = self.plan.strategy.levels.deletion_vectors
            return self._rewritten((file,), output_level, drop_deletes=drop)
        moved = msgspec.structs.replace(file, level=output_level)
        seen: Sequence[DataFileMeta] = ()
        if kind is UpgradeKind.LOOKED_AT:
            merger = self.merging.merger((file,), output_level)
            pieces = keyed_rows(
                self.bucket, (file,), self.plan.read, self.file_io, expiry=self.expiry
            )
            try:
                for piece in pieces:
                    merger.merged(piece)
                seen = merger.close()
            except BaseException:
                merger.abort()
                raise
        return CompactIncrement(before=(file,), after=(moved,), changelog=tuple(seen))

    def _rewritten(
        self, files: Sequence[DataFileMeta], output_level: int, *, drop_deletes: bool
    ) -> CompactIncrement:
        return rewrite(
            self.bucket,
            files,
            self.plan.read,
            self.file_io,
            output_level=output_level,
            drop_deletes=drop_deletes,
            merger=self.merging.merger(files, output_level),
            expiry=self.expiry,
        )

    def indexes(
        self, increment: CompactIncrement
    ) -> tuple[tuple[IndexManifestEntry, ...], tuple[IndexManifestEntry, ...]]:
        """Write the deletion vectors that stay; returns new index files and those that go."""
        stays = {file.file_name for file in increment.after}
        gone = {file.file_name for file in increment.before} - stays
        changes: dict[str, DeletionVector | None] = {
            name: None for name in self.bucket.vectors if name in gone
        }
        changes |= self._marked(gone)
        if not changes:
            return (), ()
        changed = changed_vectors(
            self.bucket.indexes,
            changes,
            {file.file_name for file in self.bucket.files} - gone,
            self._vector,
            is_one_file=True,
        )
        if not changed.vectors:
            return (), changed.replaced
        layout = self.plan.read.layout
        options = self.plan.index_files
        written = write_deletion_vectors(
            self.file_io,
            options.folder(layout, join(layout.table_path, self.bucket.folder)),
            changed.vectors,
            options,
            partition=self.bucket.partition,
            bucket=self.bucket.bucket,
            is_one_file=True,
        )
        return tuple(written), changed.replaced

    def _marked(self, gone: Collection[str]) -> dict[str, DeletionVector]:
        """Return the vectors of files in which rows were marked, with all they had before."""
        places = self.bucket.vectors
        vectors = {}
        for name, vector in self.merging.marks.vectors.items():
            if name in gone:
                continue
            before = self._read_vector(places.get(name))
            vectors[name] = vector if before is None else before | vector
        return vectors

    def _vector(self, index: IndexManifestEntry, vector: DeletionVectorRange) -> DeletionVector:
        place = deletion_file(
            index,
            vector,
            self.bucket.folder,
            beside_data=self.bucket.has_indexes_beside_data,
        )
        vector_bitmap = self._read_vector(place)
        assert vector_bitmap is not None, "a place that is given is read"
        return vector_bitmap

    def _read_vector(self, place: DeletionFile | None) -> DeletionVector | None:
        (vectors,) = read_deletion_vectors(
            [place], self.plan.read, self.file_io, snapshot_id=self.bucket.snapshot_id
        )
        return vectors
