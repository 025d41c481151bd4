"""The table options that steer following, and the rules they make."""

from __future__ import annotations

from datetime import datetime

from paimonlab.compact.strategy import LevelOptions
from paimonlab.errors import UnsupportedError
from paimonlab.scan.following import FollowRules
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.partitions.folders import POSTPONE_BUCKET
from paimonlab.spec.stream_overwrites import reads_overwrites
from paimonlab.table.branch_options import BranchOptions
from paimonlab.table.definition import TableDefinition
from paimonlab.table.reading.skipped_files import refuse_skipping
from paimonlab.table.reading.time_travel import to_millis
from paimonlab.table.store import TableStore

_MERGING_ENGINES = frozenset({"partial-update", "aggregation", "first-row"})
"""Engines with which a row that was written is not the row that readers see."""


class FollowOptions(OptionSlice):
    """The table options that steer following."""

    poll_millis: int = option_field("continuous.discovery-interval", "duration", "10 s")
    """``continuous.discovery-interval``: the longest time between two looks for a snapshot."""
    delay_millis: int = option_field("streaming.read.snapshot.delay", "duration", 0)
    """``streaming.read.snapshot.delay``: how old a snapshot must be to be read."""
    bounded_watermark: int | None = option_field("scan.bounded.watermark", "long", None)
    """``scan.bounded.watermark``: the first snapshot with a larger watermark ends it."""
    consumer_id: str | None = option_field("consumer-id", "string", None)
    """``consumer-id``: under which name progress is kept with the table."""
    consumer_mode: str = option_field("consumer.mode", "enum", "exactly-once")
    """``consumer.mode``: one reader keeps the same progress in both modes: whole snapshots."""
    ignores_progress: bool = option_field("consumer.ignore-progress", "boolean", default=False)
    """``consumer.ignore-progress``: whether to start anew although there is progress."""
    producer: str = option_field("changelog-producer", "enum", "none", parse=str.lower)
    """``changelog-producer``"""
    engine: str = option_field("merge-engine", "enum", "deduplicate", parse=str.lower)
    """``merge-engine``"""
    bucket: int = option_field("bucket", "int", -1)
    """``bucket``"""


def first_level(options: Options) -> int:
    """Return the level from which on files make up the rows that come first.

    What is not compacted that far yet comes later, as changelog of a compaction.
    """
    producer = options.slice(FollowOptions).producer
    if producer == "lookup":
        return 1
    if producer == "full-compaction":
        return options.slice(LevelOptions).level_count - 1
    return 0


def check_followable(definition: TableDefinition) -> None:
    """Check that what commits of a table add is what changes for its readers.

    Raises
    ------
    UnsupportedError
        If it is not.
    """
    options = definition.options.slice(FollowOptions)
    fallback = definition.options.slice(BranchOptions).fallback
    if fallback is not None:
        raise UnsupportedError(
            f"scan.fallback-branch = '{fallback}'", f"following {definition.name}"
        )
    refuse_skipping(definition, "following")
    if not definition.schema.primary_keys or options.producer != "none":
        return
    if options.engine in _MERGING_ENGINES:
        raise UnsupportedError(
            f"merge-engine = '{options.engine}' without a changelog-producer",
            f"{definition.name} cannot be followed: rows that are written are not those that "
            "readers see. Let 'changelog-producer' be 'lookup' or 'full-compaction'; what was "
            "written is shown by table.changes(start, end)",
        )
    if options.bucket == POSTPONE_BUCKET:
        raise UnsupportedError(
            "bucket = '-2' without a changelog-producer",
            f"{definition.name} cannot be followed: readers do not see rows that wait for a bucket",
        )


def rules_of(
    definition: TableDefinition, store: TableStore, until: int | str | datetime | None
) -> FollowRules:
    """Make the rules of a follower.

    Parameters
    ----------
    definition, store
        Of the table, with the options of the follower.
    until
        None: it does not end; ``latest``: it ends when nothing is left to read; a snapshot id,
        or the name of a tag: with that snapshot; a time: before the first later snapshot.

    Raises
    ------
    SchemaError
        If options do not go together.
    """
    options = definition.options.slice(FollowOptions)
    has_key = bool(definition.schema.primary_keys)
    end_id, end_millis = _end(store, until)
    return FollowRules(
        reads_changelog=options.producer != "none",
        reads_overwrites=reads_overwrites(definition.options, has_key=has_key),
        delay_millis=options.delay_millis,
        bounded_watermark=options.bounded_watermark,
        until_id=end_id,
        until_millis=end_millis,
        ends_at_latest=until == "latest",
    )


def _end(store: TableStore, until: int | str | datetime | None) -> tuple[int | None, int | None]:
    if until is None or until == "latest":
        return None, None
    if isinstance(until, int):
        return until, None
    if isinstance(until, str):
        tags = dict(store.tags.list())
        if until in tags:
            return tags[until].id, None
        if until.isdecimal():
            return int(until), None
    return None, to_millis(until)
