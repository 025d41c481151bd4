"""Base manifest lists that need not be read for the manifests that are in them.

The base list of a snapshot is that of the one before and what its commit added, until manifests
are merged. So of a run of snapshots the first and the last list tell of those in between: if the
last names just what the first names and what the commits added, nothing was merged, and none of the
lists names another manifest. Manifests that were merged are gone from the last list.

This holds for what may be deleted, never for what is needed: a writer that put a manifest into a
list and took it out again, replacing none, would leave that manifest behind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.snapshot import Snapshot

Lists: TypeAlias = Mapping[str, list[ManifestFileMeta] | None]
"""Manifest lists by name; None: it is missing."""


def read_bases(
    states: Sequence[Snapshot], changes: Lists, read: Callable[[Sequence[Snapshot]], Lists]
) -> Lists:
    """Read base lists, but for those whose manifests are all in others.

    Parameters
    ----------
    states
        Snapshots, ascending.
    changes
        The lists of what their commits added.
    read
        Reads the base lists of some of the snapshots.

    Returns
    -------
    mapping
        Base lists by name. Each manifest of one that was not read is in one of these, of a snapshot
        before it, or was added by one.
    """
    found = dict[str, list[ManifestFileMeta] | None]()
    runs = list(growing(states))
    while runs:
        ends = {state.base_manifest_list: state for run in runs for state in (run[0], run[-1])}
        found |= read([state for name, state in ends.items() if name not in found])
        runs = [
            half
            for run in runs
            if len(run) > 2 and not _is_sum(run, changes, found)
            for half in (run[: len(run) // 2], run[len(run) // 2 :])
        ]
    return found


def growing(states: Sequence[Snapshot]) -> Iterator[Sequence[Snapshot]]:
    """Divide snapshots into runs whose base lists grow from one to the next.

    A list that shrinks, or whose size is unknown, begins a run: manifests may have been merged.
    """
    starts = [
        number
        for number, (before, state) in enumerate(pairwise(states), start=1)
        if not _may_follow(before, state)
    ]
    for start, stop in pairwise([0, *starts, len(states)]):
        if start < stop:
            yield states[start:stop]


def _may_follow(before: Snapshot, state: Snapshot) -> bool:
    size, size_before = state.base_manifest_list_size, before.base_manifest_list_size
    is_next = state.id == before.id + 1
    return is_next and size is not None and size_before is not None and size >= size_before


def _is_sum(run: Sequence[Snapshot], changes: Lists, bases: Lists) -> bool:
    """Whether the last base list is the first one and what was added since."""
    parts = [bases[run[0].base_manifest_list]]
    parts += [changes[state.delta_manifest_list] for state in run[:-1]]
    last = bases[run[-1].base_manifest_list]
    if last is None:
        return False
    names = list[str]()
    for part in parts:
        if part is None:
            return False
        names += [meta.file_name for meta in part]
    return len(names) == len(last) and {*names} == {meta.file_name for meta in last}
