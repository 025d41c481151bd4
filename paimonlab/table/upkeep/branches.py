"""The branches of a table, as users handle them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from paimonlab.errors import habits
from paimonlab.scan.lineage import goes_on
from paimonlab.table.branch_options import BranchOptions
from paimonlab.table.definition import TableDefinition
from paimonlab.table.named import Named
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.branch_merging import BranchMerge, merge_branch

T = TypeVar("T")
"""What a branch is opened as."""


class Branches(Named, Generic[T], written="table.branches"):
    """Lines of snapshots of their own: ``table.branches``.

    ``table.branches["x"]`` and ``catalog.table("db.t$branch_x")`` open the branch x.
    """

    def __init__(
        self, definition: TableDefinition, store: TableStore, opened: Callable[[str], T]
    ) -> None:
        self._definition = definition
        self._store = store
        self._opened = opened

    def __getitem__(self, name: str) -> T:
        return self._opened(name)

    def list(self) -> list[str]:
        """Names of all branches but the main one, sorted.

        Raises
        ------
        TableNotFoundError
            If the table was dropped or renamed after it was opened.
        """
        names = self._store.branches.names()
        if not names:
            self._store.snapshots.check_exists()
        return names

    @habits.arguments(habits.BRANCH)
    def create(self, name: str, *, tag: str | None = None, snapshot: int | None = None) -> None:
        """Make a branch.

        Parameters
        ----------
        name
            Not blank, not ``main``, not only digits.
        tag
            Begin with the snapshot of this tag, which the branch also gets.
        snapshot
            Begin with the snapshot of this id. Java Paimon knows nothing of it when it expires
            snapshots; where it does, tag the snapshot and give the tag.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        SnapshotNotFoundError, TagNotFoundError
            If there is nothing to begin with.

        Notes
        -----
        With neither tag nor snapshot the branch begins empty, with the schemas of the table.
        """
        if tag is not None and snapshot is not None:
            raise ValueError("a branch begins with a tag or with a snapshot, not with both")
        if tag is not None:
            self._store.branches.create(
                name, snapshot=self._store.tags.get(tag).to_snapshot(), tag=tag
            )
        elif snapshot is not None:
            self._store.branches.create(name, snapshot=self._store.snapshots.get(snapshot))
        else:
            self._store.branches.create(name)

    def delete(self, name: str) -> None:
        """Delete a branch; its data files stay until orphan files are removed.

        Raises
        ------
        BranchNotFoundError
            If no branch has that name.
        ValueError
            If missing partitions are read from it.
        """
        if name == self._definition.options.slice(BranchOptions).fallback:
            raise ValueError(
                f"branch {name!r} is the scan.fallback-branch; take the option away first"
            )
        self._store.branches.delete(name)

    def rename(self, name: str, target: str) -> None:
        """Give a branch another name.

        Raises
        ------
        BranchNotFoundError
            If no branch has that name.
        AlreadyExistsError
            If the new name is taken.
        """
        self._store.branches.rename(name, target)

    def fast_forward(self, name: str) -> None:
        """Let the table go on with what a branch has; open the table again afterwards.

        Snapshots, tags and schemas that the table got since the branch's first snapshot are
        replaced by those of the branch. Where the beginning of the branch has expired and the table
        had commits of its own meanwhile, its older snapshots go, too: they are no history of what
        comes after them. Tags of them stay.

        A branch that began empty has none of the table's rows: the table then has only those of
        the branch. ``create`` with ``tag`` or ``snapshot`` begins with rows.

        Raises
        ------
        BranchNotFoundError
            If no branch has that name.
        SnapshotNotFoundError
            If the branch has no snapshot.
        """
        manifests = self._store.manifests
        self._store.branches.fast_forward(name, partial(goes_on, manifests=manifests))

    def merge(self, name: str, *, dry_run: bool = False) -> BranchMerge:
        """Add the files of another branch, ``main`` included, that this one does not have.

        No file is written: both branches refer to the files afterwards. Merging once more adds
        what the other one has got since.

        Parameters
        ----------
        name
            The branch that gives; the one that is open takes.
        dry_run
            Change nothing.

        Returns
        -------
        BranchMerge
            What was added.

        Raises
        ------
        BranchNotFoundError
            If no branch has that name.
        SchemaError
            If the branches have other columns, or files were written with schemas that this one
            does not have.
        SnapshotNotFoundError
            If a branch has no snapshot, or those since they parted have expired.
        UnsupportedError
            If the table has a primary key, deletion vectors or data evolution, or if a branch has
            removed or rewritten files since they parted, by a compaction or an overwrite.

        Notes
        -----
        Expiry here keeps what any branch refers to. Java Paimon looks at one branch alone: where it
        compacts one of the two and expires its snapshots, delete the other branch before.
        """
        return merge_branch(self._definition, self._store, name, dry_run=dry_run)
