"""The steps of a bucket: what each commit did to its levels, in words that teach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from paimonlab.analysis.buckets.bucket_lives import Lives, Places
from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.compact.strategy import LevelOptions
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.plurals import many
from paimonlab.spec.snapshot import CommitKind


class LsmStep(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The bucket after a commit that changed it."""

    snapshot_id: int | None
    """None: the bucket as it was before all snapshots that still exist."""
    commit_kind: str
    """"" for the state before the first change."""
    time_millis: int | None
    run_count: int
    level_0_count: int
    file_count: int
    row_count: int
    """Before merging."""
    bytes: int | None
    """None when sizes are hidden."""
    caption: str
    """What happened."""
    watch: str
    """What to look at; "" if there is nothing special."""


@dataclass(frozen=True, slots=True)
class _Files:
    """Some files of one bucket."""

    levels: tuple[int, ...]
    """Level of each file."""
    rows: int
    names: frozenset[str]

    @property
    def count(self) -> int:
        return len(self.levels)


@dataclass(frozen=True, slots=True)
class _State:
    files: int
    level_0: int
    runs: int
    rows: int
    bytes: int


def steps(
    history: Lives, levels: LevelOptions, *, has_levels: bool, before_id: int | None
) -> tuple[LsmStep, ...]:
    """Say what each commit did to a bucket.

    Parameters
    ----------
    history
        The files of the bucket and the commits that changed it.
    levels
        Options of the table.
    has_levels
        Whether it has a primary key.
    before_id
        The snapshot of the state before the first change, 0 for none.

    Returns
    -------
    tuple of LsmStep
        One more than there are commits: the first is the state before them.
    """
    states = [_state(history, history.alive(number)) for number in range(history.last + 1)]
    first = states[0]
    begin = (
        "The bucket was empty."
        if not first.files
        else f"The bucket has {many(first.files, 'file')} with {many(first.rows, 'row')}"
        + (f" in {_runs(first.runs)}." if has_levels else ".")
    )
    shown = [_step(first, begin, "", snapshot_id=before_id or None)]
    for number, snapshot in enumerate(history.snapshots, start=1):
        added = _some(history, np.flatnonzero(history.born == number))
        removed = _some(history, np.flatnonzero(history.died == number))
        before, after = states[number - 1], states[number]
        is_replaced = snapshot.commit_kind is CommitKind.OVERWRITE
        verb = "were replaced by" if is_replaced else "became"
        caption = " ".join(_happened(added, removed, verb, has_levels=has_levels))
        if has_levels and before.runs != after.runs:
            caption += f" Sorted runs: {before.runs} → {after.runs}."
        shown.append(
            _step(
                after,
                caption,
                _watch(added, removed, after, levels) if has_levels and not is_replaced else "",
                snapshot_id=snapshot.id,
                commit_kind=snapshot.commit_kind.value,
                time_millis=snapshot.time_millis,
            )
        )
    return tuple(shown)


def _step(
    state: _State,
    caption: str,
    watch: str,
    *,
    snapshot_id: int | None,
    commit_kind: str = "",
    time_millis: int | None = None,
) -> LsmStep:
    return LsmStep(
        snapshot_id=snapshot_id,
        commit_kind=commit_kind,
        time_millis=time_millis,
        run_count=state.runs,
        level_0_count=state.level_0,
        file_count=state.files,
        row_count=state.rows,
        bytes=state.bytes,
        caption=caption,
        watch=watch,
    )


def _state(history: Lives, places: Places) -> _State:
    level = numpy_values(history.files["level"])[places]
    level_0 = int(np.count_nonzero(level == 0))
    return _State(
        files=int(places.size),
        level_0=level_0,
        runs=level_0 + int(distinct_integers(level[level > 0]).size),
        rows=int(numpy_values(history.files["row_count"])[places].sum()),
        bytes=int(numpy_values(history.files["file_size_bytes"])[places].sum()),
    )


def _some(history: Lives, places: Places) -> _Files:
    chosen = history.files.take(arrow_array(places))
    return _Files(
        tuple(chosen["level"].to_pylist()),
        int(sum(chosen["row_count"].to_pylist())),
        frozenset(chosen["file_name"].to_pylist()),
    )


def _happened(added: _Files, removed: _Files, verb: str, *, has_levels: bool) -> Iterable[str]:
    moved = added.names & removed.names
    if moved:
        yield f"{many(len(moved), 'file')} moved to another level without being written again."
    new, gone = added.count - len(moved), removed.count - len(moved)
    if new and gone:
        yield (
            f"{many(gone, 'file')}{_on(removed.levels, has_levels)} {verb} "
            f"{many(new, 'file')}{_on(added.levels, has_levels)}: "
            f"{removed.rows:,} → {many(added.rows, 'row')}{' with those moved' if moved else ''}."
        )
    elif new:
        is_flush = has_levels and set(added.levels) == {0}
        where = " flushed to level 0" if is_flush else f" added{_on(added.levels, has_levels)}"
        yield f"{many(new, 'file')}{where}: {many(added.rows, 'row')}."
    elif gone:
        yield (
            f"{many(gone, 'file')}{_on(removed.levels, has_levels)} with "
            f"{many(removed.rows, 'row')} {'was' if gone == 1 else 'were'} removed."
        )


def _watch(added: _Files, removed: _Files, after: _State, levels: LevelOptions) -> str:
    text = (
        _watch_compaction(added, removed) if removed.count else _watch_flush(added, after, levels)
    )
    return f"Watch for: {text}." if text else ""


def _watch_flush(added: _Files, after: _State, levels: LevelOptions) -> str:
    runs = _runs(after.runs)
    if after.runs >= levels.stop_trigger:
        return (
            f"{runs} reach num-sorted-run.stop-trigger ({levels.stop_trigger}): a writer that "
            "compacts waits from here on"
        )
    if after.runs >= levels.compaction_trigger:
        return (
            f"{runs} reach num-sorted-run.compaction-trigger ({levels.compaction_trigger}): the "
            "next compaction will pick some"
        )
    if after.runs == 1:
        return "a single run is read without merging"
    if set(added.levels) == {0}:
        return f"files of level 0 overlap each other and all levels below; a reader merges {runs}"
    return ""


def _watch_compaction(added: _Files, removed: _Files) -> str:
    moved = added.names & removed.names
    dropped = removed.rows - added.rows
    if dropped > 0 and added.count > len(moved):
        verb = "was" if dropped == 1 else "were"
        return (
            f"{many(dropped, 'row')} {verb} dropped: newer rows of the same key, or deletes, "
            "replaced them"
        )
    if moved:
        return "a file that shares no key with others is moved for free"
    return "what overlapped is one run now, in order of keys" if added.count else ""


def _on(levels: Sequence[int], has_levels: bool) -> str:  # noqa: FBT001 - reads as a sentence
    if not has_levels:
        return ""
    names = [str(level) for level in sorted(set(levels))]
    return f" on level {' and '.join(names)}" if names else ""


def _runs(count: int) -> str:
    return f"{count:,} sorted {'run' if count == 1 else 'runs'}"
