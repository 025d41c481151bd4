"""Deleting files that nothing needs."""

from __future__ import annotations

import logging

from paimonlab.maintenance.references import References
from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)


def delete_files(files: References, file_io: FileIO, *, table: str) -> int:
    """Delete files, data before the manifests that name it.

    Parameters
    ----------
    files
        What nothing needs.
    file_io
        The table's store.
    table
        Its name, for messages.

    Returns
    -------
    int
        How many were deleted, those that were gone already among them. A file that cannot be
        deleted is logged and left to orphan file cleaning.
    """
    count = 0
    for group in (files.data, files.indexes, files.statistics, files.manifests):
        for path in sorted(group):
            try:
                file_io.delete(path)
            except OSError as error:
                logger.warning("%s: left behind %s: %s", table, path, error)
            else:
                count += 1
    return count
