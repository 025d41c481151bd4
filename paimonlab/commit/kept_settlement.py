"""Publishing one snapshot through a catalog that keeps the history, and settling every doubt.

The catalog decides alone: what it says was published is the latest snapshot. But an answer may
be lost on its way, may come from a machine in between that knows nothing, or may be the second
one to a request that such a machine repeated. So unless the catalog says yes it is asked what has
the id. The next id is never tried before this one is settled.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from paimonlab.commit.lineage import Traces, descends_from
from paimonlab.commit.settlement import Fate, unknown_outcome
from paimonlab.errors import CommitError, TableNotFoundError
from paimonlab.metadata.kept_history import KeptHistory
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.spec.snapshot import Snapshot

_ATTEMPTS = 6
_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptSettler:
    """Publishes snapshots of a table whose catalog keeps its history."""

    table: str
    """Its name, for messages."""
    kept: KeptHistory
    manifests: ManifestStore
    sleep: Callable[[float], None] = time.sleep

    def settle(self, snapshot: Snapshot, base: Snapshot | None, traces: Traces) -> Fate:
        """Publish a snapshot.

        Parameters
        ----------
        snapshot
            Never published before.
        base
            What it was built upon; None: an empty table.
        traces
            What the commit leaves in snapshots that are built upon it.

        Raises
        ------
        CommitError, TableNotFoundError
            If the catalog refuses it: it is not there and never was.
        CommitOutcomeUnknownError
            If the outcome is unknown: nothing may be deleted.
        """
        problem: Exception | None = None
        for attempt in range(_ATTEMPTS):
            if attempt:
                self.sleep(_PAUSE_SECONDS * 2**attempt)
            try:
                if self.kept.publish(snapshot):  # the same again, under the same id
                    return Fate.LANDED
            except (CommitError, TableNotFoundError) as error:
                if problem is None:
                    raise
                problem = error
            except OSError as error:
                problem = error
            try:
                fate = self._fate(snapshot, base, traces, is_in_doubt=problem is not None)
            except OSError as error:
                problem = error
                continue
            if fate is not None:
                return fate
        raise unknown_outcome(snapshot, self.table, problem) from problem

    def _fate(
        self, snapshot: Snapshot, base: Snapshot | None, traces: Traces, *, is_in_doubt: bool
    ) -> Fate | None:
        """Find out what became of a snapshot; None: nothing yet."""
        found = self.kept.find(snapshot.id)
        latest = None if found is not None else self.kept.latest()
        if latest is not None and latest.id >= snapshot.id:  # it was published since we asked
            found = latest if latest.id == snapshot.id else self.kept.find(snapshot.id)
        if found is not None:
            # The name of the list holds a random number that only this commit knows.
            if found.delta_manifest_list == snapshot.delta_manifest_list:
                return Fate.LANDED
            return Fate.LOST if is_in_doubt else Fate.TAKEN
        if not is_in_doubt:
            return Fate.TAKEN
        if latest is not None and latest.id > snapshot.id:  # whatever had the id has expired
            if descends_from(latest, traces, self.manifests):
                return Fate.LANDED
            raise unknown_outcome(snapshot, self.table, None)
        if latest != base:  # others rolled back, and the request may be on its way
            raise unknown_outcome(snapshot, self.table, None)
        return None
