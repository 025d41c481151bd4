"""A table in memory, what may be done with it, and what has to be true of it afterwards."""

from __future__ import annotations

import functools
import itertools
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from paimonlab.commit.committer import Committer
from paimonlab.commit.options import CommitOptions
from paimonlab.commit.publisher import RenamelessPublisher
from paimonlab.commit.scope import OverwriteScope
from paimonlab.errors import (
    CommitHistoryExpiredError,
    CommitOutcomeUnknownError,
    PaimonError,
    PostCommitError,
)
from paimonlab.maintenance import changelog_expiry
from paimonlab.maintenance.retention import Retention
from paimonlab.maintenance.rollback import roll_back
from paimonlab.maintenance.snapshot_expiry import ChangelogKeeping, expire, plan_expiry
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.tag_deletion import delete_tag
from paimonlab.metadata.hints import numbered, read_hint
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.lineage import goes_on
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import EMPTY_ROW
from paimonlab.spec.manifests.manifest import FileKind, ManifestFileMeta
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.schema.schema_changes import AddColumn, apply_changes
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of
from tests.interleaving.memory_store import Files, MemoryStore, nothing
from tests.small_tables import data_file

LAYOUT = TableLayout("/t")
Result = Literal["done", "refused", "unknown"]
_NOW = 1_800_000_000_000
_OLD = 2**62
BEFORE = ("a1", "a2", "a3", "a4")
"""The files that the table has, each added by the snapshot of that number."""


@dataclass
class Act:
    """Something that was done, or tried."""

    operation: str
    start: int
    added: str | None = None
    """A data file that comes with it."""
    removed: tuple[str, ...] = ()
    """Data files that go with it."""
    tag: str | None = None
    names: str | None = None
    """The list of changes that the tag names."""
    branch: str | None = None
    column: str | None = None
    end: int = 0
    result: Result = "done"
    error: str = ""


class Names:
    """Names that are the same whenever the same is done, and never for what differs.

    Those of two objects differ, too: this process remembers manifests by their names.
    """

    _made = itertools.count()

    def __init__(self) -> None:
        self._first = next(self._made) << 40
        self._labels: dict[object, int] = {}
        self._counts: dict[int, Iterable[int]] = {}
        self._label = 0

    def of(self, label: object) -> int:
        """Take a label; return the one before."""
        before = self._label
        self._label = self._labels.setdefault(label, self._first + len(self._labels) + 1)
        self._counts[self._label] = itertools.count()
        return before

    def back_to(self, number: int) -> None:
        """Go on with an earlier label."""
        self._label = number

    def uuid4(self) -> uuid.UUID:
        """Stand in for the function of that name."""
        counts = self._counts.setdefault(self._label, itertools.count())
        return uuid.UUID(int=(self._label << 64) + next(iter(counts)))


@dataclass
class World:
    """A table that several processes work on, one step of one of them at a time."""

    files: Files
    acts: list[Act] = field(default_factory=list)
    clock: int = 0

    def now(self) -> int:
        """Return the next moment."""
        self.clock += 1
        return self.clock


@dataclass(frozen=True)
class Operation:
    """Something that a process does to the table."""

    name: str
    run: Callable[[Process, Act], None]


