"""Deleting files that nothing needs."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from paimonlab.errors import CorruptMetadataError
from paimonlab.maintenance.references import References
from paimonlab.maintenance.unneeded import UnneededFile
from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]
"""Told how much is done, how much there is, and of what: ``(3, 20, "files")``."""


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
        deleted, or is reached through a link, is logged and left.
    """
    count = 0
    for group in (files.data, files.indexes, files.statistics, files.manifests):
        for path in sorted(group):
            try:
                file_io.delete(path)
            except (OSError, CorruptMetadataError) as error:
                logger.warning("%s: left behind %s: %s", table, path, error)
            else:
                count += 1
    return count


def delete_unneeded(
    files: Sequence[UnneededFile],
    file_io: FileIO,
    *,
    table: str,
    threads: int | None = None,
    progress: Progress | None = None,
) -> int:
    """Delete files, those of a sort together and the sorts in the order in which they come.

    Parameters
    ----------
    files
        What nothing needs.
    file_io
        The table's store.
    table
        Its name, for messages.
    threads
        How many are deleted at once; None: as many as there are processors.
    progress
        Told of the files that are gone.

    Returns
    -------
    int
        How many were deleted, those that were gone already among them. A file that cannot be
        deleted, or is reached through a link, is logged and left.
    """

    def delete(file: UnneededFile) -> bool:
        try:
            file_io.delete(file.path)
        except (OSError, CorruptMetadataError) as error:
            logger.warning("%s: left behind %s: %s", table, file.path, error)
            return False
        return True

    done = count = 0
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for _, group in groupby(files, key=lambda file: file.sort):
            for is_gone in _mapped(pool, delete, list(group)):
                done += 1
                count += is_gone
                if progress is not None:
                    progress(done, len(files), "files")
    return count


def delete_empty_folders(
    files: Iterable[UnneededFile], file_io: FileIO, *, roots: Collection[str]
) -> int:
    """Delete the folders of data files that have become empty, and those above them.

    Parameters
    ----------
    files
        What was deleted.
    file_io
        The table's store.
    roots
        Folders that stay.

    Returns
    -------
    int
        How many were deleted.
    """
    folders = {file.path.rpartition("/")[0] for file in files if file.sort in ("data", "changelog")}
    count = 0
    while folders:
        gone = {folder for folder in folders if _is_below(folder, roots)}
        gone = {folder for folder in gone if file_io.delete_empty_directory(folder)}
        count += len(gone)
        folders = {folder.rpartition("/")[0] for folder in gone}
    return count


def _mapped(
    pool: ThreadPoolExecutor, delete: Callable[[UnneededFile], bool], files: list[UnneededFile]
) -> Iterable[bool]:
    return map(delete, files) if len(files) < _FEW else pool.map(delete, files, chunksize=_FEW)


_FEW = 16
"""Fewer files are deleted one after the other."""


def _is_below(folder: str, roots: Collection[str]) -> bool:
    return any(folder.startswith(f"{root}/") for root in roots)
