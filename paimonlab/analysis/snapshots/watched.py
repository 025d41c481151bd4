"""What is seen of a table while commits arrive: the newest commits, its levels, its newest rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import msgspec
import numpy as np
import pyarrow as pa

from paimonlab.analysis.row_words import BEFORE_MERGING
from paimonlab.analysis.snapshots.file_totals import changed_rows, manifest_sums, together
from paimonlab.arrow_values import numpy_values
from paimonlab.spec.manifests.manifest import FileKind
from paimonlab.spec.snapshot import Snapshot

RATE_SECONDS = 60
"""Rates are those of the last minute."""

WatchState = Literal["watching", "stopped", "failed"]


class WatchedCommit(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What one commit did, as far as metadata says it."""

    snapshot_id: int
    time_millis: int | None
    """Commit time, milliseconds since the epoch; None when times are hidden."""
    commit_kind: str
    user: str
    written_rows: int
    """Inserted or updated; 0 of a compaction, which writes no new rows."""
    deleted_rows: int
    """Rows of kind -U and -D, and those of files that an overwrite deleted."""
    changelog_rows: int | None
    added_files: int
    deleted_files: int
    added_bytes: int | None
    """None when sizes are hidden."""


class WatchedLevel(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The live files of one level, of all buckets together."""

    level: int
    file_count: int
    row_count: int
    """Before merging."""
    file_bytes: int | None


class WatchedRows(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Some of the rows that a commit changed, as text."""

    snapshot_id: int
    columns: tuple[str, ...]
    """The first is the kind of the row."""
    rows: tuple[tuple[str | None, ...], ...]


class Watch(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="watch", tag_field="kind"
):
    """A table that is watched, as it was last seen."""

    table: str
    state: WatchState
    error: str | None = None
    has_levels: bool
    commits: tuple[WatchedCommit, ...]
    """The newest, oldest first."""
    seen_count: int
    """Commits since the watch began."""
    levels: tuple[WatchedLevel, ...]
    row_count: int | None
    """Rows in the files, before merging; None: unknown, or nothing was written."""
    newest: WatchedRows | None = None
    rows_are: str = BEFORE_MERGING
    """What the rows of files are, as `rows_are` says it."""
    note: str = ""
    """What else has to be known."""


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """How fast commits and rows arrive."""

    commits_per_minute: float
    rows_per_second: float


def rates(commits: Sequence[WatchedCommit], now_millis: int) -> Rates | None:
    """Say how fast commits arrived in the last minute; None if times are hidden.

    Parameters
    ----------
    commits
        Oldest first. If all are of the last minute, there may have been more, so that rates are
        those since the oldest of them.
    now_millis
        The time, milliseconds since the epoch.
    """
    times = [commit.time_millis for commit in commits if commit.time_millis is not None]
    if not times:
        return None
    begin = max(now_millis - 1000 * RATE_SECONDS, min(times) - 1)
    late = [commit for commit in commits if (commit.time_millis or 0) > begin]
    seconds = max((now_millis - begin) / 1000, 1.0)
    return Rates(
        commits_per_minute=60 * len(late) / seconds,
        rows_per_second=sum(commit.written_rows for commit in late) / seconds,
    )


def commit_of(snapshot: Snapshot, changes: Iterable[pa.Table]) -> WatchedCommit:
    """Add up what a commit did.

    Parameters
    ----------
    snapshot
        That of the commit.
    changes
        Its own entries, tables of `ENTRY_SCHEMA`.
    """
    sums = together(manifest_sums([*changes]))
    rows = changed_rows(snapshot.commit_kind, sums)
    return WatchedCommit(
        snapshot_id=snapshot.id,
        time_millis=snapshot.time_millis,
        commit_kind=snapshot.commit_kind.value,
        user=snapshot.commit_user,
        written_rows=rows.written,
        deleted_rows=rows.deleted,
        changelog_rows=snapshot.changelog_record_count,
        added_files=sums.added.file_count,
        deleted_files=sums.deleted.file_count,
        added_bytes=sums.added.file_bytes,
    )


class LevelSums:
    """How many files, rows and bytes the levels have.

    Parameters
    ----------
    sums
        Files, rows and bytes, by level.
    """

    def __init__(self, sums: Mapping[int, Sequence[int]] = MappingProxyType({})) -> None:
        self._sums = sums

    def after(self, changes: Iterable[pa.Table]) -> LevelSums:
        """Add the files of entries of `ENTRY_SCHEMA`, and subtract those that are deleted."""
        of_levels = {level: [*sums] for level, sums in self._sums.items()}
        for entries in changes:
            sign = np.where(numpy_values(entries["kind"]) == int(FileKind.DELETE), -1, 1)
            levels, slot = np.unique(numpy_values(entries["level"]), return_inverse=True)
            parts = [sign]
            parts += [
                sign * numpy_values(entries[name]) for name in ("row_count", "file_size_bytes")
            ]
            for at, level in enumerate(levels.tolist()):
                is_here = slot == at
                sums = of_levels.setdefault(level, [0, 0, 0])
                for place, part in enumerate(parts):
                    sums[place] += int(part[is_here].sum())
        return LevelSums(of_levels)

    def levels(self) -> tuple[WatchedLevel, ...]:
        """Return the levels that have files, the lowest first."""
        return tuple(
            WatchedLevel(level=level, file_count=files, row_count=rows, file_bytes=size)
            for level, (files, rows, size) in sorted(self._sums.items())
            if files
        )


def repeatable_watch(watch: Watch, users: Mapping[str, str] | None = None) -> Watch:
    """Leave out what differs from run to run: times, bytes and users.

    Parameters
    ----------
    watch
        What is shown.
    users
        What users are called; None: they are numbered.
    """
    names = dict(users or {})
    commits = [
        msgspec.structs.replace(
            commit,
            time_millis=None,
            user=names.setdefault(commit.user, f"user#{len(names) + 1}"),
            added_bytes=None,
        )
        for commit in watch.commits
    ]
    levels = [msgspec.structs.replace(level, file_bytes=None) for level in watch.levels]
    return msgspec.structs.replace(watch, commits=tuple(commits), levels=tuple(levels))
