"""A cache of the rows that count in merged files: files never change, so neither does the result.

One bit per row is little beside the keys. Reading a table again, with any columns and condition,
merges no keys again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import numpy.typing as npt

from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.storage.recent import Recent

Mask = npt.NDArray[np.bool_]
_Bits = tuple[tuple[int, npt.NDArray[np.uint8]] | None, ...]

_FILE_BYTES = 300
"""Of memory for a file besides its bits, roughly."""


class MaskCache:
    """Keeps the masks of splits that were read lately. Thread-safe."""

    def __init__(self, limit_bytes: int) -> None:
        self._kept: Recent[Hashable, _Bits] = Recent(limit_bytes)

    def get(self, split: DataSplit, plan: ReadPlan) -> list[Mask | None] | None:
        """Return the masks that `put` kept, None if there are none."""
        bits = self._kept.get(split_key(split, plan))
        if bits is None:
            return None
        return [
            None if bit is None else np.unpackbits(bit[1], count=bit[0]).view(np.bool_)
            for bit in bits
        ]

    def packed(
        self, split: DataSplit, plan: ReadPlan, find: Callable[[], list[Mask | None]]
    ) -> list[bytes | None]:
        """Return masks as `of` does, a bit for each row: the first is the most significant."""
        bits = self._kept.get(split_key(split, plan))
        if bits is None:
            masks = find()
            self.put(split, plan, masks)
            bits = _packed(masks)
        return [None if bit is None else bit[1].tobytes() for bit in bits]

    def put(self, split: DataSplit, plan: ReadPlan, masks: Sequence[Mask | None]) -> None:
        """Keep the masks of all rows of a split."""
        bits = _packed(masks)
        size = sum(_FILE_BYTES + (0 if bit is None else bit[1].nbytes) for bit in bits)
        self._kept.put(split_key(split, plan), bits, size)

    def of(
        self, split: DataSplit, plan: ReadPlan, find: Callable[[], list[Mask | None]]
    ) -> list[Mask | None]:
        """Return the masks of a split; missing ones are computed and kept."""
        masks = self.get(split, plan)
        if masks is None:
            masks = find()
            self.put(split, plan, masks)
        return masks

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


def _packed(masks: Sequence[Mask | None]) -> _Bits:
    return tuple(None if mask is None else (len(mask), np.packbits(mask)) for mask in masks)


def split_key(split: DataSplit, plan: ReadPlan) -> Hashable:
    """Return everything that the rows of a split depend on, merged."""
    files = tuple((file.file_name, file.level, file.file_size_bytes) for file in split.files)
    return (
        plan.table_path,
        split.bucket_path,
        files,
        split.deletion_files,
        plan.schema.trimmed_primary_keys,
        plan.options,
        repr(plan.engine),
        plan.keeps_deletes,
        (plan.engine.kind, plan.engine.ignore_delete),
    )


shared_masks = MaskCache(limit_bytes=64 << 20)
"""The cache of this process: masks of five hundred million rows."""
