"""Look at a table as commits arrive: what each costs is what the commit changed, not the table."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field

import pyarrow as pa

from paimonlab.analysis.row_words import rows_are
from paimonlab.analysis.snapshots.watched import (
    LevelSums,
    Watch,
    WatchedCommit,
    WatchState,
    commit_of,
)
from paimonlab.errors import SnapshotExpiredError, SnapshotNotFoundError
from paimonlab.read.changed_rows import read_change_split
from paimonlab.scan.changed_files import ChangeKind
from paimonlab.scan.live_files import delta_manifests_of, live_entries, read_entries
from paimonlab.spec.snapshot import CommitKind, Snapshot
from paimonlab.storage.together import both
from paimonlab.table.following.waiting import Clock, SystemClock
from paimonlab.table.inside import definition_of, store_of
from paimonlab.table.table import Table

MOST_AT_ONCE = 200
"""Of more new commits at a time only the newest are read one by one."""
LOOK_SECONDS = 0.2
"""Between two looks: people do not see more."""
_WAIT_MILLIS = 3_600_000


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was seen of a table: all of it of one snapshot, whenever a person interrupts."""

    newest: Snapshot | None = None
    commits: tuple[WatchedCommit, ...] = ()
    levels: LevelSums = field(default_factory=LevelSums)
    count: int = 0
    """Commits since the watch began."""


class Watcher:
    """Sees each commit of a table once, in order.

    Parameters
    ----------
    table
        The table.
    last
        How many commits are kept, at least 1.
    clock
        None: that of this machine.
    """

    def __init__(self, table: Table, *, last: int = 50, clock: Clock | None = None) -> None:
        self._table = table
        self._store = store_of(table)
        self._clock = clock or SystemClock(LOOK_SECONDS)
        self._last = last
        self._seen = _Seen()
        self._note = ""
        self._begin(count=0)

    @property
    def newest(self) -> Snapshot | None:
        """The snapshot seen last; None: nothing was written yet."""
        return self._seen.newest

    @property
    def seen_count(self) -> int:
        """Commits since the watch began."""
        return self._seen.count

    def has_news(self) -> bool:
        """Whether there is another snapshot, or the one seen last is gone."""
        snapshots = self._store.snapshots
        newest = self._seen.newest
        if newest is None:
            return snapshots.latest_id() is not None
        id = newest.id
        return snapshots.has(id + 1) or not snapshots.has(id)

    def wait(self, woken: threading.Event, millis: int | None = None) -> None:
        """Return when there are news, when an event is set, or after some time.

        Looking takes a quarter of a hundredth of a core, at most.
        """
        self._clock.wait(woken, _WAIT_MILLIS if millis is None else millis, self.has_news)

    def look(self) -> bool:
        """See the new commits; False if there are none.

        Raises
        ------
        SnapshotNotFoundError
            If the table has no snapshot any more: it was dropped, or created anew.
        """
        snapshots = self._store.snapshots
        latest_id = snapshots.latest_id()
        seen, count = self._seen.newest, self._seen.count
        if seen is None:
            if latest_id is None:
                return False
            self._begin(count=count + latest_id)  # all of them: ids begin with 1
            return True
        if latest_id is None:
            raise SnapshotNotFoundError(
                self._table.name, str(seen.id), "It was dropped, or created anew."
            )
        if latest_id == seen.id and self._is_same(seen):
            return False
        if latest_id < seen.id or not self._is_same(seen):
            self._note = f"rolled back to before snapshot {seen.id}, and read again"
            self._begin(count=count)
            return True
        if latest_id - seen.id > MOST_AT_ONCE or not self._went_on(seen.id + 1, latest_id):
            self._begin(count=count + latest_id - seen.id)
        return True

    def value(self, state: WatchState = "watching", *, error: str | None = None) -> Watch:
        """Return what was seen."""
        newest = self._seen.newest
        return Watch(
            table=self._table.name,
            state=state,
            error=error,
            has_levels=bool(self._table.primary_keys),
            commits=self._seen.commits,
            seen_count=self._seen.count,
            levels=self._seen.levels.levels(),
            row_count=None if newest is None else newest.total_record_count,
            rows_are=rows_are(self._table.primary_keys, definition_of(self._table).options),
            note=self._note,
        )

    def newest_with_rows(self) -> int | None:
        """Return the newest commit that is kept and has rows to be shown; None if none has."""
        for commit in reversed(self._seen.commits):
            if self._has_changelog:
                has_rows = bool(commit.changelog_rows)
            else:
                is_append = commit.commit_kind == CommitKind.APPEND.value
                has_rows = is_append and commit.written_rows + commit.deleted_rows > 0
            if has_rows:
                return commit.snapshot_id
        return None

    def changed_rows(self, snapshot_id: int, most: int) -> pa.Table | None:
        """Read some rows that a commit changed, without reading all of them.

        Parameters
        ----------
        snapshot_id
            Of the commit, as `newest_with_rows` says.
        most
            How many, at least 1.

        Returns
        -------
        pyarrow.Table
            Rows with their kind as the first column; None if the snapshot has expired.
        """
        mode = ChangeKind.CHANGELOG if self._has_changelog else ChangeKind.DELTA
        taken: list[pa.RecordBatch] = []
        try:
            changes = self._table.changes(snapshot_id - 1, snapshot_id, mode=mode.value)
            plan = changes.read_plan()
            for split in changes.splits:
                for batch in read_change_split(split, plan, self._store.file_io):
                    taken.append(batch)
                    if sum(map(len, taken)) >= most:
                        return pa.Table.from_batches(taken).slice(0, most)
        except SnapshotExpiredError:
            return None
        return pa.Table.from_batches(taken, changes.arrow_schema)

    @property
    def _has_changelog(self) -> bool:
        return self._table.options.get("changelog-producer", "none").lower() != "none"

    def _is_same(self, seen: Snapshot) -> bool:
        """Whether a snapshot is the one that was seen; one that has expired cannot be another."""
        try:
            there = self._store.snapshots.get(seen.id)
        except SnapshotExpiredError:
            return True
        except SnapshotNotFoundError:
            return False
        return there.delta_manifest_list == seen.delta_manifest_list

    def _begin(self, *, count: int) -> None:
        """See the table as it is, and the newest commits."""
        store = self._store
        newest, listed = both(
            store.layout.table_path,
            store.snapshots.latest,
            lambda: store.snapshots.list(self._last),
        )
        if newest is None:
            self._seen = _Seen(count=count)
            return
        if not listed or listed[-1].id < newest.id:  # it came after they were listed
            listed = store.snapshots.list(self._last)
        levels = LevelSums().after([live_entries(newest, store.manifests)])
        commits = list[WatchedCommit]()
        for snapshot in listed:
            with suppress(SnapshotExpiredError):
                if snapshot.id <= newest.id:
                    commits.append(commit_of(snapshot, self._entries(snapshot)))
        self._seen = _Seen(newest, tuple(commits), levels, count)

    def _went_on(self, first: int, last: int) -> bool:
        """See new commits one by one; False if one of them expired meanwhile."""
        for id in range(first, last + 1):
            try:
                snapshot = self._store.snapshots.get(id)
                entries = self._entries(snapshot)
            except SnapshotNotFoundError:
                return False
            seen = self._seen
            commits = (*seen.commits, commit_of(snapshot, entries))[-self._last :]
            self._seen = _Seen(snapshot, commits, seen.levels.after(entries), seen.count + 1)
        return True

    def _entries(self, snapshot: Snapshot) -> list[pa.Table]:
        manifests = self._store.manifests
        return read_entries(snapshot, delta_manifests_of(snapshot, manifests), manifests)
