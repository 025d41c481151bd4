"""Where the files of a bucket go, and deleting files that no commit will ever name."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Sequence

import msgspec
import pyarrow as pa

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import DataError
from paimonlab.spec.binary_row.rows import decode
from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.external_paths import folder_of
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.partitions.folders import bucket_path, partition_paths
from paimonlab.storage import FileIO, safe_join
from paimonlab.write.write_plan import WritePlan

logger = logging.getLogger(__name__)

_LONGEST_NAME_BYTES = 255  # of local file systems and HDFS


def bucket_folder(plan: WritePlan, partition: bytes, bucket: int) -> str:
    """Folder of the data files of one bucket; see `bucket_folders`."""
    return bucket_folders(plan, [(partition, bucket)])[0]


def bucket_folders(plan: WritePlan, buckets: Sequence[BucketKey]) -> list[str]:
    """Folders of the data files of buckets, relative to the table or an external root.

    Parameters
    ----------
    plan
        How to write to the table.
    buckets
        Serialised BinaryRow of the partition values, and a number of at least 0.

    Raises
    ------
    DataError
        If a partition value is too long for the name of a folder.
    """
    keys, directory = plan.schema.partition_keys, plan.partition.data_directory
    if not keys:
        return [bucket_path("", bucket, directory) for _, bucket in buckets]
    types = [plan.schema.field(key).type for key in keys]
    partitions = list(dict.fromkeys(partition for partition, _ in buckets))
    values = decode(arrow_array(partitions, pa.large_binary()), types)
    paths = partition_paths(keys, values, types, plan.partition)
    for path in paths:
        for key, name in zip(keys, path.split("/"), strict=False):
            if len(name.encode()) > _LONGEST_NAME_BYTES:
                raise DataError(
                    f"{plan.table_name}: a value of partition column {key!r} is too long: its "
                    f"folder {name[:40]}… has a name of more than {_LONGEST_NAME_BYTES} bytes"
                )
    path_of = dict(zip(partitions, paths, strict=True))
    return [bucket_path(path_of[partition], bucket, directory) for partition, bucket in buckets]


def delete_files(messages: Sequence[CommitMessage], plan: WritePlan, file_io: FileIO) -> None:
    """Delete the files of messages whose commit definitely did not and will not happen."""
    for message in messages:
        folder = bucket_folder(plan, message.partition, message.bucket)
        # A file that compaction only moved to another level was there before.
        moved = {file.file_name for file in message.compact_before}
        compacted = [file for file in message.compact_after if file.file_name not in moved]
        for file in (
            *message.new_files,
            *message.changelog_files,
            *compacted,
            *message.compact_changelog,
        ):
            path = safe_join(plan.table_path, folder, file.file_name)
            if file.external_path:
                path = folder_of(file.external_path)
            file_io.delete(path)
            for name in file.extra_files:
                file_io.delete(safe_join(posixpath.dirname(path), name))
        for index in message.new_indexes:
            for root_and_folder in (
                "index",
                folder,
            ):  # names are unique, and only one of them is there
                file_io.delete(safe_join(plan.table_path, root_and_folder, index.file_name))


def without_changelog(
    messages: Sequence[CommitMessage], plan: WritePlan, file_io: FileIO
) -> list[CommitMessage]:
    """Leave out the changelog of messages, and delete its files: no snapshot will refer to them.

    An overwrite has no changelog, as in Java, which leaves the files of those that its writers and
    their compactions wrote.
    """
    reported = [message for message in messages if changelog_of(message)]
    if not reported:
        return list(messages)
    logger.warning(
        "%s: an overwrite has no changelog; streams see it if streaming-read-overwrite is set",
        plan.table_name,
    )
    delete_files(
        [
            CommitMessage(
                partition=message.partition,
                bucket=message.bucket,
                total_buckets=message.total_buckets,
                changelog_files=changelog_of(message),
            )
            for message in reported
        ],
        plan,
        file_io,
    )
    return [
        msgspec.structs.replace(message, changelog_files=(), compact_changelog=())
        for message in messages
    ]


def changelog_of(message: CommitMessage) -> tuple[DataFileMeta, ...]:
    """Return all changelog files of a message."""
    return (*message.changelog_files, *message.compact_changelog)
