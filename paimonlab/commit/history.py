"""Whether a commit already happened.

A commit is known by its user and identifier; the identifiers of a user rise.
"""

from __future__ import annotations

from paimonlab.errors import CommitHistoryExpiredError, SnapshotNotFoundError
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.snapshot import FIRST_SNAPSHOT_ID, CommitKind, Snapshot

_WRITES = frozenset({CommitKind.APPEND, CommitKind.OVERWRITE})


class CommitHistory:
    """Searches the snapshots for a commit, reading each only once.

    Parameters
    ----------
    snapshots, table
        The table's snapshots, and its name.
    user, identifier
        Who commits what.
    kind
        Kind of the snapshot: one identifier may stand for a write and its compaction.
    after_id
        A snapshot older than the commit; 0 if none is known.
    """

    def __init__(
        self,
        snapshots: SnapshotManager,
        table: str,
        *,
        user: str,
        identifier: int,
        kind: CommitKind = CommitKind.APPEND,
        after_id: int = 0,
    ) -> None:
        self._snapshots = snapshots
        self._table = table
        self._user = user
        self._identifier = identifier
        self._kinds = _WRITES if kind in _WRITES else frozenset({kind})
        self._seen = after_id
        self._newest_seen: Snapshot | None = None

    def find(self, latest: Snapshot | None, written_millis: int | None) -> Snapshot | None:
        """Return the snapshot that the commit became, among those not looked at before.

        Parameters
        ----------
        latest
            The newest snapshot.
        written_millis
            When the first file of the commit was made, epoch milliseconds; None: unknown.

        Raises
        ------
        CommitHistoryExpiredError
            If the snapshot it may have become has expired.
        ValueError
            If the user has committed a greater identifier, but not this one.
        """
        self._look_back(latest)
        snapshot = latest
        newest: Snapshot | None = None
        while snapshot is not None and snapshot.id > self._seen:
            if snapshot.commit_user == self._user and snapshot.commit_kind in self._kinds:
                if snapshot.commit_identifier == self._identifier:
                    return snapshot
                newest = newest or snapshot
                if snapshot.commit_identifier < self._identifier:
                    break
            oldest = snapshot
            snapshot = self._previous(snapshot)
            if snapshot is None and oldest.id - 1 > self._seen:
                self._check_expired(oldest, written_millis)
        self._seen, self._newest_seen = latest.id if latest else 0, latest
        self._check_rising(newest)
        return None

    def _look_back(self, latest: Snapshot | None) -> None:
        """Look at all snapshots again if those seen were replaced by a rollback."""
        seen = self._newest_seen
        if seen is None:
            return
        if (
            latest is None
            or latest.id < seen.id
            or self._snapshots.find(seen.id) not in (None, seen)
        ):
            self._seen = 0

    def _previous(self, snapshot: Snapshot) -> Snapshot | None:
        if snapshot.id == FIRST_SNAPSHOT_ID:
            return None
        try:
            return self._snapshots.get(snapshot.id - 1)
        except SnapshotNotFoundError:  # it has expired
            return None

    def _check_expired(self, oldest: Snapshot, written_millis: int | None) -> None:
        """Refuse to guess unless the files were written after the oldest snapshot left."""
        if oldest.id == FIRST_SNAPSHOT_ID:
            return
        if written_millis is None or written_millis <= oldest.time_millis:
            raise CommitHistoryExpiredError(self._table, self._user, self._identifier)

    def _check_rising(self, newest: Snapshot | None) -> None:
        if newest is not None and newest.commit_identifier > self._identifier:
            raise ValueError(
                f"{self._table}: identifiers of a commit user rise, but {self._user!r} committed "
                f"{newest.commit_identifier} before {self._identifier}"
            )