class Process:
    """Opens the table; remembers nothing of what others opened."""

    def __init__(self, world: World, before: Callable[[str, str], None] = nothing) -> None:
        self.world = world
        self.store = MemoryStore(world.files, before)

    def perform(self, operation: Operation) -> Act:
        """Do something; what it was told stays in the act."""
        act = Act(operation.name, self.world.now())
        self.world.acts.append(act)
        try:
            operation.run(self, act)
        except PostCommitError as error:
            act.error = repr(error)
        except (CommitOutcomeUnknownError, CommitHistoryExpiredError) as error:
            act.result, act.error = "unknown", repr(error)
        except PaimonError as error:
            act.result, act.error = "refused", repr(error)
        act.end = self.world.now()
        return act

    def opened(self, layout: TableLayout = LAYOUT) -> TableStore:
        """Open it for upkeep."""
        publisher = RenamelessPublisher(self.store, layout)
        return TableStore(name="db.t", file_io=self.store, layout=layout, publisher=publisher)

    @property
    def history(self) -> TableHistory:
        """What its upkeep works on."""
        store = self.opened()
        schema = store.schemas.latest()
        assert isinstance(schema, TableSchema)
        return history_of(TableDefinition.of_schema("db.t", schema), store)

    def committer(self, layout: TableLayout = LAYOUT, store: TableStore | None = None) -> Committer:
        """Open it for commits, or take what is open."""
        opened = store or self.opened(layout)
        return Committer(
            "db.t",
            self.store,
            layout,
            snapshots=opened.snapshots,
            manifests=opened.manifests,
            schemas=opened.schemas,
            publisher=opened.publisher,
            options=CommitOptions(),
            now_millis=lambda: _NOW,
        )

    def new_file(self) -> str:
        """Write a data file."""
        name = f"f{uuid.uuid4().hex}"
        self.world.files[path_of(name)] = b"rows"
        return name


def path_of(name: str) -> str:
    """Return where a data file is."""
    return LAYOUT.data_file("bucket-0", name)


def message(
    *, new: Iterable[str] = (), before: Iterable[str] = (), after: Iterable[str] = ()
) -> CommitMessage:
    """Describe what is committed."""
    return CommitMessage(
        partition=EMPTY_ROW,
        bucket=0,
        total_buckets=-1,
        new_files=tuple(map(data_file, new)),
        compact_before=tuple(map(data_file, before)),
        compact_after=tuple(map(data_file, after)),
    )


def made() -> Files:
    """Return a table of four snapshots, a tag of the first, and a branch that went its own way."""
    world = World({})
    process = Process(world)
    schema = new_table_schema(Schema({"id": "BIGINT"}), time_millis=0)
    process.store.publish(LAYOUT.schema(0), schema.to_json())
    for name in BEFORE:
        world.files[path_of(name)] = b"rows"
        process.committer().append([message(new=[name])], user=name, identifier=1)
    opened = process.opened()
    opened.tags.create("t1", opened.snapshots.get(1))
    opened.tags.create("t3", opened.snapshots.get(3))
    opened.branches.create("dev", snapshot=opened.snapshots.get(2))
    world.files[path_of("d1")] = b"rows"
    dev = LAYOUT.on_branch("dev")
    process.committer(dev).append([message(new=["d1"])], user="d1", identifier=1, is_new_user=True)
    return world.files


# --- what is done ------------------------------------------------------------------------


def _append(process: Process, act: Act) -> None:
    act.added = process.new_file()
    process.committer().append(
        [message(new=[act.added])], user=act.added, identifier=1, is_new_user=True
    )


def _append_after_own(process: Process, act: Act) -> None:
    """Commit twice; the second commit follows the first without looking for others."""
    committer = process.committer()
    seen = committer.append(
        [], user=str(uuid.uuid4()), identifier=1, properties={"x": "y"}, is_new_user=True
    )
    assert seen is not None
    act.added = process.new_file()
    committer.append(
        [message(new=[act.added])], user=act.added, identifier=1, is_new_user=True, seen=seen
    )


def _append_after_seen(process: Process, act: Act) -> None:
    """Commit upon what was the latest snapshot before, without looking for others again."""
    store = process.opened()
    committer = process.committer(store=store)
    committer.append(
        [], user=str(uuid.uuid4()), identifier=1, properties={"x": "y"}, is_new_user=True
    )
    seen = store.snapshots.latest()
    act.added = process.new_file()
    committer.append(
        [message(new=[act.added])], user=act.added, identifier=1, is_new_user=True, seen=seen
    )


def _append_again(process: Process, act: Act) -> None:
    """Commit as one who commits the same once more when in doubt."""
    act.added = process.new_file()
    messages = [message(new=[act.added])]
    for attempt in range(3):
        try:
            process.committer().append(messages, user=act.added, identifier=1)
        except CommitOutcomeUnknownError:
            if attempt == 2:
                raise
        else:
            return


