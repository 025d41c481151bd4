"""How much is kept of the values of a column as statistics of a file.

Source: https://paimon.apache.org/docs/master/maintenance/configurations/ (``metadata.stats-mode``)
and apache/paimon@1.3.1 ``org.apache.paimon.statistics.SimpleColStatsCollector``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self

from paimonlab.errors import SchemaError
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field
from paimonlab.spec.types.data_types import DataField

_TRUNCATE = re.compile(r"truncate\s*\(\s*(\d+)\s*\)", re.IGNORECASE)


class StatsKind(Enum):
    """What is kept; the values are the words of the option."""

    __hash__ = object.__hash__  # by identity: that of enumerations is a call of Python each time

    NONE = "none"
    COUNTS = "counts"
    """Only how many nulls there are."""
    TRUNCATE = "truncate"
    """Texts and bytes cut to a length, other values whole."""
    FULL = "full"


@dataclass(frozen=True, slots=True)
class StatsMode:
    """What is kept of a column."""

    kind: StatsKind
    length: int = 0
    """Code points of a text, bytes of a binary that `StatsKind.TRUNCATE` keeps."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``none``, ``counts``, ``truncate(n)`` or ``full``.

        Raises
        ------
        SchemaError
            If the text is something else.

        Examples
        --------
        >>> StatsMode.parse("truncate(16)").length
        16
        """
        match = _TRUNCATE.fullmatch(text.strip())
        if match and int(match[1]) > 0:
            return cls(StatsKind.TRUNCATE, int(match[1]))
        if text.strip().lower() in ("none", "counts", "full"):
            return cls(StatsKind(text.strip().lower()))
        raise SchemaError(
            f"statistics mode {text!r} is not known; use none, counts, truncate(n) or full"
        )


class _StatsKeys(OptionSlice):
    mode: str = option_field("metadata.stats-mode", "string", "truncate(16)")
    """``metadata.stats-mode``"""
    mode_of: dict[str, str] = option_field("fields.*.stats-mode", "string", {})
    """``fields.<column>.stats-mode``, by column"""
    first_columns: int = option_field("metadata.stats-keep-first-n-columns", "int", -1)
    """``metadata.stats-keep-first-n-columns``; -1: all"""
    mode_by_level: dict[str, str] = option_field("metadata.stats-mode.per.level", "map", {})
    """``metadata.stats-mode.per.level``"""
    changelog_mode: str | None = option_field("changelog-file.stats-mode", "string", None)
    """``changelog-file.stats-mode``"""
    dense: bool = option_field("metadata.stats-dense-store", "boolean", True)  # noqa: FBT003
    """``metadata.stats-dense-store``"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsOptions:
    """What is kept of the columns of a table."""

    modes: tuple[StatsMode, ...]
    """One per column of the table, where no level or changelog has its own."""
    dense: bool
    """Whether columns without any statistics are left out of the stored rows."""
    by_level: Mapping[int, tuple[StatsMode, ...]] = dataclasses.field(default_factory=dict)
    """Of the levels that have their own."""
    changelog: tuple[StatsMode, ...] | None = None
    """Of changelog files; None: that of the level."""

    @classmethod
    def of(cls, fields: Sequence[DataField], options: Options) -> Self:
        """Read the options for the columns of a table.

        Raises
        ------
        SchemaError
            If a mode is not known.
        """
        keys = options.slice(_StatsKeys)

        def modes(table_mode: str) -> tuple[StatsMode, ...]:
            column_modes = []
            for index, field in enumerate(fields):
                is_beyond = 0 <= keys.first_columns <= index
                mode = keys.mode_of.get(field.name) or ("none" if is_beyond else table_mode)
                column_modes.append(StatsMode.parse(mode))
            return tuple(column_modes)

        changelog = keys.changelog_mode
        return cls(
            modes=modes(keys.mode),
            dense=keys.dense,
            by_level={_level(level): modes(mode) for level, mode in keys.mode_by_level.items()},
            changelog=None if changelog is None else modes(changelog),
        )

    def at_level(self, level: int) -> Self:
        """Return what is kept of files of a level."""
        modes = self.by_level.get(level)
        return self if modes is None else dataclasses.replace(self, modes=modes)

    def of_first(self, count: int) -> Self:
        """Return what is kept of the first columns alone."""
        return dataclasses.replace(
            self,
            modes=self.modes[:count],
            by_level={level: modes[:count] for level, modes in self.by_level.items()},
            changelog=None if self.changelog is None else self.changelog[:count],
        )

    def of_changelog(self, level: int) -> Self:
        """Return what is kept of changelog files."""
        modes = self.changelog or self.at_level(level).modes
        return dataclasses.replace(self, modes=modes)


def _level(text: str) -> int:
    if not text.isdecimal():
        raise SchemaError(f"option 'metadata.stats-mode.per.level': {text!r} is not a level")
    return int(text)
