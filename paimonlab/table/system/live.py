"""The live files of a snapshot as one Arrow table, or piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
from msgspec import Struct

from paimonlab.metadata.manifests import ManifestStore
from paimonlab.scan.live_files import in_real_buckets, live_entries, live_pieces
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, NO_ENTRIES
from paimonlab.spec.snapshot import Snapshot


def files_of(
    manifests: ManifestStore, snapshot: Snapshot | None, *, with_postponed: bool = False
) -> pa.Table:
    """All entries of live files, one row per file, columns as `ENTRY_SCHEMA`.

    Files that wait for a compaction to give their rows buckets are there only if asked for.
    """
    if snapshot is None:
        return NO_ENTRIES
    files = live_entries(snapshot, manifests)
    return files if with_postponed else in_real_buckets(files)


class LiveFiles(Struct, frozen=True):
    """Entries of live files, as `files_of` has them, of which not all are wanted."""

    manifests: ManifestStore
    snapshot: Snapshot | None

    @property
    def schema(self) -> pa.Schema:
        """Of every table of them."""
        return ENTRY_SCHEMA

    def all(self, keep: Callable[[pa.Table], pa.Table]) -> pa.Table:
        """Return those that ``keep`` leaves, which looks at what two entries of a file share."""
        if self.snapshot is None:
            return NO_ENTRIES
        return in_real_buckets(live_entries(self.snapshot, self.manifests, keep=keep))

    def pieces(self, keep: Callable[[pa.Table], pa.Table]) -> Iterator[pa.Table]:
        """Yield the same piece by piece; who wants few of them does not wait for all."""
        if self.snapshot is not None:
            pieces = live_pieces(self.snapshot, self.manifests, keep=keep)
            yield from map(in_real_buckets, pieces)