def _say(process: Process, act: Act) -> None:
    process.committer().append(
        [], user=str(uuid.uuid4()), identifier=1, properties={"x": "y"}, is_new_user=True
    )


def _compact(process: Process, act: Act) -> None:
    before = [name for name in ("a1", "a2") if _is_alive(process, name)]
    if len(before) < 2:
        return
    act.added, act.removed = process.new_file(), tuple(before)
    process.committer().append(
        [message(before=before, after=[act.added])],
        user=act.added,
        identifier=1,
        is_new_user=True,
    )


def _overwrite(process: Process, act: Act) -> None:
    act.added, act.removed = process.new_file(), ("*",)
    process.committer().overwrite(
        [message(new=[act.added])],
        scope=OverwriteScope.whole_table(),
        user=act.added,
        identifier=1,
        is_new_user=True,
    )


def _alter(process: Process, act: Act) -> None:
    column = f"c{uuid.uuid4().hex}"
    schemas = SchemaManager(process.store, LAYOUT)
    for _ in range(9):
        current = schemas.latest()
        assert current is not None
        changed = apply_changes(
            current, [AddColumn(column, "INT")], has_snapshots=True, time_millis=0
        )
        if schemas.publish(changed):
            act.column = column
            return
    raise AssertionError("nobody alters that often")


def _expire(kept: int, *, keeps_changes: bool = False) -> Callable[[Process, Act], None]:
    def run(process: Process, act: Act) -> None:
        history = process.history
        retention = Retention(retain_max=kept, retain_min=kept, older_than_millis=_OLD)
        expire(plan_expiry(history, retention, ChangelogKeeping(keeps_changes)), history)

    return run


def _expire_changes(process: Process, act: Act) -> None:
    history = process.history
    retention = Retention(retain_max=1, retain_min=1, older_than_millis=_OLD)
    plan = changelog_expiry.plan_changelog_expiry(history, retention)
    changelog_expiry.expire(plan, history)


def _roll_back(process: Process, act: Act) -> None:
    act.removed = ("*",)
    opened = process.opened()
    roll_back(opened.snapshots.get(2), process.history)


def _roll_back_to_tag(process: Process, act: Act) -> None:
    act.removed = ("*",)
    opened = process.opened()
    roll_back(opened.tags.get("t1").to_snapshot(), process.history)


def _latest(process: Process) -> Snapshot:
    found = process.opened().snapshots.latest()
    assert found is not None
    return found


def _tag(process: Process, act: Act) -> None:
    latest = _latest(process)
    act.tag, act.names = f"n{uuid.uuid4().hex}", latest.delta_manifest_list
    process.opened().tags.create(act.tag, latest)


def _replace_tag(process: Process, act: Act) -> None:
    latest = _latest(process)
    act.tag, act.names = "t1", latest.delta_manifest_list
    process.opened().tags.replace("t1", latest)


def _delete_tag(process: Process, act: Act) -> None:
    act.tag = "t1"
    delete_tag("t1", process.history)


def _rename_tag(process: Process, act: Act) -> None:
    act.tag = "t1"
    process.opened().tags.rename("t1", "renamed")


def _branch(process: Process, act: Act) -> None:
    act.branch = f"b{uuid.uuid4().hex}"
    process.opened().branches.create(act.branch, snapshot=_latest(process))


def _delete_branch(process: Process, act: Act) -> None:
    act.branch = "dev"
    process.opened().branches.delete("dev")


def _rename_branch(process: Process, act: Act) -> None:
    act.branch = "dev"
    process.opened().branches.rename("dev", "renamed")


def _fast_forward(process: Process, act: Act) -> None:
    act.removed = ("*",)
    store = process.opened()
    store.branches.fast_forward("dev", partial(goes_on, manifests=store.manifests))


def _move_consumer(process: Process, act: Act) -> None:
    process.opened().consumers.reset("reader", _latest(process).id)


