"""In which order rows are put that are written together."""

from __future__ import annotations

from paimonlab.compact.clustering import ClusteringOptions
from paimonlab.compact.ordering.row_order import RowOrder
from paimonlab.errors import SchemaError
from paimonlab.spec.buckets.mode import BucketMode
from paimonlab.table.definition import TableDefinition


def row_order(definition: TableDefinition) -> RowOrder | None:
    """Return the order of rows that are written together; None: as they come.

    Source: apache/paimon@1.4.2 ``org.apache.paimon.spark.commands.PaimonSparkWriter``.
    """
    options, schema = definition.options.slice(ClusteringOptions), definition.schema
    names = [name for name in options.columns if name not in schema.partition_keys]
    is_ordered = definition.bucket_mode is BucketMode.BUCKET_UNAWARE and not options.is_incremental
    if not names or not is_ordered:
        return None
    try:
        return RowOrder.by(names, options.strategy, schema, table=definition.name)
    except ValueError as error:
        raise SchemaError(
            f"{definition.name}: clustering.columns = '{','.join(options.columns)}', "
            f"clustering.strategy = '{options.strategy}': {error}"
        ) from None
