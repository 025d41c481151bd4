"""``$ro``: the rows of a primary-key table that a full compaction has seen.

They need no merging; what was written since is missing. An append table shows all its rows.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.system.ReadOptimizedTable``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
from msgspec import structs

from paimonlab.table.reading.scan import Scan
from paimonlab.table.reading.scan_kinds import (
    OfChanges,
    OfCondition,
    OfSnapshot,
    Read,
    WithFallback,
)
from paimonlab.table.system.asking import AboutTable, ScanArguments
from paimonlab.table.system.row_tracking import scan_of

if TYPE_CHECKING:
    from paimonlab.table.table import Table

_Read = TypeVar("_Read", bound=Read)


def columns(table: Table) -> pa.Schema:
    """Return the table's columns."""
    return table.arrow_schema


def scan(table: AboutTable, asked: ScanArguments) -> Scan:
    """Read the files of the top level."""
    rows = scan_of(table.table, asked)
    return _at_top(rows) if table.table.primary_keys else rows


def _at_top(scan: _Read) -> _Read:
    level, kind = top_level(scan.definition.options), scan.kind
    if isinstance(kind, OfSnapshot):
        return replace(scan, kind=structs.replace(kind, level=level))
    if isinstance(kind, OfChanges):
        return scan
    if isinstance(kind, OfCondition):
        return replace(scan, kind=structs.replace(kind, inner=_at_top(kind.inner)))
    at_top = structs.replace(kind, rows=structs.replace(kind.rows, level=level))
    if isinstance(at_top, WithFallback):
        at_top = structs.replace(at_top, fallback=_at_top(at_top.fallback))
    return replace(scan, kind=at_top)


def top_level(options: Mapping[str, str]) -> int:
    """Return the highest level of the files of a table.

    >>> top_level({}), top_level({"num-levels": "3"})
    (5, 2)
    """
    if "num-levels" in options:
        return int(options["num-levels"]) - 1
    return int(options.get("num-sorted-run.compaction-trigger", "5"))
