"""Lets an operation meet a fault at every call of the store, and looks at what is left.

An operation is a value: how the table is made, what is done, and which states are allowed on the
way. All that a table shows is its state: columns, rows of the table, of its tags and branches.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import paimonlab as pl
from paimonlab.catalog import FileSystemCatalog
from paimonlab.errors import (
    CommitError,
    CommitOutcomeUnknownError,
    PaimonError,
    PostCommitError,
    TableNotFoundError,
)
from paimonlab.maintenance.fsck.report import Finding
from paimonlab.metadata.layout import GUARD_END
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.fault_io import WRITES, Death, Fault, FaultFileIO
from tests.small_tables import UNSYNCED

State = Mapping[str, Any]
Left: TypeAlias = frozenset[tuple[str, bytes | None]]
"""What a fault left; the same is looked at once."""
Kind = Literal["death", "error", "power", "full", "lie"]
KINDS: tuple[Kind, ...] = ("death", "error", "power", "full", "lie")
"""``power``: a death behind what was published, or at the end, of which those files that nobody
synced keep no more than their names. ``full``: the disk takes a part of what one call writes and
nothing from then on. ``lie``: it takes a part of what one call writes and says it took all."""
_SPARSE: dict[Kind, int] = {"full": 4, "lie": 5}
"""How many times fewer faults of a kind are tried than of others."""
_CHANGES_NOTHING = frozenset({"read", "open_input", "exists", "size_bytes", "list", "list_names"})
"""Calls of the store that leave it as it was."""
TABLE = "db.t"
SEED = int(os.environ.get("PAIMONLAB_SEED", "0")) or random.SystemRandom().randrange(1, 2**31)
"""Says which part of a file a full disk takes."""


def _never(_state: State) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Operation:
    """Something that changes a table."""

    name: str
    setup: Callable[[pl.Catalog], None]
    """Makes the table ``db.t``."""
    act: Callable[[pl.Catalog], object]
    """Does it. Done again it does what is missing, and nothing twice."""
    between: Callable[[State], bool] = _never
    """Whether a state on the way, neither the one before nor the one after, is allowed."""
    leaves_data_files: bool = False
    """Whether data files of a commit that failed are the caller's, who may commit them again."""
    has_steps: bool = False
    """Whether there are several commits or changes of metadata: that the last of them did not
    happen does not say that none did."""
    sparse: int = 1
    """How many times fewer faults are tried than of others."""
    tables: tuple[str, ...] = (TABLE,)
    """All tables there may be."""


@dataclass(frozen=True)
class Prepared:
    """An operation, and what it does without a fault."""

    operation: Operation
    made: Path
    """The warehouse as it is before; never touched."""
    files: frozenset[str]
    """In it."""
    before: State
    after: State
    calls: tuple[str, ...]
    """The calls of the store it makes."""

    @property
    def points(self) -> int:
        """How many points there are: a death or an error, before or after each call."""
        return 4 * len(self.calls)


def catalog(warehouse: Path, store: Any = UNSYNCED) -> pl.Catalog:
    """Open a warehouse."""
    return FileSystemCatalog(str(warehouse), store)


def state(warehouse: Path, operation: Operation) -> State:
    """Read all that tables show."""
    found: dict[str, Any] = {}
    for name in operation.tables:
        try:
            table = catalog(warehouse).table(name)
        except TableNotFoundError:
            continue
        assert isinstance(table, Table)
        found[name] = tuple(table.schema.field_names)
        scan = table.scan()
        found[f"{name} now"] = _rows(scan)
        found[f"{name} buckets"] = {split.total_buckets for split in scan.plan().splits}
        for tag in table.tags.list():
            found[f"{name} tag {tag}"] = _rows(table.scan(tag=tag))
        for branch in table.branches.list():
            found[f"{name} branch {branch}"] = _rows(table.on_branch(branch).scan())
        snapshot = table.snapshot
        if snapshot is not None and snapshot.statistics:
            found[f"{name} statistics"] = True
    return found


def _rows(scan: pl.Scan) -> list[tuple[Any, ...]]:
    return sorted(map(tuple, (row.values() for row in scan.to_arrow().to_pylist())), key=repr)


def files(warehouse: Path) -> set[str]:
    """Return all files, without hints."""
    found = (path.relative_to(warehouse) for path in warehouse.rglob("*") if path.is_file())
    return {str(path) for path in found if path.name not in {"LATEST", "EARLIEST"}}


def aged(warehouse: Path) -> None:
    """Let all files be two days old, so that those which nothing names are orphans."""
    then = time.time() - 2 * 24 * 3600
    for path in warehouse.rglob("*"):
        os.utime(path, (then, then))


