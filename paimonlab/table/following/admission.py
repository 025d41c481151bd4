"""How much of what is new comes at once: limits of a batch, and which splits they admit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile

from paimonlab.scan.change_splits import ChangeSplit
from paimonlab.spec.options.table_options import OptionSlice, option_field


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """Limits of one batch; None: no limit.

    The split with which a limit is reached is the last of a batch, so a batch is never empty
    because of its limits, and may have more than a limit says by less than one split.
    """

    max_files: int | None = None
    max_bytes: int | None = None
    max_rows: int | None = None
    min_rows: int | None = None
    """With fewer rows a batch waits, unless it has waited long enough."""

    @property
    def maxima(self) -> tuple[int | None, int | None, int | None]:
        """Files, bytes, rows."""
        return (self.max_files, self.max_bytes, self.max_rows)


@dataclass(slots=True)
class Load:
    """What a batch has so far."""

    files: int = 0
    size_bytes: int = 0
    rows: int = 0
    splits: list[ChangeSplit] = field(default_factory=list)

    def has_room(self, limits: BatchLimits) -> bool:
        """Say whether no limit is reached."""
        own = (self.files, self.size_bytes, self.rows)
        return all(
            most is None or load < most for load, most in zip(own, limits.maxima, strict=True)
        )

    def fill(self, splits: Iterable[ChangeSplit], limits: BatchLimits) -> int:
        """Take splits, the first ones, until a limit is reached; return how many."""
        before = len(self.splits)
        for split in takewhile(lambda _: self.has_room(limits), splits):
            files = [file for side in split.sides for file in side.files]
            self.files += len(files)
            self.size_bytes += sum(file.file_size_bytes for file in files)
            self.rows += sum(file.row_count for file in files)
            self.splits.append(split)
        return len(self.splits) - before


class StreamReadOptions(OptionSlice):
    """The options that say how much a batch of a stream reads."""

    max_files: int | None = option_field("read.stream.maxFilesPerTrigger", "int", None)
    """``read.stream.maxFilesPerTrigger``"""
    max_bytes: int | None = option_field("read.stream.maxBytesPerTrigger", "long", None)
    """``read.stream.maxBytesPerTrigger``"""
    max_rows: int | None = option_field("read.stream.maxRowsPerTrigger", "long", None)
    """``read.stream.maxRowsPerTrigger``: rows of files, before merging."""
    min_rows: int | None = option_field("read.stream.minRowsPerTrigger", "long", None)
    """``read.stream.minRowsPerTrigger``: with fewer rows a batch waits."""
    max_delay_millis: int | None = option_field("read.stream.maxTriggerDelayMs", "long", None)
    """``read.stream.maxTriggerDelayMs``: for how long it waits at most."""

    @property
    def limits(self) -> BatchLimits:
        """The limits of a batch."""
        return BatchLimits(
            max_files=self.max_files,
            max_bytes=self.max_bytes,
            max_rows=self.max_rows,
            min_rows=self.min_rows,
        )
