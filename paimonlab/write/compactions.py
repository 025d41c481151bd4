"""Compaction by a writer, which keeps the number of sorted runs in its buckets low.

Before it hands over what it wrote, a writer compacts each bucket that it wrote to, if the table's
options ask for it; a file that was written and compacted away in the same round is in both parts
of its message. The writer also waits when a bucket has more runs than
``num-sorted-run.stop-trigger``. Rows are handed over uncompacted if others replaced the files to
compact and these have expired.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.MergeTreeWriter``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from paimonlab import clock
from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.compaction import CompactPlan, compact, delete_outputs, pick_unit
from paimonlab.compact.levels import level_runs
from paimonlab.compact.strategy import PickMemory
from paimonlab.compact.units import CompactIncrement
from paimonlab.errors import CorruptDataError, SnapshotExpiredError
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.manifests.index_manifest import IndexManifestEntry
from paimonlab.storage import FileIO
from paimonlab.write.write_plan import WriterCompactionOptions

logger = logging.getLogger(__name__)

Restore: TypeAlias = Callable[[Collection[BucketKey]], Mapping[BucketKey, BucketFiles]]
"""Looks up what is in buckets, all that are asked for."""


@dataclass(slots=True)
class _Tree:
    """One bucket: its files as they are after all compactions, and changes not handed over yet."""

    bucket: BucketFiles
    memory: PickMemory = field(default_factory=PickMemory)
    before: dict[str, DataFileMeta] = field(default_factory=dict)
    after: list[DataFileMeta] = field(default_factory=list)
    changelog: list[DataFileMeta] = field(default_factory=list)
    new_indexes: tuple[IndexManifestEntry, ...] = ()
    deleted_indexes: tuple[IndexManifestEntry, ...] = ()
    made: frozenset[str] = frozenset()
    """Names of files that its compactions made for earlier rounds."""
    is_left_to_others: bool = False
    """Whether others replaced its files, which are gone: it is not compacted any more."""

    def is_overtaken(self, error: SnapshotExpiredError | CorruptDataError) -> bool:
        """Whether an error means that others were faster, not that a file is damaged.

        What a compaction made is deleted if others had replaced the files it was made of.
        """
        if isinstance(error, SnapshotExpiredError):
            return True
        is_missing = isinstance(error.__cause__, FileNotFoundError)
        return is_missing and error.path.rpartition("/")[2] in self.made

    def add(self, files: Iterable[DataFileMeta]) -> None:
        """Add new files."""
        self.bucket = replace(self.bucket, files=(*self.bucket.files, *files))

    def update(self, done: CompactIncrement) -> CompactIncrement:
        """Remember a compaction; returns the files that it made obsolete before any commit."""
        useless = []
        unseen = tuple(index for index in self.new_indexes if index in done.deleted_indexes)
        names = {file.file_name for file in done.after}
        for file in done.before:
            if file in self.after:
                self.after.remove(file)
                if file.file_name not in self.before and file.file_name not in names:
                    useless.append(file)
            else:
                self.before[file.file_name] = file
        self.after += done.after
        self.changelog += done.changelog
        gone = {(file.file_name, file.level) for file in done.before}
        stays = (file for file in self.bucket.files if (file.file_name, file.level) not in gone)
        indexes = self.bucket.indexes
        if done.new_indexes or done.deleted_indexes:
            kept = (index for index in indexes if index not in done.deleted_indexes)
            indexes = (*kept, *done.new_indexes)
            # A file that was written since the last hand-over is in no snapshot.
            gone_now = (index for index in done.deleted_indexes if index not in self.new_indexes)
            self.deleted_indexes = (*self.deleted_indexes, *gone_now)
            self.new_indexes = done.new_indexes
        self.bucket = replace(self.bucket, files=(*stays, *done.after), indexes=indexes)
        return CompactIncrement(after=tuple(useless), new_indexes=unseen)

    def drain(self) -> CommitMessage | None:
        """Hand over what was done; None if nothing was."""
        if not self.before:
            return None
        bucket = self.bucket
        there = {file.file_name for file in bucket.files}
        made = {file.file_name for file in self.after} | {
            index.file_name for index in bucket.indexes
        }
        self.made = frozenset(made | (self.made & there))
        is_indexed = bool(self.new_indexes or self.deleted_indexes)
        message = CommitMessage(
            partition=bucket.partition,
            bucket=bucket.bucket,
            total_buckets=bucket.total_buckets,
            compact_before=tuple(self.before.values()),
            compact_after=tuple(self.after),
            compact_changelog=tuple(self.changelog),
            new_indexes=self.new_indexes,
            deleted_indexes=self.deleted_indexes,
            checked_snapshot_id=bucket.snapshot_id if is_indexed else None,
        )
        self.before, self.after, self.changelog = {}, [], []
        self.new_indexes, self.deleted_indexes = (), ()
        return message


class BucketCompactions:
    """Compacts the buckets of one writer.

    Parameters
    ----------
    plan
        How to compact the table.
    options
        When everything is compacted.
    file_io
        The table's store.
    restore
        Looks up the contents of buckets that are written to for the first time.
    """

    def __init__(
        self,
        plan: CompactPlan,
        options: WriterCompactionOptions,
        file_io: FileIO,
        restore: Restore,
    ) -> None:
        self._plan = plan
        self._options = options
        self._file_io = file_io
        self._restore = restore
        self._trees: dict[BucketKey, _Tree] = {}
        self._rounds = 0
        self._since_full: set[BucketKey] = set()
        self._unknown: set[BucketKey] = set()
        """Buckets whose files nobody can tell any more: others compact them."""

    def add(self, files: Mapping[BucketKey, Iterable[DataFileMeta]]) -> None:
        """Take note of new files; waits for compaction where a bucket has too many runs."""
        self._look_up(files.keys() - self._trees.keys() - self._unknown)
        known = files.keys() - self._unknown
        for key in known:
            self._trees[key].add(files[key])
        stop = self._plan.strategy.levels.stop_trigger
        self._compact(key for key in known if len(level_runs(self._trees[key].bucket.files)) > stop)

    def _look_up(self, keys: Collection[BucketKey]) -> None:
        """Find out what is in buckets."""
        if not keys:
            return
        try:
            self._trees |= {key: _Tree(files) for key, files in self._restore(keys).items()}
        except SnapshotExpiredError as error:
            logger.warning("written rows are left to be compacted later: %s", error)
            self._unknown |= set(keys)

    def finish(self, keys: Collection[BucketKey]) -> list[CommitMessage]:
        """Compact buckets before their files are handed over.

        Parameters
        ----------
        keys
            The buckets with new files since the last call.

        Returns
        -------
        list of CommitMessage
            What was done to each of them since the last call, and to all others this writer wrote
            to, if it was time to compact everything.
        """
        self._rounds += 1
        known = set(keys) - self._unknown
        self._since_full |= known
        every = self._options.full_every
        is_full = every is not None and self._rounds >= every
        chosen = set(self._since_full) if is_full else known
        self._compact(sorted(chosen), full=is_full)
        if is_full:
            self._rounds = 0
            self._since_full.clear()
        messages = (self._trees[key].drain() for key in sorted(chosen))
        return [message for message in messages if message is not None]

    def abort(self) -> None:
        """Delete what was written and not handed over."""
        for tree in self._trees.values():
            increment = CompactIncrement(
                before=tuple(tree.before.values()),
                after=tuple(tree.after),
                changelog=tuple(tree.changelog),
                new_indexes=tree.new_indexes,
            )
            delete_outputs(increment, tree.bucket, self._file_io)
        self._trees.clear()

    def _compact(self, keys: Iterable[BucketKey], *, full: bool = False) -> None:
        trees = [tree for key in keys if not (tree := self._trees[key]).is_left_to_others]
        trees = [tree for tree in trees if not self._plan.is_outdated_by(tree.bucket.files)]
        now = clock.now()

        def run(tree: _Tree) -> None:
            picked, tree.memory = pick_unit(
                tree.bucket, self._plan, now=now, memory=tree.memory, full=full
            )
            if picked is None:
                return
            try:
                done = compact(picked, tree.bucket, self._plan, self._file_io, now=now)
            except (SnapshotExpiredError, CorruptDataError) as error:
                if not tree.is_overtaken(error):
                    raise
                logger.warning("written rows are left to be compacted later: %s", error)
                tree.is_left_to_others = True
                return
            useless = tree.update(done)
            delete_outputs(useless, tree.bucket, self._file_io)

        if len(trees) < 2:
            for tree in trees:
                run(tree)
            return
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(run, trees))
