"""What open data files of all formats share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Self

from paimonlab.formats.row_group import RowGroup
from paimonlab.spec.predicates.predicate import ColumnStats, Predicate, columns, may_match_stats
from paimonlab.spec.types.data_types import DataField


class OpenFile(ABC):
    """A data file; use it as a context manager."""

    path: str
    row_groups: tuple[RowGroup, ...]
    """The parts that can be read by themselves, in file order."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    @abstractmethod
    def group_stats(self, fields: Sequence[DataField]) -> Mapping[str, ColumnStats]:
        """Return what is known of columns, one value per row group."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def matching_row_groups(
        self, predicate: Predicate, fields: Sequence[DataField]
    ) -> tuple[RowGroup, ...]:
        """Return row groups whose statistics do not rule out that the predicate is true.

        Parameters
        ----------
        predicate
            Over columns of the file; of those that are not among ``fields`` nothing is known.
        fields
            Columns of the file and their types.
        """
        wanted = columns(predicate)
        stats = self.group_stats([field for field in fields if field.name in wanted])
        mask = may_match_stats(predicate, stats, count=len(self.row_groups))
        return tuple(one for one, matches in zip(self.row_groups, mask, strict=True) if matches)