def _is_alive(process: Process, name: str) -> bool:
    opened = process.opened()
    latest = opened.snapshots.latest()
    return latest is not None and name in alive(latest, process.world.files)


OPERATIONS: Mapping[str, Operation] = {
    one.name: one
    for one in (
        Operation("append", _append),
        Operation("append after own", _append_after_own),
        Operation("append after seen", _append_after_seen),
        Operation("append, again if in doubt", _append_again),
        Operation("say", _say),
        Operation("compact", _compact),
        Operation("overwrite", _overwrite),
        Operation("alter", _alter),
        Operation("expire but one", _expire(1)),
        Operation("expire but two", _expire(2)),
        Operation("expire, keep changes", _expire(1, keeps_changes=True)),
        Operation("expire changes", _expire_changes),
        Operation("roll back", _roll_back),
        Operation("roll back to tag", _roll_back_to_tag),
        Operation("tag", _tag),
        Operation("replace tag", _replace_tag),
        Operation("delete tag", _delete_tag),
        Operation("rename tag", _rename_tag),
        Operation("branch", _branch),
        Operation("delete branch", _delete_branch),
        Operation("rename branch", _rename_branch),
        Operation("fast-forward", _fast_forward),
        Operation("move consumer", _move_consumer),
    )
}
_GOES_BACK = frozenset({"roll back", "roll back to tag", "fast-forward"})


# --- what has to be true -----------------------------------------------------------------

_read: dict[str, tuple[tuple[bool, str], ...]] = {}
"""The entries of manifests by path: whether a file comes, and its name."""
_listed: dict[bytes, list[ManifestFileMeta]] = {}
"""The manifests of manifest lists by the bytes of these."""


def _entries(lists: Iterable[str], files: Files) -> list[tuple[bool, str]]:
    store = ManifestStore(MemoryStore(files), LAYOUT)
    found: list[tuple[bool, str]] = []
    for name in lists:
        data = files.get(LAYOUT.manifest(name))
        assert data is not None, f"{name} is gone"
        if data not in _listed:
            _listed[data] = store.read_list(name)
        for meta in _listed[data]:
            path = LAYOUT.manifest(meta.file_name)
            assert path in files, f"{meta.file_name} is gone"
            if path not in _read:
                (table,) = store.read([meta])
                kinds = [kind == FileKind.ADD for kind in table["kind"].to_pylist()]
                _read[path] = tuple(zip(kinds, table["file_name"].to_pylist(), strict=True))
            found += _read[path]
    return found


def alive(snapshot: Snapshot, files: Files, *, is_before: bool = False) -> set[str]:
    """Return the data files that are alive in a snapshot, or were before its commit."""
    lists = [snapshot.base_manifest_list]
    if not is_before:
        lists.append(snapshot.delta_manifest_list)
    found: set[str] = set()
    for is_added, name in _entries(lists, files):
        assert is_added != (name in found), f"snapshot {snapshot.id}: {name} comes or goes twice"
        (found.add if is_added else found.remove)(name)
    return found


def check(world: World) -> None:
    """Check that the table is sound, and that what processes were told is true."""
    files = world.files
    layouts = [LAYOUT.on_branch(None)]
    names = {path.split("/")[3] for path in files if path.startswith("/t/branch/branch-")}
    layouts += [LAYOUT.on_branch(name.removeprefix("branch-")) for name in sorted(names)]
    states: list[set[str]] = []
    latest: set[str] = set()
    tags: dict[str, Snapshot] = {}
    for layout in layouts:
        states += _check_chain(layout, files)
        found = _tags(layout, files)
        for tag in found.values():
            _check_files(tag, files)
        if layout.branch is None:
            tags = found
            latest = states[-1]
    _check_hint(files)
    kept = [*states, *(alive(tag, files) for tag in tags.values())]
    _check_commits(world, latest, kept)
    _check_tags(world, tags)
    _check_branches(world, {layout.branch for layout in layouts})
    _check_columns(world)


@functools.cache
def _snapshot(data: bytes, path: str) -> Snapshot:
    return Snapshot.from_json(data, path=path)


