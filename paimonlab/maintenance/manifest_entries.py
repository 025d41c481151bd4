"""Where the files are that manifests name: many manifests read as one table, most of them once.

What a commit changed is asked for twice when snapshots expire: for the files that it deleted, and
for those that tags keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.spec.manifests.manifest import ENTRY_SCHEMA, ManifestFileMeta

COLUMNS = [
    *("kind", "partition", "bucket", "file_name", "file_size_bytes", "extra_files"),
    *("external_path", "file_source"),
]
"""What of an entry says whether its file is alive, where that and its extra files are, and what
they were."""
ENTRIES = pa.schema([ENTRY_SCHEMA.field(name) for name in COLUMNS])
_LIMIT_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class EntriesRead:
    """Entries of manifests."""

    table: pa.Table
    """Their `COLUMNS`, manifest by manifest."""
    counts: Sequence[int]
    """How many each manifest has."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the entries of a manifest are."""

    table: int
    start: int
    count: int


class ManifestEntries:
    """Reads the entries of manifests, and remembers them up to a number of bytes.

    Made anew for each operation: nothing is remembered of files that others may damage since.
    """

    def __init__(self, manifests: ManifestStore, *, limit_bytes: int = _LIMIT_BYTES) -> None:
        self._manifests = manifests
        self._free_bytes = limit_bytes
        self._tables: list[pa.Table] = []
        self._places: dict[str, _Place] = {}

    def read(self, metas: Sequence[ManifestFileMeta], *, referrer: str = "") -> EntriesRead:
        """Read the entries of manifests, in their order.

        Parameters
        ----------
        metas
            As the lists have them.
        referrer
            The file that names them, for the message.

        Raises
        ------
        CorruptMetadataError
            If one is missing, of another size or damaged.
        """
        new = {meta.file_name: meta for meta in metas if meta.file_name not in self._places}
        decoded, counts = self._manifests.read_together([*new.values()], referrer=referrer)
        table = decoded.select(COLUMNS)
        starts = np.cumsum([0, *counts]).tolist()
        places = {
            name: _Place(len(self._tables), start, count)
            for name, start, count in zip(new, starts, counts, strict=False)
        }
        chosen = EntriesRead(table, counts)
        if len(new) < len(metas):
            chosen = self._gathered(metas, places, table)
        if table.num_rows and table.nbytes <= self._free_bytes:
            self._free_bytes -= table.nbytes
            self._tables.append(table)
            self._places |= places
        return chosen

    def _gathered(
        self, metas: Sequence[ManifestFileMeta], new: dict[str, _Place], table: pa.Table
    ) -> EntriesRead:
        """Put together what is remembered and what was read just now."""
        places = [new.get(meta.file_name) or self._places[meta.file_name] for meta in metas]
        used = sorted({place.table for place in places})
        tables = [table if number == len(self._tables) else self._tables[number] for number in used]
        ends = np.cumsum([0, *(one.num_rows for one in tables)]).tolist()
        begin = dict(zip(used, ends, strict=False))
        rows = [
            np.arange(place.count, dtype=np.int64) + (begin[place.table] + place.start)
            for place in places
        ]
        gathered = pa.concat_tables(tables).take(arrow_array(np.concatenate(rows)))
        return EntriesRead(gathered, [place.count for place in places])
