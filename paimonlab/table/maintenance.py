"""Keeping a table in order, as users do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from paimonlab.maintenance.changelog_expiry import ChangelogExpiry
from paimonlab.maintenance.orphans import OrphanFiles
from paimonlab.maintenance.partition_expiry import PartitionExpireOptions, PartitionExpiry
from paimonlab.maintenance.rollback import Rollback, plan, roll_back
from paimonlab.maintenance.snapshot_expiry import SnapshotExpiry
from paimonlab.progress import Progress
from paimonlab.spec.options.table_options import check_supported
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.query import Query, scan_of
from paimonlab.table.reading.time_travel import TravelPoint, to_millis, travel
from paimonlab.table.rewriting.file_indexes import RewrittenIndexes, rewrite_file_index
from paimonlab.table.rewriting.rescaling import Rescale, rescale
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of
from paimonlab.table.upkeep.analyze import analyze
from paimonlab.table.upkeep.consumers import Consumers
from paimonlab.table.upkeep.expiring import expire_changelogs, expire_snapshots
from paimonlab.table.upkeep.history import history_of
from paimonlab.table.upkeep.lost_files import LostFiles, remove_lost_files
from paimonlab.table.upkeep.orphan_cleaning import remove_orphan_files
from paimonlab.table.upkeep.partition_expiring import expire_partitions
from paimonlab.table.upkeep.purging import Purge, purge
from paimonlab.table.upkeep.tags import Tags


class Maintenance:
    """Verbs that keep a table in order: ``table.maintenance``."""

    def __init__(self, definition: TableDefinition, store: TableStore) -> None:
        self._definition = definition
        self._store = store

    def rollback_to(
        self,
        *,
        snapshot: int | None = None,
        tag: str | None = None,
        timestamp: datetime | int | str | None = None,
        dry_run: bool = False,
    ) -> Rollback:
        """Go back to an older snapshot: what came after it is deleted for good.

        Later snapshots, tags and changelogs go, and the files that nothing needs then: no tag,
        no branch. Nobody should write to the table meanwhile. Schemas stay.

        Parameters
        ----------
        snapshot, tag, timestamp
            Where to go back to, one of them: an id, a name, or the latest snapshot at or before a
            time. A tag may name a snapshot that has expired.
        dry_run
            Delete nothing, only tell what would be.

        Returns
        -------
        Rollback
            What was, or would be, deleted.

        Raises
        ------
        SnapshotNotFoundError, TagNotFoundError
            If there is nothing to go back to.
        CorruptMetadataError
            If a snapshot is missing in between, or if it cannot be told what is needed.
        """
        point = TravelPoint(snapshot=snapshot, tag=tag, timestamp=timestamp)
        if point.is_now:
            raise ValueError("say where to go back to: snapshot=, tag= or timestamp=")
        target = self._target(point)
        history = history_of(self._definition, self._store)
        return plan(target, history) if dry_run else roll_back(target, history)

    def expire_snapshots(
        self,
        retain_max: int | None = None,
        retain_min: int | None = None,
        *,
        older_than: datetime | timedelta | int | str | None = None,
        max_deletes: int | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> SnapshotExpiry:
        """Let old snapshots go, and the files that nothing needs then.

        Never those that a consumer is still to read; files that a tag or another branch needs
        stay. If anything that tells what is needed cannot be read, nothing is deleted.

        Parameters
        ----------
        retain_max
            More snapshots are not kept, whatever their age; None: as the table's
            ``snapshot.num-retained.max`` says.
        retain_min
            So many are kept, whatever their age; None: ``snapshot.num-retained.min``, or
            ``retain_max`` if that is less.
        older_than
            Those that were followed by others before this time go: an aware datetime, epoch
            milliseconds, a text in the process's local zone, or how long ago; None:
            ``snapshot.time-retained``.
        max_deletes
            At most this many snapshots expire in one call; None: ``snapshot.expire.limit``.
        dry_run
            Delete nothing, only tell what would be.
        progress
            Told of snapshots and files that are gone.

        Returns
        -------
        SnapshotExpiry
            What was, or would be, deleted.

        Raises
        ------
        CorruptMetadataError
            If it cannot be told what is needed.
        SchemaError
            If ``retain_max`` is less than ``retain_min``, or that less than 1.

        Notes
        -----
        With ``changelog.num-retained.min``, ``changelog.num-retained.max`` or
        ``changelog.time-retained`` above those of snapshots, their changes can still be read
        until `expire_changelogs`.
        """
        return expire_snapshots(
            self._definition,
            self._store,
            most=retain_max,
            least=retain_min,
            older_than_millis=_limit(older_than),
            limit=max_deletes,
            dry_run=dry_run,
            progress=progress,
        )

    def expire_changelogs(
        self,
        retain_max: int | None = None,
        retain_min: int | None = None,
        *,
        older_than: datetime | timedelta | int | str | None = None,
        max_deletes: int | None = None,
        delete_all: bool = False,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ChangelogExpiry:
        """Let the changes of snapshots go that have expired before them.

        Parameters
        ----------
        retain_max, retain_min, older_than, max_deletes, dry_run, progress
            As in `expire_snapshots`, of the ``changelog.…`` options; counts begin with the latest
            snapshot. The newest changelog stays.
        delete_all
            All go, the newest, too.

        Returns
        -------
        ChangelogExpiry
            What was, or would be, deleted.

        Raises
        ------
        CorruptMetadataError, SchemaError
            As in `expire_snapshots`.
        """
        return expire_changelogs(
            self._definition,
            self._store,
            most=retain_max,
            least=retain_min,
            older_than_millis=_limit(older_than),
            limit=max_deletes,
            deletes_all=delete_all,
            dry_run=dry_run,
            progress=progress,
        )

    def expire_partitions(
        self,
        expiration_time: timedelta | None = None,
        *,
        expire_strategy: str | None = None,
        timestamp_pattern: str | None = None,
        timestamp_formatter: str | None = None,
        max_expires: int | None = None,
        dry_run: bool = False,
    ) -> PartitionExpiry:
        """Drop the partitions that are older than they may be.

        Rows are gone from now on; files go when the snapshots do that have them. By the time of
        the last change, a partition that is written to meanwhile stays.

        Parameters
        ----------
        expiration_time
            How old they may be; None: as ``partition.expiration-time`` says.
        expire_strategy
            ``values-time``: their values say how old they are; ``update-time``: their newest file
            does. None: ``partition.expiration-strategy``.
        timestamp_pattern, timestamp_formatter
            How values make a time, as ``$dt $hour:00:00``, and how that is written, in the
            letters of Java, as ``yyyyMMdd``. None: as the options of the same names say.
        max_expires
            More do not go; None: ``partition.expiration-max-num``.
        dry_run
            Drop nothing, only tell what would be.

        Returns
        -------
        PartitionExpiry
            What was, or would be, dropped.

        Raises
        ------
        FilesConflictError
            If others write to what is to be dropped again and again.
        SchemaError
            If there is no such strategy.
        UnsupportedError
            If the formatter has a letter that is not built.
        """
        given = {
            "partition.expiration-strategy": expire_strategy,
            "partition.timestamp-pattern": timestamp_pattern,
            "partition.timestamp-formatter": timestamp_formatter,
            "partition.expiration-max-num": None if max_expires is None else str(max_expires),
        }
        options = {key: value for key, value in given.items() if value is not None}
        if expiration_time is not None:
            millis = expiration_time // timedelta(milliseconds=1)
            options["partition.expiration-time"] = f"{millis} ms"
        merged = self._definition.options.with_options(options)
        check_supported(merged, self._definition.schema, "write")
        found = merged.slice(PartitionExpireOptions)
        if found.lifetime_millis is None:
            raise ValueError("say how old partitions may be: expiration_time=")
        user = new_user(self._definition.options)
        return expire_partitions(self._definition, self._store, found, user=user, dry_run=dry_run)

    def expire_tags(
        self, older_than: datetime | None = None, *, dry_run: bool = False
    ) -> Sequence[str]:
        """Delete the tags that have lived as long as they were meant to; see `Tags.expire`."""
        return Tags(self._definition, self._store).expire(older_than=older_than, dry_run=dry_run)

    def expire_consumers(
        self, older_than: datetime | timedelta, *, dry_run: bool = False
    ) -> Sequence[str]:
        """Forget the consumers that have stood still; see `Consumers.expire`."""
        return Consumers(self._store.consumers).expire(older_than, dry_run=dry_run)

    def remove_orphan_files(
        self,
        *,
        older_than: datetime | timedelta | int | str | None = None,
        dry_run: bool = True,
        force: bool = False,
        progress: Progress | None = None,
    ) -> OrphanFiles:
        """Find the files that nothing names, and delete them if ``dry_run`` is False.

        Crashes, lost races and writes that were given up leave them. Only files that Paimon may
        have made are looked at, in folders that it makes. What a snapshot, tag or changelog of
        any branch needs stays; if that cannot be read, nothing is deleted.

        Parameters
        ----------
        older_than
            Younger files stay, as they may be of a write that is under way: an aware datetime,
            epoch milliseconds, a text in the process's local zone, or how long ago; None: a day.
        dry_run
            Delete nothing, only tell what would be.
        force
            Take files that are less than a day old, too: nobody may write to the table.
        progress
            Told of the snapshots that were looked at, and of files that are gone.

        Returns
        -------
        OrphanFiles
            What was, or would be, deleted.

        Raises
        ------
        ValueError
            If ``older_than`` is not past, or less than a day ago without ``force``.
        CorruptMetadataError
            If it cannot be told what is needed.

        Notes
        -----
        Roots of ``data-file.external-paths`` are looked at, too: they must be this table's alone.
        """
        millis = _limit(older_than)
        return remove_orphan_files(
            self._definition,
            self._store,
            older_than=None if millis is None else datetime.fromtimestamp(millis / 1000, UTC),
            dry_run=dry_run,
            force=force,
            progress=progress,
        )

    def remove_unexisting_files(self, *, dry_run: bool = True) -> LostFiles:
        """Find data files that are missing from the store, and go on without them.

        Their rows are lost, and older rows of their keys may come back: restore the files if you
        can. Only entries of the latest snapshot go, in a commit of kind OVERWRITE.

        Parameters
        ----------
        dry_run
            Commit nothing, only tell which are missing.

        Returns
        -------
        LostFiles
            What is missing.

        Raises
        ------
        UnsupportedError
            If a missing file has a deletion vector.
        FilesConflictError
            If others replaced such a file meanwhile.
        """
        return remove_lost_files(self._definition, self._store, dry_run=dry_run)

    def purge_files(self, *, dry_run: bool = False, progress: Progress | None = None) -> Purge:
        """Empty a table for good: rows, tags, branches, consumers, older snapshots, all files.

        Its definition stays, and one empty snapshot. Nobody may write to it meanwhile: files of
        a write that is under way go, too.

        Parameters
        ----------
        dry_run
            Delete nothing, only tell what would be.
        progress
            Told of files that are gone.

        Returns
        -------
        Purge
            What was, or would be, deleted.
        """
        return purge(self._definition, self._store, dry_run=dry_run, progress=progress)

    def rescale(
        self,
        *,
        buckets: int,
        partitions: Sequence[Mapping[str, Any]] | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Rescale:
        """Give partitions another number of buckets: their rows are written anew, in one commit.

        The option ``bucket`` of the table is set first, so that what others write from then on
        goes to the new buckets. A partition that has another number of buckets can be read, but
        not be written to before it is rescaled, too. With ``bucket`` = -2 the option stays: each
        partition has a number of its own, and rows that wait for a bucket go on waiting.

        No row changes, and followers are told of none. Rows that readers or followers learn of by
        compaction only (deletion vectors, ``first-row``, ``changelog-producer`` = ``lookup`` or
        ``full-compaction``) are compacted first, in a commit of its own.

        Parameters
        ----------
        buckets
            At least 1.
        partitions
            Values of all or some of the partition columns each; None: all partitions.
        dry_run
            Change nothing, only tell what would be.
        progress
            Told of the partitions that are written.

        Returns
        -------
        Rescale
            The partitions that had another number of buckets.

        Raises
        ------
        UnsupportedError
            If the rows of the table are in no bucket, or in buckets that an index of their keys
            counts.
        FilesConflictError
            If others changed the same partitions again and again.
        """
        check_supported(self._definition.options, self._definition.schema, "write")
        return rescale(
            self._definition,
            self._store,
            buckets=buckets,
            partitions=partitions,
            dry_run=dry_run,
            progress=progress,
        )

    def rewrite_file_index(
        self,
        *,
        partitions: Sequence[Mapping[str, Any]] | None = None,
        progress: Progress | None = None,
    ) -> RewrittenIndexes:
        """Give data files the indexes that ``file-index.….columns`` asks for now.

        For files that were written before the options were set, or others: the indexed columns
        are read, the files stay. One commit of kind COMPACT.

        Parameters
        ----------
        partitions
            Values of all or some of the partition columns each; None: all partitions.
        progress
            Told of the files that are looked at.

        Returns
        -------
        RewrittenIndexes
            How many files have other indexes now.

        Raises
        ------
        FilesConflictError
            If others changed the same files again and again.
        """
        check_supported(self._definition.options, self._definition.schema, "write")
        return rewrite_file_index(
            self._definition, self._store, partitions=partitions, progress=progress
        )

    def analyze(self, columns: Sequence[str] | None = None) -> Snapshot | None:
        """Compute statistics of the rows and commit them.

        Rows and bytes of the table; of columns the distinct values (exact up to 65,535, else to
        about 0.4 %), nulls, smallest and greatest value, average and greatest length.

        Parameters
        ----------
        columns
            Names; None: all columns of atomic types.

        Returns
        -------
        Snapshot or None
            The new snapshot, of kind ANALYZE; None when there is nothing to look at.
        """
        scan = scan_of(self._definition, self._store, Query())
        statistics = analyze(scan, columns)
        if statistics is None:
            return None
        return committer_of(self._definition, self._store).analyze(
            statistics,
            user=new_user(self._definition.options),
            identifier=BATCH_COMMIT_IDENTIFIER,
            is_new_user=True,
        )

    def _target(self, point: TravelPoint) -> Snapshot:
        definition, store = self._definition, self._store
        if point.tag is not None:
            return store.tags.get(point.tag).to_snapshot()
        found = travel(point, store.snapshots, store.tags, definition.name)
        assert found is not None, "only now may have no snapshot"
        return found


def _limit(older_than: datetime | timedelta | int | str | None) -> int | None:
    """Return a time as epoch milliseconds."""
    if older_than is None:
        return None
    if isinstance(older_than, timedelta):
        older_than = datetime.now(UTC) - older_than
    return to_millis(older_than)
