"""Strict mode: nobody else may compact or overwrite while a writer is at work.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.FileStoreCommitImpl``,
``strictModeLastSafeSnapshot``.
"""

from __future__ import annotations

from paimonlab.errors import FilesConflictError, SnapshotNotFoundError
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.snapshot import CommitKind, Snapshot

_REWRITES = (CommitKind.COMPACT, CommitKind.OVERWRITE)


class StrictMode:
    """Checks what other users did between the commits of one committer.

    Parameters
    ----------
    table, snapshots
        The table's name, and its snapshots.
    last_safe_id
        The option ``commit.strict-mode.last-safe-snapshot``; None: nothing is checked.
    """

    def __init__(self, table: str, snapshots: SnapshotManager, last_safe_id: int | None) -> None:
        self._table = table
        self._snapshots = snapshots
        self._last_safe_id = last_safe_id

    def check(self, latest: Snapshot | None, user: str) -> None:
        """Check the snapshots since the last safe one.

        Parameters
        ----------
        latest
            What the commit of ``user`` would follow.

        Raises
        ------
        FilesConflictError
            If another user compacted or overwrote, or if that is no longer known.
        """
        if self._last_safe_id is None or self._last_safe_id < 0 or latest is None:
            return
        for snapshot_id in range(self._last_safe_id + 1, latest.id + 1):
            snapshot = latest if snapshot_id == latest.id else self._get(snapshot_id)
            if snapshot.commit_kind in _REWRITES and snapshot.commit_user != user:
                problem = (
                    f"snapshot {snapshot.id} is a {snapshot.commit_kind.value} of "
                    f"{snapshot.commit_user!r}, and 'commit.strict-mode.last-safe-snapshot' "
                    "forbids those of others"
                )
                raise FilesConflictError(self._table, snapshot.id, (), problem)
        self._last_safe_id = latest.id

    def landed(self, snapshot: Snapshot) -> None:
        """Take note of a commit of ours."""
        if self._last_safe_id is not None:
            self._last_safe_id = snapshot.id

    def _get(self, snapshot_id: int) -> Snapshot:
        try:
            return self._snapshots.get(snapshot_id)
        except SnapshotNotFoundError as error:
            problem = (
                f"snapshot {snapshot_id} has expired, and 'commit.strict-mode.last-safe-snapshot' "
                f"= '{self._last_safe_id}' asks to look at it"
            )
            raise FilesConflictError(self._table, snapshot_id, (), problem) from error
