"""What a writer wrote, told as a compaction: for rows that were in the table before.

Source: apache/paimon@1.3.1 ``org.apache.paimon.flink.postpone.PostponeBucketCommittableRewriter``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from msgspec.structs import replace

from paimonlab.spec.commit_message import CommitMessage
from paimonlab.write.compactions import BucketKey


def as_compactions(
    messages: Sequence[CommitMessage],
) -> tuple[list[CommitMessage], list[CommitMessage]]:
    """Count what was written as compacted: these rows were in the table before.

    Parameters
    ----------
    messages
        Of a writer: new files, then what became of them.

    Returns
    -------
    messages
        One a bucket, with nothing but what was compacted.
    useless
        New files that were compacted away; no commit names them.
    """
    by_bucket: defaultdict[BucketKey, list[CommitMessage]] = defaultdict(list)
    for message in messages:
        by_bucket[message.partition, message.bucket].append(message)
    compactions, useless = [], []
    for ours in by_bucket.values():
        new = {file.file_name: file for one in ours for file in one.new_files}
        before = [file for one in ours for file in one.compact_before]
        after = [file for one in ours for file in one.compact_after]
        away = {file.file_name for file in before} & new.keys()
        named = {file.file_name for file in after}
        checked = [one.checked_snapshot_id for one in ours if one.checked_snapshot_id is not None]
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
                    file for one in ours for file in (*one.changelog_files, *one.compact_changelog)
                ),
                new_indexes=tuple(index for one in ours for index in one.new_indexes),
                deleted_indexes=tuple(index for one in ours for index in one.deleted_indexes),
                checked_snapshot_id=min(checked, default=None),
            )
        )
        lost = tuple(file for name, file in new.items() if name in away - named)
        if lost:
            useless.append(
                CommitMessage(
                    partition=ours[0].partition,
                    bucket=ours[0].bucket,
                    total_buckets=ours[0].total_buckets,
                    new_files=lost,
                )
            )
    return compactions, useless
