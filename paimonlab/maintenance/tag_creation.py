"""Creating tags: on request, and automatically after commits.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.TagManager``,
``org.apache.paimon.tag.TagAutoManager``.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.maintenance.auto_tags import AutoTagOptions, batch_name, new_tags, surplus
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.tag_deletion import delete_tag
from paimonlab.maintenance.tag_expiry import TagExpiryRequest, expire_tags
from paimonlab.maintenance.tag_success import write_success_file
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.snapshot import Snapshot, Tag

logger = logging.getLogger(__name__)


class TagOptions(OptionSlice):
    """The table options that steer all tags."""

    retained_millis: int | None = option_field("tag.default-time-retained", "duration", None)
    """``tag.default-time-retained``"""
    writes_success_file: bool = option_field("tag.create-success-file", "boolean", default=False)
    """``tag.create-success-file``"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagRequest:
    """Which tag is to refer to which snapshot, and for how long."""

    name: str
    snapshot: int | None = None
    """Its id; None: the latest."""
    timestamp_millis: int | None = None
    """Instead of the id: the latest snapshot at or before this time."""
    time_retained: timedelta | None = None
    """None: as ``tag.default-time-retained`` says, else for ever."""


def create_tag(history: TableHistory, request: TagRequest) -> Tag:
    """Create a tag; see `Tags.create`."""
    snapshot = _snapshot(history, request)
    _check_alone(history, request.name, snapshot)
    return _created(history, request.name, snapshot, request.time_retained)


def replace_tag(history: TableHistory, request: TagRequest) -> Tag:
    """Let a tag refer to another snapshot; see `Tags.replace`."""
    snapshot = _snapshot(history, request)
    tag = history.tags.replace(request.name, snapshot, time_retained=request.time_retained)
    history.show_tag(request.name, snapshot.id)
    return tag


def create_due_tags(history: TableHistory) -> Sequence[str]:
    """Create the tags that ``tag.automatic-creation`` asks for by now; see `Tags.create_due`."""
    options = history.options.slice(AutoTagOptions)
    if options.mode == "none":
        return []
    create = _create_batch if options.mode == "batch" else _create_due
    names = create(history, options)
    if options.expires:
        expire_tags(history, TagExpiryRequest())
    return names


def _create_due(history: TableHistory, options: AutoTagOptions) -> Sequence[str]:
    names = []
    for name, snapshot in new_tags(options, history.snapshots, dict(history.tags.list())):
        if name not in dict(history.tags.list()):
            _created(history, name, snapshot, None)
            names.append(name)
        _delete_surplus(history, options)
    return names


def _create_batch(history: TableHistory, options: AutoTagOptions) -> Sequence[str]:
    snapshot = history.snapshots.latest()
    if snapshot is None:
        return []
    name = batch_name(options, snapshot)
    if name in dict(history.tags.list()):
        delete_tag(name, history)
    _created(history, name, snapshot, None)
    _delete_surplus(history, options)
    return [name]


def _created(
    history: TableHistory, name: str, snapshot: Snapshot, time_retained: timedelta | None
) -> Tag:
    options = history.options.slice(TagOptions)
    if time_retained is None and options.retained_millis is not None:
        time_retained = timedelta(milliseconds=options.retained_millis)
    tag = history.tags.create(name, snapshot, time_retained=time_retained)
    history.show_tag(name, snapshot.id)
    if options.writes_success_file:
        write_success_file(name, history.layout, history.file_io)
    return tag


def _delete_surplus(history: TableHistory, options: AutoTagOptions) -> None:
    for name in surplus(options, dict(history.tags.list())):
        logger.info("%s: tag %s is deleted, there are too many", history.name, name)
        delete_tag(name, history)


def _snapshot(history: TableHistory, request: TagRequest) -> Snapshot:
    if request.timestamp_millis is not None:
        if request.snapshot is not None:
            raise ValueError("give the id of a snapshot or a time, not both")
        return history.snapshots.at_or_before(request.timestamp_millis)
    if request.snapshot is not None:
        return _of_id(history, request.snapshot)
    latest = history.snapshots.latest()
    if latest is None:
        raise SnapshotNotFoundError(history.name, "to tag", "Nothing was committed yet.")
    return latest


def _of_id(history: TableHistory, snapshot_id: int) -> Snapshot:
    """Find a snapshot, also one that only tags keep."""
    try:
        return history.snapshots.get(snapshot_id)
    except SnapshotNotFoundError:
        for _, tag in history.tags.list():
            if tag.id == snapshot_id:
                return tag.to_snapshot()
        raise


def _check_alone(history: TableHistory, name: str, snapshot: Snapshot) -> None:
    """Check that no snapshot gets two tags that look as if commits had created them."""
    options = history.options.slice(AutoTagOptions)
    if options.mode not in {"process-time", "watermark"}:
        return
    periods = options.periods
    others = [
        other
        for other, tag in history.tags.list()
        if tag.id == snapshot.id and periods.time(other) is not None
    ]
    if others and periods.time(name) is not None:
        raise ValueError(
            f"snapshot {snapshot.id} has the tag {others[0]!r} of a period already; choose a "
            f"name other than {name!r} that is not the name of a period"
        )
