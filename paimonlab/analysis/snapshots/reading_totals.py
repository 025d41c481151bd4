"""Read the manifests of snapshots for what they add up to, within limits."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence

from paimonlab.analysis.snapshots.file_totals import (
    FileTotals,
    ManifestSums,
    file_totals,
    manifest_sums,
)
from paimonlab.errors import CorruptMetadataError, SnapshotExpiredError
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import delta_manifests_of, manifests_of, read_entries
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.snapshot import Snapshot

MOST_MANIFESTS = 1_200
"""Manifests that are opened; of the others only counts of files are known, no bytes."""
MOST_ENTRIES = 150_000
"""Entries of those manifests together."""


def read_totals(
    snapshots: Iterable[Snapshot],
    manifests: ManifestStore,
    *,
    with_live_bytes: bool = True,
) -> dict[int, FileTotals]:
    """Read what each snapshot has, in the order given, as far as the limits allow.

    Parameters
    ----------
    snapshots
        Those that matter most come first.
    manifests
        The table's manifests.
    with_live_bytes
        Whether the manifests of all live files are read, not only those of the commits.

    Returns
    -------
    dict
        By snapshot id; a snapshot that expires in the meantime is left out.
    """
    lists = {}
    for snapshot in snapshots:
        try:
            everything = manifests_of(snapshot, manifests)
            delta = delta_manifests_of(snapshot, manifests)
        except SnapshotExpiredError:
            continue
        base = everything[: len(everything) - len(delta)]
        lists[snapshot.id] = (snapshot, base, delta)
    wanted = _wanted(list(lists.values()), with_live_bytes=with_live_bytes)
    sums = _read_sums(wanted, manifests)
    totals: dict[int, FileTotals] = {}
    for id, (_, base, delta) in sorted(lists.items(), reverse=True):
        totals[id] = file_totals(base, delta, sums, newer=totals.get(id + 1))
    return totals


_Lists = tuple[Snapshot, Sequence[ManifestFileMeta], Sequence[ManifestFileMeta]]
"""A snapshot, the manifests of its base and those of its delta."""
_Wanted = dict[str, tuple[ManifestFileMeta, Snapshot]]
"""Manifests by their names, with a snapshot that has them."""


def _wanted(lists: Sequence[_Lists], *, with_live_bytes: bool) -> _Wanted:
    """Choose the manifests to open, those of the first snapshots first, within the limits.

    Where the next snapshot is known, its changes give the live bytes of this one, so
    that the manifests of its base need not be opened.
    """
    wanted: _Wanted = {}
    known: set[int] = set()
    entries_left = MOST_ENTRIES
    for snapshot, base, delta in lists:
        needs_base = with_live_bytes and snapshot.id + 1 not in known
        metas = [*base, *delta] if needs_base else delta
        new = {meta.file_name: (meta, snapshot) for meta in metas if meta.file_name not in wanted}
        entries = sum(meta.num_added_files + meta.num_deleted_files for meta, _ in new.values())
        if entries <= entries_left and len(wanted) + len(new) <= MOST_MANIFESTS:
            wanted.update(new)
            known.add(snapshot.id)
            entries_left -= entries
    return wanted


def _read_sums(wanted: _Wanted, manifests: ManifestStore) -> dict[str, ManifestSums]:
    metas = [meta for meta, _ in wanted.values()]
    try:
        tables = manifests.read(metas)
    except CorruptMetadataError:  # one is damaged, or has expired in the meantime
        return _read_one_by_one(wanted, manifests)
    return dict(zip(wanted, manifest_sums(tables), strict=True))


def _read_one_by_one(wanted: _Wanted, manifests: ManifestStore) -> dict[str, ManifestSums]:
    sums = {}
    for name, (meta, snapshot) in wanted.items():
        with contextlib.suppress(SnapshotExpiredError):
            (sums[name],) = manifest_sums(read_entries(snapshot, [meta], manifests))
    return sums
