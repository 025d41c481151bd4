"""Where the files of a table are.

Spec: https://paimon.apache.org/docs/master/concepts/spec/overview/
"""

from __future__ import annotations

from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from paimonlab.spec.external_paths import external_file
from paimonlab.storage import join, safe_join

SCHEMA_PREFIX = "schema-"
SNAPSHOT_PREFIX = "snapshot-"
TAG_PREFIX = "tag-"
BRANCH_PREFIX = "branch-"
CONSUMER_PREFIX = "consumer-"
CHANGELOG_PREFIX = "changelog-"
GUARD_END = ".guard.tmp"
"""How names of snapshots end that are kept beside tags for an operation under way."""
LATEST = "LATEST"
EARLIEST = "EARLIEST"
MIGRATION_PLAN = "migration.json"
"""In the folder of a table: what a migration of files that is not finished is to do."""

_folder = lru_cache(maxsize=1024)(join)
"""Planning and expiring join hundreds of names to few folders."""


class TableLayout(Struct, frozen=True):
    """Makes the paths of a table; touches no file.

    Names that come out of metadata are joined so that they cannot leave the table's folder.
    """

    table_path: str
    """Absolute folder of the table."""
    external_roots: tuple[str, ...] = ()
    """Absolute folders outside of it that data files may be in."""
    branch: str | None = None
    """None is the main branch. A branch has schemas, snapshots, tags, consumers and changelogs of
    its own; manifests and data files of all branches lie in the same folders."""

    def on_branch(self, branch: str | None) -> TableLayout:
        """Return the layout of another branch of the table; None: the main branch."""
        return replace(self, branch=branch)

    def guard_start(self, snapshot_id: int) -> str:
        """Return how names of guards of a snapshot begin."""
        return f".{TAG_PREFIX}{snapshot_id}."

    @property
    def branches_folder(self) -> str:
        """Folder of the folders of all branches but the main one."""
        return _folder(self.table_path, "branch")

    @property
    def branch_path(self) -> str:
        """Folder of a branch's own files; for the main branch the table's folder."""
        if self.branch is None:
            return self.table_path
        return safe_join(self.branches_folder, f"{BRANCH_PREFIX}{self.branch}")

    @property
    def schema_folder(self) -> str:
        """Folder of the schema files."""
        return _folder(self.branch_path, "schema")

    @property
    def snapshot_folder(self) -> str:
        """Folder of the snapshot files and their hints."""
        return _folder(self.branch_path, "snapshot")

    @property
    def changelog_folder(self) -> str:
        """Folder of the copies of snapshots that outlive them for their changelog."""
        return _folder(self.branch_path, "changelog")

    @property
    def consumer_folder(self) -> str:
        """Folder of the consumers."""
        return _folder(self.branch_path, "consumer")

    @property
    def load_history_folder(self) -> str:
        """Folder of the records of files that were loaded."""
        return join(self.branch_path, "copy-into", "history")

    @property
    def loads_folder(self) -> str:
        """Folder of the loads that are not finished."""
        return join(self.branch_path, "copy-into", "running")

    @property
    def statistics_folder(self) -> str:
        """Folder of the statistics, for all branches."""
        return _folder(self.table_path, "statistics")

    @property
    def manifest_folder(self) -> str:
        """Folder of manifests, manifest lists and index manifests."""
        return _folder(self.table_path, "manifest")

    @property
    def index_folder(self) -> str:
        """Folder of index files, where they do not lie beside the data files."""
        return _folder(self.table_path, "index")

    @property
    def tag_folder(self) -> str:
        """Folder of the tags."""
        return _folder(self.branch_path, "tag")

    @property
    def latest_hint(self) -> str:
        """The file that names the newest snapshot id; it may be out of date."""
        return join(self.snapshot_folder, LATEST)

    @property
    def earliest_hint(self) -> str:
        """The file that names the oldest snapshot id; it may be out of date."""
        return join(self.snapshot_folder, EARLIEST)

    @property
    def latest_changelog_hint(self) -> str:
        """The file that names the newest long-lived changelog."""
        return join(self.changelog_folder, LATEST)

    @property
    def earliest_changelog_hint(self) -> str:
        """The file that names the oldest long-lived changelog."""
        return join(self.changelog_folder, EARLIEST)

    def schema(self, schema_id: int) -> str:
        """Path of a schema file."""
        return join(self.schema_folder, f"{SCHEMA_PREFIX}{schema_id}")

    def snapshot(self, snapshot_id: int) -> str:
        """Path of a snapshot file."""
        return f"{self.snapshot_folder}/{SNAPSHOT_PREFIX}{snapshot_id}"

    def tag(self, name: str) -> str:
        """Path of a tag file; the name is checked by `paimonlab.metadata.tags`."""
        return join(self.tag_folder, f"{TAG_PREFIX}{name}")

    def changelog(self, snapshot_id: int) -> str:
        """Path of the copy of a snapshot that outlives it."""
        return join(self.changelog_folder, f"{CHANGELOG_PREFIX}{snapshot_id}")

    def manifest(self, name: str, referrer: str = "") -> str:
        """Path of a manifest, manifest list or index manifest.

        Raises
        ------
        CorruptMetadataError
            If the name leads out of the folder. ``referrer`` is only for the message.
        """
        return safe_join(self.manifest_folder, name, referrer=referrer)

    def statistics(self, name: str, referrer: str = "") -> str:
        """Path of a statistics file; errors as of `manifest`."""
        return safe_join(self.statistics_folder, name, referrer=referrer)

    def index_file(self, path: str, referrer: str = "") -> str:
        """Path of an index file.

        Parameters
        ----------
        path
            Relative to the table: ``index/index-1``; absolute where it lies elsewhere.
        referrer
            The file that names it, for the message.

        Raises
        ------
        CorruptMetadataError
            If a name leads out of the table's folder.
        UnsupportedError
            If the file is neither in the table's folder nor in one of the external roots.
        """
        if path.startswith("/") or "://" in path:
            roots = (self.table_path, *self.external_roots)
            return external_file(path, roots, table=self.table_path)
        return safe_join(self.table_path, path, referrer=referrer)

    def data_file(self, bucket_path: str, name: str, external_path: str | None = None) -> str:
        """Path of a data file.

        Parameters
        ----------
        bucket_path
            Folder of the bucket relative to the table: ``dt=2026-01-01/bucket-0``.
        name
            As the manifest entry has it.
        external_path
            Where the file is if it is not in the bucket's folder.

        Raises
        ------
        CorruptMetadataError
            If a name leads out of the table's folder.
        UnsupportedError
            If the file is neither in the table's folder nor in one of the external roots.
        """
        if external_path is not None:
            roots = (self.table_path, *self.external_roots)
            return external_file(external_path, roots, table=self.table_path)
        return safe_join(self.table_path, bucket_path, name)
