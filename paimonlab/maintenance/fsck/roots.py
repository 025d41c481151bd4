"""The roots of a table: its schemas, and the documents that name manifest lists."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NoReturn, TypeVar

import pyarrow as pa

from paimonlab.errors import PaimonError
from paimonlab.maintenance.fsck.notes import Notes
from paimonlab.maintenance.roots import without_lost_changelog
from paimonlab.metadata.hints import numbered
from paimonlab.metadata.layout import (
    CHANGELOG_PREFIX,
    GUARD_END,
    SNAPSHOT_PREFIX,
    TAG_PREFIX,
    TableLayout,
)
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.storage import FileIO
from paimonlab.storage.together import asked_together, both

Read = TypeVar("Read")
_HOLE = "Restore it; who looks for the newest one may stop here."
_NO_CHANGELOG = "the file is missing: what the oldest snapshot changed cannot be read"
_OF_TAG = "That is right if the snapshot came from a tag that was deleted; else restore the file."
_ASIDE = "Move the copy there; who looks for the newest one may stop here."
_NEWEST_ASIDE = (
    "Move the copy there if its rows are wanted; delete it if a rollback was to take them back."
)
_EXPIRED = (
    "Delete it, unless an expiry runs: one was ended before it did, and some of the snapshot's "
    "files may be deleted already."
)
_LEFT_OVER = (
    "Leave it while a tag or a branch is created or a rollback runs; else delete it, or remove "
    "orphan files once it is old. Until then no file of the snapshot expires."
)
_HINT = "Delete the hint: it will be written again by the next commit."


@dataclass(frozen=True, slots=True)
class Root:
    """A document that names manifest lists."""

    name: str
    """For messages: ``snapshot-3``, ``tag-a``, ``branch-b/snapshot-1``."""
    path: str
    snapshot: Snapshot
    is_changelog: bool = False
    """Whether only its changelog is still there."""
    is_tag: bool = False
    """Whether it keeps its rows, but not its changelog."""


@dataclass(frozen=True, slots=True)
class Branch:
    """What a branch has of its own."""

    layout: TableLayout
    schemas: Mapping[int, TableSchema]
    roots: Sequence[Root]

    @property
    def schema(self) -> TableSchema | None:
        """The latest schema that can be read."""
        return self.schemas[max(self.schemas)] if self.schemas else None


def read_branch(file_io: FileIO, layout: TableLayout, notes: Notes) -> Branch:
    """Read the schemas, snapshots, tags and changelogs of a branch, and check them."""
    reader = _Reader(file_io, layout, notes)
    # A hint is read before snapshots are listed: a commit or an expiry since makes it no wrong one.
    ids, hints = both(layout.table_path, reader.schema_ids, reader.hints)
    schemas, of_snapshots = both(
        layout.table_path,
        lambda: reader.schemas(ids),
        lambda: reader.listed(layout.snapshot_folder),
    )
    of_tags, of_changelogs = both(
        layout.table_path,
        lambda: reader.listed(layout.tag_folder),
        lambda: reader.listed(layout.changelog_folder),
    )
    names = reader.names(layout.tag_folder, of_tags)
    snapshots = reader.snapshots(reader.names(layout.snapshot_folder, of_snapshots), names, hints)
    _check_chain(snapshots, notes)
    tags = list(reader.tags(names))
    snapshots[:1] = [reader.without_lost_changelog(first, tags) for first in snapshots[:1]]
    changelogs = reader.changelogs(reader.names(layout.changelog_folder, of_changelogs))
    roots = [*snapshots, *tags, *changelogs]
    for root in roots:
        schema_id = root.snapshot.schema_id
        if schema_id not in schemas:
            notes.add(layout.schema(schema_id), "the file is missing", referrer=root.name)
    notes.counts["branches"] += 1
    return Branch(layout, schemas, roots)


@dataclass(frozen=True, slots=True)
class _Reader:
    file_io: FileIO
    layout: TableLayout
    notes: Notes

    def schema_ids(self) -> Sequence[int]:
        ids = list[int]()
        with self.notes.taken(self.layout.schema_folder):
            ids.extend(SchemaManager(self.file_io, self.layout).ids())
        return ids

    def schemas(self, ids: Sequence[int]) -> dict[int, TableSchema]:
        manager = SchemaManager(self.file_io, self.layout)
        schemas = {}
        self._check_holes(ids, self.layout.schema, first=0)
        read = self._together([partial(manager.get, schema_id) for schema_id in ids])
        for schema_id, given in zip(ids, read, strict=True):
            with self.notes.taken(self.layout.schema(schema_id)):
                schemas[schema_id] = given()
                self.notes.counts["schemas"] += 1
        if not ids:
            self.notes.add(self.layout.schema_folder, "there is no schema")
        return schemas

    def snapshots(
        self, listed: Sequence[str], beside: Sequence[str], hints: Sequence[Callable[[], bytes]]
    ) -> list[Root]:
        """Return the snapshots; ``beside`` them are tags and copies of snapshots."""
        ids = numbered(listed, SNAPSHOT_PREFIX)
        aside = self._check_copies(ids, sorted(name for name in beside if name.endswith(GUARD_END)))
        self._check_holes(ids, self.layout.snapshot, known=aside)
        self._check_hints(ids, hints)
        return [*self._documents(ids, self.layout.snapshot, SNAPSHOT_PREFIX, "snapshots")]

    def _check_copies(self, ids: Sequence[int], names: Sequence[str]) -> set[int]:
        """Note copies of snapshots that operations left; return those that are nowhere else.

        An operation that is under way has such copies for a moment, so each is looked for again.
        """
        aside = set[int]()
        for name in names:
            path = f"{self.layout.tag_folder}/{name}"
            for snapshot_id in numbered([name.split(".")[1]], TAG_PREFIX):
                original = self.layout.snapshot(snapshot_id)
                with self.notes.taken(path):
                    if self.file_io.exists(original):
                        if self.file_io.exists(path):
                            problem = f"it is a copy of snapshot {snapshot_id}, which is there"
                            self.notes.add(path, problem, advice=_LEFT_OVER, severity="warning")
                    elif self.file_io.exists(path):
                        aside.add(snapshot_id)
                        self._note_aside(original, path, snapshot_id, ids)
        return aside

    def _note_aside(self, original: str, path: str, snapshot_id: int, ids: Sequence[int]) -> None:
        """Note a snapshot that was moved to where guards are."""
        if ids and snapshot_id < ids[0]:
            problem = f"it is the only copy of snapshot {snapshot_id}, which came before the oldest"
            self.notes.add(path, problem, advice=_EXPIRED, severity="warning")
            return
        is_newest = not ids or snapshot_id > ids[-1]
        problem = f"the file is missing, its only copy is {path}"
        if is_newest:
            self.notes.add(original, problem, advice=_NEWEST_ASIDE, severity="warning")
        else:
            self.notes.add(original, problem, advice=_ASIDE)

    def changelogs(self, listed: Sequence[str]) -> list[Root]:
        ids = numbered(listed, CHANGELOG_PREFIX)
        return list(self._documents(ids, self.layout.changelog, CHANGELOG_PREFIX, "changelogs"))

    def tags(self, names: Sequence[str]) -> Iterator[Root]:
        ours = sorted(name for name in names if name.startswith(TAG_PREFIX))
        paths = [f"{self.layout.tag_folder}/{name}" for name in ours]
        for name, path, given in zip(ours, paths, self._read(paths), strict=True):
            with self.notes.taken(path):
                tag = Tag.from_json(given(), path=path)
                self.notes.counts["tags"] += 1
                yield Root(self._named(name), path, tag, is_tag=True)

    def without_lost_changelog(self, first: Root, tags: Sequence[Root]) -> Root:
        """Return the first snapshot like a tag if it came from one, which kept no changelog."""
        lost = first.snapshot.changelog_manifest_list
        with self.notes.taken(first.path, referrer=first.name):
            if without_lost_changelog(first.snapshot, self.layout, self.file_io) == first.snapshot:
                lost = None
        if lost is None:
            return first
        written = first.snapshot.delta_manifest_list
        if written not in {tag.snapshot.delta_manifest_list for tag in tags}:
            path = f"{self.layout.manifest_folder}/{lost}"
            self.notes.add(
                path, _NO_CHANGELOG, referrer=first.name, advice=_OF_TAG, severity="warning"
            )
        return replace(first, is_tag=True)

    def _documents(
        self, ids: Sequence[int], path_of: Callable[[int], str], prefix: str, what: str
    ) -> Iterator[Root]:
        paths = [path_of(number) for number in ids]
        for number, path, given in zip(ids, paths, self._read(paths), strict=True):
            with self.notes.taken(path):
                snapshot = Snapshot.from_json(given(), path=path)
                self.notes.counts[what] += 1
                if snapshot.id != number:
                    self.notes.add(path, f"it says that it is snapshot {snapshot.id}")
                is_changelog = prefix == CHANGELOG_PREFIX
                yield Root(self._named(f"{prefix}{number}"), path, snapshot, is_changelog)

    def _read(self, paths: Sequence[str]) -> list[Callable[[], bytes]]:
        """Read files together."""
        return self._together([partial(self.file_io.read, path) for path in paths])

    def _together(self, reads: Sequence[Callable[[], Read]]) -> list[Callable[[], Read]]:
        """Read together, and return what gives what was read, or raises what reading raised."""
        return asked_together(self.layout.table_path, [partial(_outcome, read) for read in reads])

    def _named(self, name: str) -> str:
        branch = self.layout.branch
        return f"branch-{branch}/{name}" if branch else name

    def _check_holes(
        self,
        ids: Sequence[int],
        path_of: Callable[[int], str],
        *,
        first: int | None = None,
        known: Collection[int] = (),
    ) -> None:
        """Note ids that are missing, but for those that are known to be."""
        if not ids:
            return
        known = {*ids, *known}
        for missing in range(ids[0] if first is None else first, ids[-1]):
            if missing not in known:
                self.notes.add(path_of(missing), "the file is missing", advice=_HOLE)

    def hints(self) -> Sequence[Callable[[], bytes]]:
        """Read the hints: that of the newest snapshot, that of the oldest."""
        return self._read([self.layout.latest_hint, self.layout.earliest_hint])

    def _check_hints(self, ids: Sequence[int], hints: Sequence[Callable[[], bytes]]) -> None:
        paths = (self.layout.latest_hint, self.layout.earliest_hint)
        for path, given in zip(paths, hints, strict=True):
            with self.notes.taken(path, advice=_HINT), suppress(FileNotFoundError):
                self._check_hint(path, given(), ids)

    def _check_hint(self, path: str, data: bytes, ids: Sequence[int]) -> None:
        text = data.strip()
        if not text.isdigit():
            problem = f"it holds {text[:20]!r}, not the id of a snapshot"
            self.notes.add(path, problem, advice=_HINT, severity="warning")
        elif path == self.layout.latest_hint and (not ids or int(text) > ids[-1]):
            newest = f"the newest is {ids[-1]}" if ids else "there is none"
            problem = f"it names snapshot {int(text)}, but {newest}"
            advice = "Restore the snapshot; or delete the hint to go on without it."
            self.notes.add(path, problem, advice=advice)
        elif path == self.layout.earliest_hint and ids and int(text) > ids[0]:
            problem = f"it names snapshot {int(text)}, but the oldest is {ids[0]}"
            self.notes.add(path, problem, advice=_HINT, severity="warning")

    def listed(self, folder: str) -> Callable[[], Sequence[str]]:
        """List a folder, and return what gives the names, or raises what that raised."""
        return _outcome(partial(self.file_io.list_names, folder))

    def names(self, folder: str, listed: Callable[[], Sequence[str]]) -> Sequence[str]:
        """Return the names in a folder that was listed; what failed is noted."""
        names: list[str] = []
        with self.notes.taken(folder):
            names.extend(listed())
        return names


def _outcome(read: Callable[[], Read]) -> Callable[[], Read]:
    try:
        made = read()
    except (PaimonError, OSError, pa.ArrowException) as error:
        return partial(_raise, error)
    return lambda: made


def _raise(error: Exception) -> NoReturn:
    raise error


def _check_chain(snapshots: Sequence[Root], notes: Notes) -> None:
    """Check that the row counts of snapshots follow from each other."""
    for before, after in pairwise(snapshots):
        old, new = before.snapshot, after.snapshot
        counts = (old.total_record_count, new.delta_record_count, new.total_record_count)
        if new.id != old.id + 1 or None in counts:
            continue
        expected = (old.total_record_count or 0) + (new.delta_record_count or 0)
        if expected != new.total_record_count:
            notes.add(
                after.path,
                f"it says that there are {new.total_record_count:,} rows, but by {before.name} "
                f"and its own changes there are {expected:,}",
                advice="Counts are wrong that come from metadata alone.",
            )
