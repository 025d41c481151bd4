"""Orphan files of a table, as users look for and delete them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from paimonlab.errors import UnsupportedError
from paimonlab.maintenance.orphans import (
    LEAST_AGE,
    OrphanFiles,
    OrphanSearch,
    clock_of,
    find_orphans,
    remove_orphans,
)
from paimonlab.maintenance.retention import ExpireOptions
from paimonlab.maintenance.stored_files import StoredOptions
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.progress import Progress
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.options.table_options import Options
from paimonlab.table.definition import TableDefinition
from paimonlab.table.store import TableStore
from paimonlab.table.upkeep.history import history_of

_PAST = timedelta(seconds=1)


def remove_orphan_files(
    definition: TableDefinition,
    store: TableStore,
    *,
    older_than: datetime | None,
    dry_run: bool,
    force: bool,
    progress: Progress | None,
) -> OrphanFiles:
    """Find orphan files, and delete them; see `Maintenance.remove_orphan_files`."""
    history = history_of(definition, store)
    now = datetime.now(UTC) if dry_run else clock_of(store.file_io, store.layout)
    limit = older_than or now - LEAST_AGE
    if now - limit < _PAST:
        raise ValueError(
            f"older_than = {limit} is not past: files of commits that are under way would go"
        )
    if not (dry_run or force) and now - limit < LEAST_AGE - timedelta(minutes=1):
        raise ValueError(
            f"older_than = {limit} is less than a day ago: files of a write that is under way may "
            "go. Pass force=True if nobody writes to the table"
        )
    _check_alone(definition.options, store)
    search = OrphanSearch(
        options=definition.options.slice(StoredOptions),
        external_folders=definition.options.slice(ExternalPathOptions).readable_folders,
        partition_depth=len(definition.schema.partition_keys),
    )
    found = find_orphans(history, search, older_than=limit, progress=progress)
    if dry_run:
        return found
    threads = definition.options.slice(ExpireOptions).threads
    return remove_orphans(found, history, threads=threads, progress=progress)


def _check_alone(options: Options, store: TableStore) -> None:
    """Check that no other table of the warehouse has files in the same folders elsewhere.

    Raises
    ------
    UnsupportedError
        If one does: files of the one are no orphans of the other.
    """
    own = options.slice(ExternalPathOptions).readable_folders
    if not own:
        return
    io, path = store.file_io, store.layout.table_path
    warehouse = path.rpartition("/")[0].rpartition("/")[0]
    databases = [one for one in io.list(warehouse) if one.is_directory]
    for database in databases:
        for table in io.list(database.path):
            if not table.is_directory or table.path == path:
                continue
            schema = SchemaManager(io, TableLayout(table.path)).latest()
            folders = Options({} if schema is None else schema.options).slice(ExternalPathOptions)
            shared = [root for root in folders.readable_folders if _overlaps(root, own)]
            if shared:
                name = f"{database.path.rpartition('/')[2].removesuffix('.db')}."
                raise UnsupportedError(
                    "looking for orphan files in a folder that two tables use",
                    f"{name}{table.path.rpartition('/')[2]} has data files in {shared[0]}, too",
                )


def _overlaps(root: str, others: Sequence[str]) -> bool:
    return any(
        f"{root}/".startswith(f"{one}/") or f"{one}/".startswith(f"{root}/") for one in others
    )
