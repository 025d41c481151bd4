"""What a table was and will be: snapshots, commits, rollback, branches, tags, consumers.

Source: apache/paimon@1.4.2 ``docs/static/rest-catalog-open-api.yaml``.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from paimonlab.catalog.catalog import Catalog
from paimonlab.catalog.rest.wire import (
    BranchesAnswer,
    Commit,
    CommitAnswer,
    ConsumerDocument,
    ConsumersPage,
    CreateBranch,
    CreateTag,
    LatestAnswer,
    RenameBranch,
    ResetConsumer,
    Rollback,
    RollbackSchema,
    SnapshotAnswer,
    SnapshotsPage,
    TagAnswer,
    TagsPage,
)
from paimonlab.catalog.rest_server.committing import published
from paimonlab.catalog.rest_server.exchange import NotUnderstoodError, Request
from paimonlab.catalog.rest_server.listing import matching, page_of
from paimonlab.catalog.rest_server.tables import opened, table_id_of
from paimonlab.catalog.rest_server.totals import Totals
from paimonlab.errors import (
    CommitError,
    SnapshotNotFoundError,
    TableNotFoundError,
    TagNotFoundError,
    UnsupportedError,
)
from paimonlab.spec.options.grammar import parse_duration_millis
from paimonlab.spec.snapshot import Snapshot, Tag
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table

_EARLIEST, _LATEST = "EARLIEST", "LATEST"


def latest(
    catalog: Catalog, request: Request, database: str, name: str, *, totals: Totals
) -> LatestAnswer:
    """Return the latest snapshot, and what the table has in all."""
    del request
    table = opened(catalog, database, name)
    snapshot = table.snapshot
    if snapshot is None:
        raise SnapshotNotFoundError(table.name, "at all", "Nothing was written to it yet.")
    return LatestAnswer(snapshot=totals.of(table, snapshot))


def snapshot(
    catalog: Catalog, request: Request, database: str, name: str, version: str
) -> SnapshotAnswer:
    """Return a snapshot by its id, by a tag, the earliest or the latest."""
    del request
    table = opened(catalog, database, name)
    return SnapshotAnswer(snapshot=_version(table, version))


def _version(table: Table, version: str) -> Snapshot:
    found: Snapshot | None
    if version == _LATEST:
        found = table.snapshot
    elif version == _EARLIEST:
        earliest = table.snapshots.earliest_id()
        found = None if earliest is None else table.snapshots.get(earliest)
    elif version.isdecimal() and version.isascii():
        found = table.snapshots.find(int(version))
    else:
        try:
            found = table.tags.get(version).to_snapshot()
        except TagNotFoundError:
            found = None
    if found is None:
        raise SnapshotNotFoundError(table.name, version)
    return found


def snapshots(catalog: Catalog, request: Request, database: str, name: str) -> SnapshotsPage:
    """List snapshots, oldest first."""
    table = opened(catalog, database, name)
    ids = table.snapshots.ids()
    page, token = page_of(ids, request.query, lambda one: f"{one:019}")
    found = [one for one in map(table.snapshots.find, page) if one is not None]
    return SnapshotsPage(snapshots=found, next_page_token=token)


def commit(catalog: Catalog, request: Request, database: str, name: str) -> CommitAnswer:
    """Publish a snapshot, if nothing has its id.

    The client has written all that it refers to. What is asked a second time, because an answer
    was lost, is answered with success: false, and the client finds its own snapshot.
    """
    asked = request.document(Commit)
    table = opened(catalog, database, name)
    if asked.table_id is not None and asked.table_id != table_id_of(table):
        raise TableNotFoundError(table.name)
    if asked.snapshot.schema_id not in table.schemas:
        raise NotUnderstoodError(f"{table.name} has no schema {asked.snapshot.schema_id}")
    return CommitAnswer(success=published(store_of(table), asked.snapshot))


def rolled_back(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Roll a table back."""
    asked = request.document(Rollback)
    table = opened(catalog, database, name)
    newest = table.snapshots.latest_id()
    if asked.from_snapshot is not None and asked.from_snapshot != newest:
        raise CommitError(f"{table.name}: the latest snapshot is {newest}, others committed")
    instant = asked.instant
    if instant.type == "snapshot" and instant.snapshot_id is not None:
        table.maintenance.rollback_to(snapshot=instant.snapshot_id)
    elif instant.type == "tag" and instant.tag_name is not None:
        table.maintenance.rollback_to(tag=instant.tag_name)
    else:
        raise NotUnderstoodError("a rollback names a snapshot or a tag")


