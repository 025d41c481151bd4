"""Who makes snapshots of a table."""

from __future__ import annotations

from paimonlab.commit.committer import CommitOptions, Committer
from paimonlab.spec.options.table_options import Options
from paimonlab.table.store import TableStore


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
    return store.committers.setdefault(sliced, committer)
