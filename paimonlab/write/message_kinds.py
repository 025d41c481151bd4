"""What a writer wrote and compacted, reported as compactions alone or as new files alone.

As compactions, if the rows were in the table before. As new files, if the rows are new.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.postpone.PostponeBucketCommittableRewriter``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from paimonlab.spec.buckets.key import BucketKey
from paimonlab.spec.commit_message import CommitMessage
from paimonlab.spec.manifests.data_file import DataFileMeta


def as_compactions(
    messages: Sequence[CommitMessage],
) -> tuple[list[CommitMessage], list[CommitMessage]]:
    """Count what was written as compacted: these rows were in the table before.

    Parameters
    ----------
    messages
        What a writer did: new files, then what became of them.

    Returns
    -------
    messages
        One per bucket, with nothing but what was compacted.
    useless
        New files that were compacted away; no commit names them.
    """
    compactions, useless = [], []
    for ours in _by_bucket(messages):
        new = {file.file_name: file for message in ours for file in message.new_files}
        before = [file for message in ours for file in message.compact_before]
        after = [file for message in ours for file in message.compact_after]
        away = {file.file_name for file in before} & new.keys()
        named = {file.file_name for file in after}
        checked = [
            message.checked_snapshot_id
            for message in ours
            if message.checked_snapshot_id is not None
        ]
        compactions.append(
            replace(
                ours[0],
                new_files=(),
                changelog_files=(),
                compact_before=tuple(file for file in before if file.file_name not in away),
                compact_after=(
                    *(file for name, file in new.items() if name not in away),
                    *after,
                ),
                compact_changelog=tuple(
                    file
                    for message in ours
                    for file in (*message.changelog_files, *message.compact_changelog)
                ),
                new_indexes=tuple(index for message in ours for index in message.new_indexes),
                deleted_indexes=tuple(
                    index for message in ours for index in message.deleted_indexes
                ),
                checked_snapshot_id=min(checked, default=None),
            )
        )
        useless += _lost(ours[0], new.values(), away - named)
    return compactions, useless


def as_new_files(
    messages: Sequence[CommitMessage],
) -> tuple[list[CommitMessage], list[CommitMessage]]:
    """Count what came out of compactions as new: the files of one commit, on any level.

    Parameters
    ----------
    messages
        Of a writer that compacted nothing but what it wrote: new files, then what became of them.

    Returns
    -------
    messages
        One per bucket, with nothing but new files.
    useless
        New files that were compacted away; no commit names them.
    """
    additions, useless = [], []
    for ours in _by_bucket(messages):
        new = {file.file_name: file for message in ours for file in message.new_files}
        away = {file.file_name for message in ours for file in message.compact_before}
        assert away <= new.keys(), "nothing is compacted but what is new"
        after = [file for message in ours for file in message.compact_after]
        stays = [file for name, file in new.items() if name not in away]
        additions.append(
            replace(
                ours[0],
                new_files=(*stays, *after),
                compact_before=(),
                compact_after=(),
                new_indexes=tuple(index for message in ours for index in message.new_indexes),
            )
        )
        useless += _lost(ours[0], new.values(), away - {file.file_name for file in after})
    return additions, useless


def _by_bucket(messages: Sequence[CommitMessage]) -> Iterable[list[CommitMessage]]:
    by_bucket: defaultdict[BucketKey, list[CommitMessage]] = defaultdict(list)
    for message in messages:
        by_bucket[message.partition, message.bucket].append(message)
    return by_bucket.values()


def _lost(
    message: CommitMessage, files: Iterable[DataFileMeta], names: Collection[str]
) -> list[CommitMessage]:
    """Name files that were compacted away."""
    lost = tuple(file for file in files if file.file_name in names)
    if not lost:
        return []
    return [
        CommitMessage(
            partition=message.partition,
            bucket=message.bucket,
            total_buckets=message.total_buckets,
            new_files=lost,
        )
    ]
