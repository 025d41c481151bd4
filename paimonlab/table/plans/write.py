"""All that writing files takes, gathered into a value that can be sent."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from paimonlab.formats.data_output import DataFormats
from paimonlab.formats.file_index.options import FileIndexOptions
from paimonlab.metadata.layout import TableLayout
from paimonlab.same_objects import MOST_REMEMBERED, SameObjects
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.statistics.mode import StatsOptions
from paimonlab.table import plans
from paimonlab.table.definition import TableDefinition
from paimonlab.write.key_hashes import DynamicBucketOptions
from paimonlab.write.write_plan import WriteOptions, WritePlan


def write_plan(definition: TableDefinition, layout: TableLayout) -> WritePlan:
    """Gather what writing takes.

    Raises
    ------
    UnsupportedError
        If files of the table's format cannot hold a column.
    """
    if len(definition.schema.fields) > MOST_REMEMBERED:
        return _gathered(definition, layout)
    return _known(SameObjects((definition, layout)))


@lru_cache(maxsize=64)
def _known(given: SameObjects[Any]) -> WritePlan:
    """Gather it once for a table that is written to again and again."""
    return _gathered(*given)


def _gathered(definition: TableDefinition, layout: TableLayout) -> WritePlan:
    schema, options = definition.schema, definition.options
    formats = DataFormats.of(options, has_keys=bool(schema.primary_keys))
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
        order=plans.order.row_order(definition) if options.get("clustering.columns") else None,
    )
