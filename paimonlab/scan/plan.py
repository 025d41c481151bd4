"""Planning a read: which files of a snapshot answer it, as splits.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.AbstractFileStoreScan``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from msgspec.structs import replace

from paimonlab.arrow_values import arrow_array, numpy_values
from paimonlab.errors import UnsupportedError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.scan.conditions import Conditions
from paimonlab.scan.deletion_files import DeletionFiles
from paimonlab.scan.entries import concat, live
from paimonlab.scan.file_times import created_since
from paimonlab.scan.filters import Filter, Step, filtered
from paimonlab.scan.live_files import in_real_buckets, manifests_of, read_entries
from paimonlab.scan.options import ScanOptions
from paimonlab.scan.planned_splits import PlannedSplits
from paimonlab.scan.pruning import (
    matches_buckets,
    matches_keys,
    matches_manifests,
    matches_partitions,
    matches_row_ids,
    matches_values,
)
from paimonlab.scan.sampling import FileSample
from paimonlab.scan.split import DataSplit
from paimonlab.scan.split_making import Placement, place
from paimonlab.spec.manifests.manifest import NO_ENTRIES, ManifestFileMeta
from paimonlab.spec.plurals import many
from paimonlab.spec.predicates.predicate import AlwaysTrue, Predicate
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.spec.types.data_types import DataType

__all__ = ["Plan", "ScanOptions", "ScanRequest", "plan"]

_NOTHING_READ = tuple(
    Step(name, 0)
    for name in (
        "manifests",
        "manifests read",
        "files",
        "after partitions",
        "after buckets",
        "after key ranges",
        "after statistics",
    )
)


class ScanRequest(Struct, frozen=True, kw_only=True):
    """What to read."""

    snapshot: Snapshot | None
    """None: the table is empty."""
    predicate: Predicate | None = None
    """Bound to the read schema."""
    limit: int | None = None
    """Rows that are enough."""
    buckets: frozenset[int] | None = None
    """None: all buckets."""
    level: int | None = None
    """Only files of this level; None: of all."""
    min_level: int | None = None
    """Only files of this level and deeper ones, whatever readers of the table see else; None:
    those that they see."""
    created_since_millis: int | None = None
    """Only files made at or after this time count, epoch milliseconds; None: all."""


class Plan(Struct, frozen=True, kw_only=True, dict=True):
    """The files that answer a read, and how they were found."""

    snapshot: Snapshot | None
    planned: PlannedSplits | None
    """None: nothing is read."""
    steps: tuple[Step, ...]
    """What each step of pruning left, in the order in which they were taken."""
    limit: int | None = None
    """Rows that are enough; None: all."""

    @property
    def files(self) -> pa.Table:
        """The entries of the files that are read (`ENTRY_SCHEMA`); a limit does not show here."""
        return NO_ENTRIES if self.planned is None else self.planned.files

    @cached_property
    def splits(self) -> list[DataSplit]:
        """The files as splits, which are made when they are first asked for."""
        if self.planned is None:
            return []
        if self.limit is None:
            return self.planned.all()
        return self.planned.enough_for(self.limit)

    def counted(self) -> tuple[int, list[DataSplit]]:
        """Count rows by what metadata says; leave the splits that have to be read for it.

        The limit does not count.
        """
        return (0, []) if self.planned is None else self.planned.counted()

    def limited(self, limit: int | None) -> Plan:
        """Return the plan of a read for which so many rows are enough."""
        return self if limit == self.limit else replace(self, limit=limit)

    def sampled(self, sample: FileSample) -> Plan:
        """Return the plan of a read of some of the files that stand for all."""
        if self.planned is None:
            return self
        return replace(self, planned=self.planned.sampled(sample))

    def __repr__(self) -> str:
        of = "an empty table" if self.snapshot is None else f"snapshot {self.snapshot.id}"
        files, splits = self.files.num_rows, len(self.splits)
        counts = f"{many(files, 'file')} in {many(splits, 'split')}"
        return f"<Plan of {of}: {counts}>"

    def without(self, partitions: Collection[bytes]) -> Plan:
        """Return the plan without the files of some partitions, as serialised BinaryRows."""
        values = arrow_array([*partitions], self.files.schema.field("partition").type)
        return self.keeping(numpy_values(pc.invert(pc.is_in(self.files["partition"], values))))

    def keeping(self, keeps: npt.NDArray[np.bool_]) -> Plan:
        """Return the plan of some of the files, by a mark for each of `files`."""
        if self.planned is None:
            return self
        left = self.planned.filter(keeps)
        return replace(
            self,
            planned=left,
            steps=(*self.steps[:-1], replace(self.steps[-1], count=left.files.num_rows)),
        )

    def left(self, name: str) -> int:
        """Return how many manifests or files a step left, as `Step.name` says."""
        return next(step.count for step in self.steps if step.name == name)

    def funnel(self) -> list[tuple[str, int]]:
        """Return how many manifests and files each step of pruning left, but for hidden ones."""
        return [(step.name, step.count) for step in self.steps if not step.is_hidden]


def plan(
    request: ScanRequest,
    schema: TableSchema,
    schemas: SchemaManager,
    manifests: ManifestStore,
    options: ScanOptions,
    *,
    table: str = "",
) -> Plan:
    """Find the files that may hold rows which are asked for.

    Parameters
    ----------
    request
        What is to be read.
    schema
        The schema of the result.
    schemas
        Finds the schemas of the files.
    manifests
        The manifests of the table.
    options
        Sizes of splits, and how partitions are named.
    table
        Its name, for messages.

    Raises
    ------
    SnapshotExpiredError
        If the snapshot expired meanwhile.
    CorruptMetadataError
        If a manifest is missing or damaged.
    UnsupportedError
        If reading the snapshot needs something that paimonlab does not implement.
    """
    snapshot = request.snapshot
    conditions = Conditions.of(request.predicate, schema)
    if snapshot is None or conditions.is_impossible:
        return Plan(snapshot=snapshot, planned=None, steps=_NOTHING_READ)
    metas = manifests_of(snapshot, manifests)
    kept = _kept(metas, matches_manifests(metas, conditions, request.buckets, schema))
    # Additions and deletions of a file share partition and bucket, so both are still there.
    entries, of_entries = filtered(
        in_real_buckets(concat(read_entries(snapshot, kept, manifests))),
        [
            Filter("after partitions", lambda files: matches_partitions(files, conditions, schema)),
            Filter(
                "after buckets",
                lambda files: matches_buckets(files, conditions, request.buckets, schema, schemas),
            ),
        ],
    )
    in_key_range, of_files = filtered(
        live([entries], referrer=snapshot.file_name),
        [
            *_visible(request, schema, options),
            *_by_row_ids(conditions, schema, schemas),
            Filter(
                "after key ranges", lambda files: matches_keys(files, conditions, schema, schemas)
            ),
        ],
    )
    placement = place(
        in_key_range,
        _key_types(schema),
        by_row_id=options.data_evolution,
        has_each_key_once=options.needs_no_merging,
    )
    wanted = _wanted(in_key_range, placement, conditions, schema, schemas)
    files, of_values = filtered(in_key_range, [Filter("after statistics", lambda _: wanted)])
    placement = placement.filter(wanted)
    made = Plan(
        snapshot=snapshot,
        planned=PlannedSplits(
            snapshot=snapshot,
            files=files,
            placement=placement,
            schema=schema,
            options=options,
            deletion_files=DeletionFiles.of(
                snapshot, manifests, beside_data=options.has_indexes_beside_data
            ),
        ),
        limit=request.limit if conditions.is_empty else None,
        steps=(
            Step("manifests", len(metas)),
            Step("manifests read", len(kept)),
            Step("files", sum(meta.num_added_files - meta.num_deleted_files for meta in metas)),
            *of_entries,
            *of_files,
            *of_values,
        ),
    )
    if options.data_evolution:
        _refuse_deletions(made.splits, table)
    return made


def _kept(
    metas: Sequence[ManifestFileMeta], keeps: npt.NDArray[np.bool_]
) -> list[ManifestFileMeta]:
    return [meta for meta, keep in zip(metas, keeps.tolist(), strict=True) if keep]


def _visible(request: ScanRequest, schema: TableSchema, options: ScanOptions) -> Iterator[Filter]:
    """Leave out files that are not asked for, or that readers of the table do not see yet."""
    level, since = request.level, request.created_since_millis
    if level is not None:
        yield Filter("of the level", lambda files: _levels(files) == level, is_hidden=True)
    if since is not None:
        yield Filter("created since", lambda files: created_since(files, since), is_hidden=True)
    sees_all = not schema.primary_keys or not options.skips_level_0
    least = request.min_level
    if least is None:
        least = 0 if sees_all else 1
    if least or not sees_all:
        yield Filter("compacted", lambda files: _levels(files) >= least, is_hidden=sees_all)


def _by_row_ids(
    conditions: Conditions, schema: TableSchema, schemas: SchemaManager
) -> Iterator[Filter]:
    """Leave out files that have none of the rows that are asked for by their ids."""
    if not isinstance(conditions.row_id, AlwaysTrue):
        yield Filter(
            "after row ids", lambda files: matches_row_ids(files, conditions, schema, schemas)
        )


def _levels(files: pa.Table) -> npt.NDArray[np.int32]:
    levels: npt.NDArray[np.int32] = numpy_values(files["level"])
    return levels


def _key_types(schema: TableSchema) -> list[DataType] | None:
    if not schema.primary_keys:
        return None
    return [schema.field(name).type for name in schema.trimmed_primary_keys]


def _wanted(
    entries: pa.Table,
    placement: Placement,
    conditions: Conditions,
    schema: TableSchema,
    schemas: SchemaManager,
) -> npt.NDArray[np.bool_]:
    """Mark files that may match; where rows merge, other columns may still be overwritten."""
    if not placement.is_raw.any():
        return np.ones(entries.num_rows, np.bool_)
    return matches_values(entries, conditions, schema, schemas) | ~placement.is_raw


def _refuse_deletions(splits: Sequence[DataSplit], table: str) -> None:
    if any(split.has_deletions for split in splits):
        raise UnsupportedError(
            "data-evolution.enabled = 'true' with deletion vectors",
            f"{table or 'the table'} has rows that are deleted in several files at once",
        )
