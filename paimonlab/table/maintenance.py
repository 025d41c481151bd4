"""Keeping a table in order, as users do it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from paimonlab.maintenance.rollback import Rollback, plan, roll_back
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, Snapshot
from paimonlab.table.analyze import analyze
from paimonlab.table.parts import TableParts
from paimonlab.table.scanning import Query, scan_of
from paimonlab.table.time_travel import TravelPoint, travel
from paimonlab.table.writing import new_user


class Maintenance:
    """Verbs that keep a table in order: ``table.maintenance``."""

    def __init__(self, parts: TableParts) -> None:
        self._parts = parts

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
        history = self._parts.history
        return plan(target, history) if dry_run else roll_back(target, history)

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
        scan = scan_of(self._parts, Query())
        statistics = analyze(scan, columns)
        if statistics is None:
            return None
        return self._parts.committer.analyze(
            statistics, user=new_user(self._parts), identifier=BATCH_COMMIT_IDENTIFIER
        )

    def _target(self, point: TravelPoint) -> Snapshot:
        parts = self._parts
        if point.tag is not None:
            return parts.tags.get(point.tag).to_snapshot()
        found = travel(point, parts.snapshots, parts.tags, parts.name)
        assert found is not None, "only now may have no snapshot"
        return found
