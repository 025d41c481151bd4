"""The files that Paimon made in the folders of a table, found by listing.

Folders that Paimon does not make, and files with names it does not give, are left out.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.OrphanFilesClean``, listing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from paimonlab.maintenance.unneeded import FileSort
from paimonlab.metadata.layout import TableLayout
from paimonlab.spec.options.table_options import option_field
from paimonlab.spec.partitions.folders import BUCKET_PREFIX, relative_folder
from paimonlab.storage import FileIO, FileStatus, join

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOptions:
    """The table options that say how files are called and where they are."""

    data_prefix: str = option_field("data-file.prefix", "string", "data-")
    """``data-file.prefix``"""
    changelog_prefix: str = option_field("changelog-file.prefix", "string", "changelog-")
    """``changelog-file.prefix``"""
    data_directory: str = option_field(
        "data-file.path-directory", "string", "", parse=relative_folder
    )
    """``data-file.path-directory``"""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that is there."""

    status: FileStatus
    sort: FileSort

    @property
    def name(self) -> str:
        """Without its folder."""
        return self.status.path.rpartition("/")[2]


def stored_files(
    layout: TableLayout,
    branches: Sequence[TableLayout],
    file_io: FileIO,
    options: StoredOptions,
    *,
    external_folders: Sequence[str],
    partition_depth: int,
) -> Iterator[StoredFile]:
    """List the files that Paimon may have made in the folders of a table; it makes no links.

    Parameters
    ----------
    layout
        Where the table's files are.
    branches
        All branches, including the main one.
    file_io
        The table's store.
    options
        The table's options.
    external_folders
        Roots of data files outside of the table's folder.
    partition_depth
        How many partition columns there are.
    """
    for branch in branches:
        for folder in (
            branch.snapshot_folder,
            branch.changelog_folder,
            branch.tag_folder,
            branch.consumer_folder,
            branch.schema_folder,
        ):
            yield from _files(file_io, folder, lambda _: None)
    yield from _files(file_io, layout.manifest_folder, _manifest_sort)
    yield from _files(file_io, layout.index_folder, _starting("index-", "index"))
    yield from _files(file_io, layout.statistics_folder, _starting("stat-", "statistics"))
    sort_of = _data_sort(options)
    for root in (join(layout.table_path, options.data_directory), *external_folders):
        for folder in _bucket_folders(file_io, root, partition_depth):
            yield from _files(file_io, folder, sort_of)


def _files(
    file_io: FileIO, folder: str, sort_of: Callable[[str], FileSort | None]
) -> Iterator[StoredFile]:
    for status in file_io.list(folder):
        if status.is_directory or status.is_linked:
            continue
        name = status.path.rpartition("/")[2]
        sort = "temporary" if _is_temporary(name) else sort_of(name)
        if sort is not None:
            yield StoredFile(status, sort)


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(".tmp") and _UUID.search(name) is not None


def _manifest_sort(name: str) -> FileSort | None:
    if name.startswith("manifest-list-"):
        return "manifest list"
    if name.startswith("index-manifest-"):
        return "index manifest"
    return "manifest" if name.startswith("manifest-") else None


def _starting(prefix: str, sort: FileSort) -> Callable[[str], FileSort | None]:
    return lambda name: sort if name.startswith(prefix) else None


def _data_sort(options: StoredOptions) -> Callable[[str], FileSort | None]:
    prefixes: list[tuple[str, FileSort]] = [
        (options.changelog_prefix, "changelog"),
        ("changelog-", "changelog"),
        (options.data_prefix, "data"),
        ("data-", "data"),
        ("index-", "index"),
    ]

    def sort_of(name: str) -> FileSort | None:
        for prefix, sort in prefixes:
            if prefix and name.startswith(prefix):
                return sort
        # Prefixes may have been others once, but each name has a number that is given once.
        return "data" if _UUID.search(name) else None

    return sort_of


def _bucket_folders(file_io: FileIO, folder: str, depth: int) -> Iterator[str]:
    for status in file_io.list(folder):
        name = status.path.rpartition("/")[2]
        if not status.is_directory or status.is_linked:
            continue
        if depth == 0:
            if name.startswith(BUCKET_PREFIX):
                yield status.path
        elif "=" in name:
            yield from _bucket_folders(file_io, status.path, depth - 1)
