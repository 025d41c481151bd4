"""Copies of snapshots that outlive them, so that their changes can still be read.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.ChangelogManager``.
"""

from __future__ import annotations

from paimonlab.errors import SnapshotNotFoundError
from paimonlab.metadata.hints import numbered, write_hint
from paimonlab.metadata.layout import CHANGELOG_PREFIX
from paimonlab.metadata.table_files import NumberedFiles
from paimonlab.spec.snapshot import Snapshot


class ChangelogManager(NumberedFiles[Snapshot], written="table.changelogs"):
    """Finds and reads the long-lived changelogs of a table."""

    def ids(self) -> list[int]:
        """Return the ids of all changelogs, ascending, by listing the folder."""
        return numbered(self._file_io.list_names(self._layout.changelog_folder), CHANGELOG_PREFIX)

    def get(self, snapshot_id: int) -> Snapshot:
        """Read the changelog of a snapshot.

        Raises
        ------
        SnapshotNotFoundError
            If there is no changelog of that snapshot.
        CorruptMetadataError
            If the file does not follow the format.
        """
        path = self._layout.changelog(snapshot_id)
        try:
            data = self._file_io.read(path)
        except FileNotFoundError:
            raise SnapshotNotFoundError(
                self._table, str(snapshot_id), "It has no changelog either."
            ) from None
        return Snapshot.from_json(data, path=path)

    def list(self) -> list[Snapshot]:
        """Read all changelogs, oldest first, without those that expire meanwhile."""
        changelogs = []
        for snapshot_id in self.ids():
            try:
                changelogs.append(self.get(snapshot_id))
            except SnapshotNotFoundError:
                continue
        return changelogs

    def delete_after(self, snapshot_id: int) -> None:
        """Delete the changelogs of newer snapshots, newest first; the hint is lowered before."""
        ids = self.ids()
        kept = [id for id in ids if id <= snapshot_id]
        gone = [id for id in ids if id > snapshot_id]
        if not gone:
            return
        if kept:
            write_hint(self._file_io, self._layout.latest_changelog_hint, kept[-1])
        else:
            self._file_io.delete(self._layout.latest_changelog_hint)
            self._file_io.delete(self._layout.earliest_changelog_hint)
        for changelog_id in reversed(gone):
            self._file_io.delete(self._layout.changelog(changelog_id))
