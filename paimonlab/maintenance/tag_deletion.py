"""Deleting a tag, and the files that only it kept.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.TagManager.deleteTag``; where Java looks at
the neighbours of a tag, all tags, branches and changelogs are looked at here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from paimonlab.maintenance.deletion import delete_files
from paimonlab.maintenance.references import References
from paimonlab.maintenance.roots import kept_by_others, needed
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.spec.snapshot import Tag


@dataclass(frozen=True, slots=True, kw_only=True)
class TagDeletion:
    """What deleting a tag deletes."""

    tag: str
    snapshot_id: int
    files: References = field(default_factory=References, repr=False)
    """Files that nothing needs then; none while the tag's snapshot is there."""

    @property
    def file_count(self) -> int:
        """How many files are deleted besides the tag."""
        return len(self.files.all)


def delete_tag(
    name: str, history: TableHistory, *, dry_run: bool = False, after: Collection[str] = ()
) -> TagDeletion:
    """Delete a tag; if its snapshot has expired, the files that nothing else needs as well.

    Parameters
    ----------
    name, history
        The tag, and the branch that it is of.
    dry_run
        Delete nothing, only return what would be deleted.
    after
        For a dry run: tags that would be deleted before.

    Raises
    ------
    TagNotFoundError
        If there is no such tag.
    CorruptMetadataError
        If a manifest that tells what is needed cannot be read: the tag is gone then, its files
        are left to orphan file cleaning.
    """
    tag = history.tags.get(name)
    is_kept = history.snapshots.has(tag.id)
    candidates = References() if is_kept else history.reader.of_state(tag.to_snapshot())
    if not dry_run:
        history.tags.delete(name)
    deletion = TagDeletion(tag=name, snapshot_id=tag.id)
    if is_kept:
        return deletion
    # What was made meanwhile counts, so that all is looked at once the tag is gone.
    keeping = needed(
        partial(kept_by_others, history, but_tags={name, *after}),
        history.reader,
        history.file_io,
        data_names=candidates.data_names,
    )
    unneeded = candidates.without(keeping)
    if not dry_run:
        delete_files(unneeded, history.file_io, table=history.name)
        history.reader.manifests.forget(unneeded.manifests)
    return replace(deletion, files=unneeded)


def expired_tags(
    tags: Sequence[tuple[str, Tag]],
    *,
    now: datetime,
    older_than: datetime | None = None,
    modified: dict[str, datetime] | None = None,
) -> list[str]:
    """Decide which tags have expired.

    Parameters
    ----------
    tags
        The tags by name.
    now, older_than
        Local date and time without a zone, as tags have it; those made before ``older_than`` go
        as well.
    modified
        When the files of tags were written, for those that do not say when they were made.

    Source: apache/paimon@1.3.1 ``org.apache.paimon.tag.TagTimeExpire``.
    """
    expired = []
    for name, tag in tags:
        created = created_at(tag) or (modified or {}).get(name)
        retained = retained_for(tag)
        has_lived = created is not None and retained is not None and now > created + retained
        is_old = older_than is not None and created is not None and older_than > created
        if has_lived or is_old:
            expired.append(name)
    return expired


def created_at(tag: Tag) -> datetime | None:
    """Return when a tag was made, as a local date and time; None if unknown."""
    if tag.tag_create_time is None:
        return None
    year, month, day, hour, minute, second, nanos = [*tag.tag_create_time, 0, 0, 0, 0][:7]
    return datetime(year, month, day, hour, minute, second, nanos // 1000)  # noqa: DTZ001 - no zone


def retained_for(tag: Tag) -> timedelta | None:
    """Return how long a tag is kept; None: for ever."""
    return (
        None if tag.tag_time_retained is None else timedelta(seconds=float(tag.tag_time_retained))
    )
