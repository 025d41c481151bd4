"""What it takes to give a file another level.

Source: apache/paimon@1.3.1
``org.apache.paimon.mergetree.compact.LookupMergeTreeCompactRewriter#upgradeStrategy``,
``…FullChangelogMergeTreeCompactRewriter#upgradeStrategy``.
"""

from __future__ import annotations

from enum import Enum

from paimonlab.compact.strategy import LevelOptions
from paimonlab.spec.manifests.data_file import DataFileMeta


class UpgradeKind(Enum):
    """What is done with the rows of a file that gets another level."""

    METADATA = "metadata"
    """Nothing."""
    LOOKED_AT = "looked at"
    """They are read: for the changelog, or to find older rows."""
    REWRITTEN = "rewritten"
    """They are merged with older rows into a new file."""


def upgrade_kind(
    file: DataFileMeta,
    output_level: int,
    options: LevelOptions,
    *,
    has_sequence_fields: bool,
    is_same_format: bool,
) -> UpgradeKind:
    """Say what it takes to move a file that shares no key with others of its compaction.

    Parameters
    ----------
    file
        The file.
    output_level
        Where it goes, above its own level.
    options
        The table's options.
    has_sequence_fields
        Whether columns decide which row is newer, so that an older one may win.
    is_same_format
        Whether files of both levels are written in the same format.
    """
    max_level = options.level_count - 1
    if options.changelog_producer == "full-compaction":
        return UpgradeKind.LOOKED_AT if output_level == max_level else UpgradeKind.METADATA
    if not options.needs_lookup or file.level != 0:
        return UpgradeKind.METADATA
    must_drop = options.deletion_vectors and file.delete_row_count != 0
    if not is_same_format or must_drop:
        return UpgradeKind.REWRITTEN
    newest_wins = options.merge_engine == "deduplicate" and not has_sequence_fields
    if output_level == max_level or newest_wins:
        return UpgradeKind.LOOKED_AT
    return UpgradeKind.REWRITTEN