def _check_chain(layout: TableLayout, files: Files) -> list[set[str]]:
    ids = _ids(layout.snapshot_folder, files)
    assert ids, f"{layout.branch_path}: no snapshot is left"
    assert ids == [*range(ids[0], ids[-1] + 1)], f"{layout.branch_path}: snapshots {ids}"
    states: list[set[str]] = []
    seen: set[tuple[str, int, str]] = set()
    for number in ids:
        snapshot = _snapshot(files[layout.snapshot(number)], str(number))
        if states:
            before = alive(snapshot, files, is_before=True)
            assert before == states[-1], f"snapshot {number} was not built upon the one before"
        states.append(_check_files(snapshot, files))
        who = (snapshot.commit_user, snapshot.commit_identifier, snapshot.commit_kind.value)
        assert who not in seen, f"{who} landed twice"
        seen.add(who)
        assert layout.schema(snapshot.schema_id) in files, f"schema of snapshot {number} is gone"
    return states


def _check_files(snapshot: Snapshot, files: Files) -> set[str]:
    found = alive(snapshot, files)
    gone = [name for name in found if path_of(name) not in files]
    assert not gone, f"snapshot {snapshot.id}: data files {gone} are gone"
    return found


def _tags(layout: TableLayout, files: Files) -> dict[str, Snapshot]:
    start = f"{layout.tag_folder}/tag-"
    found = {path.removeprefix(start): data for path, data in files.items() if start in path}
    return {name: _snapshot(data, name) for name, data in found.items()}


def _check_hint(files: Files) -> None:
    hint = read_hint(MemoryStore(files), LAYOUT.latest_hint)
    latest = _ids(LAYOUT.snapshot_folder, files)[-1]
    assert hint is None or hint <= latest, f"LATEST names {hint}, the newest is {latest}"


def _ids(folder: str, files: Files) -> list[int]:
    start = f"{folder}/"
    return numbered([path[len(start) :] for path in files if path.startswith(start)], "snapshot-")


def _check_commits(world: World, latest: set[str], kept: list[set[str]]) -> None:
    before = [Act("made", 0, added=name) for name in BEFORE]
    for act in (*before, *world.acts):
        name = act.added
        if name is None or act.operation in _GOES_BACK:
            continue
        if act.result == "refused":
            assert not any(name in one for one in kept), f"{name} is there: {act}"
        elif act.result == "done" and not _may_be_gone(act, world):
            assert name in latest, f"{name} is lost: {act}"


def _may_be_gone(act: Act, world: World) -> bool:
    """Whether something that ended after an act began may have removed what it added."""
    for other in world.acts:
        if other.end <= act.start or other is act or not other.removed:
            continue
        if "*" in other.removed or act.added in other.removed:
            return True
    return False


def _check_tags(world: World, tags: Mapping[str, Snapshot]) -> None:
    for act in world.acts:
        if act.tag is None or act.names is None or act.result != "done":
            continue
        if any(_may_take_tag(other, act) for other in world.acts):
            continue
        assert act.tag in tags, f"tag {act.tag} is gone: {act}"
        assert tags[act.tag].delta_manifest_list == act.names, f"tag {act.tag} names another"


def _may_take_tag(other: Act, act: Act) -> bool:
    if other is act or other.end <= act.start:
        return False
    return other.tag == act.tag or other.operation in _GOES_BACK


def _check_branches(world: World, branches: set[str | None]) -> None:
    for act in world.acts:
        if act.operation == "branch" and act.result == "done":
            assert act.branch in branches, f"branch {act.branch} is gone: {act}"


def _check_columns(world: World) -> None:
    schema = SchemaManager(MemoryStore(world.files), LAYOUT).latest()
    assert schema is not None
    for act in world.acts:
        if act.column is None or act.result != "done":
            continue
        others = [one for one in world.acts if one.operation == "fast-forward"]
        if all(one.end <= act.start for one in others):
            assert act.column in schema.field_names, f"column {act.column} is lost: {act}"
