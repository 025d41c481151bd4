"""What a writer of a bucket compacts next, pick after pick.

`universal.pick` decides about one state of a bucket. Two things are remembered from pick to
pick: when everything was compacted last, and how long level 0 was left alone.

Source: apache/paimon@1.3.1 ``org.apache.paimon.mergetree.compact.ForceUpLevel0Compaction``,
``org.apache.paimon.lookup.LookupStrategy``, ``…operation.KeyValueFileStoreWrite``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from paimonlab.compact.levels import LevelSortedRun
from paimonlab.compact.units import CompactUnit, PickReason
from paimonlab.compact.universal import PickOptions, pick, pick_level_0
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field

_REMEMBERED = {PickReason.INTERVAL, PickReason.SIZE_AMPLIFICATION}
_NOT_REMEMBERED = {PickReason.TOTAL_SIZE, PickReason.INCREMENTAL_SIZE}


class LevelOptions(OptionSlice):
    """The table options that say how many runs there are, and which must not stay."""

    compaction_trigger: int = option_field("num-sorted-run.compaction-trigger", "int", 5)
    """``num-sorted-run.compaction-trigger``"""
    explicit_stop_trigger: int | None = option_field("num-sorted-run.stop-trigger", "int", None)
    """``num-sorted-run.stop-trigger``; None: three more than the compaction trigger."""
    explicit_level_count: int | None = option_field("num-levels", "int", None)
    """``num-levels``; None: one more than the compaction trigger."""
    merge_engine: str = option_field("merge-engine", "enum", "deduplicate")
    """``merge-engine``: ``first-row`` looks for older rows."""
    changelog_producer: str = option_field("changelog-producer", "enum", "none")
    """``changelog-producer``: ``lookup`` looks for older rows."""
    deletion_vectors: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``: older rows are looked for, to be marked."""
    force_lookup: bool = option_field("force-lookup", "boolean", default=False)
    """``force-lookup``: level 0 is compacted as if older rows were looked for."""
    force_up_level_0: bool = option_field("compaction.force-up-level-0", "boolean", default=False)
    """``compaction.force-up-level-0``: no file stays on level 0."""
    lookup_compact: str = option_field("lookup-compact", "enum", "radical")
    """``lookup-compact``: ``radical``: no file stays on level 0 where older rows are looked
    for; ``gentle``: some picks long."""
    lookup_max_interval: int | None = option_field("lookup-compact.max-interval", "int", None)
    """``lookup-compact.max-interval``: how many picks long; None: twice the trigger."""

    @property
    def level_count(self) -> int:
        """Levels of a bucket, level 0 included."""
        given = self.explicit_level_count
        return self.compaction_trigger + 1 if given is None else given

    @property
    def stop_trigger(self) -> int:
        """Number of runs at which a writer waits for compaction."""
        given = self.explicit_stop_trigger
        return max(self.compaction_trigger, self.compaction_trigger + 3 if given is None else given)

    @property
    def needs_lookup(self) -> bool:
        """Whether a compaction of level 0 looks for older rows of its keys."""
        return (
            self.changelog_producer == "lookup"
            or self.deletion_vectors
            or self.merge_engine == "first-row"
            or self.force_lookup
        )

    @property
    def max_picks_of_level_0(self) -> int | None:
        """Picks after which level 0 must be compacted, 1: at once; None: never."""
        if self.needs_lookup and self.lookup_compact == "gentle":
            given = self.lookup_max_interval
            wanted = self.compaction_trigger * 2 if given is None else given
            return max(self.compaction_trigger, wanted)
        return 1 if self.needs_lookup or self.force_up_level_0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyOptions:
    """All that `next_unit` obeys."""

    levels: LevelOptions = field(default_factory=LevelOptions)
    picking: PickOptions = field(default_factory=PickOptions)

    @classmethod
    def of(cls, options: Options) -> StrategyOptions:
        """Read them from the options of a table."""
        return cls(levels=options.slice(LevelOptions), picking=PickOptions.of(options))


@dataclass(frozen=True, slots=True, kw_only=True)
class PickMemory:
    """What a writer remembers of a bucket between picks; a new writer knows nothing."""

    last_full_millis: int | None = None
    """When everything was picked last, in milliseconds since the epoch."""
    picks_of_nothing: int = 0
    """Picks since level 0 had to go up."""


def next_unit(
    runs: Sequence[LevelSortedRun],
    options: StrategyOptions,
    memory: PickMemory,
    *,
    max_level: int,
    now: datetime,
) -> tuple[CompactUnit | None, PickMemory]:
    """Choose what to compact next.

    Parameters
    ----------
    runs
        All runs of the bucket, newest first.
    options
        When to compact.
    memory
        The result of the last pick for this bucket.
    max_level
        The level that holds the oldest data, at least 1.
    now
        The time, see `pick`.

    Returns
    -------
    CompactUnit or None
        None when the bucket is fine as it is.
    PickMemory
        For the next pick.
    """
    picking, allowed = options.picking, options.levels.max_picks_of_level_0
    unit = pick(
        runs,
        picking,
        max_level=max_level,
        now=now,
        last_full_millis=memory.last_full_millis,
    )
    if unit is None and allowed is not None:
        count = memory.picks_of_nothing + 1
        if count >= allowed:
            unit = pick_level_0(runs, picking, max_level=max_level, now=now)
        memory = replace(memory, picks_of_nothing=0 if count >= allowed else count)
    if unit is not None and _is_remembered(unit, runs):
        memory = replace(memory, last_full_millis=int(now.timestamp() * 1000))
    return unit, memory


def _is_remembered(unit: CompactUnit, runs: Sequence[LevelSortedRun]) -> bool:
    """Whether a pick counts as a full compaction: those of small buckets do not."""
    if unit.reason in _NOT_REMEMBERED:
        return False
    return unit.reason in _REMEMBERED or len(unit.files) == sum(len(run.files) for run in runs)