def schema_rolled_back(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Refuse to delete schemas."""
    asked = request.document(RollbackSchema)
    opened(catalog, database, name)
    raise UnsupportedError(
        f"rolling {database}.{name} back to schema {asked.schema_id}",
        "alter the table; old snapshots keep the schemas that they were written with",
    )


def branches(catalog: Catalog, request: Request, database: str, name: str) -> BranchesAnswer:
    """List branches."""
    del request
    return BranchesAnswer(branches=opened(catalog, database, name).branches.list())


def branch_created(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Create a branch."""
    asked = request.document(CreateBranch)
    opened(catalog, database, name).branches.create(asked.branch, tag=asked.from_tag)


def branch_dropped(
    catalog: Catalog, request: Request, database: str, name: str, branch: str
) -> None:
    """Delete a branch."""
    del request
    opened(catalog, database, name).branches.delete(branch)


def branch_renamed(
    catalog: Catalog, request: Request, database: str, name: str, branch: str
) -> None:
    """Give a branch another name."""
    target = request.document(RenameBranch).to_branch
    opened(catalog, database, name).branches.rename(branch, target)


def branch_forwarded(
    catalog: Catalog, request: Request, database: str, name: str, branch: str
) -> None:
    """Fast-forward a table to a branch."""
    del request
    opened(catalog, database, name).branches.fast_forward(branch)


def tags(catalog: Catalog, request: Request, database: str, name: str) -> TagsPage:
    """List names of tags."""
    names = list(opened(catalog, database, name).tags.list())
    prefix = request.query.get("tagNamePrefix")
    if prefix and not prefix.endswith("%"):
        names = [one for one in names if one.startswith(prefix)]
    else:
        names = matching(names, prefix)
    page, token = page_of(names, request.query, str)
    return TagsPage(tags=page, next_page_token=token)


def tag(catalog: Catalog, request: Request, database: str, name: str, tag: str) -> TagAnswer:
    """Return a tag."""
    del request
    found = opened(catalog, database, name).tags.get(tag)
    return TagAnswer(
        tag_name=tag,
        snapshot=found.to_snapshot(),
        tag_create_time=_millis(found),
        tag_time_retained=_duration(found),
    )


def tag_created(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Create a tag of a snapshot, or of the latest one."""
    asked = request.document(CreateTag)
    table = opened(catalog, database, name)
    retained = None
    if asked.time_retained is not None:
        retained = timedelta(milliseconds=parse_duration_millis(asked.time_retained))
    table.tags.create(asked.tag_name, snapshot=asked.snapshot_id, time_retained=retained)


def tag_dropped(catalog: Catalog, request: Request, database: str, name: str, tag: str) -> None:
    """Delete a tag."""
    del request
    opened(catalog, database, name).tags.delete(tag)


def _millis(tag: Tag) -> int | None:
    if tag.tag_create_time is None:
        return None
    year, month, day, hour, minute, second, nanosecond = (*tag.tag_create_time, 0, 0, 0, 0)[:7]
    local = datetime(year, month, day, hour, minute, second, nanosecond // 1000).astimezone()
    return int(local.timestamp() * 1000)


def _duration(tag: Tag) -> str | None:
    """Write how long a tag is kept as Java does: ``PT36H``."""
    retained = tag.tag_time_retained
    if retained is None or isinstance(retained, str):
        return retained
    return f"PT{retained:.9f}".rstrip("0").rstrip(".") + "S"


def consumers(catalog: Catalog, request: Request, database: str, name: str) -> ConsumersPage:
    """List consumers."""
    found = opened(catalog, database, name).consumers.list()
    documents = [ConsumerDocument(consumer_id=one, next_snapshot=at) for one, at in found.items()]
    page, token = page_of(documents, request.query, lambda one: one.consumer_id)
    return ConsumersPage(consumers=page, next_page_token=token)


def consumer_reset(catalog: Catalog, request: Request, database: str, name: str) -> None:
    """Let a consumer go on from a snapshot, or delete it."""
    asked = request.document(ResetConsumer)
    table = opened(catalog, database, name)
    if asked.next_snapshot_id is None:
        table.consumers.delete(asked.consumer_id)
    else:
        table.snapshots.get(asked.next_snapshot_id)
        table.consumers.reset(asked.consumer_id, asked.next_snapshot_id)
