"""Rows of keys on their way to one row each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from msgspec import Struct

from paimonlab.merge.groups import Mask, Members
from paimonlab.spec.row_kind import RowKind

Kinds = npt.NDArray[np.int8]


class KeyRows(Struct, frozen=True):
    """All rows of g keys."""

    columns: Mapping[str, pa.Array]
    """Those of the result and what merging them looks at, n rows each."""
    members: Members
    """The n rows by key, oldest first."""
    kinds: Kinds | None
    """(n,) ``_VALUE_KIND``; None: no row takes anything away."""
    required: frozenset[str]
    """Columns that are never null."""
    only_rows_stay: bool = True
    """Whether the only row of a key stays as it is, even if it takes something away."""

    @property
    def is_alone(self) -> Mask:
        """(g,) whether a key has only one row, which stays as it is."""
        alone: Mask = self.members.lengths == 1
        return alone if self.only_rows_stay else np.zeros_like(alone)

    @property
    def alone_rows(self) -> Mask:
        """(n,) in the order of `members`: whether a row is its key's only one."""
        return np.repeat(self.is_alone, self.members.lengths)

    @property
    def ordered_kinds(self) -> Kinds:
        """(n,) the kinds in the order of `members`."""
        assert self.kinds is not None, "only asked for where kinds are known"
        return self.kinds[self.members.positions]

    @property
    def is_retract(self) -> Mask | None:
        """(n,) in the order of `members`: whether a row takes something away from others."""
        if self.kinds is None:
            return None
        kinds = self.ordered_kinds
        retract: Mask = (kinds == RowKind.UPDATE_BEFORE) | (kinds == RowKind.DELETE)
        retract &= ~self.alone_rows
        return retract if retract.any() else None

    def kinds_of_merged(self, is_deleted: Mask) -> Kinds | None:
        """Return (g,) the kinds of the results: that of an only row, else ``+I`` or ``-D``."""
        if self.kinds is None:
            return None
        merged = np.where(is_deleted, RowKind.DELETE, RowKind.INSERT).astype(np.int8)
        return np.where(self.is_alone, self.kinds[self.members.last()], merged)


class Merged(Struct, frozen=True):
    """One row for each of g keys, in their order."""

    columns: Mapping[str, pa.Array]
    kinds: Kinds | None
    """(g,); None: all ``+I``, or what the only row of a key is."""
