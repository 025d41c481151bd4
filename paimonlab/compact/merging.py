"""How the rows of one compaction are merged: which older rows matter, and what is reported."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from paimonlab.compact.bucket_files import BucketFiles
from paimonlab.compact.changelog import ChangelogOptions, ChangelogWriter, NoChangelog
from paimonlab.compact.lookup_merging import (
    FirstRowMerger,
    FullChangelogMerger,
    LookupMerger,
    Marks,
)
from paimonlab.compact.older_rows import OlderFiles
from paimonlab.compact.record_expiry import RecordExpiry
from paimonlab.compact.rewriting import PieceMerger, Reducer
from paimonlab.compact.strategy import LevelOptions
from paimonlab.compact.upgrading import UpgradeKind, upgrade_kind
from paimonlab.datafile.writer import DataFileWriter
from paimonlab.read.read_plan import ReadPlan
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.storage import FileIO


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """How the rows of one compaction of one bucket are merged."""

    bucket: BucketFiles
    compacted: frozenset[str]
    """Names of the files that are compacted."""
    plan: ReadPlan
    levels: LevelOptions
    changelog: ChangelogOptions
    file_io: FileIO
    expiry: RecordExpiry | None
    marks: Marks = field(default_factory=Marks)
    """Rows of other files that are out of date now."""

    def merger(self, files: Collection[DataFileMeta], output_level: int) -> PieceMerger:
        """Choose how the rows of some files are merged on their way to a level."""
        max_level, levels = self.levels.level_count - 1, self.levels
        if levels.changelog_producer == "full-compaction":
            if output_level != max_level:
                return Reducer(self.plan)
            writer = self._writer(output_level)
            compared = self.changelog.compared(self.plan.schema)
            return FullChangelogMerger(self.plan, max_level, writer, compared)
        if not levels.needs_lookup or all(file.level for file in files):
            return Reducer(self.plan)
        if levels.merge_engine == "first-row":
            older = self._older(output_level, with_rows=False)
            return FirstRowMerger(self.plan, older, self._writer(output_level))
        return self._lookup_merger(output_level)

    def upgrade(self, file: DataFileMeta, output_level: int) -> UpgradeKind:
        """Say what it takes to give a file another level."""
        formats = [self.bucket.targets(level).format.name for level in (file.level, output_level)]
        kind = upgrade_kind(
            file,
            output_level,
            self.levels,
            has_sequence_fields=bool(self.plan.options.sequence_fields),
            is_same_format=formats[0] == formats[1],
        )
        if kind is UpgradeKind.LOOKED_AT and not self._is_reported:
            # Nobody asks but for older rows to mark.
            older = self._older(output_level, with_rows=False)
            if older is None or not self.levels.deletion_vectors:
                return UpgradeKind.METADATA
        return kind

    @property
    def _is_reported(self) -> bool:
        return self.levels.changelog_producer in ("lookup", "full-compaction")

    def _lookup_merger(self, output_level: int) -> LookupMerger:
        levels = self.levels
        newest_wins = levels.merge_engine == "deduplicate" and not self.plan.options.sequence_fields
        with_rows = self._is_reported or not newest_wins
        older = None
        if with_rows or levels.deletion_vectors:
            older = self._older(output_level, with_rows=with_rows)
        return LookupMerger(
            self.plan,
            older,
            self._writer(output_level),
            self.marks if levels.deletion_vectors else None,
            self.changelog.compared(self.plan.schema),
        )

    def _older(self, output_level: int, *, with_rows: bool) -> OlderFiles | None:
        files = tuple(
            file
            for file in self.bucket.files
            if file.level > output_level and file.file_name not in self.compacted
        )
        if not files:
            return None
        return OlderFiles(
            self.bucket, files, self.plan, self.file_io, with_rows=with_rows, expiry=self.expiry
        )

    def _writer(self, output_level: int) -> ChangelogWriter:
        if not self._is_reported:
            return NoChangelog()
        return DataFileWriter(self.file_io, self.bucket.changelog_targets(output_level))
