"""What maintenance works on: all that refers to files of a table."""

from __future__ import annotations

from functools import partial

from paimonlab.maintenance.references import ReferenceReader
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.scan.options import ScanOptions
from paimonlab.table.committing.committers import iceberg_catalog_of
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore


def history_of(definition: TableDefinition, store: TableStore) -> TableHistory:
    """Return the history of a table, of all its branches."""
    reader = ReferenceReader(
        layout=store.layout,
        manifests=store.manifests,
        options=definition.options.slice(ScanOptions),
        partition_fields=definition.partition_fields,
    )
    return TableHistory(
        name=store.name,
        options=definition.options,
        layout=store.layout,
        file_io=store.file_io,
        snapshots=store.snapshots,
        tags=store.tags,
        changelogs=store.changelogs,
        consumers=store.consumers,
        reader=reader,
        tag_callbacks=store.tag_callbacks,
        iceberg_catalog=partial(iceberg_catalog_of, store=store),
    )
