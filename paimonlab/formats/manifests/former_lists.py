"""Manifest lists that repeat most of the one before: only what differs is decoded.

The base list of a snapshot is that of the one before and what its commit added, until manifests
are merged. Its records begin with the same bytes, and end with those of the list of changes before
it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from msgspec import Struct

from paimonlab.formats import avro
from paimonlab.formats.avro.container import open_container
from paimonlab.spec.manifests.manifest import ManifestFileMeta

_KEPT = 4
"""Lists of so many kinds may be read in turns: of bases, of changes, of changelogs."""
_SHORT_BYTES = 1 << 10
"""Records of a list that may be the end of another one: what a commit changed, mostly."""
_SHORT_LISTS = 1 << 9
"""How many of them are known: those that are read together, and then the bases after them."""


class _Former(Struct, frozen=True):
    """A list that was decoded."""

    schema: bytes
    data: bytes
    """Its records as the file has them."""
    ends: Sequence[int]
    """Where in them each one ends."""
    metas: Sequence[ManifestFileMeta]


class FormerLists:
    """The lists that were decoded last."""

    def __init__(self) -> None:
        self._kept: deque[_Former] = deque(maxlen=_KEPT)
        self._short: OrderedDict[tuple[bytes, bytes], _Former] = OrderedDict()

    def read(
        self,
        data: bytes,
        convert: Callable[[dict[str, Any], str], ManifestFileMeta],
        *,
        path: str,
    ) -> list[ManifestFileMeta]:
        """Read an Avro manifest list.

        Parameters
        ----------
        data
            The whole file.
        convert
            Makes an entry of a record, and of the path.
        path
            Only for messages.

        Raises
        ------
        CorruptMetadataError
            If the file is cut or damaged.
        """
        container = open_container(data, path)
        if len(container.blocks) != 1:
            records = avro.records_of(container.schema, container.blocks, path)
            return [convert(record, path) for record in records]
        (block,) = container.blocks
        former, count = self._longest(container.schema, block.data)
        # A list announces how many records it has; one with fewer is damaged, and decoded whole.
        count = min(count, block.record_count)
        start = former.ends[count - 1] if former is not None and count else 0
        ends = [] if former is None else [*former.ends[:count]]
        metas = [] if former is None else [*former.metas[:count]]
        known = self._short.get((container.schema, block.data[start:]))
        if known is not None and count + len(known.metas) == block.record_count:
            metas += known.metas
            ends += [start + end for end in known.ends]
        else:
            rest = avro.records_after(container.schema, block, path, start=start, count=count)
            for record, end in rest:
                metas.append(convert(record, path))
                ends.append(end)
        self._keep(_Former(container.schema, block.data, ends, metas))
        return metas[:]

    def _keep(self, read: _Former) -> None:
        self._kept.append(read)
        if len(read.data) <= _SHORT_BYTES:
            self._short[read.schema, read.data] = read
            if len(self._short) > _SHORT_LISTS:
                with suppress(KeyError):  # another thread was faster
                    self._short.popitem(last=False)

    def _longest(self, schema: bytes, data: bytes) -> tuple[_Former | None, int]:
        """Return the former list that has most records in common at the begin, and how many."""
        longest: tuple[_Former | None, int] = None, 0
        for former in tuple(self._kept):
            if former.schema == schema:
                count = _common(former, data)
                if count > longest[1]:
                    longest = former, count
        return longest


def _common(former: _Former, data: bytes) -> int:
    """Count the records at the begin that are the same."""
    if data.startswith(former.data):
        return len(former.ends)
    if former.ends and not data.startswith(former.data[: former.ends[0]]):
        return 0
    low, high = 0, bisect_right(former.ends, len(data))
    while low < high:
        middle = (low + high + 1) // 2
        end = former.ends[middle - 1]
        if former.data[:end] == data[:end]:
            low = middle
        else:
            high = middle - 1
    return low
