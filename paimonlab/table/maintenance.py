"""Keeping a table in order, as users do it."""

from __future__ import annotations

from paimonlab.errors import habits
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.verbs import cleaning, expiring, remaking


class Maintenance(habits.FamiliarNames, what="maintenance", instead=habits.MAINTENANCE):
    """Verbs that keep a table in order: ``table.maintenance``."""

    def __init__(self, definition: TableDefinition, store: TableStore) -> None:
        self._definition = definition
        self._store = store

    expire_snapshots = expiring.expire_snapshots
    expire_changelogs = expiring.expire_changelogs
    expire_partitions = expiring.expire_partitions
    expire_tags = expiring.expire_tags
    expire_consumers = expiring.expire_consumers
    rollback_to = cleaning.rollback_to
    remove_orphan_files = cleaning.remove_orphan_files
    remove_unexisting_files = cleaning.remove_unexisting_files
    purge_files = cleaning.purge_files
    rescale = remaking.rescale
    rewrite_file_index = remaking.rewrite_file_index
    analyze = remaking.analyze
