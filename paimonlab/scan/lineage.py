"""Whether one snapshot was committed on top of another."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.entries import identities
from paimonlab.scan.live_files import delta_manifests_of, live_entries, manifests_of
from paimonlab.spec.distinct_integers import distinct_integers
from paimonlab.spec.snapshot import Snapshot


def goes_on(before: Snapshot, after: Snapshot, *, manifests: ManifestStore) -> bool:
    """Whether the commit of ``after`` was made on ``before``.

    Parameters
    ----------
    before, after
        Snapshots of one table, on whichever branches; their files are there.
    manifests
        Of the table.

    Returns
    -------
    bool
        Whether ``after`` began with the files that ``before`` has.

    Raises
    ------
    SnapshotExpiredError
        If one of them expired meanwhile.
    CorruptMetadataError
        If a manifest is missing or damaged.
    """
    before_metas = manifests_of(before, manifests)
    changed = {meta.file_name for meta in delta_manifests_of(after, manifests)}
    base = [meta for meta in manifests_of(after, manifests) if meta.file_name not in changed]
    if {meta.file_name for meta in base} == {meta.file_name for meta in before_metas}:
        return True
    # Manifests may have been merged.
    then = live_entries(before, manifests, metas=before_metas)
    begun = live_entries(after, manifests, metas=base)
    numbers = identities(pa.concat_tables([then, begun]))
    old, new = numbers[: then.num_rows], numbers[then.num_rows :]
    return np.array_equal(distinct_integers(old), distinct_integers(new))
