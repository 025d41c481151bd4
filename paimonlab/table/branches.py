"""The branches of a table, as users handle them."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.spec.options.table_options import option_field
from paimonlab.table.named import Named


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchOptions:
    """The table options that choose a branch."""

    branch: str = option_field("branch", "string", MAIN_BRANCH)
    """``branch``"""
    fallback: str | None = option_field("scan.fallback-branch", "string", None)
    """``scan.fallback-branch``: has the partitions that this branch does not have."""


class Branches(Named):
    """Lines of snapshots of their own: ``table.branches``.

    ``catalog.table("db.t$branch_x")`` opens the branch x.
    """

    def __init__(
        self,
        branches: BranchManager,
        snapshots: SnapshotManager,
        tags: TagManager,
        options: BranchOptions,
    ) -> None:
        self._branches = branches
        self._snapshots = snapshots
        self._tags = tags
        self._options = options

    def list(self) -> list[str]:
        """Names of all branches but the main one, sorted."""
        return self._branches.names()

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
            self._branches.create(name, snapshot=self._tags.get(tag).to_snapshot(), tag=tag)
        elif snapshot is not None:
            self._branches.create(name, snapshot=self._snapshots.get(snapshot))
        else:
            self._branches.create(name)

    def delete(self, name: str) -> None:
        """Delete a branch; its data files stay until orphan files are removed.

        Raises
        ------
        BranchNotFoundError
            If no branch has that name.
        ValueError
            If missing partitions are read from it.
        """
        if name == self._options.fallback:
            raise ValueError(
                f"branch {name!r} is the scan.fallback-branch; take the option away first"
            )
        self._branches.delete(name)

    def rename(self, name: str, target: str) -> None:
        """Give a branch another name.

        Raises
        ------
        BranchNotFoundError
            If no branch has that name.
        AlreadyExistsError
            If the new name is taken.
        """
        self._branches.rename(name, target)

    def fast_forward(self, name: str) -> None:
        """Let the table go on with what a branch has; open the table again afterwards.

        Snapshots, tags and schemas that the table got since the branch's first snapshot are
        replaced by those of the branch.

        Raises
        ------
        BranchNotFoundError
            If no branch has that name.
        SnapshotNotFoundError
            If the branch has no snapshot, or one that the table does not lead up to.
        """
        self._branches.fast_forward(name)
