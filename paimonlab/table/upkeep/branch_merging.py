"""Adding the files of one branch to another.

No file is written anew: afterwards both branches refer to the files. That is the sum of both as
long as neither has removed or rewritten a file since they parted, which their snapshots tell.

Source: apache/paimon@5dacde5 ``org.apache.paimon.utils.FileSystemBranchManager#mergeBranch`` and
``BranchMergeHandler``, which ask for the snapshots of both branches from the first one on.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import numpy_values
from paimonlab.commit.read_set import ReadSet
from paimonlab.errors import SchemaError, SnapshotNotFoundError, UnsupportedError
from paimonlab.formats.manifests.entry_rows import table_to_entries
from paimonlab.scan.live_files import live_entries
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.manifest import ManifestEntry
from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.schema.row_tracking import RowTrackingOptions
from paimonlab.spec.snapshot import BATCH_COMMIT_IDENTIFIER, CommitKind, Snapshot
from paimonlab.table.committing.users import new_user
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.after_commit import committer_of

logger = logging.getLogger(__name__)

_ADDS = (CommitKind.APPEND, CommitKind.ANALYZE)


class _MergeOptions(OptionSlice):
    has_vectors: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchMerge:
    """What one branch gets from another."""

    source: str
    """The branch that gives."""
    target: str
    """The branch that takes."""
    files: int = 0
    """Files that it did not have."""
    record_count: int = 0
    """Their rows."""
    size_bytes: int = 0
    snapshot: Snapshot | None = field(default=None, repr=False)
    """What was committed; None: nothing, or it was a dry run."""
    is_dry_run: bool = False

    def __str__(self) -> str:
        """Say how much the branch gets."""
        landed = f", snapshot {self.snapshot.id}" if self.snapshot else ""
        return (
            f"{self.source} gives {self.target} {self.files:,} files, {self.record_count:,} rows"
            f"{landed}"
        )


def merge_branch(
    definition: TableDefinition, store: TableStore, source: str, *, dry_run: bool
) -> BranchMerge:
    """Add the files of a branch to the one that is open; see `Branches.merge`."""
    other, theirs = store.on_branch(source)
    if theirs.layout == store.layout:
        raise ValueError(f"{store.name}: a branch cannot be merged into itself")
    schema = store.schemas.latest() or definition.schema
    _check_definitions(TableDefinition.of_schema(store.name, schema), other, source)
    given, taken = theirs.snapshots.list(), store.snapshots.list()
    check_only_added(taken, given, table=store.name, source=source)
    last, ours_last = given[-1], taken[-1]
    with nullcontext() if dry_run else store.tags.guarded([last]):
        entries = _missing(theirs, last, store, ours_last)
        merge = BranchMerge(
            source=source,
            target=store.layout.branch or "main",
            files=entries.num_rows,
            record_count=pc.sum(entries["row_count"]).as_py() or 0,
            size_bytes=pc.sum(entries["file_size_bytes"]).as_py() or 0,
            is_dry_run=dry_run,
        )
        if not entries.num_rows:
            return merge
        _check_schemas(store, theirs, set(entries["schema_id"].unique().to_pylist()), source)
        if dry_run:
            return merge
        names = entries["file_name"].combine_chunks()
        committed = committer_of(definition, store).append(
            _messages(table_to_entries(entries)),
            user=new_user(definition.options),
            identifier=BATCH_COMMIT_IDENTIFIER,
            is_new_user=True,
            reads=ReadSet(
                snapshot_id=ours_last.id,
                may_match=lambda added: numpy_values(pc.is_in(added["file_name"], names)),
            ),
        )
    logger.info("%s: %d files of branch %s added", store.name, merge.files, source)
    return replace(merge, snapshot=committed)


def check_only_added(
    ours: list[Snapshot], theirs: list[Snapshot], *, table: str, source: str
) -> None:
    """Check that two branches have only added files since they parted.

    Parameters
    ----------
    ours, theirs
        The snapshots of both that are left, oldest first.
    table, source
        The one that takes and the branch that gives, for messages.

    Raises
    ------
    SnapshotNotFoundError
        If one has no snapshot, or so many expired that it is unknown where they parted.
    UnsupportedError
        If one has removed or rewritten files since.
    """
    for name, snapshots in ((f"branch {source!r}", theirs), (table, ours)):
        if not snapshots:
            raise SnapshotNotFoundError(table, "to merge", f"{name} has no snapshot")
    first = max(ours[0].id, theirs[0].id)
    start = [{one.id: one for one in snapshots}.get(first) for snapshots in (ours, theirs)]
    if first > 1 and (start[0] is None or start[0] != start[1]):
        raise SnapshotNotFoundError(
            table,
            "that both branches have",
            f"It expired, so it is unknown what {table} and branch {source!r} had in common. "
            "INSERT the rows instead.",
        )
    for name, snapshots in ((f"branch {source!r}", theirs), (table, ours)):
        for one in snapshots:
            if (one.id > first or first == 1) and one.commit_kind not in _ADDS:
                raise UnsupportedError(
                    f"merging branch {source!r}",
                    f"snapshot {one.id} of {name} is of kind {one.commit_kind.value}: files that "
                    "it removed would reappear; INSERT the rows instead",
                )


def _check_definitions(ours: TableDefinition, theirs: TableDefinition, source: str) -> None:
    what = f"merging branch {source!r}"
    tracking = [one.options.slice(RowTrackingOptions) for one in (ours, theirs)]
    for one, rows in zip((ours, theirs), tracking, strict=True):
        if one.schema.primary_keys:
            raise UnsupportedError(what, f"{one.name} has a primary key; use fast_forward")
        if rows.data_evolution:
            raise UnsupportedError(what, f"{one.name} has data-evolution.enabled = 'true'")
        if one.options.slice(_MergeOptions).has_vectors:
            raise UnsupportedError(what, f"{one.name} has deletion-vectors.enabled = 'true'")
    if tracking[0].row_tracking != tracking[1].row_tracking:
        raise SchemaError(f"{ours.name}: branch {source!r} has another 'row-tracking.enabled'")
    if ours.schema.fields != theirs.schema.fields:
        raise SchemaError(f"{ours.name}: branch {source!r} has other columns")


def _check_schemas(
    store: TableStore, theirs: TableStore, schema_ids: Iterable[int], source: str
) -> None:
    known = set(store.schemas.ids())
    for schema_id in sorted(schema_ids):
        if schema_id not in known or store.schemas.get(schema_id) != theirs.schemas.get(schema_id):
            raise SchemaError(
                f"{store.name}: files of branch {source!r} were written with its schema "
                f"{schema_id}, which is another one here; INSERT the rows instead"
            )


def _missing(theirs: TableStore, last: Snapshot, ours: TableStore, head: Snapshot) -> pa.Table:
    """Return the files of the other branch that this one does not have (`ENTRY_SCHEMA`)."""
    given = live_entries(last, theirs.manifests)
    present = live_entries(head, ours.manifests)["file_name"].combine_chunks()
    return given.filter(np.invert(numpy_values(pc.is_in(given["file_name"], present))))


def _messages(entries: Iterable[ManifestEntry]) -> list[CommitMessage]:
    by_bucket: Mapping[tuple[bytes, int, int], list[ManifestEntry]] = defaultdict(list)
    for entry in entries:
        by_bucket[entry.partition, entry.bucket, entry.total_buckets].append(entry)
    return [
        CommitMessage(
            partition=partition,
            bucket=bucket,
            total_buckets=total,
            # Ids of rows are those of a branch: rows get new ones by this commit.
            new_files=tuple(
                msgspec.structs.replace(entry.file, first_row_id=None) for entry in of_bucket
            ),
        )
        for (partition, bucket, total), of_bucket in by_bucket.items()
    ]
