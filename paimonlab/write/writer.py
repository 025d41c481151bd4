"""Rows -> data files -> commit messages.

Rows are buffered up to ``write-buffer-size`` bytes. A primary-key table then writes one
sorted run per bucket; when the buffer is full the largest buckets go first, so that small
ones do not end up in small files. An append table writes its rows as they came, unless it has
``clustering.columns``: then those of each full buffer are put in order.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from paimonlab.datafile.together import (
    AdjacentRows,
    described_by,
    written_alone,
    written_runs,
    written_together,
)
from paimonlab.datafile.writer import DataFileWriter, FileTarget
from paimonlab.errors import UnsupportedError
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.types.system_fields import VALUE_KIND
from paimonlab.storage import FileIO
from paimonlab.storage.forks import Home
from paimonlab.write import gathering
from paimonlab.write.buckets import Group, largest, picked_rows
from paimonlab.write.file_targets import changelog_target, data_target, in_folders
from paimonlab.write.folders import bucket_folders
from paimonlab.write.frames import batches_of
from paimonlab.write.kinds import admitted
from paimonlab.write.parts import fitted_targets, in_threads, parts_of, threads_of_each
from paimonlab.write.postponed import postponed_target, waiting_rows
from paimonlab.write.routing import FixedRouter, Router
from paimonlab.write.rows import align, decoded_pieces
from paimonlab.write.runs import sorted_changes, sorted_runs
from paimonlab.write.sequences import SequenceNumbers
from paimonlab.write.write_plan import WritePlan

if TYPE_CHECKING:
    from paimonlab.write.compactions import BucketCompactions

_STATELESS = (BucketMode.HASH_FIXED, BucketMode.BUCKET_UNAWARE)
"""Modes in which a row alone says its bucket."""
_MOST_TOGETHER = 128
"""Files that are described together, each with some rows until then."""


class TableWriter:
    """Writes batches of rows; they become visible only by a commit.

    Parameters
    ----------
    plan
        How to write to the table.
    file_io
        The table's store.
    sequence_numbers
        See `SequenceNumbers`.
    router
        Gives rows their buckets; None: a `FixedRouter`.
    user
        Who will commit; part of the names of files of the postponed bucket.
    compactions
        Compacts the buckets that rows are written to; None: no compaction.

    Examples
    --------
    Write, then hand the messages to a commit::

        with TableWriter(plan, file_io, sequence_numbers) as writer:
            writer.write(batch)
            messages = writer.prepare_commit()
    """

    def __init__(
        self,
        plan: WritePlan,
        file_io: FileIO,
        sequence_numbers: pa.Table | None = None,
        *,
        router: Router | None = None,
        user: str = "",
        compactions: BucketCompactions | None = None,
    ) -> None:
        self._plan = plan
        self._file_io = file_io
        self._user = user
        self._postpones = plan.bucket_mode is BucketMode.POSTPONE_MODE
        if router is None and plan.bucket_mode not in _STATELESS:
            raise UnsupportedError(
                f"bucket = '{plan.buckets}' of a table with a primary key",
                "this way of writing cannot tell the buckets of rows",
            )
        self._router = router or FixedRouter(plan.schema, plan.buckets)
        self._sequences = SequenceNumbers(sequence_numbers)
        self._compactions = compactions
        self._buffer: list[pa.RecordBatch] = []
        self._buffered_bytes = 0
        self._most_buffered_bytes = plan.most_buffered_bytes
        self._targets: dict[BucketKey, FileTarget] = {}
        self._open: dict[BucketKey, DataFileWriter] = {}
        self._files: defaultdict[BucketKey, list[DataFileMeta]] = defaultdict(list)
        self._changelogs: defaultdict[BucketKey, list[DataFileMeta]] = defaultdict(list)
        self._changelog_targets: dict[BucketKey, FileTarget] = {}
        self._handed_over = False
        self._home = Home()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None or not self._handed_over:
            self.abort()

    def write(self, data: Any, *, row_kinds: str | None = None, buckets: str | None = None) -> None:
        """Take rows: anything that speaks Arrow.

        Parameters
        ----------
        data
            Rows with the table's columns by name.
        row_kinds
            Name of a column of ``data`` with the kind of each row; see `rows.align`.
        buckets
            Name of a column of ``data`` with the bucket of each row (int32), for a router that
            asks for it: `given_buckets.GivenRouter`.

        Raises
        ------
        DataError
            If the rows do not fit the table. Nothing of this writer becomes visible then.
        ForkedProcessError
            If this process was forked from the one that made the writer.
        """
        self._check_process()
        plan = self._plan
        columns = (*plan.schema.field_names, *filter(None, [row_kinds, buckets]))
        first_row = 0
        given = batches_of(data, columns, table=plan.table_name, fields=plan.schema.fields)
        for batch in (piece for whole in given for piece in decoded_pieces(whole)):
            if batch.num_rows:
                rows = align(
                    batch,
                    plan.schema,
                    table=plan.table_name,
                    row_kinds=row_kinds,
                    kind_field=plan.options.kind_field,
                    buckets=buckets,
                    first_row=first_row,
                )
                first_row += batch.num_rows
                rows = admitted(rows, plan)
                self._buffer.append(rows)
                self._buffered_bytes += rows.nbytes
                self._handed_over = False
            if self._buffered_bytes >= self._most_buffered_bytes:
                self._flush(everything=False)

    def prepare_commit(self) -> list[CommitMessage]:
        """Write the buffered rows and describe all files since the last call.

        Returns
        -------
        list of CommitMessage
            One per bucket with new files, then one per compacted bucket; [] if nothing was
            written.

        Raises
        ------
        ForkedProcessError
            If this process was forked from the one that made the writer.
        """
        self._check_process()
        self._flush(everything=True)
        self._close_files()
        self._sync()
        indexes = self._router.prepare_commit()
        messages = [
            CommitMessage(
                partition=partition,
                bucket=bucket,
                total_buckets=self._plan.buckets,
                new_files=tuple(files),
                changelog_files=tuple(self._changelogs.pop((partition, bucket), ())),
                new_indexes=indexes.get((partition, bucket), ()),
                checked_snapshot_id=self._router.checked_snapshot_id
                if (partition, bucket) in indexes or self._router.must_be_alone
                else None,
                keys_snapshot_id=self._router.index_snapshot_id,
            )
            for (partition, bucket), files in self._files.items()
        ]
        if self._compactions is not None:
            messages += self._compactions.finish(self._files.keys())
        self._files.clear()
        self._handed_over = True
        return messages

    def abort(self) -> None:
        """Discard buffered rows and delete the files not handed over yet.

        Nothing is done in a fork of the process that made the writer: the files belong to that
        process.
        """
        if not self._home.is_here:
            return
        self._buffer.clear()
        self._buffered_bytes = 0
        for writer in self._open.values():
            writer.abort()
        self._open.clear()
        for bucket, files in self._files.items():
            for file in files:
                for path in self._targets[bucket].paths_of(file):
                    self._file_io.delete(path)
        self._files.clear()
        if self._compactions is not None:
            self._compactions.abort()
        for bucket, files in self._changelogs.items():
            for file in files:
                self._file_io.delete(self._changelog_targets[bucket].path_of(file))
        self._changelogs.clear()

    def _check_process(self) -> None:
        name = self._plan.table_name
        self._home.check(f"a writer of {name}", "make a writer here, table.new_writer()")

    def _flush(self, *, everything: bool) -> None:
        if not self._buffer:
            return
        rows, size = pa.Table.from_batches(self._buffer), self._buffered_bytes
        self._buffer.clear()
        self._buffered_bytes = 0
        if self._plan.order is not None:
            rows = self._plan.order.sorted(rows)
        rows = gathering.with_whole(rows, self._plan.schema.partition_keys)
        rows, groups = self._router.route(rows)
        if not self._plan.schema.primary_keys:
            rows = rows.drop_columns([VALUE_KIND])
        if len(groups) > 1 or self._plan.schema.primary_keys:
            columns, schema = rows.columns, rows.schema
            del rows
            only_picked = not self._plan.schema.primary_keys
            rows = gathering.ready(columns, schema, only_picked=only_picked)
        is_last = everything
        everything = everything or self._router.remembers
        if self._plan.schema.primary_keys:
            now, later = (groups, []) if everything else largest(groups, rows.num_rows)
            self._write_runs(rows, now)
            self._keep(rows, later)
        else:
            self._append(rows, groups, is_last=is_last)
        del rows
        gathering.give_back(size)

    def _write_runs(self, rows: pa.Table, groups: list[Group]) -> None:
        plan = self._plan
        self._add_targets(groups)
        firsts = self._first_numbers(rows, groups)
        threads = threads_of_each(groups)

        def changes_of(part: list[Group]) -> AdjacentRows | Iterable[pa.Table]:
            members, numbers = [group.rows for group in part], [firsts[group.key] for group in part]
            return sorted_changes(rows, members, numbers, plan)

        def waiting(part: list[Group]) -> AdjacentRows | Iterable[pa.Table]:
            tables = [waiting_rows(rows, group.rows, plan) for group in part]
            return AdjacentRows.of(tables) if len(tables) > 1 else tables

        changes = waiting if self._postpones else changes_of
        keys = plan.schema.partition_keys
        targets = fitted_targets(self._targets, groups, changes, keys)
        changelog_targets = fitted_targets(self._changelog_targets, groups, changes, keys)
        new: dict[BucketKey, list[DataFileMeta]] = {}

        def run(part: list[Group]) -> None:
            members, numbers = [group.rows for group in part], [firsts[group.key] for group in part]
            runs = waiting(part) if self._postpones else sorted_runs(rows, members, numbers, plan)
            for group, files in self._written(part, targets, runs, threads):
                new[group.key] = files
                self._files[group.key] += files
            if changelog_targets:
                found = self._written(part, changelog_targets, changes_of(part), threads)
                for group, files in found:
                    self._changelogs[group.key] += files

        in_threads(run, parts_of(groups, rows))
        if self._compactions is not None:
            self._compactions.add(new)

    def _written(
        self,
        part: Sequence[Group],
        targets: Mapping[BucketKey, FileTarget],
        runs: AdjacentRows | Iterable[pa.Table],
        threads: int,
    ) -> Iterable[tuple[Group, list[DataFileMeta]]]:
        """Write a run of each bucket; describe the files of each."""
        wanted = [targets[group.key] for group in part]
        return zip(part, written_runs(self._file_io, wanted, runs, threads=threads), strict=True)

    def _keep(self, rows: pa.Table, groups: list[Group]) -> None:
        """Put rows of buckets that are too small to write now back into the buffer."""
        positions = [group.rows for group in groups if group.rows is not None]
        if positions:
            # In order of arrival: that is what sequence numbers will say.
            kept = gathering.taken(rows, np.sort(np.concatenate(positions)))
            self._buffer = kept.combine_chunks().to_batches()
            self._buffered_bytes = sum(batch.nbytes for batch in self._buffer)

    def _append(self, rows: pa.Table, groups: list[Group], *, is_last: bool) -> None:
        self._add_targets(groups)
        firsts = self._first_numbers(rows, groups)
        threads = threads_of_each(groups)
        keys = self._plan.schema.partition_keys

        def picked_of(part: list[Group]) -> AdjacentRows:
            return picked_rows(rows, part, keys)

        targets = fitted_targets(self._targets, groups, picked_of, keys)

        def run(part: list[Group]) -> None:
            picked = picked_of(part)
            if len(part) > 1:
                wanted = [targets[group.key] for group in part]
                numbers = [firsts[group.key] for group in part]
                files = written_together(self._file_io, wanted, picked, numbers)
                for group, described in zip(part, files, strict=True):
                    self._files[group.key] += described
                return
            key = part[0].key
            number = firsts[key]
            writer = self._open.pop(key, None)
            if writer is None:
                writer = DataFileWriter(self._file_io, targets[key], threads=threads)
            if is_last:
                self._files[key] += written_alone(writer, [picked.rows], number)
                return
            self._open[key] = writer
            writer.write(picked.rows, number)
            if len(groups) > 1:
                writer.settle()  # or each open file would keep some row groups in memory

        # Rows that wait in an open file must not keep those of other files in memory.
        together = [group for group in groups if is_last and group.key not in self._open]
        alone = [[group] for group in groups if not is_last or group.key in self._open]
        in_threads(run, [*alone, *parts_of(together, rows)])

    def _close_files(self) -> None:
        """Finish the files that are open, and describe them."""

        def run(part: list[BucketKey]) -> list[list[DataFileMeta]]:
            writers = [self._open[bucket] for bucket in part]
            for writer in writers:
                writer.finish()
            return described_by(writers)

        buckets = list(self._open)
        step = max(min(len(buckets) // gathering.THREADS, _MOST_TOGETHER), 1)
        parts = [buckets[start : start + step] for start in range(0, len(buckets), step)]
        files = in_threads(run, parts)
        for bucket, described in zip(buckets, itertools.chain(*files), strict=True):
            self._files[bucket] += described
        self._open.clear()

    def _sync(self) -> None:
        """Make the files that are not handed over yet durable, all at once."""
        sizes = dict[str, int]()
        for bucket, files in self._files.items():
            sizes |= self._targets[bucket].sizes_of(files)
        for bucket, files in self._changelogs.items():
            sizes |= self._changelog_targets[bucket].sizes_of(files)
        self._file_io.sync_files(sizes)

    def _first_numbers(self, rows: pa.Table, groups: list[Group]) -> dict[BucketKey, int]:
        return {
            group.key: self._sequences.take(*group.key, group.count_in(rows)) for group in groups
        }

    def _add_targets(self, groups: list[Group]) -> None:
        """Say where the files of buckets go that have had none."""
        plan = self._plan
        new = [group.key for group in groups if group.key not in self._targets]
        if not new:
            return
        folders = bucket_folders(plan, new)
        if self._postpones:
            targets = [postponed_target(plan, folder, self._user) for folder in folders]
        else:
            targets = in_folders(data_target(plan, folders[0]), plan, folders)
        self._targets |= zip(new, targets, strict=True)
        if plan.options.changelog_producer == "input" and not self._postpones:
            targets = in_folders(changelog_target(plan, folders[0]), plan, folders)
            self._changelog_targets |= zip(new, targets, strict=True)
