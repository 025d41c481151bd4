"""Checking a table: roots, manifests, files, and rows on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from paimonlab.errors import PaimonError
from paimonlab.maintenance.fsck.contents import ContentChecker
from paimonlab.maintenance.fsck.data_files import (
    StoredFiles,
    check_key_ranges,
    check_numbers,
    check_stored,
    data_paths,
)
from paimonlab.maintenance.fsck.indexes import IndexChecker
from paimonlab.maintenance.fsck.live import LiveFiles, ManifestWalk
from paimonlab.maintenance.fsck.notes import Notes
from paimonlab.maintenance.fsck.report import FsckReport
from paimonlab.maintenance.fsck.roots import Branch, read_branch
from paimonlab.metadata.branches import BranchManager
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifest_cache import ManifestCache
from paimonlab.metadata.manifests import ManifestStore
from paimonlab.metadata.schemas import SchemaManager
from paimonlab.metadata.statistics import StatisticsStore
from paimonlab.progress import Progress
from paimonlab.scan.entries import concat
from paimonlab.scan.split_paths import bucket_paths
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.partitions.folders import PartitionOptions
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.storage import FileIO
from paimonlab.storage.together import both

_CACHE_BYTES = 128 << 20
_ROOTS_TOGETHER = 64
_FILES_TOGETHER = 1 << 16


class FsckOptions(OptionSlice):
    """The table options that say where files are."""

    index_beside_data: bool = option_field("index-file-in-data-file-dir", "boolean", default=False)
    """``index-file-in-data-file-dir``"""


def fsck(
    table: str,
    file_io: FileIO,
    layout: TableLayout,
    *,
    deep: bool = False,
    progress: Progress | None = None,
) -> FsckReport:
    """Check every file of a table, of all its branches.

    Parameters
    ----------
    table
        Name of the table, for messages.
    file_io, layout
        Where it is.
    deep
        Whether to also read all rows.
    progress
        Called as the work goes on.

    Returns
    -------
    FsckReport
        What was found; a damaged file is a finding, not an error. Nothing is changed.
    """
    notes = Notes(layout.table_path)
    main = layout.on_branch(None)
    names, first = both(
        layout.table_path,
        BranchManager(file_io, main).names,
        lambda: read_branch(file_io, main, notes),
    )
    branches = [first, *(read_branch(file_io, main.on_branch(name), notes) for name in names)]
    checker = _Checker(
        table, file_io, StoredFiles(file_io), notes, deep=deep, progress=progress or _silent
    )
    done, total = 0, sum(len(branch.roots) for branch in branches)
    seen_indexes: set[str] = set()
    for branch in branches:
        checker.check(branch, seen_indexes, done, total)
        done += len(branch.roots)
    return FsckReport(
        table=table, is_deep=deep, findings=tuple(notes.findings), checked=notes.checked()
    )


def _silent(done: int, total: int, unit: str) -> None:
    pass


@dataclass(slots=True)
class _Waiting:
    """Roots whose new files are checked together: a few files cost about what many do."""

    roots: list[LiveFiles] = field(default_factory=list)
    rows: int = 0

    def add(self, files: LiveFiles) -> None:
        if files.new.num_rows:
            self.roots.append(files)
            self.rows += files.new.num_rows

    @property
    def are_enough(self) -> bool:
        return len(self.roots) >= _ROOTS_TOGETHER or self.rows >= _FILES_TOGETHER

    def all(self) -> Sequence[LiveFiles]:
        """Return them, and forget them."""
        roots, self.roots, self.rows = self.roots, [], 0
        return roots


@dataclass(frozen=True, slots=True)
class _Checker:
    table: str
    file_io: FileIO
    stored: StoredFiles
    notes: Notes
    deep: bool
    progress: Progress

    def check(self, branch: Branch, seen_indexes: set[str], done: int, total: int) -> None:
        layout, notes = branch.layout, self.notes
        # A cache of its own: files that others of this process have read may be damaged since.
        manifests = ManifestStore(self.file_io, layout, cache=ManifestCache(_CACHE_BYTES))
        walk = ManifestWalk(manifests, layout, notes)
        contents = None
        if self.deep:
            schemas = SchemaManager(self.file_io, layout)
            contents = ContentChecker(self.file_io, self.table, schemas, branch.schemas, notes)
        indexes = IndexChecker(
            self.file_io, layout, manifests, self.stored, notes, contents, seen_indexes
        )
        waiting = _Waiting()
        for number, files in enumerate(walk.all_live(branch.roots), start=1):
            root = files.root
            self._check_statistics(layout, files)
            if branch.schema is not None:
                with notes.taken(root.path, referrer=root.name):
                    check_key_ranges(files.deep, branch, notes, root.name)
                    waiting.add(files)
                    if waiting.are_enough or self.deep:
                        self._check_files(branch, branch.schema, waiting.all(), contents)
                    if root.snapshot.index_manifest is not None and not files.is_known:
                        self._check_indexes(branch.schema, files, indexes)
            self.progress(done + number, total, "snapshots")
        if branch.schema is not None and waiting.roots:
            last = waiting.roots[-1].root
            with notes.taken(last.path, referrer=last.name):
                self._check_files(branch, branch.schema, waiting.all(), contents)

    def _check_statistics(self, layout: TableLayout, files: LiveFiles) -> None:
        root = files.root
        name = root.snapshot.statistics
        if name is not None and not root.is_changelog:
            advice = "Run ANALYZE again; without it plans may be worse."
            with self.notes.taken(layout.statistics(name), referrer=root.name, advice=advice):
                StatisticsStore(self.file_io, layout).read(name, referrer=root.name)

    def _check_files(
        self,
        branch: Branch,
        schema: TableSchema,
        roots: Sequence[LiveFiles],
        contents: ContentChecker | None,
    ) -> None:
        """Check the new files of roots, together unless their paths cannot all be told."""
        if not roots:
            return
        new = concat([files.new for files in roots])
        options = Options(schema.options).slice(PartitionOptions)
        try:
            paths = data_paths(new, branch.layout, schema, options)
        except (PaimonError, pa.ArrowException):
            if len(roots) == 1:
                raise
            for files in roots:
                with self.notes.taken(files.root.path, referrer=files.root.name):
                    self._check_files(branch, schema, [files], contents)
            return
        referrers = [files.root.name for files in roots for _ in range(files.new.num_rows)]
        check_stored(new, paths, self.stored, self.notes, referrers)
        check_numbers(new, paths, branch, self.notes, referrers)
        if contents is not None:
            [files] = roots
            changelog = set(files.changelog["file_name"].to_pylist())
            contents.check(new, paths, changelog, files.root.name)

    def _check_indexes(self, schema: TableSchema, files: LiveFiles, indexes: IndexChecker) -> None:
        entries = files.read()
        options = Options(schema.options).slice(PartitionOptions)
        paths = data_paths(entries, indexes.layout, schema, options)
        indexes.check(files, entries, paths, self._index_folders(schema, entries))

    def _index_folders(self, schema: TableSchema, entries: pa.Table) -> dict[BucketKey, str]:
        options = Options(schema.options)
        if not options.slice(FsckOptions).index_beside_data:
            return {}
        partitions, buckets = entries["partition"].combine_chunks(), entries["bucket"].to_pylist()
        fields = [schema.field(name) for name in schema.partition_keys]
        folders = bucket_paths(partitions, buckets, fields, options.slice(PartitionOptions))
        places = zip(partitions.to_pylist(), buckets, strict=True)
        return dict(zip(places, folders, strict=True))
