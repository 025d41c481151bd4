"""The snapshots of a table, on a line.

The newest are shown one by one, the older ones in groups; other branches have lines of
their own.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from paimonlab.analysis.row_words import BEFORE_MERGING


class TimelinePoint(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """One snapshot on a timeline. In JSON what is None or empty is left out."""

    id: int
    commit_kind: str
    """``APPEND``, ``COMPACT``, ``OVERWRITE`` or ``ANALYZE``."""
    commit_user: str
    commit_identifier: int | None = None
    """None: a batch commit, which no stream numbers."""
    time_millis: int | None = None
    """Commit time, milliseconds since the epoch; None when times are hidden."""
    delta_record_count: int | None = None
    """Rows added minus rows deleted, before merging."""
    total_record_count: int | None = None
    """Rows over all live data files before merging: not the rows of the table."""
    changelog_record_count: int | None = None
    watermark_millis: int | None = None
    """Event time, milliseconds since the epoch; None if there is none, or if times are hidden."""
    schema_id: int
    is_new_schema: bool = False
    """Whether the previous snapshot has another schema; False for the oldest one."""
    tags: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    """Those that read this snapshot next."""
    missing_before: int = 0
    """How many ids right before this one have expired, since the snapshot before it."""
    manifest_count: int | None = None
    """Here and below None if the manifests were not read."""
    file_count: int | None = None
    """Live data files."""
    file_bytes: int | None = None
    added_file_count: int | None = None
    deleted_file_count: int | None = None
    written_rows: int | None = None
    """Inserted or updated; None of a compaction, too."""
    deleted_rows: int | None = None

    @property
    def row_change(self) -> int | None:
        """Rows written less rows deleted; where that is unknown, of files and before merging."""
        if self.written_rows is None or self.deleted_rows is None:
            return self.delta_record_count
        return self.written_rows - self.deleted_rows


class TimelineGroup(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Consecutive snapshots together."""

    first_id: int
    last_id: int
    snapshot_count: int
    missing_count: int = 0
    """Ids that have expired, between the previous group and the end of this one."""
    begin_millis: int | None = None
    """Time of the first commit; None when times are hidden."""
    end_millis: int | None = None
    kinds: dict[str, int]
    """How many commits of each kind there are."""
    delta_record_count: int | None = None
    """Sum over the snapshots; None if one of them does not say."""
    total_record_count: int | None = None
    """Here and below: as of the last snapshot."""
    changelog_record_count: int = 0
    """Sum over the snapshots."""
    watermark_millis: int | None = None
    schema_id: int
    new_schemas: tuple[int, ...] = ()
    """Schemas that snapshots of the group are the first to have."""
    tags: dict[str, int] = {}
    """Snapshot of each tag."""
    consumers: dict[str, int] = {}
    file_count: int | None = None
    file_bytes: int | None = None


class TimelineBranch(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The newest snapshots of another branch, oldest first."""

    name: str
    points: tuple[TimelinePoint, ...]
    older_count: int
    """Existing snapshots of the branch that are not shown."""
    forked_at: int | None
    """The last snapshot that both branches have; None if no such snapshot exists any more."""


class Timeline(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag="timeline", tag_field="kind"
):
    """The snapshots of a table, oldest first."""

    table: str
    points: tuple[TimelinePoint, ...]
    """The newest."""
    groups: tuple[TimelineGroup, ...]
    """All that are older."""
    grouped_by: Literal["day", "number"] | None
    """Days are those of UTC; None if there are no groups."""
    expired_count: int
    """Ids before the oldest snapshot."""
    branches: tuple[TimelineBranch, ...]
    branch_count: int
    """Other branches, shown or not."""
    other_tags: dict[str, int]
    """Tags of snapshots that have expired."""
    other_consumers: dict[str, int]
    """Consumers whose next snapshot does not exist yet, or no longer."""
    rows_are: str = BEFORE_MERGING
    """What the rows of files are, as `rows_are` says it."""


def repeatable(timeline: Timeline) -> Timeline:
    """Leave out what differs from run to run.

    Times, bytes and counts of files, which depend on how many tasks write, are hidden; users
    are numbered.
    """
    users: dict[str, str] = {}
    hidden_files = dict.fromkeys(
        ("manifest_count", "file_count", "file_bytes", "added_file_count", "deleted_file_count")
    )

    def hidden(points: tuple[TimelinePoint, ...]) -> tuple[TimelinePoint, ...]:
        return tuple(
            msgspec.structs.replace(
                point,
                time_millis=None,
                watermark_millis=None,
                **hidden_files,
                commit_user=users.setdefault(point.commit_user, f"user#{len(users) + 1}"),
            )
            for point in points
        )

    replace = msgspec.structs.replace
    groups = [
        replace(group, begin_millis=None, end_millis=None, watermark_millis=None, file_bytes=None)
        for group in timeline.groups
    ]
    branches = [replace(branch, points=hidden(branch.points)) for branch in timeline.branches]
    return replace(
        timeline,
        points=hidden(timeline.points),
        groups=tuple(groups),
        branches=tuple(branches),
    )
