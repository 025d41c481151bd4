"""Orphan files, which nothing refers to: left by crashes, lost races and abandoned writes.

Candidates are listed first and what is needed is read after that: in the other order a commit in
between would lose its files. They are matched by name, as names are given once.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.OrphanFilesClean``,
``…LocalOrphanFilesClean``.
"""

from __future__ import annotations

import logging
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from paimonlab import clock
from paimonlab.errors import CorruptMetadataError, SnapshotNotFoundError, UnsupportedError
from paimonlab.maintenance.deletion import delete_unneeded
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.maintenance.roots import (
    Root,
    RootKey,
    changelogs_of,
    tags_of,
    without_lost_changelog,
)
from paimonlab.maintenance.stored_files import StoredFile, check_alone, stored_files
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.unneeded import FileSort, UnneededFile
from paimonlab.maintenance.used_names import used_names
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.layout import MIGRATION_PLAN, TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.snapshots import SnapshotManager
from paimonlab.metadata.tags import TagManager
from paimonlab.progress import Progress
from paimonlab.storage import FileIO, join
from paimonlab.workers import Workers, side_by_side

logger = logging.getLogger(__name__)

LEAST_AGE = timedelta(days=1)
"""Newer files may belong to a commit that is under way."""
_PAST = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class OrphanFile:
    """A file that nothing refers to."""

    path: str
    """Absolute."""
    sort: FileSort
    size_bytes: int
    modified: datetime
    """By the store's clock."""
    age: timedelta
    """When it was listed."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OrphanFiles:
    """The orphan files of a table that are old enough to be deleted."""

    table: str
    older_than: datetime
    """Newer files were left out."""
    files: tuple[OrphanFile, ...] = field(default=(), repr=False)
    """By path."""
    seen: frozenset[RootKey] = field(default=frozenset(), repr=False, compare=False)
    """The snapshots, tags and changelogs that were read."""

    @property
    def is_empty(self) -> bool:
        """Whether there are none."""
        return not self.files

    @property
    def size_bytes(self) -> int:
        """Bytes of all of them."""
        return sum(file.size_bytes for file in self.files)

    @property
    def paths(self) -> tuple[str, ...]:
        """Absolute paths."""
        return tuple(file.path for file in self.files)

    def counts(self) -> Mapping[str, int]:
        """How many files of each kind there are."""
        return Counter(file.sort for file in self.files)

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        """Describe it in words."""
        head = (
            f"{self.table}: {len(self.files):,} orphan files, {self.size_bytes:,} bytes, older "
            f"than {self.older_than:%Y-%m-%d %H:%M:%S%z}"
        )
        lines = [
            f"  {file.path}  {file.sort}, {file.size_bytes:,} bytes, {file.age.days} days old"
            for file in self.files
        ]
        return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanFilesRequest:
    """Which orphan files are to be deleted, or only found."""

    older_than_millis: int | None = None
    """Epoch milliseconds: files written since are left out; None: those of the last day."""
    dry_run: bool = True
    force: bool = False
    """Whether files of the last day may be deleted, as nobody writes to the table."""
    progress: Progress | None = None
    """Called with how many snapshots were read, and how many files are deleted."""
    workers: Workers = side_by_side
    """What lists the folders of data files."""


def remove_orphan_files(history: TableHistory, request: OrphanFilesRequest) -> OrphanFiles:
    """Find orphan files, and delete them if asked to; see `Maintenance.remove_orphan_files`."""
    now = datetime.now(UTC) if request.dry_run else clock_of(history.file_io, history.layout)
    older_than = oldest_kept(
        request.older_than_millis, now, may_be_recent=request.dry_run or request.force
    )
    check_alone(history)
    orphans = find_orphans(
        history, older_than=older_than, progress=request.progress, workers=request.workers
    )
    if request.dry_run:
        return orphans
    return remove_orphans(orphans, history, progress=request.progress)


def oldest_kept(older_than_millis: int | None, now: datetime, *, may_be_recent: bool) -> datetime:
    """Return the time since when files are kept.

    Raises
    ------
    ValueError
        If it is not past, or less than a day ago and may not be.
    """
    older_than = now - LEAST_AGE
    if older_than_millis is not None:
        older_than = datetime.fromtimestamp(older_than_millis / 1000, UTC)
    if now - older_than < _PAST:
        raise ValueError(
            f"older_than = {older_than} is not in the past: files of commits that are under way "
            "would be deleted"
        )
    is_recent = now - older_than < LEAST_AGE - timedelta(minutes=1)
    if is_recent and not may_be_recent:
        raise ValueError(
            f"older_than = {older_than} is less than a day ago: files of a write that is under way "
            "may be deleted. Pass force=True if nobody writes to the table"
        )
    return older_than


def find_orphans(
    history: TableHistory,
    *,
    older_than: datetime,
    progress: Progress | None = None,
    workers: Workers = side_by_side,
) -> OrphanFiles:
    """Find the orphan files of all branches of a table; delete nothing.

    Parameters
    ----------
    history
        The history of any branch.
    older_than
        With a zone; compared with the store's clock.
    progress
        Called with the number of snapshots read.
    workers
        What lists the folders of data files.

    Raises
    ------
    CorruptMetadataError
        If metadata cannot be read, so that it is unclear what is needed, or a branch has no schema.
    UnsupportedError
        If a migration into the table is not finished, or files may be BLOB values that only rows
        refer to.
    """
    io, layout = history.file_io, history.layout.on_branch(None)
    if io.has_file(join(layout.table_path, MIGRATION_PLAN)):
        raise UnsupportedError(
            f"looking for orphan files of {history.name}",
            "a migration into it is not finished, and its files look like orphans; call "
            "migrate_folder again",
        )
    branches = _branches(layout, io)
    now = datetime.now(UTC)
    cutoff = int(older_than.timestamp() * 1000)
    old_files = list(stored_files(history, branches, before_millis=cutoff, workers=workers))
    copies = _last_copies(branches, io)
    old_files = [file for file in old_files if file.name not in copies]
    # A branch that was created since may need files that were listed.
    roots = list(_roots(_branches(layout, io), io)) if old_files else []
    used = used_names(roots, layout, io, {file.name for file in old_files}, progress)
    orphans = [_orphan(file, now) for file in old_files if file.name not in used]
    _check_blobs(orphans, branches, history)
    return OrphanFiles(
        table=history.name,
        older_than=older_than,
        files=tuple(sorted(orphans, key=lambda file: file.path)),
        seen=frozenset(root.key for root in roots),
    )


def remove_orphans(
    orphans: OrphanFiles, history: TableHistory, *, progress: Progress | None = None
) -> OrphanFiles:
    """Delete orphan files, unless something refers to them by now.

    Returns
    -------
    OrphanFiles
        What was deleted.
    """
    io, layout = history.file_io, history.layout.on_branch(None)
    roots = [root for root in _roots(_branches(layout, io), io) if root.key not in orphans.seen]
    names = {file.path.rpartition("/")[2] for file in orphans.files}
    used = used_names(roots, layout, io, names, None)
    files = [file for file in orphans.files if file.path.rpartition("/")[2] not in used]
    gone = [
        UnneededFile(file.path, file.sort, file.size_bytes, "nothing names it") for file in files
    ]
    gone.sort(key=lambda file: file.sort)
    threads = history.options.slice(ExpireOptions).threads
    delete_unneeded(gone, io, table=history.name, threads=threads, progress=progress)
    done = replace(orphans, files=tuple(files))
    logger.info("%s: %d orphan files deleted, %d bytes", history.name, len(files), done.size_bytes)
    return done


def clock_of(file_io: FileIO, layout: TableLayout) -> datetime:
    """Return the time by the store's clock, or by this machine's if that is earlier."""
    path = join(layout.manifest_folder, f".clock-{uuid.uuid4()}.tmp")
    now = clock.now_millis()
    try:
        file_io.write(path, b"")
        times = [
            status.modified_millis
            for status in file_io.list(layout.manifest_folder)
            if status.path == path
        ]
    finally:
        file_io.delete(path)
    return datetime.fromtimestamp(min([now, *times]) / 1000, UTC)


def _orphan(file: StoredFile, now: datetime) -> OrphanFile:
    modified = datetime.fromtimestamp(file.status.modified_millis / 1000, UTC)
    return OrphanFile(file.status.path, file.sort, file.status.size_bytes, modified, now - modified)


def _branches(layout: TableLayout, file_io: FileIO) -> list[TableLayout]:
    """Return all branches.

    Raises
    ------
    CorruptMetadataError
        If one has no schema: it may need any file.
    """
    names = BranchManager(file_io, layout).names()
    branches = [layout, *(layout.on_branch(name) for name in names)]
    for branch in branches:
        if not SchemaManager(file_io, branch).ids():
            raise CorruptMetadataError(
                branch.schema_folder,
                "there is no schema, so that it is unclear what the branch needs; restore or "
                "delete it",
            )
    return branches


def _check_blobs(
    orphans: Sequence[OrphanFile], branches: Sequence[TableLayout], history: TableHistory
) -> None:
    """Refuse to call files orphans that rows refer to, and no manifest.

    Values of BLOB columns that ``blob-external-storage-field`` names are in files of their own
    below ``blob-external-storage-path``, which may be in a folder of the table. A schema that had
    the option still counts: rows from then are there.

    Source: apache/paimon@1.4.2 ``org.apache.paimon.append.ExternalStorageBlobWriter``.
    """
    blobs = [file.path for file in orphans if file.path.endswith(".blob")]
    if not blobs:
        return
    for branch in branches:
        schemas = SchemaManager(history.file_io, branch)
        for schema_id in schemas.ids():
            path = schemas.get(schema_id).options.get(_BLOB_PATH)
            if path is not None:
                raise UnsupportedError(
                    f"looking for orphan files of {history.name} with {_BLOB_PATH} = {path!r}",
                    f"rows may refer to {blobs[0]}, and BLOB values are not read here; move the "
                    "files that rows refer to out of the table's folders",
                )


_BLOB_PATH = "blob-external-storage-path"


def _last_copies(branches: Iterable[TableLayout], file_io: FileIO) -> frozenset[str]:
    """Return the names of guards of snapshots that are nowhere else.

    Whoever moved one aside may be about to put it back, or died before that; a guard is as old as
    its snapshot. That of one that expired is the last copy only until the next expires.
    """
    names = set[str]()
    for branch in branches:
        guards = TagManager(file_io, branch).guards()
        ids = SnapshotManager(file_io, branch).ids() if guards else []
        for path, tag in guards:
            snapshot_id = tag.to_snapshot().id
            if snapshot_id not in ids and (not ids or snapshot_id >= ids[0] - 1):
                names.add(path.rpartition("/")[2])
    return frozenset(names)


def _roots(branches: Iterable[TableLayout], file_io: FileIO) -> Iterator[Root]:
    for branch in branches:
        # Tags before snapshots, snapshots before changelogs: the way in which they are made.
        yield from tags_of(branch, file_io)
        for place, snapshot in enumerate(SnapshotManager(file_io, branch).list()):
            needs = snapshot if place else without_lost_changelog(snapshot, branch, file_io)
            yield Root(branch.snapshot(snapshot.id), needs, "commit")
        yield from _changelogs(branch, file_io)


def _changelogs(branch: TableLayout, file_io: FileIO) -> list[Root]:
    try:
        return changelogs_of(branch, file_io)
    except SnapshotNotFoundError:  # one expired while they were listed
        return changelogs_of(branch, file_io)
