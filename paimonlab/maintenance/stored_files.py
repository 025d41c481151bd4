"""The files that Paimon created in the folders of a table, found by listing.

Folders that Paimon does not create, and files with names it does not give, are left out.

Source: apache/paimon@1.3.1 ``org.apache.paimon.operation.OrphanFilesClean``, listing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from paimonlab.errors import UnsupportedError
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.unneeded import FileSort
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.spec.external_paths import ExternalPathOptions
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.partitions.folders import BUCKET_PREFIX, relative_folder
from paimonlab.storage import FileIO, FileStatus, join
from paimonlab.workers import Workers, in_parts, side_by_side

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


class StoredOptions(OptionSlice):
    """The table options that say what files are called and where they are."""

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
    """A file that was listed."""

    status: FileStatus
    sort: FileSort

    @property
    def name(self) -> str:
        """Without its folder."""
        return self.status.path.rpartition("/")[2]


def stored_files(
    history: TableHistory,
    branches: Sequence[TableLayout],
    *,
    before_millis: int | None = None,
    workers: Workers = side_by_side,
) -> Iterator[StoredFile]:
    """List the files that Paimon may have created in the folders of a table; links are not.

    Parameters
    ----------
    history
        The history of any branch.
    branches
        Those of which metadata is listed, the main one among them.
    before_millis
        Files that were changed then or later are left out; None: none are.
    workers
        What lists the folders of data files.
    """
    file_io, layout = history.file_io, history.layout.on_branch(None)
    options = history.options.slice(StoredOptions)
    external_folders = history.options.slice(ExternalPathOptions).readable_folders
    metadata: list[tuple[str, Callable[[str], FileSort | None]]] = [
        (folder, lambda _: None)
        for branch in branches
        for folder in (
            branch.snapshot_folder,
            branch.changelog_folder,
            branch.tag_folder,
            branch.consumer_folder,
            branch.schema_folder,
        )
    ]
    metadata.append((layout.manifest_folder, _manifest_sort))
    metadata.append((layout.index_folder, _starting("index-", "index")))
    metadata.append((layout.statistics_folder, _starting("stat-", "statistics")))
    for folder, sort_of in metadata:
        yield from _files(file_io, folder, sort_of, before_millis)
    depth = len(history.reader.partition_fields)
    folders = [
        folder
        for root in (join(layout.table_path, options.data_directory), *external_folders)
        for folder in _folders_in(file_io, root, depth)
    ]
    work = partial(
        _data_files, file_io=file_io, options=options, depth=depth, before_millis=before_millis
    )
    parts = in_parts(folders, workers.tasks)
    for files in workers(work, parts, what=f"listing files of {history.name}", size=len):
        yield from files


def _data_files(
    folders: Sequence[str],
    *,
    file_io: FileIO,
    options: StoredOptions,
    depth: int,
    before_millis: int | None,
) -> list[StoredFile]:
    """List the files of buckets below folders: of buckets themselves, or of partitions."""
    sort_of = _data_sort(options)
    return [
        file
        for folder in folders
        for bucket in ([folder] if depth == 0 else _bucket_folders(file_io, folder, depth - 1))
        for file in _files(file_io, bucket, sort_of, before_millis)
    ]


def _files(
    file_io: FileIO,
    folder: str,
    sort_of: Callable[[str], FileSort | None],
    before_millis: int | None,
) -> Iterator[StoredFile]:
    for status in file_io.list(folder):
        if status.is_directory or status.is_linked:
            continue
        if before_millis is not None and status.modified_millis >= before_millis:
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
    for path in _folders_in(file_io, folder, depth):
        if depth == 0:
            yield path
        else:
            yield from _bucket_folders(file_io, path, depth - 1)


def _folders_in(file_io: FileIO, folder: str, depth: int) -> Iterator[str]:
    """Find the folders of buckets, or where partitions are so deep those of partitions."""
    for status in file_io.list(folder):
        name = status.path.rpartition("/")[2]
        is_wanted = "=" in name if depth else name.startswith(BUCKET_PREFIX)
        if is_wanted and status.is_directory and not status.is_linked:
            yield status.path


def check_alone(history: TableHistory) -> None:
    """Check that no other table of the warehouse has files in the same folders elsewhere.

    Raises
    ------
    UnsupportedError
        If one does: files of the other would look like orphans.
    """
    own = history.options.slice(ExternalPathOptions).readable_folders
    if not own:
        return
    io, path = history.file_io, history.layout.table_path
    warehouse = path.rpartition("/")[0].rpartition("/")[0]
    databases = [status for status in io.list(warehouse) if status.is_directory]
    for database in databases:
        for table in io.list(database.path):
            if not table.is_directory or table.path == path:
                continue
            schema = SchemaManager(io, TableLayout(table.path)).latest()
            folders = Options({} if schema is None else schema.options).slice(ExternalPathOptions)
            shared = [root for root in folders.readable_folders if _overlaps(root, own)]
            if shared:
                name = f"{database.path.rpartition('/')[2].removesuffix('.db')}."
                raise UnsupportedError(
                    "looking for orphan files in a folder that two tables use",
                    f"{name}{table.path.rpartition('/')[2]} also has data files in {shared[0]}",
                )


def _overlaps(root: str, others: Sequence[str]) -> bool:
    return any(
        f"{root}/".startswith(f"{other}/") or f"{other}/".startswith(f"{root}/") for other in others
    )
