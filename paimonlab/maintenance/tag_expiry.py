"""Deleting the tags whose time has passed.

Source: apache/paimon@1.3.1 ``org.apache.paimon.tag.TagTimeExpire``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from paimonlab import clock
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.tag_deletion import delete_tag
from paimonlab.spec.snapshot import Tag


@dataclass(frozen=True, slots=True, kw_only=True)
class TagExpiryRequest:
    """Which tags are to expire: those that are older than the time they say."""

    older_than: datetime | None = None
    """Local, without a zone: tags created before expire as well, whatever they say."""
    now: datetime | None = None
    """Local, without a zone; None: the clock's."""
    dry_run: bool = False


def expire_tags(
    history: TableHistory,
    request: TagExpiryRequest,
    tags: Sequence[tuple[str, Tag]] | None = None,
) -> list[str]:
    """Delete the tags that have expired, or only find them.

    Parameters
    ----------
    history
        The history of the branch.
    request
        Which tags.
    tags
        All of them, by name; None: they are listed.

    Returns
    -------
    list of str
        Their names.
    """
    names = expired_tags(
        history.tags.list() if tags is None else tags,
        now=request.now or clock.local_now(),
        older_than=request.older_than,
        modified={} if request.older_than is None else history.tags.modified(),
    )
    if not request.dry_run:
        for name in names:
            delete_tag(name, history)
    return names


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
        Local date and time without a zone, as tags have it; those created before ``older_than``
        expire as well.
    modified
        When the files of tags were written, for those that do not say when they were created.
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
    """Return when a tag was created, as a local date and time; None if unknown."""
    if tag.tag_create_time is None:
        return None
    year, month, day, hour, minute, second, nanos = [*tag.tag_create_time, 0, 0, 0, 0][:7]
    return datetime(year, month, day, hour, minute, second, nanos // 1000)  # noqa: DTZ001 - no zone


def retained_for(tag: Tag) -> timedelta | None:
    """Return how long a tag is kept; None: for ever."""
    return (
        None if tag.tag_time_retained is None else timedelta(seconds=float(tag.tag_time_retained))
    )
