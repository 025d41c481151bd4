"""Check the files of a table that may be too damaged to be opened."""

from __future__ import annotations

from paimonlab.errors import PaimonError
from paimonlab.maintenance.fsck.check import fsck
from paimonlab.maintenance.fsck.report import FsckReport
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.progress import Progress
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.options.table_options import Options
from paimonlab.storage import FileIO, LocalFileIO

__all__ = ["FsckReport", "checked_folder"]


def checked_folder(
    name: str, folder: str, *, deep: bool = False, progress: Progress | None = None
) -> FsckReport:
    """Check every file of a table in a local folder.

    Parameters
    ----------
    name
        What the report calls the table.
    folder
        The table's folder.
    deep
        Whether to read all rows as well.
    progress
        Called with the number of files that were looked at.
    """
    file_io = LocalFileIO().within(folder)
    layout = _layout(file_io, folder)
    file_io = file_io.within(*layout.external_roots)
    return fsck(name, file_io, layout, deep=deep, progress=progress)


def _layout(file_io: FileIO, folder: str) -> TableLayout:
    layout = TableLayout(folder)
    try:
        schema = SchemaManager(file_io, layout).latest()
        options = Options(schema.options if schema else {}).slice(ExternalPathOptions)
    except PaimonError:  # the check will say what is wrong with the schema
        return layout
    return TableLayout(folder, external_roots=options.readable_folders)
