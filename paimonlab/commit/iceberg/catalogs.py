"""Catalogs of Iceberg's that are told of the newest metadata of a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from paimonlab.spec.iceberg.table_metadata import TableMetadata
from paimonlab.spec.types.data_types import DataField


@dataclass(frozen=True, kw_only=True)
class NewestMetadata:
    """The newest metadata of a table, and where it is."""

    metadata: TableMetadata
    path: str
    """Of its file, in ``<table>/metadata``."""
    before: str | None
    """The path of the metadata that it follows; None: it was made anew."""
    fields: Sequence[DataField]
    """The columns of the table."""
    is_newest: Callable[[], bool]
    """Asks whether it still is the newest one."""
    write: Callable[[str, bytes], str]
    """Writes a new file of a name beside it, and returns the path."""


class IcebergCatalog(Protocol):
    """Knows a table by the file of its newest metadata, or by what it was told of its content."""

    def show(self, newest: NewestMetadata) -> None:
        """Show a table as its newest metadata says."""

    def show_tags(self, newest: NewestMetadata) -> None:
        """Show the tags of the newest metadata, whose file was written once more."""
