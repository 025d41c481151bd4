"""What managers of the metadata files of a table share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Generic, TypeVar

from paimonlab.errors.habits import IsAttribute
from paimonlab.metadata.layout import TableLayout
from paimonlab.storage import FileIO


class TableFiles:
    """Where the files are, in which store, and whose they are.

    Parameters
    ----------
    file_io
        The store.
    layout
        Where the files of the table are.
    table_name
        For messages; None: the table's folder.
    """

    def __init__(
        self, file_io: FileIO, layout: TableLayout, *, table_name: str | None = None
    ) -> None:
        self._file_io = file_io
        self._layout = layout
        self._table = table_name or layout.table_path


T = TypeVar("T")


class NumberedFiles(TableFiles, IsAttribute, ABC, Generic[T]):
    """Files with an id each, that can be iterated and asked for: ``table.snapshots[3]``."""

    @abstractmethod
    def ids(self) -> list[int]:
        """Return all ids, ascending."""

    @abstractmethod
    def get(self, number: int, /) -> T:
        """Read the one with an id."""

    @abstractmethod
    def list(self) -> list[T]:
        """Read all, by id."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.list())

    def __getitem__(self, number: int) -> T:
        return self.get(number)

    def __contains__(self, number: object) -> bool:
        return number in self.ids()

    def __len__(self) -> int:
        return len(self.ids())

    def __bool__(self) -> bool:
        return True  # it is there, whatever it holds

    def __repr__(self) -> str:
        kind = type(self).__name__.removesuffix("Manager")
        return f"<{kind}s of {self._table}: iterate over them, or ask for one by its id>"
