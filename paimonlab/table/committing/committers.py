"""Who makes snapshots of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.commit import iceberg
from paimonlab.commit.committer import CommitOptions, Committer
from paimonlab.errors import UnsupportedError
from paimonlab.spec.iceberg.options import IcebergPlace, check_iceberg
from paimonlab.spec.options.table_options import Options
from paimonlab.table.store import TableStore

if TYPE_CHECKING:
    from paimonlab.commit.iceberg.after_commit import IcebergUpkeep
    from paimonlab.commit.iceberg.catalogs import IcebergCatalog


def plain_committer_of(options: Options, store: TableStore) -> Committer:
    """Return a committer for upkeep itself: after its commits nothing is looked after.

    Parameters
    ----------
    options
        The table's options.
    store
        Its store, which keeps the committer: what one commit has checked the next need not.
    """
    sliced = options.slice(CommitOptions)
    committer = store.committers.get(sliced)
    if committer is None:
        committer = Committer(
            store.name,
            store.file_io,
            store.layout,
            snapshots=store.snapshots,
            manifests=store.manifests,
            schemas=store.schemas,
            publisher=store.publisher,
            options=sliced,
            callbacks=store.callbacks,
        )
    committer = store.committers.setdefault(sliced, committer)
    if _has_iceberg(options, store):
        return committer.with_callbacks([iceberg_upkeep_of(options, store)])
    return committer


def refresh_iceberg(options: Options, store: TableStore) -> None:
    """Let the Iceberg metadata, if there is some, be that of the latest snapshot."""
    if _has_iceberg(options, store):
        iceberg_upkeep_of(options, store).refresh()


def _has_iceberg(options: Options, store: TableStore) -> bool:
    return options.slice(IcebergPlace).is_enabled and store.layout.branch is None


def iceberg_upkeep_of(options: Options, store: TableStore) -> IcebergUpkeep:
    """Return what keeps the Iceberg metadata of a table; branches have none.

    Raises
    ------
    UnsupportedError
        If readers of Iceberg could not read the table.
    """
    schema = store.schemas.latest()
    if schema is not None:  # others may have set options that are not checked there
        check_iceberg(schema.fields, options, has_key=bool(schema.primary_keys))
    return iceberg.IcebergUpkeep(
        name=store.name,
        file_io=store.file_io,
        layout=store.layout,
        snapshots=store.snapshots,
        manifests=store.manifests,
        schemas=store.schemas,
        tags=store.tags,
        options=options,
        catalog=iceberg_catalog_of(options, store),
    )


def iceberg_catalog_of(options: Options, store: TableStore) -> IcebergCatalog | None:
    """Return the catalog of Iceberg's that is told of a table; None: the options name none.

    Raises
    ------
    UnsupportedError
        If the table was opened without a catalog, so that it has no name.
    """
    place = options.slice(IcebergPlace)
    if not place.is_told:
        return None
    storage = place.storage
    if store.iceberg_catalog is None:
        raise UnsupportedError(
            f"option 'metadata.iceberg.storage' = {storage!r} without a catalog",
            "open the table by its catalog: pm.connect(…).table(…)",
        )
    return store.iceberg_catalog(options)
