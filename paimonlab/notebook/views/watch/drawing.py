"""A table that is watched, as tables and as text."""

from __future__ import annotations

from functools import partial

from paimonlab.analysis.snapshots.watched import Watch, WatchedCommit, WatchedRows, rates
from paimonlab.clock import now_millis
from paimonlab.notebook.display.cells import NULL, Cell
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.grid import Align, Column, Grid, number_align, texts
from paimonlab.notebook.display.headlines import commit_text, next_rows, when
from paimonlab.notebook.display.numbers import bytes_text, count, many, signed, time_text
from paimonlab.notebook.display.view import rows
from paimonlab.spec.visible_text import visible

MOST_COMMITS = 20
"""Commits that the table has; the interactive form has all."""
_BAR_COLUMNS = 24


def draw(watch: Watch, *, answer: Answer | None = None, view_id: str | None = None) -> Drawn[Watch]:
    """Draw what was seen of a table, the newest commit first.

    Parameters
    ----------
    watch
        What was seen.
    answer
        Stops the watch.
    view_id
        Of the view that this one takes the place of.
    """
    others = [_levels(watch)] if watch.levels else []
    if watch.newest is not None:
        others.append(_rows(watch.newest))
    notes = [visible(line) for line in (watch.note, watch.error) if line]
    drawn = partial(
        Drawn,
        watch,
        _commits(watch),
        rows(watch.commits),
        legend=notes,
        others=others,
        link=watch.table,
        answer=answer,
    )
    return drawn() if view_id is None else drawn(id=view_id)


def line(table: str, commit: WatchedCommit) -> str:
    """Say in one line what a commit did."""
    when = time_text(commit.time_millis)
    return visible(f"{when} {table}: {sentence(commit)}".strip())


def sentence(commit: WatchedCommit) -> str:
    """Say what a commit did.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> some = {"snapshot_id": 3, "deleted_rows": 0, "added_files": 1, "added_bytes": 2048}
    >>> sentence(SimpleNamespace(commit_kind="APPEND", written_rows=16, user="a", **some))
    'snapshot 3: +16 rows, 1 file, by a, 2.0 kB'
    """
    size = f", {bytes_text(commit.added_bytes)}" if commit.added_bytes else ""
    return f"snapshot {_what(commit)}{size}"


def _what(commit: WatchedCommit) -> str:
    is_compaction = commit.commit_kind == "COMPACT"
    what = commit_text(
        commit.commit_kind,
        written=commit.written_rows,
        deleted=commit.deleted_rows,
        files=commit.added_files,
        merged=commit.deleted_files if is_compaction else None,
        user=commit.user,
    )
    return f"{commit.snapshot_id}: {what}"


def _commits(watch: Watch) -> Grid:
    has_times = any(commit.time_millis is not None for commit in watch.commits)
    has_changelog = any(commit.changelog_rows for commit in watch.commits)
    columns = [Column("snapshot", align=Align.RIGHT)]
    columns += [Column("time (UTC)")] if has_times else []
    columns += [Column("kind"), Column("rows", align=Align.RIGHT)]
    columns += [Column("deleted", align=Align.RIGHT, is_optional=True)]
    columns += [Column("changelog rows", align=Align.RIGHT, rank=2)] if has_changelog else []
    columns += [Column("files", align=Align.RIGHT), Column("size", align=Align.RIGHT, rank=1)]
    columns += [Column("user", is_id=True, rank=2)]
    body = []
    for commit in reversed(watch.commits[-MOST_COMMITS:]):
        facts: list[object] = [commit.snapshot_id]
        facts += [time_text(commit.time_millis)] if has_times else []
        facts += [commit.commit_kind.lower(), signed(commit.written_rows or None)]
        facts += [signed(-commit.deleted_rows or None)]
        facts += [count(commit.changelog_rows or None)] if has_changelog else []
        facts += [_changed_files(commit), bytes_text(commit.added_bytes or None), commit.user]
        body.append(texts(facts))
    headline = "Nothing was written to it yet"
    if watch.commits:
        newest = watch.commits[-1]
        headline = f"Snapshot {_what(newest)}{when(newest.time_millis)}"
    state = "" if watch.state == "watching" else f", {watch.state}"
    caption = f"{watch.table}: watched{state}"
    return Grid(tuple(columns), body, caption, _footer(watch), headline).without_empty()


def _changed_files(commit: WatchedCommit) -> str:
    parts = (signed(commit.added_files or None), signed(-commit.deleted_files or None))
    return " ".join(filter(None, parts))


def _footer(watch: Watch) -> str:
    if not watch.commits:
        return next_rows(watch.table)
    said = [f"{many(watch.seen_count, 'commit')} since the watch began"]
    newest = watch.commits[-1].time_millis
    if watch.seen_count and newest is not None:
        now = now_millis() if watch.state == "watching" else newest
        found = rates(watch.commits, now)
        if found is not None:
            said.append(f"{found.commits_per_minute:,.1f} commits a minute")
            said.append(f"{found.rows_per_second:,.1f} rows a second")
    return ", ".join(said)


def _levels(watch: Watch) -> Grid:
    """Draw the levels; tables without a key have files on level 0 only."""
    has_bytes = any(level.file_bytes is not None for level in watch.levels)
    weights = [level.file_bytes if has_bytes else level.row_count for level in watch.levels]
    largest = max((weight or 0 for weight in weights), default=0) or 1
    columns = (
        Column("level", is_optional=True),
        Column("files", align=Align.RIGHT),
        Column(watch.rows_are, align=Align.RIGHT),
        Column("size", align=Align.RIGHT),
        Column("", is_drawing=True),
    )
    body = [
        texts(
            [
                f"level {level.level}" if watch.has_levels else "",
                count(level.file_count),
                count(level.row_count),
                bytes_text(level.file_bytes),
                "█" * max(round(_BAR_COLUMNS * (weight or 0) / largest), 1 if weight else 0),
            ]
        )
        for level, weight in zip(watch.levels, weights, strict=True)
    ]
    return Grid(columns, body, "levels" if watch.has_levels else "files").without_empty()


def _rows(newest: WatchedRows) -> Grid:
    columns = tuple(
        Column(name, align=number_align([row[at] for row in newest.rows]))
        for at, name in enumerate(newest.columns)
    )
    body = [
        [NULL if value is None else Cell(visible(value)) for value in row] for row in newest.rows
    ]
    return Grid(columns, body, f"rows of snapshot {newest.snapshot_id}")
