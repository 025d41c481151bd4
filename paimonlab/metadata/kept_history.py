"""The history of a table whose catalog keeps it, and says alone what the latest snapshot is.

The files of snapshots, schemas, tags and branches are where those of any table are, but the
catalog writes them: who wrote them himself would change what nobody is told of.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Self

from paimonlab.errors import (
    AlreadyExistsError,
    BranchNotFoundError,
    UnsupportedError,
)
from paimonlab.metadata.branches import BranchManager, check_branch_name
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import FileIO


class KeptHistory(ABC):
    """What is asked of the catalog. All methods raise ``OSError`` when it does not answer."""

    @abstractmethod
    def latest(self) -> Snapshot | None:
        """Return the latest snapshot; None in a table that was never written to."""

    @abstractmethod
    def find(self, snapshot_id: int) -> Snapshot | None:
        """Return a snapshot; None if there is none of that id."""

    @abstractmethod
    def publish(self, snapshot: Snapshot) -> bool:
        """Make a snapshot the latest one; False if another one is built upon the same.

        Publishing the same snapshot again is allowed.

        Raises
        ------
        CommitError, TableNotFoundError
            If it was not published, and never will be.
        OSError
            If it may have been, or come to be.
        """

    @abstractmethod
    def roll_back(self, snapshot_id: int, *, tag: str | None, latest: int) -> None:
        """Roll back to a snapshot, or to that of a tag, if the latest one is as given."""

    @abstractmethod
    def set_option(self, key: str, value: str) -> None:
        """Set an option of the table."""

    @abstractmethod
    def branches(self) -> list[str]:
        """Return the names of all branches but the main one, sorted."""

    @abstractmethod
    def create_branch(self, name: str, tag: str | None) -> None:
        """Create a branch, which begins with the snapshot of a tag, or empty.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        """

    @abstractmethod
    def delete_branch(self, name: str) -> None:
        """Delete a branch that exists."""

    @abstractmethod
    def rename_branch(self, name: str, target: str) -> None:
        """Give a branch another name.

        Raises
        ------
        AlreadyExistsError
            If that is taken.
        """

    @abstractmethod
    def fast_forward(self, name: str) -> None:
        """Fast-forward the table to a branch that exists."""

    @abstractmethod
    def on_branch(self, layout: TableLayout) -> Self:
        """Return the history of the branch that has a layout."""


class KeptSnapshots(SnapshotManager):
    """Snapshots of such a table: the catalog says which is the latest, their files are read."""

    def __init__(
        self,
        kept: KeptHistory,
        file_io: FileIO,
        layout: TableLayout,
        *,
        table_name: str | None = None,
    ) -> None:
        super().__init__(file_io, layout, table_name=table_name)
        self._kept = kept

    def latest(self) -> Snapshot | None:
        """Ask the catalog for the newest snapshot."""
        return self._kept.latest()

    def newest_own(self) -> None:
        """Know of none: the catalog is asked."""

    def latest_id(self) -> int | None:
        """Ask the catalog for the id of the newest snapshot."""
        latest = self._kept.latest()
        return None if latest is None else latest.id

    def latest_before_commit(self) -> Snapshot | None:
        """Ask the catalog for the newest snapshot; it finds out whether the next id is free."""
        return self._kept.latest()

    def write_latest_hint(self, snapshot_id: int) -> None:
        """Do nothing: the catalog writes the hint."""

    def mend_latest_hint(self) -> None:
        """Do nothing, likewise."""


class KeptBranches(BranchManager):
    """Branches of such a table."""

    def __init__(
        self,
        kept: KeptHistory,
        file_io: FileIO,
        layout: TableLayout,
        *,
        table_name: str | None = None,
    ) -> None:
        super().__init__(file_io, layout, table_name=table_name)
        self._kept = kept

    def names(self) -> list[str]:
        """Ask the catalog."""
        return self._kept.branches()

    def create(
        self, name: str, *, snapshot: Snapshot | None = None, tag: str | None = None
    ) -> None:
        """Let the catalog create a branch, which can begin with a tag only, or empty.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        UnsupportedError
            If it is to begin with a snapshot that has no tag.
        """
        check_branch_name(name)
        if snapshot is not None and tag is None:
            raise UnsupportedError(
                f"a branch of {self._table} that begins with snapshot {snapshot.id}",
                "its catalog makes branches of tags: tag the snapshot, and give the tag",
            )
        if name in self.names():
            raise AlreadyExistsError("branch", f"{name!r} of {self._table}")
        self._kept.create_branch(name, tag)

    def delete(self, name: str) -> None:
        """Let the catalog delete a branch.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        self._check_there(name)
        self._kept.delete_branch(name)

    def rename(self, name: str, target: str) -> None:
        """Let the catalog rename a branch.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        AlreadyExistsError
            If the new name is taken.
        """
        self._check_there(name)
        check_branch_name(target)
        self._kept.rename_branch(name, target)

    def fast_forward(self, name: str, goes_on: Callable[[Snapshot, Snapshot], bool]) -> None:
        """Let the catalog fast-forward the table to a branch; it knows which snapshots stay.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        del goes_on
        self._check_there(name)
        self._kept.fast_forward(name)

    def _check_there(self, name: str) -> None:
        check_branch_name(name)
        known = self.names()
        if name not in known:
            raise BranchNotFoundError(self._table, name, known)
