"""All that reading, writing or compacting files takes, gathered into values that can be sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    from paimonlab.compact.compaction import CompactPlan
    from paimonlab.read.read_plan import ReadPlan
    from paimonlab.spec.predicates.predicate import Predicate
    from paimonlab.write.write_plan import WritePlan


def read_plan(
    definition: TableDefinition,
    store: TableStore,
    schema: TableSchema,
    columns: Sequence[str],
    predicate: Predicate | None,
    *,
    snapshot: Snapshot | None,
) -> ReadPlan:
    """Gather what reading splits of a snapshot takes.

    Parameters
    ----------
    definition, store
        Of the table.
    schema
        The one that rows are to have.
    columns
        Names in the order wanted.
    predicate
        Bound to ``schema``; None: all rows.
    snapshot
        That is read; None: the table is empty.
    """
    from paimonlab.read.read_plan import ReadOptions, ReadPlan

    newest = max(schema.id, -1 if snapshot is None else snapshot.schema_id)
    schemas = {found.id: found for found in store.schemas.list() if found.id <= newest}
    return ReadPlan(
        table_path=store.layout.table_path,
        table_name=definition.name,
        schema=schema,
        schemas=schemas,
        columns=tuple(columns),
        predicate=predicate,
        options=definition.options.slice(ReadOptions),
        external_roots=store.layout.external_roots,
        engine=MergeEngine.of(schema.fields, schema.primary_keys, definition.options),
    )


def write_plan(definition: TableDefinition, layout: TableLayout) -> WritePlan:
    """Gather what writing takes.

    Raises
    ------
    UnsupportedError
        If files of the table's format cannot hold a column.
    """
    from paimonlab.formats.data_output import DataFormats
    from paimonlab.formats.file_index.options import FileIndexOptions
    from paimonlab.spec.external_paths import ExternalPathOptions
    from paimonlab.spec.partitions.folders import PartitionOptions
    from paimonlab.spec.statistics.mode import StatsOptions
    from paimonlab.write.key_hashes import DynamicBucketOptions
    from paimonlab.write.write_plan import WriteOptions, WritePlan

    schema, options = definition.schema, definition.options
    formats = DataFormats.of(options)
    formats.check(schema.fields)
    return WritePlan(
        table_path=layout.table_path,
        table_name=definition.name,
        schema=schema,
        options=options.slice(WriteOptions),
        partition=options.slice(PartitionOptions),
        formats=formats,
        stats=StatsOptions.of(schema.fields, options),
        file_index=FileIndexOptions.of(schema.fields, options),
        dynamic=options.slice(DynamicBucketOptions),
        external=options.slice(ExternalPathOptions).write_folders,
        engine=definition.merge_engine,
    )


def compact_plan(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> CompactPlan:
    """Gather what compacting the files of a snapshot takes."""
    from paimonlab.compact.changelog import ChangelogOptions
    from paimonlab.compact.compaction import CompactPlan
    from paimonlab.compact.record_expiry import RecordExpiryOptions
    from paimonlab.compact.strategy import StrategyOptions
    from paimonlab.compact.tasks import TaskOptions
    from paimonlab.datafile.index_files import IndexFileOptions

    options = definition.options
    return CompactPlan(
        read=read_plan(definition, store, definition.schema, (), None, snapshot=snapshot),
        strategy=StrategyOptions.of(options),
        tasks=options.slice(TaskOptions),
        expiry=options.slice(RecordExpiryOptions),
        index_files=options.slice(IndexFileOptions),
        changelog=options.slice(ChangelogOptions),
    )
