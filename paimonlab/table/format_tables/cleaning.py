"""What killed writers of a format table left: hidden files that nobody gives a name any more."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from paimonlab.maintenance.orphans import OrphanFile, OrphanFiles, oldest_kept
from paimonlab.storage import FileIO, FileStatus
from paimonlab.table.format_tables.replacing import FOLDER, Replacement
from paimonlab.table.format_tables.writing import delete

_OURS = re.compile(r"\..+\.[0-9a-f]{32}\.tmp")
"""Names that `writing.FormatWriter` gives."""


def remove_orphan_files(
    replacement: Replacement, *, older_than_millis: int | None, dry_run: bool, force: bool
) -> OrphanFiles:
    """Find such files, and delete them if asked to; see `FormatTable.remove_orphan_files`."""
    file_io, root = replacement.file_io, replacement.root
    now = datetime.now(UTC)
    older_than = oldest_kept(older_than_millis, now, may_be_recent=dry_run or force)
    last = (older_than - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)
    waiting = replacement.waiting()
    found = [
        OrphanFile(
            path=one.path,
            sort="temporary",
            size_bytes=one.size_bytes,
            modified=modified,
            age=now - modified,
        )
        for one in _hidden(file_io, root, waiting)
        if one.modified_millis < last
        for modified in [datetime.fromtimestamp(one.modified_millis / 1000, UTC)]
    ]
    found.sort(key=lambda one: one.path)
    if not dry_run:
        delete(file_io, [one.path for one in found])
    return OrphanFiles(table=replacement.table, older_than=older_than, files=tuple(found))


def _hidden(file_io: FileIO, folder: str, kept: Collection[str]) -> Iterator[FileStatus]:
    """List what our writers wrote and did not show."""
    for one in file_io.list(folder):
        path = one.path.rstrip("/")
        name = path.rpartition("/")[2]
        if not one.is_directory:
            if _OURS.fullmatch(name) and path not in kept:
                yield one
        elif name != FOLDER:
            yield from _hidden(file_io, path, kept)
