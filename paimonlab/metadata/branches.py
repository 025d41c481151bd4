"""The branches of a table: lines of snapshots of their own over the same data files.

Source: https://paimon.apache.org/docs/master/maintenance/manage-branches/ and apache/paimon@1.3.1
``org.apache.paimon.utils.FileSystemBranchManager``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress

from paimonlab.errors import (
    AlreadyExistsError,
    BranchNotFoundError,
    CommitError,
    CorruptMetadataError,
    SnapshotExpiredError,
    SnapshotNotFoundError,
    TagNotFoundError,
)
from paimonlab.metadata.changelogs import ChangelogManager
from paimonlab.metadata.fast_forward import Forward, plan_forward
from paimonlab.metadata.hints import numbered, write_hint
from paimonlab.metadata.layout import BRANCH_PREFIX, SNAPSHOT_PREFIX, TAG_PREFIX, TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.table_files import TableFiles
from paimonlab.metadata.tags import TagManager
from paimonlab.metadata.take_back import take_back
from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.spec.snapshot import Snapshot
from paimonlab.storage import join, safe_join


class BranchManager(TableFiles):
    """Finds, creates and deletes branches, and fast-forwards to them."""

    def names(self) -> list[str]:
        """Return the names of all branches but the main one, sorted."""
        names = self._file_io.list_names(self._layout.branches_folder)
        return sorted(
            name.removeprefix(BRANCH_PREFIX)
            for name in names
            if name.startswith(BRANCH_PREFIX) and len(name) > len(BRANCH_PREFIX)
        )

    def layout(self, name: str) -> TableLayout:
        """Return where the files of a branch are.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        if name == MAIN_BRANCH:
            return self._layout.on_branch(None)
        if name not in self.names():
            raise BranchNotFoundError(self._table, name, self.names())
        return self._layout.on_branch(name)

    def create(
        self, name: str, *, snapshot: Snapshot | None = None, tag: str | None = None
    ) -> None:
        """Create a branch, completely or not at all.

        Parameters
        ----------
        name
            Not blank, not ``main``, not only digits.
        snapshot
            The snapshot that it begins with; None: it has only the schemas.
        tag
            A tag of the snapshot that is copied into the branch.

        Raises
        ------
        AlreadyExistsError
            If the name is taken.
        SnapshotExpiredError
            If the snapshot expired meanwhile; the branch was not created.
        """
        check_branch_name(name)
        target = safe_join(self._layout.branches_folder, f"{BRANCH_PREFIX}{name}")
        if name in self.names():
            raise AlreadyExistsError("branch", f"{name!r} of {self._table}")
        under_way = f".{BRANCH_PREFIX}{name}-{uuid.uuid4()}.tmp"
        folder = join(self._layout.branches_folder, under_way)
        try:
            self._fill(folder, snapshot, tag)
            self._file_io.rename(folder, target)
        except FileExistsError:
            raise AlreadyExistsError("branch", f"{name!r} of {self._table}") from None
        finally:
            self._file_io.delete_directory(folder)
        # Expiry looks at the branches after it has taken the snapshots away, so one of us sees
        # the other.
        if snapshot is not None and not self._is_kept(snapshot, tag):
            self._take_back(target, snapshot)
            raise SnapshotExpiredError(
                self._table, str(snapshot.id), f"It expired before branch {name!r} was created."
            )

    def delete(self, name: str) -> None:
        """Delete a branch; files that only it used are left to orphan file cleaning.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        """
        path = self.layout(check_branch_name(name)).branch_path
        gone = join(self._layout.branches_folder, f".{BRANCH_PREFIX}{name}-{uuid.uuid4()}.tmp")
        with self._found(name):
            self._file_io.rename(path, gone)
        self._file_io.delete_directory(gone)

    def rename(self, name: str, target: str) -> None:
        """Give a branch another name.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        AlreadyExistsError
            If the new name is taken.
        """
        path = self.layout(check_branch_name(name)).branch_path
        new = safe_join(self._layout.branches_folder, f"{BRANCH_PREFIX}{check_branch_name(target)}")
        try:
            with self._found(name):
                self._file_io.rename(path, new)
        except FileExistsError:
            raise AlreadyExistsError("branch", f"{target!r} of {self._table}") from None

    def fast_forward(self, name: str, goes_on: Callable[[Snapshot, Snapshot], bool]) -> None:
        """Fast-forward this branch to another one.

        The snapshots, schemas and tags from the first snapshot of the other on are replaced by
        its own. Older snapshots stay if the other goes on from them. The files that only deleted
        snapshots had are left to orphan file cleaning.

        Parameters
        ----------
        name
            The other branch.
        goes_on
            Tells whether the commit of the second snapshot was made on the first one.

        Raises
        ------
        BranchNotFoundError
            If there is no such branch.
        SnapshotNotFoundError
            If the branch has no snapshot.
        CommitError
            If another commit came in between: try again.

        Notes
        -----
        Snapshots of this branch are removed first, the newest first, then those of the other one
        are copied: a crash leaves it at one of the snapshots, and a second call completes it.

        Java Paimon keeps all older snapshots, whatever they are. If the beginning of the other
        branch has expired and this one had commits meanwhile, those are no history of what comes
        after them: whoever follows the table, or asks for the changes between two snapshots, would
        get wrong rows. Where ids would be missing, no reader of either would find its way.
        """
        source = self.layout(check_branch_name(name))
        if source == self._layout:
            raise ValueError(f"{self._table}: a branch cannot be forwarded to itself")
        plan = self._plan_forward(source, name, goes_on)
        io, own = self._file_io, self._layout
        # All is read before anything goes: the other branch may be deleted meanwhile.
        with self._found(name):
            schemas = {schema: io.read(source.schema(schema)) for schema in plan.schemas_to_copy}
            snapshots = {
                snapshot: io.read(source.snapshot(snapshot)) for snapshot in plan.snapshots_to_copy
            }
            tags = {one: io.read(source.tag(one)) for one in plan.tags_to_copy}
        first = plan.snapshots_to_copy[0]
        replaced = SnapshotManager(io, own).find(first)
        manager = TagManager(io, own, table_name=self._table)
        with manager.guarded(
            [Snapshot.from_json(snapshots[snapshot], path=name) for snapshot in snapshots]
        ):
            self.layout(name)  # if it is there now, expiry has kept its files
            for tag in plan.tags_to_delete:
                manager.delete_younger(tag, first - 1)
            io.delete(own.latest_hint)  # without it the folder tells
            try:
                self._go_back(first, snapshots[first])
            finally:
                SnapshotManager(io, own).mend_latest_hint()
            for schema_id in plan.schemas_to_delete:
                io.delete(own.schema(schema_id))
            for schema_id, data in schemas.items():
                io.replace(own.schema(schema_id), data)
            self._copy_snapshots(snapshots, replaced)
            ours = SnapshotManager(io, own, table_name=self._table)
            ours.write_latest_hint(plan.snapshots_to_copy[-1])
            if plan.earliest is not None:
                write_hint(io, own.earliest_hint, plan.earliest)
            for tag, data in tags.items():
                io.replace(own.tag(tag), data)
            self._drop_older(first, plan)

    def _drop_older(self, first: int, plan: Forward) -> None:
        """Delete what is no history of the first snapshot, the oldest first, as expiry does."""
        io, own = self._file_io, self._layout
        changelogs = ChangelogManager(io, own)
        changelogs.delete_after(0 if plan.snapshots_to_drop else first - 1)
        for snapshot_id in plan.snapshots_to_drop:
            path = own.snapshot(snapshot_id)
            take_back(io, path, lambda _: True, may_go=lambda: SnapshotManager(io, own).has(first))

    def _go_back(self, first: int, data: bytes) -> None:
        """Delete the newer snapshots, newest first, also those that others commit meanwhile.

        The first snapshot of the other branch is there already, so the table is never empty.
        """
        ours = SnapshotManager(self._file_io, self._layout)
        self._file_io.publish(self._layout.snapshot(first), data)
        while younger := [one for one in ours.ids() if one > first]:
            for snapshot_id in reversed(younger):
                if not ours.has(first):
                    raise self._overtaken(first)
                # Others may have let all expire but this one.
                path = self._layout.snapshot(snapshot_id)
                take_back(self._file_io, path, lambda _: True, may_go=lambda: bool(ours.ids()))

    def _copy_snapshots(self, snapshots: Mapping[int, bytes], replaced: Snapshot | None) -> None:
        """Put snapshots in place, oldest first; the first one may replace one that was there."""
        io, ours = self._file_io, SnapshotManager(self._file_io, self._layout)
        before: Snapshot | None = None
        for snapshot_id, data in snapshots.items():
            path = self._layout.snapshot(snapshot_id)
            snapshot = Snapshot.from_json(data, path=path)
            if before is None and not ours.still_has(snapshot):
                if replaced is None or ours.find(snapshot_id) != replaced:
                    raise self._overtaken(snapshot_id)
                io.replace(path, data)
            elif before is not None and not io.publish(path, data) and not ours.still_has(snapshot):
                raise self._overtaken(snapshot_id)
            if not ours.still_has(snapshot if before is None else before):
                # All before it may have expired: then nothing is left but this one.
                take_back(io, path, data.__eq__, may_go=lambda: bool(ours.ids()))
                if not ours.still_has(snapshot):
                    raise self._overtaken(snapshot_id)
            before = snapshot

    def _overtaken(self, snapshot_id: int) -> CommitError:
        return CommitError(
            f"{self._table}: others changed snapshot {snapshot_id} while the branch was being "
            "taken over. Look at the table, then forward once more if that is still wanted"
        )

    def _plan_forward(
        self, source: TableLayout, name: str, goes_on: Callable[[Snapshot, Snapshot], bool]
    ) -> Forward:
        theirs = SnapshotManager(self._file_io, source, table_name=self._table)
        ids = theirs.ids()
        if not ids:
            hint = f"Branch {name!r} has no snapshot, so there is nothing to go on with."
            raise SnapshotNotFoundError(self._table, "to forward to", hint)
        ours = SnapshotManager(self._file_io, self._layout, table_name=self._table)
        tags = TagManager(self._file_io, self._layout, table_name=self._table)
        their_tags = self._file_io.list_names(source.tag_folder)
        first = theirs.get(ids[0])
        before = ours.find(first.id - 1)
        return plan_forward(
            ours=ours.ids(),
            theirs=ids,
            goes_on=before is not None and goes_on(before, first),
            first_schema=first.schema_id,
            our_schemas=SchemaManager(self._file_io, self._layout).ids(),
            their_schemas=SchemaManager(self._file_io, source).ids(),
            our_tags={tag: one.id for tag, one in tags.list()},
            their_tags=[
                their_tag.removeprefix(TAG_PREFIX) for their_tag in their_tags if _is_tag(their_tag)
            ],
        )

    def _fill(self, folder: str, snapshot: Snapshot | None, tag: str | None) -> None:
        schemas = SchemaManager(self._file_io, self._layout, table_name=self._table)
        for schema_id in schemas.ids():
            if snapshot is None or schema_id <= snapshot.schema_id:
                data = self._file_io.read(self._layout.schema(schema_id))
                self._file_io.write(join(folder, "schema", f"schema-{schema_id}"), data)
        if snapshot is not None:
            path = join(folder, "snapshot", f"snapshot-{snapshot.id}")
            self._file_io.write(path, snapshot.to_json())
        if tag is not None:
            data = self._file_io.read(self._layout.tag(tag))
            self._file_io.write(join(folder, "tag", f"{TAG_PREFIX}{tag}"), data)

    @contextmanager
    def _found(self, name: str) -> Iterator[None]:
        """Turn missing files into `BranchNotFoundError`."""
        try:
            yield
        except FileNotFoundError:
            raise BranchNotFoundError(self._table, name, self.names()) from None

    def _is_kept(self, snapshot: Snapshot, tag: str | None) -> bool:
        if SnapshotManager(self._file_io, self._layout).still_has(snapshot):
            return True
        tags = TagManager(self._file_io, self._layout)
        with suppress(TagNotFoundError):
            return tag is not None and tags.get(tag).to_snapshot() == snapshot
        return False

    def _take_back(self, folder: str, snapshot: Snapshot) -> None:
        """Delete a branch, unless others created it again or changed it."""
        names = self._file_io.list_names(join(folder, "snapshot"))
        path = join(folder, "snapshot", f"snapshot-{snapshot.id}")
        is_alone = numbered(names, SNAPSHOT_PREFIX) == [snapshot.id]
        if is_alone and self._file_io.read(path) == snapshot.to_json():
            self._file_io.delete_directory(folder)


def check_branch_name(name: str) -> str:
    """Return the name of a branch but the main one.

    Raises
    ------
    ValueError
        If no branch can have it.
    """
    if name == MAIN_BRANCH:
        raise ValueError(f"{name!r} is the name of the main branch")
    if not name.strip() or name.isdecimal() or "/" in name or "$" in name:
        raise ValueError(
            f"{name!r} cannot be the name of a branch: it is blank, only digits, or holds '/' "
            "or '$'"
        )
    try:
        safe_join("/", f"{BRANCH_PREFIX}{name}")
    except CorruptMetadataError as error:
        raise ValueError(f"{name!r} cannot be the name of a branch") from error
    return name


def _is_tag(name: str) -> bool:
    is_one = name.startswith(TAG_PREFIX) and len(name) > len(TAG_PREFIX)
    return is_one and name != "tag-success-file"