def copied(made: Path, target: Path) -> None:
    """Copy a warehouse; files share their bytes, for none is ever written in place."""
    shutil.copytree(made, target, copy_function=os.link)


def prepared(operation: Operation, made: Path, scratch: Path) -> Prepared:
    """Do it without a fault, and again."""
    warehouse = scratch / "whole"
    copied(made, warehouse)
    store = FaultFileIO(UNSYNCED)
    operation.act(catalog(warehouse, store))
    after = state(warehouse, operation)
    _check_sound(warehouse, operation, "without a fault")
    _again(operation, warehouse)
    assert state(warehouse, operation) == after, f"{operation.name}: done again it changed more"
    shutil.rmtree(warehouse)
    before = state(made, operation)
    return Prepared(
        operation,
        made,
        frozenset(files(made)),
        before,
        after,
        tuple(method for method, _ in store.calls),
    )


def faults(whole: Prepared, kind: Kind) -> list[Fault]:
    """Return the faults of a kind that differ: each other one leaves the same files.

    No call after a death has an effect, so that between two changes it does not matter where it
    is. What changes nothing and fails has had no effect, whether it was made or not.
    """
    everywhere = range(1, len(whole.calls) + 1)
    if kind == "power":
        if not {"create", "open_output"} & {*whole.calls}:
            return []  # all it writes is synced by being written
        told = [number for number in everywhere if whole.calls[number - 1] == "publish"]
        return [Fault("death", number, after=True) for number in (*told, len(whole.calls) + 1)]
    if kind in ("full", "lie"):
        writes = [number for number in everywhere if whole.calls[number - 1] in WRITES]
        chance = random.Random(f"{SEED} {whole.operation.name} {kind}")
        return [Fault(kind, number, part=chance.random()) for number in writes]
    changes = [number for number in everywhere if whole.calls[number - 1] not in _CHANGES_NOTHING]
    after = [Fault(kind, number, after=True) for number in changes]
    before = everywhere[:1] if kind == "death" else everywhere
    found = [Fault(kind, number) for number in before] + after
    return sorted(found, key=lambda fault: (fault.at, fault.after))


def tried(whole: Prepared, kind: Kind, scratch: Path, *, every: int) -> int:
    """Let an operation meet every n-th fault of a kind, beginning elsewhere in each operation.

    Returns
    -------
    int
        How many were tried.
    """
    found = faults(whole, kind)
    every = 1 if kind == "power" else every * whole.operation.sparse * _SPARSE.get(kind, 1)
    first = len(whole.operation.name) % max(1, min(every, len(found)))
    chosen = found[first::every]
    seen: dict[Left, State] = {}
    for number, fault in enumerate(chosen):
        warehouse = scratch / str(number)
        copied(whole.made, warehouse)
        _try_fault(whole, fault, warehouse, seen, loses_power=kind == "power")
        shutil.rmtree(warehouse)
    left = state(whole.made, whole.operation)
    assert left == whole.before, "files that copies share were written in place"
    return len(chosen)


def _try_fault(
    whole: Prepared, fault: Fault, warehouse: Path, seen: dict[Left, State], *, loses_power: bool
) -> None:
    store = FaultFileIO(UNSYNCED, fault)
    error = _met(whole.operation, catalog(warehouse, store))
    is_over = fault.at > len(store.calls)
    call = "no call" if is_over else store.calls[fault.at - 1]
    where = f"PAIMONLAB_SEED={SEED} {whole.operation.name}: {fault} in {call}: {error!r}"
    if loses_power:
        store.lose_unsynced()
    left = _left(warehouse, whole.made)
    found = seen[left] if left in seen else check_old_or_new(whole, warehouse, where)
    assert found == whole.after or not is_over, f"{where}: it says that it happened"
    if fault.kind in ("error", "full", "lie"):
        check_told(whole, warehouse, found, error, where)
    if left not in seen:
        check_done_again(whole, warehouse, where)
        seen[left] = found


def _left(warehouse: Path, made: Path) -> Left:
    """Return all files and folders; of files that the warehouse did not begin with, their bytes."""
    found: set[tuple[str, bytes | None]] = set()
    for path in warehouse.rglob("*"):
        place = path.relative_to(warehouse)
        is_new = path.is_file() and not _is_one_file(path, made / place)
        found.add((str(place), path.read_bytes() if is_new else None))
    return frozenset(found)


def _is_one_file(path: Path, other: Path) -> bool:
    return other.exists() and path.samefile(other)


def check_old_or_new(whole: Prepared, warehouse: Path, where: str) -> State:
    """Check that a table is as before an operation or as after it, and sound; return how it is."""
    found = state(warehouse, whole.operation)
    is_allowed = found in (whole.before, whole.after) or whole.operation.between(found)
    assert is_allowed, f"{where}: {found}"
    _check_sound(warehouse, whole.operation, where)
    return found


