"""Files that a read leaves out because they are lost or damaged, where options say so.

Source: apache/paimon@1.4.2 ``CoreOptions.SCAN_IGNORE_LOST_FILE``, ``SCAN_IGNORE_CORRUPT_FILE``,
``org.apache.paimon.io.DataFileRecordReader``. Java tries each file when it is read; here all files
of a plan are tried before, so that counts and whoever reads files itself agree.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from paimonlab.errors import CorruptDataError, UnsupportedError
from paimonlab.read.merging import open_data_file
from paimonlab.read.streaming import in_threads, reader_count
from paimonlab.spec.options.table_options import OptionSlice, option_field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimonlab.read.read_plan import ReadPlan
    from paimonlab.scan.plan import Plan
    from paimonlab.scan.split import DataSplit
    from paimonlab.spec.manifests.data_file import DataFileMeta
    from paimonlab.storage import FileIO
    from paimonlab.table.definition import TableDefinition

logger = logging.getLogger(__name__)


class SkipOptions(OptionSlice):
    """Which files a read leaves out."""

    lost: bool = option_field("scan.ignore-lost-files", "boolean", default=False)
    """``scan.ignore-lost-files``: those that are missing."""
    corrupt: bool = option_field("scan.ignore-corrupt-files", "boolean", default=False)
    """``scan.ignore-corrupt-files``: those that cannot be opened."""

    @property
    def skips(self) -> bool:
        """Whether any may be left out."""
        return self.lost or self.corrupt


def refuse_skipping(definition: TableDefinition, what: str) -> None:
    """Check that no file is to be left out where that is not done.

    Raises
    ------
    UnsupportedError
        Names the option; ``what`` is read then.
    """
    options = definition.options.slice(SkipOptions)
    if options.skips:
        name = "lost" if options.lost else "corrupt"
        raise UnsupportedError(
            f"scan.ignore-{name}-files = 'true' for {what} of {definition.name}",
            "only rows of a snapshot are read without such files",
        )


def without_damaged(
    found: Plan, definition: TableDefinition, read: ReadPlan, file_io: FileIO
) -> Plan:
    """Leave files out of a plan that are lost or damaged, and warn of each.

    Parameters
    ----------
    found
        The files of a snapshot that answer a read.
    definition
        The table; its options say which files may be left out.
    read
        How files are opened.
    file_io
        The table's store.

    Raises
    ------
    CorruptDataError, SnapshotExpiredError
        For a file that cannot be read and is not to be left out.
    UnsupportedError
        If columns of a row are in several files.
    """
    options = definition.options.slice(SkipOptions)
    if not options.skips or found.planned is None:
        return found
    if read.options.data_evolution:
        refuse_skipping(definition, "rows with data-evolution.enabled")
    tries = [
        partial(_unreadable, split, file, read, file_io, options)
        for split in found.planned.all()
        for file in split.files
    ]
    names = set(in_threads(tries, threads=reader_count(read.table_path)))
    if not names:
        return found
    keeps = [name not in names for name in found.files["file_name"].to_pylist()]
    return found.keeping(np.array(keeps, np.bool_))


def _unreadable(
    split: DataSplit, file: DataFileMeta, read: ReadPlan, file_io: FileIO, options: SkipOptions
) -> Iterator[str]:
    """Try to open a file; yield its name if it is to be left out."""
    try:
        open_data_file(split, file, read, file_io).content.close()
    except CorruptDataError as error:
        is_lost = isinstance(error.__cause__, FileNotFoundError)
        if not (options.lost if is_lost else options.corrupt):
            raise
        what = "lost" if is_lost else "damaged"
        logger.warning(
            "%s is read without the rows of a %s file: %s", read.table_name, what, error.path
        )
        yield file.file_name
