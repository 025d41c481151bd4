"""Deleting files that are no longer needed."""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from paimonlab.maintenance.references import References
from paimonlab.maintenance.unneeded import UnneededFile
from paimonlab.progress import Progress
from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)

_CHUNK = 64
"""So many files are deleted together."""


def delete_files(files: References, file_io: FileIO, *, table: str) -> int:
    """Delete files, data before the manifests that refer to it.

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
        How many files no longer exist, including those that others deleted before. A file that
        cannot be deleted, or is reached through a link, is logged and left.
    """
    count = 0
    for group in (files.data, files.indexes, files.statistics, files.manifests):
        left = file_io.delete_files(sorted(group))
        _warn(left, table)
        count += len(group) - len(left)
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
        How many files are deleted at once; None: one per processor.
    progress
        Called with the number of files deleted.

    Returns
    -------
    int
        How many files no longer exist, including those that others deleted before. A file that
        cannot be deleted, or is reached through a link, is logged and left.
    """
    done = count = 0
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for _, group in groupby(files, key=lambda file: file.sort):
            paths = [file.path for file in group]
            chunks = [paths[start : start + _CHUNK] for start in range(0, len(paths), _CHUNK)]
            mapped = pool.map if len(chunks) > 1 else map
            for chunk, left in zip(chunks, mapped(file_io.delete_files, chunks), strict=True):
                _warn(left, table)
                done += len(chunk)
                count += len(chunk) - len(left)
                if progress is not None:
                    progress(done, len(files), "files")
    return count


def _warn(left: Mapping[str, Exception], table: str) -> None:
    for path, error in left.items():
        logger.warning("%s: left behind %s: %s", table, path, error)


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
        Folders that are kept.

    Returns
    -------
    int
        Number of folders deleted.
    """
    folders = {file.path.rpartition("/")[0] for file in files if file.sort in ("data", "changelog")}
    count = 0
    while folders:
        gone = {folder for folder in folders if _is_below(folder, roots)}
        gone = {folder for folder in gone if file_io.delete_empty_directory(folder)}
        count += len(gone)
        folders = {folder.rpartition("/")[0] for folder in gone}
    return count


def _is_below(folder: str, roots: Collection[str]) -> bool:
    return any(folder.startswith(f"{root}/") for root in roots)
