"""All that reading splits of a snapshot takes, gathered into a value that can be sent."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.read.lookup_options import LookupStoreOptions, LookupStorePlan
from paimonlab.read.read_plan import ReadOptions, ReadPlan
from paimonlab.spec.merge_engine import MergeEngine
from paimonlab.spec.predicates.predicate import Predicate
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.snapshot import Snapshot
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore


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
        The table's definition and store.
    schema
        The one that rows are to have.
    columns
        Names in the order wanted.
    predicate
        Bound to ``schema``; None: all rows.
    snapshot
        That is read; None: the table is empty.
    """
    newest = max(schema.id, -1 if snapshot is None else snapshot.schema_id)
    known = (definition.schema, schema)
    schemas = {one.id: one for one in store.schemas.upto(newest, known)}
    return ReadPlan(
        table_path=store.layout.table_path,
        table_name=definition.name,
        schema=schema,
        schemas=schemas,
        columns=tuple(columns),
        predicate=predicate,
        options=definition.options.slice(ReadOptions),
        external_roots=store.layout.external_roots,
        lookup_stores=lookup_store_plan(definition, store),
        engine=MergeEngine.of(schema.fields, schema.primary_keys, definition.options),
    )


def lookup_store_plan(definition: TableDefinition, store: TableStore) -> LookupStorePlan:
    """Gather what finding keys in lookup stores takes."""
    return LookupStorePlan(
        options=definition.options.slice(LookupStoreOptions), folder=store.lookup_folder
    )
