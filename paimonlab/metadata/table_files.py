"""What managers of the metadata files of a table share."""

from __future__ import annotations

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
