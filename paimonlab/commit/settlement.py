"""Publishing one snapshot and finding out for sure what became of it.

The next id is never tried before this one is settled: otherwise a late write could make the
same rows visible twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from paimonlab.commit.publisher import SnapshotPublisher
from paimonlab.errors import (
    CommitOutcomeUnknownError,
    CorruptMetadataError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
)
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.snapshot import Snapshot

_ATTEMPTS = 5
_PAUSE_SECONDS = 0.05


def settle(
    snapshot: Snapshot,
    publisher: SnapshotPublisher,
    snapshots: SnapshotManager,
    table: str,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Publish a snapshot.

    Returns
    -------
    bool
        True: it is published. False: its id belongs to another writer, and this snapshot can
        never become visible.

    Raises
    ------
    CommitOutcomeUnknownError
        If neither can be told: nothing may be deleted.
    """
    problem: Exception | None = None
    for attempt in range(_ATTEMPTS):
        try:
            # False may be the echo of an earlier attempt that failed and landed nevertheless.
            if publisher.publish(snapshot):
                return True
        except Exception as error:  # noqa: BLE001 - whatever it was, it is looked up below
            problem = error
        try:
            is_ours = _is_published(snapshot, snapshots)
        except (OSError, CorruptMetadataError, SnapshotExpiredError) as error:
            problem = error
        else:
            if is_ours is not None:
                return is_ours
        sleep(_PAUSE_SECONDS * 2**attempt)  # then the same bytes again, under the same id
    raise unknown_outcome(snapshot, table, problem) from problem


def _is_published(snapshot: Snapshot, snapshots: SnapshotManager) -> bool | None:
    """Whether the id holds this snapshot (True), another (False) or nothing yet (None)."""
    try:
        found = snapshots.get(snapshot.id)
    except SnapshotExpiredError:
        raise
    except SnapshotNotFoundError:
        return None
    # The name of the list holds a random number that only this commit knows.
    return found.delta_manifest_list == snapshot.delta_manifest_list


def unknown_outcome(
    snapshot: Snapshot, table: str, error: BaseException | None
) -> CommitOutcomeUnknownError:
    """Return the error that says that a snapshot may have been published."""
    if isinstance(error, CommitOutcomeUnknownError):
        return error
    return CommitOutcomeUnknownError(
        table,
        snapshot.commit_user,
        snapshot.commit_identifier,
        snapshot.id,
        f"{type(error).__name__}: {error}" if error else "it is not there after several attempts",
    )
