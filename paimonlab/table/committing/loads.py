"""Loading files once: what a load notes down before it commits, and what is found of it later.

Before a load commits it writes down its commit user and its files, then looks which loads others
have written down. So of two that load the same file at once at least one sees the other. After the
commit come the records of the history, then the note is deleted. Where a process dies in between,
the next load finds the note, looks for the commit among the snapshots and does the rest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from paimonlab.commit.history import CommitHistory
from paimonlab.errors import CommitOutcomeUnknownError, DataError
from paimonlab.metadata.load_history import Load, LoadRecord
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER
from paimonlab.storage.processes import may_run, this_machine
from paimonlab.table.store import TableStore

_going_on: set[str] = set()
"""Users of the loads of this process."""


@dataclass(frozen=True, slots=True)
class FileLoader:
    """Loads of one table."""

    store: TableStore

    def loaded(self, files: Iterable[tuple[str, int, int]]) -> frozenset[str]:
        """Return the paths of the files that were loaded before.

        Parameters
        ----------
        files
            Path, size in bytes, and epoch milliseconds when each was modified.
        """
        self._settle_others()
        versions = set(files)
        records = self.store.loads.records(path for path, _, _ in versions)
        return frozenset(record.file_path for record in records if record.version in versions)

    @contextmanager
    def loading(
        self,
        records: Sequence[LoadRecord],
        *,
        user: str,
        began_at: int,
        is_forced: bool,
    ) -> Iterator[None]:
        """Be the only one that loads some files while they are written and committed.

        Parameters
        ----------
        records
            The files, as the history will have them.
        user
            Who will commit; never used before.
        began_at
            Epoch milliseconds.
        is_forced
            Whether the files are loaded also if they were loaded before, or others do so.

        Raises
        ------
        DataError
            If others load one of the files, or have done so since `loaded` was asked.
        """
        latest = self.store.snapshots.latest_id()
        load = Load(
            user=user,
            began_at=began_at,
            after_snapshot_id=latest or 0,
            machine=this_machine(),
            process=os.getpid(),
            files=tuple(records),
        )
        _going_on.add(user)
        is_unclear = False
        try:
            self.store.loads.begin(load)
            if not is_forced:
                self._check_alone(load)
            yield
        except CommitOutcomeUnknownError:
            is_unclear = True
            raise
        finally:
            _going_on.discard(user)
            self._settle(load, is_over=not is_unclear)

    def note_empty(self, records: Iterable[LoadRecord]) -> None:
        """Note down files without rows, for which nothing is committed."""
        latest = self.store.snapshots.latest_id() or 0
        self.store.loads.add(replace(record, snapshot_id=latest) for record in records)

    def _check_alone(self, load: Load) -> None:
        paths = {record.file_path for record in load.files}
        for other in self._settle_others():
            both = sorted(paths & {record.file_path for record in other.files})
            if other.user != load.user and both:
                raise DataError(
                    f"{self.store.name}: {both[0]} is being loaded by process {other.process} on "
                    f"{other.machine}; wait for it. If that process is gone, delete "
                    f"{self.store.loads.place_of(other)} and look whether its rows are there"
                )
        versions = {record.version for record in load.files}
        for record in self.store.loads.records(paths):
            if record.version in versions:
                raise DataError(
                    f"{self.store.name}: others have loaded {record.file_path} meanwhile; run the "
                    "statement again"
                )

    def _settle_others(self) -> list[Load]:
        """Do the rest of loads that committed, and return those that may still commit."""
        return [
            load
            for load in self.store.loads.running()
            if not self._settle(load, is_over=not _may_run(load))
        ]

    def _settle(self, load: Load, *, is_over: bool) -> bool:
        """Note down what a load committed; False if it may still commit."""
        snapshots = self.store.snapshots
        history = CommitHistory(
            snapshots,
            self.store.name,
            user=load.user,
            identifier=BATCH_COMMIT_IDENTIFIER,
            after_id=load.after_snapshot_id,
        )
        found = history.find(snapshots.latest(), load.began_at)
        if found is None and not is_over:
            return False
        if found is not None:
            self.store.loads.add(replace(record, snapshot_id=found.id) for record in load.files)
        self.store.loads.end(load)
        return True


def _may_run(load: Load) -> bool:
    """Whether the process of a load may still be there; on other machines nobody can tell."""
    if load.machine != this_machine():
        return True
    if load.process == os.getpid():
        return load.user in _going_on
    return may_run(load.process, "")
