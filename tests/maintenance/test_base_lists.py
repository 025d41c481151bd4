"""Which base manifest lists have to be read to know all manifests that a history names."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from paimonlab.maintenance import candidates
from paimonlab.maintenance.base_lists import Lists, growing, read_bases
from paimonlab.maintenance.unneeded import UnneededFile
from paimonlab.spec.manifests.data_file import SimpleStats
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.snapshot import CommitKind, Snapshot
from tests.maintenance.expiring_tables import new_table, opened, put, unaccounted

_STATS = SimpleStats(b"", b"", ())


@dataclass
class _History:
    """Snapshots, and the manifest lists that they name."""

    snapshots: list[Snapshot] = field(default_factory=list)
    bases: dict[str, list[ManifestFileMeta] | None] = field(default_factory=dict)
    changes: dict[str, list[ManifestFileMeta] | None] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)

    def add(self, base: Sequence[str], delta: Sequence[str], *, size: int | None) -> None:
        number = len(self.snapshots) + 1
        snapshot = Snapshot(
            id=number,
            schema_id=0,
            base_manifest_list=f"base-{number}",
            base_manifest_list_size=size,
            delta_manifest_list=f"delta-{number}",
            commit_user="u",
            commit_identifier=number,
            commit_kind=CommitKind.APPEND,
            time_millis=0,
        )
        self.snapshots.append(snapshot)
        self.bases[snapshot.base_manifest_list] = [_meta(name) for name in base]
        self.changes[snapshot.delta_manifest_list] = [_meta(name) for name in delta]

    def read(self, states: Sequence[Snapshot]) -> Lists:
        self.reads += [state.base_manifest_list for state in states]
        return {state.base_manifest_list: self.bases[state.base_manifest_list] for state in states}

    def first_named(self, bases: Lists) -> Mapping[str, int]:
        """Return the snapshot that names each manifest first, as far as lists are known."""
        first = dict[str, int]()
        for one in self.snapshots:
            for found in (bases.get(one.base_manifest_list), self.changes[one.delta_manifest_list]):
                for meta in found or ():
                    first.setdefault(meta.file_name, one.id)
        return first

    def found(self) -> Mapping[str, int]:
        return self.first_named(read_bases(self.snapshots, self.changes, self.read))


def _meta(name: str) -> ManifestFileMeta:
    return ManifestFileMeta(
        file_name=name,
        file_size_bytes=1,
        num_added_files=1,
        num_deleted_files=0,
        partition_stats=_STATS,
        schema_id=0,
    )


def test_of_lists_that_only_grow_the_first_and_the_last_are_read() -> None:
    history = _History()
    for number in range(20):
        history.add([f"m{one}" for one in range(number)], [f"m{number}"], size=number)

    assert history.found() == history.first_named(history.bases)
    assert history.reads == ["base-1", "base-20"]


def test_lists_before_and_after_a_merge_are_read() -> None:
    history = _History()
    for number in range(10):
        history.add([f"m{one}" for one in range(number)], [f"m{number}"], size=number)
    for number in range(10, 20):
        base = ["merged", *(f"m{one}" for one in range(10, number))]
        history.add(base, [f"m{number}"], size=len(base))

    assert history.found() == history.first_named(history.bases)
    assert history.reads == ["base-1", "base-10", "base-11", "base-20"]


@pytest.mark.parametrize(
    ("sizes", "runs"),
    [
        ([None] * 4, [[1], [2], [3], [4]]),
        ([1, 2, None, 4, 5], [[1, 2], [3], [4, 5]]),
        ([4, 3, 3, 1], [[1], [2, 3], [4]]),
        ([], []),
    ],
)
def test_a_list_that_shrinks_or_has_no_size_begins_a_run(
    sizes: Sequence[int | None], runs: Sequence[Sequence[int]]
) -> None:
    history = _History()
    for number, size in enumerate(sizes):
        history.add([f"m{one}" for one in range(number)], [f"m{number}"], size=size)

    assert [[one.id for one in run] for run in growing(history.snapshots)] == runs
    assert history.found() == history.first_named(history.bases)


def test_snapshots_that_do_not_follow_each_other_are_no_run() -> None:
    history = _History()
    for number in range(4):
        history.add([f"m{one}" for one in range(number)], [f"m{number}"], size=number)
    del history.snapshots[1]

    assert [[one.id for one in run] for run in growing(history.snapshots)] == [[1], [3, 4]]


@pytest.mark.parametrize("what", ["base-1", "base-5", "base-9", "delta-4"])
def test_where_a_list_is_missing_all_around_it_are_read(what: str) -> None:
    history = _History()
    for number in range(9):
        history.add([f"m{one}" for one in range(number)], [f"m{number}"], size=number)
    (history.bases if what in history.bases else history.changes)[what] = None

    assert history.found() == history.first_named(history.bases)


def test_all_manifests_of_any_writer_that_merges_are_found(seed: int) -> None:
    for round_ in range(300):
        chance = random.Random(seed + round_)
        history, base, merged = _History(), list[str](), 0
        for number in range(chance.randrange(1, 40)):
            if len(base) > 1 and chance.random() < 0.2:
                start = chance.randrange(len(base) - 1)
                end = chance.randrange(start + 1, len(base) + 1)
                base[start:end] = [f"x{merged + one}" for one in range(chance.randrange(3))]
                merged += 3
            if chance.random() < 0.1:
                chance.shuffle(base)
            delta = [f"m{number}.{one}" for one in range(chance.randrange(3))]
            # Compressed lists need not be larger if they name more.
            history.add(base, delta, size=max(len(base) * 10 + chance.randrange(-15, 15), 0))
            base = base + delta

        assert history.found() == history.first_named(history.bases)
        assert len(history.reads) == len({*history.reads})


def test_nothing_is_found_that_no_list_names_whatever_the_writer_does(seed: int) -> None:
    for round_ in range(300):
        chance = random.Random(seed + round_)
        history = _History()
        for number in range(chance.randrange(1, 30)):
            names = [f"m{one}" for one in range(chance.randrange(3, 12))]
            base = chance.sample(names, chance.randrange(len(names) + 1))
            history.add(base, chance.sample(names, chance.randrange(3)), size=number)

        plain = history.first_named(history.bases)
        found = history.found()
        assert found.keys() <= plain.keys()
        assert all(found[name] >= plain[name] for name in found)


def test_plans_of_random_histories_are_those_of_reading_every_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)
    table = new_table(
        tmp_path,
        write_only="false",
        num_sorted_run__compaction_trigger="3",
        manifest__merge_min_count=str(chance.choice([2, 4, 8])),
        snapshot__num_retained__min="1000",
        snapshot__num_retained__max="1000",
    )
    for number in range(20):
        put(table, {chance.randrange(5): str(number)}, replaces=chance.random() < 0.15)
        if number == 0 or chance.random() < 0.3:
            table.tags.create(f"t{number}")
    newest = table.snapshot
    assert newest is not None
    table.branches.create("b", tag=chance.choice([*table.tags.list()]))
    keep = chance.choice([1, 2, newest.id // 2])
    plan = _plan(tmp_path, keep)
    with monkeypatch.context() as patched:
        patched.setattr(candidates, "read_bases", lambda states, _, read: read(states))
        assert plan == _plan(tmp_path, keep)
    assert plan

    opened(tmp_path).maintenance.expire_snapshots(retain_max=keep, retain_min=1, max_deletes=1000)

    assert unaccounted(opened(tmp_path)) == set()


def _plan(path: Path, keep: int) -> Sequence[UnneededFile]:
    plan = opened(path).maintenance.expire_snapshots(
        retain_max=keep, retain_min=1, max_deletes=1000, dry_run=True
    )
    return sorted(plan.files, key=lambda file: file.path)
