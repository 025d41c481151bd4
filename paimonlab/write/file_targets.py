"""Where and how the files of a bucket are written: data files by level, changelog files.

Source: apache/paimon@1.3.1 ``org.apache.paimon.io.KeyValueFileWriterFactory``.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from paimonlab.datafile.layout import file_columns
from paimonlab.datafile.writer import FileNames, FileTarget
from paimonlab.spec.manifests.data_file import FileSource
from paimonlab.storage import safe_join
from paimonlab.write.write_plan import WritePlan


def data_target(
    plan: WritePlan, folder: str, *, level: int = 0, source: FileSource = FileSource.APPEND
) -> FileTarget:
    """Say how data files of a bucket are written.

    Parameters
    ----------
    plan
        How to write to the table.
    folder
        The bucket's folder, relative to the table's.
    level
        Level of the LSM tree; 0 in append tables.
    source
        Whether rows are new, or a compaction rewrites them.
    """
    return FileTarget(
        folder=safe_join(plan.table_path, folder),
        external=plan.external.below(folder),
        schema_id=plan.schema.id,
        columns=file_columns(plan.schema, is_thin=plan.options.is_thin),
        stats=plan.stats.at_level(level),
        format=plan.formats.at_level(level),
        indexes=plan.file_index,
        target_file_size_bytes=plan.target_file_size_bytes,
        target_file_rows=plan.options.target_file_rows,
        names=FileNames(plan.options.file_prefix),
        level=level,
        source=source,
    )


def changelog_target(plan: WritePlan, folder: str, *, level: int = 0) -> FileTarget:
    """Say how changelog files of a bucket are written; all of source APPEND, as in Java.

    Parameters
    ----------
    plan, folder
        As in `data_target`.
    level
        Level of the data files whose changes they hold.
    """
    return FileTarget(
        folder=safe_join(plan.table_path, folder),
        external=plan.external.below(folder),
        schema_id=plan.schema.id,
        columns=file_columns(plan.schema, is_thin=plan.options.is_thin),
        stats=plan.stats.of_changelog(level),
        format=plan.formats.of_changelog(level),
        target_file_size_bytes=plan.target_file_size_bytes,
        target_file_rows=plan.options.target_file_rows,
        names=FileNames(plan.options.changelog_prefix),
        level=level,
    )


def in_folders(target: FileTarget, plan: WritePlan, folders: Sequence[str]) -> list[FileTarget]:
    """Say that files of several buckets are written alike, and named in one series.

    Parameters
    ----------
    target
        How those of one of them are written.
    plan
        How to write to the table.
    folders
        The folder of each bucket, relative to the table's.
    """
    return [
        replace(
            target,
            folder=safe_join(plan.table_path, folder),
            external=plan.external.below(folder),
        )
        for folder in folders
    ]
