"""A data file that is opened when something of it is not in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Self, TypeAlias

from paimonlab.datafile.reader import DataFile
from paimonlab.read.merging import open_data_file
from paimonlab.read.read_plan import ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.storage import FileIO

FileKey: TypeAlias = tuple[str, str, str, int, bool]


class LazyFile:
    """A file of a split. Use it as a context manager."""

    def __init__(
        self, split: DataSplit, file: DataFileMeta, plan: ReadPlan, file_io: FileIO
    ) -> None:
        self.key: FileKey = (
            plan.table_path,
            split.bucket_path,
            file.file_name,
            file.file_size_bytes,
            plan.options.legacy_ltz,
        )
        """What decides about the values that are read of it, but for the fields asked for."""
        self.meta = file
        self._open: Callable[[], DataFile] = partial(open_data_file, split, file, plan, file_io)
        self._data: DataFile | None = None

    @property
    def data(self) -> DataFile:
        """The open file."""
        if self._data is None:
            self._data = self._open()
        return self._data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._data is not None:
            self._data.__exit__(kind, error, traceback)
