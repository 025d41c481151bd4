"""All that compacting files takes, gathered into a value that can be sent."""

from __future__ import annotations

from paimonlab.compact.changelog import ChangelogOptions
from paimonlab.compact.compaction import CompactPlan
from paimonlab.compact.record_expiry import RecordExpiryOptions
from paimonlab.compact.strategy import StrategyOptions
from paimonlab.compact.tasks import TaskOptions
from paimonlab.datafile.index_files import IndexFileOptions
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.plans.read import read_plan
from paimonlab.table.store import TableStore


def compact_plan(
    definition: TableDefinition, store: TableStore, snapshot: Snapshot | None
) -> CompactPlan:
    """Gather what compacting the files of a snapshot takes."""
    options = definition.options
    return CompactPlan(
        read=read_plan(definition, store, definition.schema, (), None, snapshot=snapshot),
        strategy=StrategyOptions.of(options),
        tasks=options.slice(TaskOptions),
        expiry=options.slice(RecordExpiryOptions),
        index_files=options.slice(IndexFileOptions),
        changelog=options.slice(ChangelogOptions),
    )
