"""Catalogs of Iceberg's that are told where the newest metadata of a table is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from paimonlab.spec.types.data_types import DataField


class IcebergCatalog(Protocol):
    """Knows a table by the file of its newest metadata."""

    def point_to(self, metadata: str, before: str | None, fields: Sequence[DataField]) -> None:
        """Tell where the newest metadata is.

        Parameters
        ----------
        metadata
            Path of its file, in ``<table>/metadata``.
        before
            The same of the metadata that it follows; None: it was made anew.
        fields
            The columns of the table.
        """
