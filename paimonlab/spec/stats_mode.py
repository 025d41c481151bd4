"""How much is kept of the values of a column as statistics of a file.

Source: https://paimon.apache.org/docs/master/maintenance/configurations/ (``metadata.stats-mode``)
and apache/paimon@1.3.1 ``org.apache.paimon.statistics.SimpleColStatsCollector``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Self

from paimonlab.errors import SchemaError
from paimonlab.spec.options import Options, option_field
from paimonlab.spec.types import DataField

_TRUNCATE = re.compile(r"truncate\s*\(\s*(\d+)\s*\)", re.IGNORECASE)


class StatsKind(Enum):
    """What is kept; the values are the words of the option."""

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
            If the text is none of them.

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
            f"statistics mode {text!r} is not known; it is none, counts, truncate(n) or full"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _StatsKeys:
    mode: str = option_field("metadata.stats-mode", "string", "truncate(16)")
    """``metadata.stats-mode``"""
    mode_of: dict[str, str] = option_field("fields.*.stats-mode", "string", {})
    """``fields.<column>.stats-mode``, by column"""
    first_columns: int = option_field("metadata.stats-keep-first-n-columns", "int", -1)
    """``metadata.stats-keep-first-n-columns``; -1: all"""
    dense: bool = option_field("metadata.stats-dense-store", "boolean", True)  # noqa: FBT003
    """``metadata.stats-dense-store``"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsOptions:
    """What is kept of the columns of a table."""

    modes: tuple[StatsMode, ...]
    """One per column of the table."""
    dense: bool
    """Whether columns without any statistics are left out of the stored rows."""

    @classmethod
    def of(cls, fields: Sequence[DataField], options: Options) -> Self:
        """Read the options for the columns of a table.

        Raises
        ------
        SchemaError
            If a mode is not known.
        """
        keys = options.slice(_StatsKeys)
        modes = []
        for index, field in enumerate(fields):
            is_beyond = 0 <= keys.first_columns <= index
            mode = keys.mode_of.get(field.name) or ("none" if is_beyond else keys.mode)
            modes.append(StatsMode.parse(mode))
        return cls(modes=tuple(modes), dense=keys.dense)