def check_told(
    whole: Prepared, warehouse: Path, found: State, error: BaseException | None, where: str
) -> None:
    """Check that what an operation said by its error, or by none, is so."""
    if error is None or isinstance(error, PostCommitError):
        assert found == whole.after, f"{where}: it says that it happened"
    elif _did_not_happen(error) and not whole.operation.has_steps:
        assert found == whole.before, f"{where}: it says that it did not happen"
        left = _without_data(files(warehouse) - whole.files, whole.operation)
        assert not left, f"{where}: left behind {left}"


def check_done_again(whole: Prepared, warehouse: Path, where: str) -> None:
    """Do an operation that was stopped again, and check that it happened once and left no junk."""
    _again(whole.operation, warehouse)
    _remove_junk(warehouse, whole.operation, where)
    assert state(warehouse, whole.operation) == whole.after, f"{where}, and done again"
    _check_sound(warehouse, whole.operation, f"{where}, and done again")


def _met(operation: Operation, faulty: pl.Catalog) -> BaseException | None:
    try:
        operation.act(faulty)
    except (PaimonError, OSError, Death) as error:
        return error
    return None


def _again(operation: Operation, warehouse: Path) -> None:
    # That the write has landed, but not the compaction made together with it, is well.
    with contextlib.suppress(PostCommitError):
        operation.act(catalog(warehouse))


def _did_not_happen(error: BaseException | None) -> bool:
    unclear = CommitOutcomeUnknownError | PostCommitError
    return isinstance(error, CommitError) and not isinstance(error, unclear)


def _without_data(left: set[str], operation: Operation) -> set[str]:
    if not operation.leaves_data_files:
        return left
    return {name for name in left if "/bucket-" not in name and "/index/" not in name}


def _check_sound(warehouse: Path, operation: Operation, where: str) -> None:
    """Check that every file that is referred to is there, and that all numbers fit."""
    for name in operation.tables:
        try:
            table = catalog(warehouse).table(name)
        except TableNotFoundError:
            continue
        assert isinstance(table, Table)
        findings = [one for one in table.fsck().findings if not _is_left(one)]
        assert not findings, f"{where}: {findings}"


def _remove_junk(warehouse: Path, operation: Operation, where: str) -> None:
    """Remove orphans, and check that every file left is one that something names."""
    aged(warehouse)
    for name in operation.tables:
        try:
            table = catalog(warehouse).table(name)
        except TableNotFoundError:
            continue
        assert isinstance(table, Table)
        table.maintenance.remove_orphan_files(dry_run=False)
        named = _named_by(table)
        for branch in table.branches.list():
            named |= _named_by(table.on_branch(branch))
        found = {path for path in Path(table.path).rglob("*") if path.is_file()}
        junk = {
            str(path.relative_to(table.path))
            for path in found
            if path.name not in named and path.parent.name not in _OF_THE_TABLE
        }
        assert not junk, f"{where}: orphans are left: {junk}"


_OF_THE_TABLE = {"schema", "snapshot", "tag", "changelog"}
"""Folders of what is not named by anything else."""


def _named_by(table: Table) -> set[str]:
    """Return the names of all files that snapshots, tags and manifests of a branch name."""
    store, names = store_of(table), set[str]()
    guards = [guard for _, guard in store.tags.guards()]  # of what was stopped; fsck tells of them
    tags = [*table.tags.list().values(), *guards]
    kept = [*store.snapshots.list(), *(tag.to_snapshot() for tag in tags)]
    for snapshot in kept:
        lists = [snapshot.base_manifest_list, snapshot.delta_manifest_list]
        if snapshot.changelog_manifest_list:
            lists.append(snapshot.changelog_manifest_list)
        metas = [meta for one in lists for meta in store.manifests.read_list(one)]
        names.update(lists, (meta.file_name for meta in metas))
        for entries in store.manifests.read(metas):
            names.update(entries["file_name"].to_pylist())
        if snapshot.index_manifest:
            indexes = store.manifests.read_index(snapshot.index_manifest)
            names.update([snapshot.index_manifest], (one.file_name for one in indexes))
        if snapshot.statistics:
            names.add(snapshot.statistics)
    return names


def _is_left(finding: Finding) -> bool:
    """Whether a hint lags, or a copy of a snapshot is left: after a death they may."""
    is_hint = finding.file.endswith(("LATEST", "EARLIEST"))
    is_copy = GUARD_END in finding.file or finding.problem.endswith(GUARD_END)
    return finding.severity == "warning" and (is_hint or is_copy)
