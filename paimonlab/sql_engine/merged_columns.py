"""Columns of merged files that are asked for again: kept in memory, as files never change.

Which rows count is known after the first query of a table; its files are decoded again by each, and
they have more rows than the table. A column that is asked for the second time is kept as merged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache

import pyarrow as pa

from paimonlab.read.mask_cache import split_key
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.types.data_types import DataField
from paimonlab.sql_engine import kinds
from paimonlab.sql_engine.kinds import kind_of
from paimonlab.storage.recent import Recent

Read = Callable[[Sequence[str]], pa.Table]
"""Reads columns of all rows of a split, merged, in one order."""
_ASKED_BYTES, _KEY_BYTES = 1 << 20, 200
_WIDTH, _TEXT_WIDTH = 8, 24
"""Bytes of a value, roughly."""
_SHARE = 1
"""A query keeps columns if they take this part of the limit at most."""


class MergedColumns:
    """Keeps columns of splits. Thread-safe.

    Parameters
    ----------
    limit_bytes
        Of all columns; 0: none is kept.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._asked: Recent[Hashable, bool] = Recent(_ASKED_BYTES)
        self._kept: Recent[Hashable, pa.Array] = Recent(limit_bytes)

    def room(self, splits: Sequence[DataSplit], fields: Sequence[DataField]) -> bool:
        """Tell whether columns of all rows of these files may be kept."""
        rows = sum(file.row_count for split in splits for file in split.files)
        return rows * sum(map(_width, fields)) * _SHARE <= self.limit_bytes

    def of(self, split: DataSplit, plan: ReadPlan, read: Read) -> pa.Table | None:
        """Return columns of all rows; None if one of them is asked for the first time.

        Parameters
        ----------
        split
            Its files.
        plan
            Columns and schemas; its condition is ignored.
        read
            Called for the columns that are not kept yet.
        """
        files = split_key(split, plan)
        keys = {
            field.name: (files, plan.schema.id, field.id, field.name, str(field.type))
            for field in plan.fields
        }
        known = [self._asked.get(key) for key in keys.values()]
        for key in keys.values():
            self._asked.put(key, True, _KEY_BYTES)  # noqa: FBT003 - a value
        if not all(known):
            return None
        kept = {name: self._kept.get(key) for name, key in keys.items()}
        missing = [name for name, column in kept.items() if column is None]
        if missing:
            found = read(missing)
            for name in missing:
                column = found[name].combine_chunks()
                kept[name] = column
                self._kept.put(keys[name], column, column.nbytes)
        return pa.table({name: kept[name] for name in plan.columns})

    def clear(self) -> None:
        """Forget everything."""
        self._asked.clear()
        self._kept.clear()


def _width(field: DataField) -> int:
    return _TEXT_WIDTH if kind_of(field.type) in (kinds.STRING, kinds.BINARY) else _WIDTH


@cache
def merged_columns(limit_bytes: int) -> MergedColumns:
    """Return what this process keeps, up to so many bytes."""
    return MergedColumns(limit_bytes)
